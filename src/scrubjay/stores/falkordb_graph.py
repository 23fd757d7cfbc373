"""Links walked by a FalkorDB. They are written to the records, and the records say who may see what."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.errors import Unavailable
from scrubjay.stores import walking
from scrubjay.stores.breaker import Breaker
from scrubjay.stores.database import Database
from scrubjay.stores.falkordb import FalkorServer
from scrubjay.stores.falkordb_projection import plain
from scrubjay.stores.scope_cypher import where
from scrubjay.stores.sql_graph import SqlGraph
from scrubjay.types import Neighbor, Scope

# The server shows 15 digits of a number, and a double has up to 17: of two equal paths, one would come
# out better there and not here. So each score comes in two numbers, a whole one and the rest.
_PARTS = 2.0**60
# Without its label: with it, the server looks through every memory instead of walking the links.
_STEP = (
    "UNWIND $edge AS here MATCH (x:Memory {{id: here[0]}})-[e:LINK]-(m)"
    " WHERE NOT m.id IN $origin AND {condition}"
    " WITH m.id AS id, max(here[1] * e.strength) AS score ORDER BY score DESC, id LIMIT {most}"
    f" WITH id, score * {_PARTS} AS scaled RETURN id, toInteger(scaled), scaled - floor(scaled)"
)


class FalkorGraph(SqlGraph):
    """The links of one store, walked by a server that has a copy; all else is asked of the records."""

    def __init__(self, db: Database, server: FalkorServer) -> None:
        super().__init__(db)
        self._server = server
        self.breaker = Breaker("graph", server.ping)

    def walk(
        self, seeds: Sequence[str], scope: Scope, depth: int, limit: int | None
    ) -> list[Neighbor]:
        """Return what the seeds reach, as in the records: one query a level, and each level checked there.

        So a memory that was forgotten a moment ago is neither shown nor walked through.
        """
        origin = self.seen(seeds, scope)
        if not origin:
            return []
        condition, arguments = where(scope, self._db)
        query = _STEP.format(condition=condition, most=walking.MOST_NODES)
        bound = {**arguments, "origin": sorted(map(plain, origin))}

        def step(edge: dict[str, float]) -> dict[str, float]:
            at = [[plain(id_), score] for id_, score in edge.items()]
            rows = self.breaker.call(lambda: self._server.ask(query, {**bound, "edge": at}))
            if rows is None:
                raise Unavailable(
                    f"{self._server.address.shown} has no graph of this store, which may be on its"
                    " way; if it stays so, run: scrubjay reindex"
                )
            further = {id_: (whole + rest) / _PARTS for id_, whole, rest in rows}
            seen = self.seen(list(further), scope)
            return {id_: score for id_, score in further.items() if id_ in seen}

        return walking.ranked(walking.walked(origin, depth, step), limit)

    def close(self) -> None:
        """Stop asking whether the server is back; its connections are closed by whoever opened them."""
        self.breaker.close()
