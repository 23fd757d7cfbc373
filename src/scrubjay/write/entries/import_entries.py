"""Entries into a store: checked one by one, written in batches, linked when all are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.types import Link, Memory, Scope
from scrubjay.types.reports import Imported
from scrubjay.write.event_time import spoken_of
from scrubjay.write.fold import folded, is_replaced_in_vain
from scrubjay.write.remember import draft, remember, replaced
from scrubjay.write.task_state import checked_status

if TYPE_CHECKING:
    from scrubjay.write.context import Shelf
    from scrubjay.write.entries.sources import Read

_BATCH = 500
_BATCH_CHARS = 1_000_000  # a transaction is kept short: others want to write


class Rights(NamedTuple):
    """What the caller may see and change, where what they write goes, and what is done after a batch."""

    sees: Scope
    changes: Scope
    placed: Callable[[dict[str, Any]], dict[str, Any]]
    written: Callable[[list[Memory]], object]


class _Linked(NamedTuple):
    where: str
    id: str
    links: tuple[Link, ...]
    unchanged: bool


class EntryImport:
    """One import: what was taken so far, and what could not be. A rehearsal writes nothing."""

    def __init__(self, shelf: Shelf, rights: Rights, *, rehearsal: bool) -> None:
        self._shelf = shelf
        self._rights = rights
        self._rehearsal = rehearsal
        self._batch: list[tuple[Read, Memory]] = []
        self._chars = 0
        self._places: dict[str, str] = {}  # of each id that was met, where
        # What a rehearsal would have stored, by text, type and namespace.
        self._texts: dict[tuple[str, str, str], Memory] = {}
        self._said: dict[tuple[str, str, str], str] = {}  # texts without an id, where first
        self._linked: list[_Linked] = []
        self._failed: list[tuple[str, str]] = []
        self._notes: list[tuple[str, str]] = []
        self.added = self.changed = self.unchanged = 0

    def take(self, read: Read) -> None:
        """Check an entry and write it with its batch; note why where that cannot be."""
        try:
            memory = self._checked(read)
        except (InvalidInput, NotFound) as error:
            self._failed.append((read.where, str(error)))
            return
        self._batch.append((read, memory))
        self._chars += len(memory.text)
        if len(self._batch) == _BATCH or self._chars > _BATCH_CHARS:
            self._flush()

    def finish(self) -> Imported:
        """Write what is left, then the links: an entry may name one that came after it."""
        self._flush()
        for start in range(0, len(self._linked), _BATCH):
            part = self._linked[start : start + _BATCH]
            if self._rehearsal:
                self._link(part)
            else:
                with self._shelf.records.transaction():
                    self._link(part)
        counts = (self.added, self.changed, self.unchanged)
        return Imported(*counts, tuple(self._failed), tuple(self._notes))

    def _checked(self, read: Read) -> Memory:
        if read.given is None:
            raise InvalidInput(read.reason)
        memory = checked_status(draft(self._rights.placed(read.given)))
        if memory.id:
            if any(link.to == memory.id for link in memory.links):
                raise InvalidInput(f"{memory.id} is linked to itself; leave it out of links")
            if memory.id in self._places:
                raise InvalidInput(
                    f"id {memory.id!r} is that of {self._places[memory.id]}, too, which was taken;"
                    " give another id"
                )
            self._places[memory.id] = read.where
        return memory

    def _flush(self) -> None:
        if not self._batch:
            return
        if self._rehearsal:
            self._store_batch()
        else:
            with self._shelf.records.transaction():
                self._rights.written(self._store_batch())
        self._batch.clear()
        self._chars = 0

    def _store_batch(self) -> list[Memory]:
        """Store what is in the batch; return what was written."""
        written = []
        for read, memory in self._batch:
            try:
                self._shelf.check_place(memory.namespace)
                written += self._store(read, memory)
            except (InvalidInput, NotFound) as error:
                self._places.pop(memory.id, None)
                self._failed.append((read.where, str(error)))
        return written

    def _store(self, read: Read, memory: Memory) -> list[Memory]:
        """Store one entry without its links, and count what came of it; return what was written."""
        now = self._shelf.clock()
        bare, kept = memory._replace(links=()), self._kept(memory)
        if kept is not None and bare.id:
            # What it says of yesterday is seen from when it was said, not from now.
            bare = spoken_of(bare, now, kept)
        if kept is not None and kept.title and read.has_made_title:
            bare = bare._replace(title="")  # two files of one text would rename it for ever
        unchanged = kept is not None and (
            is_replaced_in_vain(kept, bare) if bare.id else folded(kept, bare, now) is kept
        )
        stored = kept if kept is not None and unchanged else bare
        if not unchanged and kept is not None and bare.id and not bare.updated_at:
            # By its creation date, what was edited today would be as old as ever.
            bare = bare._replace(updated_at=now)
        if not unchanged and not self._rehearsal:
            rights = self._rights
            stored = remember(self._shelf, bare, rights.sees, rights.changes).memory
        if not memory.id and memory.type != "message":
            first = self._said.setdefault(_text_of(memory), read.where)
            if first != read.where and not unchanged:
                why = f"its text is that of {first}, too, so they are one memory, which now says"
                self._notes.append((read.where, f"{why} what this one says; give them ids"))
        self.added += kept is None
        self.changed += kept is not None and not unchanged
        self.unchanged += unchanged
        if self._rehearsal:
            as_it_would_be = bare if kept is None or bare.id else folded(kept, bare, now)
            self._texts[_text_of(memory)] = as_it_would_be
        if memory.links:
            self._linked.append(_Linked(read.where, stored.id, memory.links, unchanged))
        return [] if unchanged else [stored]

    def _kept(self, memory: Memory) -> Memory | None:
        """Return the memory that this entry is already, by its id or by its text."""
        records = self._shelf.records
        if memory.id:
            return replaced(records, memory.id, self._rights.changes)
        if memory.type == "message":
            return None
        text = _text_of(memory)
        if text in self._texts:
            return self._texts[text]
        same = records.same(*text)
        return None if same is None else records.get([same], Scope())[same]

    def _link(self, part: list[_Linked]) -> None:
        graph, sees = self._shelf.graph, self._rights.sees
        wanted = {link.to for one in part for link in one.links}
        known = set(self._shelf.records.get(sorted(wanted), sees))
        if self._rehearsal:
            known |= self._places.keys()
        for one in part:
            there = set(graph.links(one.id, sees)) if one.id else set()
            new = [link for link in one.links if link.to in known and link not in there]
            for link in new if not self._rehearsal else ():
                graph.link(one.id, link.to, link.strength, link.kind)
            if new and one.unchanged:
                self.unchanged -= 1
                self.changed += 1
            self._notes.extend(
                (one.where, f"no memory has the id {link.to!r}; imported without this link")
                for link in one.links
                if link.to not in known
            )


def _text_of(memory: Memory) -> tuple[str, str, str]:
    return memory.content_hash, memory.type, memory.namespace
