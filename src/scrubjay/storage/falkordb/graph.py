"""Links walked by a FalkorDB. They are written to the records, and the records say who may see what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from scrubjay.errors import Unavailable
from scrubjay.storage.database import Database
from scrubjay.storage.falkordb.client import FalkorServer
from scrubjay.storage.falkordb.projection import plain
from scrubjay.storage.falkordb.scope import where
from scrubjay.storage.replicas.breaker import Breaker
from scrubjay.storage.sql.graph import SqlGraph, ranked, walked
from scrubjay.types import Neighbor, Scope

# The server shows 15 digits of a number, and a double has up to 17: of two equal paths, one would come
# out better there and not here. So each strength comes in two numbers, a whole one and the rest.
_PARTS = 2.0**60
_MOST_LINKS = 50_000  # of one level
# Where it begins is looked up by itself, and the other end has no label. In one pattern, with two
# conditions or with the label, the server looks through every memory instead of walking the links: of
# 100,000 that took longer than half a minute, instead of 2 ms.
_STEP = (
    "UNWIND $edge AS here MATCH (x:Memory {{id: here}})"
    " WITH here, x MATCH (x)-[e:LINK]-(m) WHERE {condition}"
    " WITH here, m.id AS there, e.strength AS strength"
    f" ORDER BY strength DESC, there LIMIT {_MOST_LINKS}"
    f" WITH here, there, strength * {_PARTS} AS scaled"
    " RETURN here, there, toInteger(scaled), scaled - floor(scaled)"
)


def _nothing() -> None:
    pass


class FalkorGraph(SqlGraph):
    """The links of one store, walked by a server that has a copy; all else is asked of the records."""

    def __init__(self, db: Database, server: FalkorServer) -> None:
        super().__init__(db)
        self._server = server
        self.breaker = Breaker("graph", server.ping)
        self.on_loss: Callable[[], None] = _nothing

    def walk(
        self, seeds: Sequence[str], scope: Scope, depth: int, limit: int | None
    ) -> list[Neighbor]:
        """Return what the seeds reach, as in the records: one query a level, and each level checked there.

        So a memory that was forgotten a moment ago is neither shown nor walked through.
        """
        origin = self.seen(seeds, scope)
        if not origin:
            return []
        ages_us = dict(origin)
        condition, arguments = where(scope, self._db)
        query = _STEP.format(condition=condition)

        def links(edge: Collection[str]) -> Iterator[tuple[str, str, float]]:
            here = {plain(id_): id_ for id_ in edge}
            bound = {**arguments, "edge": sorted(here)}
            rows = self.breaker.call(lambda: self._server.ask(query, bound))
            if rows is None:
                self.on_loss()
                raise Unavailable(
                    f"{self._server.address.shown} has no graph of this store, which may be on its"
                    " way; if it stays so, run: scrubjay reindex"
                )
            ages_us.update(self.seen(list({there for _, there, *_ in rows}), scope))
            for at, there, whole, rest in rows:
                if there in ages_us:
                    yield here[at], there, (whole + rest) / _PARTS

        reached = walked(list(origin), depth, links, lambda ids: {id_: id_ for id_ in ids})
        return ranked(reached, ages_us, limit)

    def close(self) -> None:
        """Stop asking whether the server is back; its connections are closed by whoever opened them."""
        self.breaker.close()
