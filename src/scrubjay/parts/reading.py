"""What is stored, looked up by name: memories by id, lists, counts, links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.parts.tiered import Tiered, nothing_with
from scrubjay.sharing.permissions import only
from scrubjay.times import duration, micros, span_micros
from scrubjay.types import Link, Memories, Memory, Neighbor

if TYPE_CHECKING:
    from scrubjay.insight.landscape import Landscape
    from scrubjay.parts.tables import Tables
    from scrubjay.sharing.tiers.files import Reached
    from scrubjay.types import Scope
    from scrubjay.types.reports import Collection, Covered
    from scrubjay.write.fields import Change

_SOON_DAYS = 30


class Reading(Tiered):
    """The verbs that only look, of what the caller may see."""

    def get(self, id: str) -> Memory:
        """Return one memory with its links, of the highest tier that has it; NotFound if none has."""
        return self.get_all(ids_of([id]))[0]

    def get_many(self, ids: Iterable[str]) -> Memories:
        """Return the memories that are there, in order; `.missing` has the other ids."""
        wanted = ids_of(ids)
        held, unasked = self._held(wanted)
        found = []
        for memory, one in (held[id_] for id_ in wanted if id_ in held):
            links = self._ask(one, unasked, partial(_links, memory.id, self._mine))
            found.append(memory._replace(links=tuple(links or ())))
        missing = [id_ for id_ in wanted if id_ not in held]
        return Memories(found, missing, unasked, self._tiers_by_id(held))

    def _tiers_by_id(self, held: Mapping[str, tuple[Memory, Reached]]) -> Mapping[str, str]:
        """Return which tier each memory is of; nothing where the store is one file."""
        if not self._tiers.named:
            return {}
        return {id_: one.tier.name for id_, (_, one) in held.items()}

    def get_all(self, ids: Sequence[str]) -> Memories:
        """Return all of these memories, or say which is not there."""
        found = self.get_many(ids)
        if found.missing:
            raise nothing_with(found.missing[0], found.unasked)
        return found

    def holds(self, id: str) -> bool:
        """True when the store's own file has a memory of this id that the caller may see."""
        return bool(self._records.get([id], self._mine))

    def resolve(self, prefix: str) -> str:
        """Return the one id that begins with this prefix of at least four characters."""
        unasked: list[str] = []
        like: list[str] = []
        for one in self._reached(unasked):
            if self._ask(one, unasked, lambda its: its.records.get([prefix], self._mine)):
                return prefix
            if len(prefix) >= 4:
                begun = self._ask(
                    one, unasked, lambda its: its.records.ids_like(prefix, self._mine, 3)
                )
                like += begun or ()
        close = sorted(set(like))[:3]
        if len(close) > 1:
            raise InvalidInput(f"{prefix!r} could be {', '.join(close)} …; give more of the id")
        if not close:
            raise nothing_with(prefix, unasked)
        return close[0]

    def ls(
        self,
        *,
        namespace: str | None = None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        collection: str | None = None,
        session: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Memory]:
        """Return memories, newest first; of a session, its latest, in the order in which they were said.

        That order is by time, then by the order of writing. `offset` skips the newest.
        """
        scope = self._caller.narrowed(
            namespaces=only(namespace, "namespace"),
            types=types,
            topics=topics,
            collection=collection,
            session=session,
            owner=owner,
            agent=agent,
        )
        if limit < 1 or offset < 0:
            raise InvalidInput(f"limit is {limit} and offset {offset}; at least 1 and 0")
        listed = self._records.scan if session is None else self._records.said
        return listed(scope, limit, offset)

    def expiring(
        self, within: timedelta | str | None = None, *, expired: bool = False
    ) -> Memories:
        """Return what is valid no longer than `within`, such as "30d" (that by itself), soonest first.

        With `expired`, what is over already, the latest first: all of it, or what ended within so long.
        It is of every tier; of an id, only the highest tier's version counts.
        """
        span = None if within is None else duration(within, "within")
        span = timedelta(days=_SOON_DAYS) if span is None and not expired else span
        span_us = None if span is None else span_micros(span)
        now_us = micros(self._clock())

        def ends(its: Tables) -> list[str]:
            find = its.windows.ended if expired else its.windows.ending
            return find(now_us, span_us, self._mine)

        unasked: list[str] = []
        of_tier = {one.path: self._ask(one, unasked, ends) or [] for one in self._reached(unasked)}
        held, lost = self._held([id_ for ids in of_tier.values() for id_ in ids])
        held = {id_: found for id_, found in held.items() if id_ in of_tier[found[1].path]}
        found = [memory for _, (memory, _) in sorted(held.items())]
        found.sort(key=lambda one: one.valid_until or self._clock(), reverse=expired)
        return Memories(found, (), [*unasked, *lost], self._tiers_by_id(held))

    def topics(
        self, *, namespace: str | None = None, limit: int | None = None
    ) -> Mapping[str, int]:
        """Return every topic with how many memories have it, most first."""
        if limit is not None and (type(limit) is not int or limit < 1):
            raise InvalidInput(f"limit is {limit!r}; it must be a whole number of 1 or more")
        scope = self._caller.narrowed(namespaces=only(namespace, "namespace"))
        return self._topics.counts(scope, limit)

    def landscape(self, *, tokens: int = 800, namespace: str | None = None) -> Landscape:
        """Return what is stored, in at most so many tokens: what an agent wants before its first search.

        What is not yet, or no longer, valid is not in it.
        """
        from scrubjay.insight.landscape import landscape

        scope = self._caller.narrowed(namespaces=only(namespace, "namespace"))
        scope = scope._replace(valid_us=self._windows.state_us(micros(self._clock())))
        return landscape(self._records, self._topics, self._copies, scope, tokens)

    def history(self, id: str) -> list[Change]:
        """Return the changes of a memory, oldest first: when it was done, and done no more.

        Of a fact drawn from messages also its earlier texts, and when it was superseded.
        """
        from scrubjay.write.fields import changes

        holder = self._holder(id)
        return changes(self._history(holder.tables), id)

    def coverage(
        self,
        *,
        state: str | None = None,
        collection: str | None = None,
        namespace: str | None = None,
    ) -> list[Covered]:
        """Return every file that `ingest` met: indexed, skipped or failed, and why; by path."""
        return self._following.coverage(state, collection, namespace)

    def collections(self) -> list[Collection]:
        """Return the collections, by name."""
        return self._following.collections()

    def neighbors(self, id: str, *, depth: int = 1, limit: int | None = None) -> list[Neighbor]:
        """Return what a memory's links reach, best path first."""
        if not 1 <= depth <= 3:
            raise InvalidInput(f"depth is {depth}; it must be 1, 2 or 3")
        holder = self._holder(id)
        graph = self._graph if holder.tables is None else holder.tables.graph
        return graph.walk([id], self._mine, depth, limit)


def _links(id_: str, scope: Scope, tables: Tables) -> Sequence[Link]:
    return tables.graph.links(id_, scope)


def ids_of(given: object) -> list[str]:
    """Return ids as a list, one alone too; refuse what is none."""
    if isinstance(given, str):
        return [given]
    ids: list[str] = []
    for one in given if isinstance(given, Iterable) else [given]:
        if not isinstance(one, str):
            raise InvalidInput(f"{one!r} is not an id; give a text, or a list of texts")
        ids.append(one)
    return ids
