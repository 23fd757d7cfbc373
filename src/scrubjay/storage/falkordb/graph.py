"""Graph walks by FalkorDB, checked against the database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from scrubjay.errors import Unavailable
from scrubjay.storage.database import Database
from scrubjay.storage.falkordb.client import FalkorServer
from scrubjay.storage.falkordb.replica import plain
from scrubjay.storage.replicas.breaker import Breaker
from scrubjay.storage.replicas.outbox import GRAPH
from scrubjay.storage.sql.graph import SqlGraph, rank_neighbors, walk_links
from scrubjay.storage.sql.scope import comparisons, unset, visible_namespaces
from scrubjay.types import Neighbor, Scope

# The server prints 15 digits of a number, and a double has up to 17: of two equal paths, one would be
# better there and not here. So each strength comes as two numbers, a whole one and the rest.
_SCALE = 2.0**60
_MAX_LINKS = 50_000  # of one level
# The start node is looked up first, and the other end has no label. With one pattern, two conditions
# or a label, the server scans every memory instead of following links: with 100,000 memories that took
# more than half a minute instead of 2 ms.
_STEP = (
    "UNWIND $edge AS here MATCH (x:Memory {{id: here}})"
    " WITH here, x MATCH (x)-[e:LINK]-(m) WHERE {condition}"
    " WITH here, m.id AS there, e.strength AS strength"
    f" ORDER BY strength DESC, there LIMIT {_MAX_LINKS}"
    f" WITH here, there, strength * {_SCALE} AS scaled"
    " RETURN here, there, toInteger(scaled), scaled - floor(scaled)"
)


class FalkorGraph(SqlGraph):
    """The links of one store, walked by a server; links are written to the database."""

    def __init__(self, db: Database, server: FalkorServer) -> None:
        super().__init__(db)
        self._server = server
        self.breaker = Breaker(GRAPH, server.ping)
        self.on_loss: Callable[[], None] = lambda: None

    def walk(
        self, seeds: Sequence[str], scope: Scope, depth: int, limit: int | None
    ) -> list[Neighbor]:
        """Return what the seeds reach; the database checks each level for memories deleted meanwhile."""
        origin = self.visible(seeds, scope)
        if not origin:
            return []
        ages_us = dict(origin)
        condition, arguments = where(scope, self._db)
        query = _STEP.format(condition=condition)

        def links(edge: Collection[str]) -> Iterator[tuple[str, str, float]]:
            ids = {plain(id_): id_ for id_ in edge}
            bound = {**arguments, "edge": sorted(ids)}
            rows = self.breaker.call(lambda: self._server.read(query, bound))
            if rows is None:
                self.on_loss()
                raise Unavailable(
                    f"{self._server.address.shown} has no graph of this store; it may still be on"
                    " its way: if this error stays, run: scrubjay reindex"
                )
            ages_us.update(self.visible(list({there for _, there, *_ in rows}), scope))
            for here, there, whole, rest in rows:
                if there in ages_us:
                    yield ids[here], there, (whole + rest) / _SCALE

        reached = walk_links(list(origin), depth, links, lambda ids: {id_: id_ for id_ in ids})
        return rank_neighbors(reached, ages_us, limit)

    def close(self) -> None:
        self.breaker.close()


def where(scope: Scope, db: Database) -> tuple[str, dict[str, object]]:
    """Return a scope as a Cypher condition on the node `m`, with its arguments.

    The database checks the rest later: which words a memory holds, and the outcome of a message.
    """
    conditions: list[str] = []
    arguments: dict[str, object] = {}

    def bound(value: object) -> str:
        arguments[name := f"value{len(arguments)}"] = value
        return f"${name}"

    namespaces = visible_namespaces(scope, db)
    visible = () if namespaces is None else (("namespace", "IN", namespaces),)
    for field, sign, value in (*visible, *comparisons(scope, db.codec)):
        if isinstance(value, int):
            conditions.append(f"({unset(field)}m.{field} {sign} {bound(value)})")
            continue
        values = bound(list(map(plain, value)))
        if field == "topics":
            conditions.append(f"any(topic IN m.topics WHERE topic IN {values})")
        else:
            conditions.append(f"{'NOT ' * (sign != 'IN')}m.{field} IN {values}")
    if scope.spoken is not None:
        shown = f"m.type <> 'message' OR m.created_us <= {bound(scope.spoken.settled_us)}"
        if scope.spoken.session is not None:
            shown += f" OR m.session = {bound(plain(scope.spoken.session))}"
        conditions.append(f"({shown})")
    return " AND ".join(conditions) or "true", arguments
