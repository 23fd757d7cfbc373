"""Reading memories: by id, in lists, over links. Every tier is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.search.tables import Tables
from scrubjay.sharing.tiers.lookup import ask, no_memory
from scrubjay.store.context import Context
from scrubjay.times import When, duration, micros, parse_bound, span_micros
from scrubjay.types import Filters, Link, Memories, Memory, Neighbor, Scope

if TYPE_CHECKING:
    from scrubjay.insight.landscape import Landscape
    from scrubjay.types import changes as change_types
    from scrubjay.types.map import Graph
    from scrubjay.types.reports import Version

_SOON_DAYS = 30
_MOST_NODES = 1000


class Reader:
    """Reads what the caller may see."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lookup = context.lookup
        self._sees = context.sees

    def get_many(self, ids: Iterable[str]) -> Memories:
        wanted = ids_of(ids)
        found, unasked = self._lookup.find(wanted)
        memories = []
        for memory, tier in (found[id_] for id_ in wanted if id_ in found):
            links = ask(tier, unasked, partial(self._links, memory.id))
            memories.append(memory._replace(links=tuple(links or ())))
        missing = [id_ for id_ in wanted if id_ not in found]
        return Memories(memories, missing, unasked, self._lookup.tiers_by_id(found))

    def _links(self, id_: str, tables: Tables) -> Sequence[Link]:
        return tables.graph.links(id_, self._sees)

    def get_all(self, ids: Sequence[str]) -> Memories:
        found = self.get_many(ids)
        if found.missing:
            self._context.check_readable(found.missing[0])
            raise no_memory(found.missing[0], found.unasked)
        return found

    def resolve(self, prefix: str) -> str:
        unasked: list[str] = []
        similar: list[str] = []

        def begins(tables: Tables) -> Sequence[str]:
            return tables.records.ids_with_prefix(prefix, self._sees, 3)

        for tier in self._lookup.reached(unasked):
            if ask(tier, unasked, lambda tables: tables.records.ids(self._whose([prefix]))):
                return prefix
            if len(prefix) >= 4:
                similar += ask(tier, unasked, begins) or ()
        candidates = sorted(set(similar))[:3]
        if len(candidates) > 1:
            raise InvalidInput(
                f"{prefix!r} could be {', '.join(candidates)} …; give more characters of the id"
            )
        if not candidates:
            raise no_memory(prefix, unasked)
        return candidates[0]

    def ls(self, filters: Filters, limit: int, offset: int) -> list[Memory]:
        scope = self._context.scope(filters)
        check_page(limit, offset)
        records = self._context.tables.records
        read = records.scan if filters.session is None else records.latest
        return read(scope, limit, offset)

    def _whose(self, ids: Sequence[str]) -> Scope:
        """Return the scope of these ids, as far as the caller may see them."""
        return self._sees._replace(ids=tuple(ids))

    def expiring(self, within: timedelta | str | None, expired: bool) -> Memories:
        """Return memories whose validity ends soon, or has ended; of an id, the highest tier's version."""
        span = None if within is None else duration(within, "within")
        span = timedelta(days=_SOON_DAYS) if span is None and not expired else span
        span_us = None if span is None else span_micros(span)
        now_us = micros(self._context.clock())

        def ending(tables: Tables) -> list[str]:
            find = tables.windows.ended if expired else tables.windows.ending
            return find(now_us, span_us, self._sees)

        unasked: list[str] = []
        by_tier = {
            tier.path: ask(tier, unasked, ending) or [] for tier in self._lookup.reached(unasked)
        }
        found, lost = self._lookup.find([id_ for ids in by_tier.values() for id_ in ids])
        found = {id_: held for id_, held in found.items() if id_ in by_tier[held[1].path]}
        memories = [memory for _, (memory, _) in sorted(found.items())]
        now = self._context.clock()
        memories.sort(key=lambda memory: memory.valid_until or now, reverse=expired)
        return Memories(memories, (), [*unasked, *lost], self._lookup.tiers_by_id(found))

    def topics(self, namespace: str | None, limit: int | None) -> Mapping[str, int]:
        if limit is not None:
            check_count("limit", limit)
        scope = self._context.scope(Filters(namespace=namespace))
        return self._context.tables.topics.counts(scope, limit)

    def landscape(self, tokens: int, namespace: str | None) -> Landscape:
        from scrubjay.insight.landscape import landscape

        tables = self._context.tables
        scope = self._context.scope(Filters(namespace=namespace))
        scope = scope._replace(
            valid_us=tables.windows.last_change_us(micros(self._context.clock()))
        )
        return landscape(tables.records, tables.topics, tables.copies, scope, tokens)

    def history(self, id: str) -> list[Version]:
        from scrubjay.write.versions import versions_of

        tables = self._lookup.tables_of(id)
        with tables.db.one_state():  # another process may change it between the two reads
            memory = tables.records.get([id], self._sees).get(id)
            if memory is None:
                raise no_memory(id)
            changes = tables.versions.of(id, self._sees)
        return versions_of(memory, changes)

    def changes(self, since: When | None) -> list[change_types.Change]:
        from_time = parse_bound(since, "since", self._context.clock)
        since_us = None if from_time is None else micros(from_time)
        return self._context.tables.changes.changes(self._sees, since_us)

    def neighbors(self, id: str, depth: int, limit: int | None) -> list[Neighbor]:
        if not 1 <= depth <= 3:
            raise InvalidInput(f"depth is {depth}; it must be 1, 2 or 3")
        return self._lookup.tables_of(id).graph.walk([id], self._sees, depth, limit)

    def surroundings(self, id: str, depth: int, limit: int) -> Graph:
        if type(limit) is not int or not 1 <= limit <= _MOST_NODES:
            raise InvalidInput(f"limit is {limit!r}; give a whole number of 1 to {_MOST_NODES}")
        from scrubjay.insight.map.draw import titled
        from scrubjay.types.map import Graph, Node

        reached = self.neighbors(id, depth, None)
        tables = self._lookup.tables_of(id)
        far = {id: (1.0, 0), **{near.id: (near.score, near.depth) for near in reached[:limit]}}
        found = tables.records.get(list(far), self._sees)
        nodes = tuple(
            Node(id_, titled(memory.title or memory.text[:400]), memory.type, *far[id_])
            for id_ in far
            if (memory := found.get(id_)) is not None
        )
        edges = tables.graph.between([node.id for node in nodes])
        return Graph(nodes, tuple(edges), max(len(reached) - limit, 0))

    def around(self, id: str, turns: int) -> list[Memory]:
        message = self.get_all(ids_of([id]))[0]
        before_after = self._lookup.tables_of(id).records.around([id], turns, self._sees).get(id)
        if before_after is None:
            raise InvalidInput(
                f"{id} is a {message.type}, not a message of a session; only messages have turns"
                " around them"
            )
        before, after = before_after
        return [*before, message, *after]


def check_count(name: str, number: object) -> None:
    if type(number) is not int or number < 1:
        raise InvalidInput(f"{name} is {number!r}; it must be a whole number of 1 or more")


def check_page(limit: object, offset: object) -> None:
    if type(limit) is not int or type(offset) is not int or limit < 1 or offset < 0:
        raise InvalidInput(f"limit is {limit!r} and offset {offset!r}; at least 1 and 0")


def ids_of(given: object) -> list[str]:
    if isinstance(given, str):
        return [given]
    ids: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    for id_ in ids:
        if not isinstance(id_, str):
            raise InvalidInput(f"{id_!r} is not an id; give a text, or a list of texts")
    return ids
