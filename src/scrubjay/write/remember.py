"""Write memories: ids, event times, the same text again, chunks and links."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.storage.sql.records import content_of, language_of
from scrubjay.text.dates import events_in
from scrubjay.text.recall_tags import blank_recalled
from scrubjay.times import is_valid
from scrubjay.types import Chunk, Memory, Scope
from scrubjay.types.files import NOT_NOTES
from scrubjay.write.chunking import split
from scrubjay.write.versions import keep_version

if TYPE_CHECKING:
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.write.context import WriteContext

_EVERYTHING = Scope()
# For each byte a letter or digit; without i, l, o, u, which are easily misread.
_ID_LETTERS = b"0123456789abcdefghjkmnpqrstvwxyz" * 8
_MOST_EVENT_CHARS = 2_000  # a longer text names many times; the narrowest is that of a detail
_EVENT_FIELDS = ("text", "created_at", "type")  # fields that a derived event time depends on
# Not session, role, owner or agent: who wrote it first would no longer find it as theirs.
_MERGED_FIELDS = "title severity domain context event_time event_until source updated_at".split()


class Remembered(NamedTuple):
    """A memory as it is stored now; `known` says whether it, or the one it replaces, was there before."""

    memory: Memory
    known: bool


def remember(
    context: WriteContext, memory: Memory, visible: Scope, changeable: Scope, what: str = ""
) -> Remembered:
    """Store one memory inside the caller's transaction, as `remember_all` does."""
    return remember_all(context, [memory], visible, changeable, what)[0]


def remember_all(
    context: WriteContext,
    memories: Sequence[Memory],
    visible: Scope,
    changeable: Scope,
    what: str = "",
) -> list[Remembered]:
    """Store memories inside the caller's transaction, in order. `what` happened, if not what the fields
    say.

    With an id, one replaces the memory of that id. Without one, a memory of the same text, type and
    namespace takes over the other fields; messages are never merged. A memory outside `changeable` is
    not replaced, one outside `visible` is not linked.
    """
    writing = _Writing(context, memories, visible, changeable, what)
    remembered = [writing.remember(memory) for memory in memories]
    writing.flush()
    return remembered


class _Writing:
    """Memories that are being written. New ones are written together: a statement for each table takes
    a third of the time of one for each memory. What may read them writes them first."""

    def __init__(
        self,
        context: WriteContext,
        memories: Sequence[Memory],
        visible: Scope,
        changeable: Scope,
        what: str,
    ) -> None:
        self._context = context
        self._visible = visible
        self._changeable = changeable
        self._what = what
        self._new: list[Memory] = []
        self._known = _Known(context.records, memories)

    def remember(self, memory: Memory) -> Remembered:
        records, now = self._context.records, self._context.clock()
        before: Memory | None = None
        if memory.id:
            if self._known.is_taken(memory.id):
                self.flush()
                before = memory_to_replace(records, memory.id, self._changeable)
        elif memory.type != "message" and self._known.count(memory):
            self.flush()
            if (merged := self._merged(memory, now.astimezone(UTC))) is not None:
                return merged
        is_new = not (memory.id and self._known.is_taken(memory.id))
        timed = with_times(memory, now, before)
        updated = memory.updated_at or memory.created_at
        if updated is None:
            updated = now if before is not None else timed.created_at or now
        memory = timed._replace(
            updated_at=updated.astimezone(UTC),
            id=memory.id or self._known.new_id(memory),
            language=language_of(memory),
        )
        if is_new:
            self._new.append(memory)
            if memory.links:
                self.flush()
        else:
            memory = write_memory(
                self._context, memory, self._visible, what=self._what, agent=memory.agent or ""
            )
        self._known.note(memory, before)
        return Remembered(memory, known=before is not None)

    def _merged(self, memory: Memory, now: datetime) -> Remembered | None:
        """Merge a memory into that of the same text; None where that one cannot be read."""
        records = self._context.records
        same = records.find_duplicate(content_of(memory))
        stored = None if same is None else records.get([same], _EVERYTHING).get(same)
        if stored is None:
            return None
        merged = merge(stored, memory, now)
        if merged is not stored or memory.links:
            merged = write_memory(
                self._context,
                merged._replace(links=memory.links),
                self._visible,
                agent=memory.agent or "",
            )
        return Remembered(merged._replace(links=()), known=True)

    def flush(self) -> None:
        """Write the new memories."""
        context, new = self._context, self._new
        if not new:
            return
        written = [(memory, chunks_of(context, memory)) for memory in new]
        context.records.insert(written)
        if context.static is not None:
            context.static.note(sum(len(chunks) for _, chunks in written))
        for memory in new:
            if context.user:
                keep_version(context, None, memory, self._what, memory.agent or "")
            if memory.links:
                _link(context, memory, self._visible)
        new.clear()


def memory_to_replace(records: SqlRecords, id_: str, changeable: Scope) -> Memory | None:
    """Return the memory with this id, if any; refuse one that the caller may not change."""
    before = records.get([id_], _EVERYTHING).get(id_)
    if before is None and not records.is_damaged(id_):
        return None
    if not records.get([id_], changeable) and not records.unreadable([id_], changeable):
        raise InvalidInput(f"id {id_!r} is taken in another namespace; give another id")
    return before


def write_memory(
    context: WriteContext,
    memory: Memory,
    visible: Scope = _EVERYTHING,
    *,
    what: str = "",
    agent: str = "",
) -> Memory:
    """Write a complete memory, its chunks and its links; return it with its language.

    What it replaces is kept as an earlier version: `what` happened (default: what the fields say), and
    `agent` is who did it where the store has no user.
    """
    memory, before = write_record(context, memory)
    keep_version(context, before, memory, what, agent)
    _link(context, memory, visible)
    return memory


def write_record(context: WriteContext, memory: Memory) -> tuple[Memory, Memory | None]:
    """Write a complete memory and its chunks; return it with its language, and what it replaced."""
    memory = memory._replace(language=language_of(memory))
    chunks = chunks_of(context, memory)
    before = context.records.put(memory, chunks)
    if context.static is not None:
        context.static.note(len(chunks))
    return memory, before


def chunks_of(context: WriteContext, memory: Memory) -> list[Chunk]:
    return split(memory.text, str(memory.metadata.get("format", "text")), context.chunk_sizes)


def _link(context: WriteContext, memory: Memory, visible: Scope) -> None:
    records = context.records
    targets = records.get([link.to for link in memory.links], visible) if memory.links else {}
    for link in memory.links:
        if link.to == memory.id:
            raise InvalidInput(f"{memory.id} cannot be linked to itself; leave it out of links")
        if link.to not in targets:
            raise NotFound(f"links names {link.to!r}, but no memory has that id")
        context.graph.link(memory.id, link.to, link.strength, link.kind)


def new_id(records: SqlRecords, memory: Memory) -> str:
    """Return a short id made from the content, so that equal databases have equal ids."""
    return _Known(records, [memory]).new_id(memory)


class _Known:
    """Which ids are taken, and how often each content is stored, as far as that concerns the memories of
    one write: read for all of them at once, and then kept up to date by `note`."""

    def __init__(self, records: SqlRecords, memories: Sequence[Memory]) -> None:
        self._records = records
        self._counts = records.count_duplicates({memory.content_hash for memory in memories})
        self._secrets: dict[str, str] = {}
        wanted = {memory.id or self._nth_id(memory, self.count(memory)) for memory in memories}
        self._taken = dict.fromkeys(wanted, False) | dict.fromkeys(records.existing(wanted), True)

    def count(self, memory: Memory) -> int:
        """Return how many memories have the content of this one."""
        return self._counts.get(content_of(memory), 0)

    def is_taken(self, id_: str) -> bool:
        if id_ not in self._taken:
            self._taken[id_] = id_ in self._records.existing([id_])
        return self._taken[id_]

    def note(self, memory: Memory, before: Memory | None) -> None:
        """Note that a memory was written, and which one it replaced."""
        if before is not None:
            self._counts[content_of(before)] = self.count(before) - 1
        self._counts[content_of(memory)] = self.count(memory) + 1
        self._taken[memory.id] = True

    def new_id(self, memory: Memory) -> str:
        # The same message may be stored a thousand times: start after the last one.
        first = self.count(memory)
        for attempt in range(first, first + 1_000_000):
            if not self.is_taken(id_ := self._nth_id(memory, attempt)):
                return id_
        raise InvalidInput("this text is stored a million times already; give ids yourself")

    def _nth_id(self, memory: Memory, attempt: int) -> str:
        """Return a short id made from the content, so that equal databases have equal ids.

        Where users have namespaces, a secret of the database is part of the hash: otherwise a user could
        guess a text and find out by its id that another user has stored it.
        """
        namespace = memory.namespace
        if namespace not in self._secrets:
            self._secrets[namespace] = self._records.id_secret(namespace)
        place = self._secrets[namespace] + namespace
        seed = "\0".join((place, memory.type, memory.session or "", memory.content_hash))
        digest = hashlib.sha256(f"{seed}\0{attempt}".encode()).digest()
        return digest[:12].translate(_ID_LETTERS).decode()


# -- the same text again ----------------------------------------------------------------------


def merge(stored: Memory, given: Memory, now: datetime) -> Memory:
    """Return a stored memory with the fields given for the same text; itself if nothing changes.

    A field that is not given stays. Topics and metadata are added to, a given validity window replaces
    the old one, and a collection is taken where there was none. Without a window, a memory that is not
    valid now becomes valid: otherwise it would be stored and never found.
    """
    fields: dict[str, Any] = {
        name: got for name in _MERGED_FIELDS if (got := getattr(given, name))
    }
    window = {"valid_from": given.valid_from, "valid_until": given.valid_until}
    if any(window.values()) or not is_valid(stored.valid_from, stored.valid_until, now):
        fields |= window
    merged = stored._replace(
        **fields,
        topics=tuple(dict.fromkeys((*stored.topics, *given.topics))),
        collection=stored.collection or given.collection,
        metadata={**stored.metadata, **given.metadata},
    )
    if _are_equal(merged, stored):
        return stored
    return merged._replace(updated_at=given.updated_at or now)


def changes_nothing(stored: Memory, given: Memory) -> bool:
    """True when replacing a memory would change nothing; times that are not given stay."""
    as_stored = given._replace(
        created_at=given.created_at or stored.created_at,
        updated_at=given.updated_at or stored.updated_at,
        language=stored.language,
    )
    return _are_equal(as_stored, stored)


def _are_equal(one: Memory, other: Memory) -> bool:
    # In Python 1, 1.0 and True are equal; in the database they are not.
    if json.dumps(dict(one.metadata)) != json.dumps(dict(other.metadata)):
        return False
    return one._replace(metadata={}) == other._replace(metadata={})


# -- event times ------------------------------------------------------------------------------


def with_times(memory: Memory, now: datetime, before: Memory | None = None) -> Memory:
    """Return a memory with `created_at` (as given, as before, or now) and an event time."""
    created = memory.created_at or (before.created_at if before else None) or now
    return with_event_time(memory, now, before)._replace(created_at=created.astimezone(UTC))


def with_event_time(memory: Memory, now: datetime, before: Memory | None = None) -> Memory:
    """Return a memory with an event time: as given, else as its text says, if it says one.

    Words such as "yesterday" are relative to `created_at`, in the time zone it was given with, else in
    that of now. A document names too many times for one event time.
    """
    if memory.event_time or memory.event_until:
        return memory
    said_at = memory.created_at
    if said_at is None:
        created = before.created_at if before else None
        said_at = created.astimezone(now.tzinfo) if created else now
    return _event_in_text(memory, said_at)


def update_times(
    before: Memory, after: Memory, changes: Mapping[str, Any], now: datetime
) -> Memory:
    """Return a changed memory with its times: an event time derived from the old text is derived again.

    One that was given stays until another is given, or None, which means to derive it from the text.
    """
    if changes.get("event_time"):
        until = after.event_until if "event_until" in changes else None
        return with_times(after._replace(event_until=until), now, before)
    derive = "event_time" in changes or (
        not changes.keys().isdisjoint(_EVENT_FIELDS) and _is_derived(before, now)
    )
    if derive:
        until = after.event_until if changes.get("event_until") else None
        after = after._replace(event_time=None, event_until=until)
    if not changes.get("created_at"):  # it is stored in UTC, not in the zone of who wrote it
        after = after._replace(created_at=None)
    if derive:
        return with_times(after, now, before)
    created = after.created_at or before.created_at or now
    return after._replace(created_at=created.astimezone(UTC))


def _event_in_text(memory: Memory, said_at: datetime) -> Memory:
    if memory.type in NOT_NOTES or len(memory.text) > _MOST_EVENT_CHARS:
        return memory
    # Search results that a message repeats are about something else, or another time.
    text = blank_recalled(memory.text) if memory.type == "message" else memory.text
    window = events_in(text, said_at)
    if window is None:
        return memory
    return memory._replace(event_time=window.begins, event_until=window.ends)


def _is_derived(memory: Memory, now: datetime) -> bool:
    """True when the event time is what the text says, seen from the time zone of now or from UTC."""
    if memory.event_time is None or memory.created_at is None:
        return memory.event_until is None
    without = memory._replace(event_time=None, event_until=None)
    moments = (memory.created_at, memory.created_at.astimezone(now.tzinfo))
    return any(_event_in_text(without, said_at) == memory for said_at in moments)
