"""Writing memories: add, update, mark as done, link, forget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC
from typing import Any

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.storage.sql.versions import SUPERSEDED, UNDO
from scrubjay.store.context import Context
from scrubjay.store.read import Reader
from scrubjay.times import micros
from scrubjay.types import SHARED_PREFIX, WRITER, Memories, Memory, Stored
from scrubjay.write.document_links import resolve_later
from scrubjay.write.fields import check_strength, done_type, draft, open_type, topics_of
from scrubjay.write.remember import remember_all, update_times, write_memory
from scrubjay.write.versions import as_before, last_change

_BATCH = 1000
_BATCH_CHARS = 1_000_000  # a transaction is short: other processes write, too


@contextmanager
def _counting(stored: Sequence[Memory]) -> Iterator[None]:
    """Add to an error of the database how many memories of the same call are stored already."""
    try:
        yield
    except StoreError as error:
        if not stored:
            raise
        raise StoreError(
            f"{error}. Of this call, the {len(stored):,} before it are stored; they are not stored"
            " twice if you repeat it"
        ) from error


class Writer:
    """Writes what the caller may write, to the store's own database."""

    def __init__(self, context: Context, reader: Reader) -> None:
        self._context = context
        self._permissions = context.permissions
        self._tables = context.tables
        self._read = reader

    def add_many(self, memories: Iterable[Mapping[str, Any] | Memory]) -> Stored:
        stored: list[Memory] = []
        known: list[str] = []
        self._context.embedding.activate()
        shelf, sees = self._context.shelf, self._context.sees
        batch: list[Memory] = []
        chars = 0
        people = self._tables.people
        shares = not people.is_empty() and bool(people.visible(sees))

        def flush() -> None:
            with _counting(stored), self._tables.records.transaction():
                for namespace in {memory.namespace for memory in batch}:
                    if namespace.startswith(SHARED_PREFIX):
                        self._permissions.check_place(namespace)
                written = remember_all(shelf, batch, sees, self._permissions.changes)
                self.separate_copies([one.memory for one in written])
            stored.extend(one.memory for one in written)
            known.extend(one.memory.id for one in written if one.known)
            batch.clear()

        for given in memories:
            if not isinstance(given, Memory | Mapping):
                raise InvalidInput(
                    f"{given!r} is neither a mapping nor a Memory; give {{'text': …}}"
                )
            fields = given._asdict() if isinstance(given, Memory) else dict(given)
            batch.append(draft(self.placed(fields, shares)))
            chars += len(batch[-1].text)
            if len(batch) == _BATCH or chars > _BATCH_CHARS:
                flush()
                chars = 0
        flush()
        self._context.embedding.wake()
        if any(memory.type == "message" for memory in stored):
            self._context.extract_later()
        return Stored(stored, known)

    def update(self, id: str, changes: Mapping[str, Any]) -> Memory:
        with self._tables.records.transaction():
            now = self._context.clock()
            before = self.to_change([id])[0]._replace(links=())
            if before.type == "message" and changes.get("text", before.text) != before.text:
                self._forget_facts_of(id)
            given = {**before._asdict(), "updated_at": None, **changes, "id": id}
            if not changes.keys().isdisjoint(("namespace", "collection")):
                given = self._permissions.moved(given, before, changes)
            after = update_times(before, draft(given), changes, now)
            after = after._replace(updated_at=after.updated_at or now)
            agent = after.agent or "" if "agent" in changes else ""
            write_memory(self._context.shelf, after, self._context.sees, agent=agent)
            self._tables.copies.detach([id])
        self._context.embedding.wake()
        return self._read.get_all([id])[0]

    def undo(self, id: str) -> Memory:
        with self._tables.records.transaction():
            now = self._context.clock()
            before = self.to_change([id])[0]._replace(links=())
            change = last_change(id, self._tables.versions.of(id, self._permissions.changes))
            after = as_before(before, change, now.astimezone(UTC))
            if after.namespace != before.namespace:
                self._check_return(after)
            if before.type == "message" and after.text != before.text:
                self._forget_facts_of(id)
            write_memory(self._context.shelf, after, what=UNDO)
            self._tables.versions.mark_undone(id, change.n)
            self._tables.copies.detach([id])
            if change.what == SUPERSEDED:
                self._context.facts.unlink_superseding(id)
        self._context.embedding.wake()
        return self._read.get_all([id])[0]

    def _check_return(self, memory: Memory) -> None:
        """Refuse to move a memory back to a namespace in which the caller may not write any more."""
        place = {"namespace": memory.namespace, "collection": memory.collection}
        if self._permissions.placed(place)["namespace"] != memory.namespace:
            raise InvalidInput(
                f"{memory.id} was in the namespace {memory.namespace!r}, and cannot be moved back"
                " there; `update` moves it to another"
            )

    def _forget_facts_of(self, id: str) -> None:
        """Forget the facts that only this message supports: its text has changed."""
        facts = self._context.facts
        lost = facts.forget_messages({id})
        facts.spans.delete(id)
        if lost:
            copies = self._tables.copies.of(lost, self._permissions.changes)
            self._tables.records.delete([*lost, *copies])

    def mark(self, id: str, *, done: bool) -> Memory:
        with self._tables.records.transaction():  # no other process changes it in between
            before = self._read.get_all([id])[0]
            wanted = done_type(before.type) if done else open_type(before.type)
            return before if wanted == before.type else self.update(id, {"type": wanted})

    def rename_topic(self, old: str, new: str) -> int:
        names = [topics_of([old]), topics_of([new])]
        if not all(names):
            raise InvalidInput(
                f"the topics are {old!r} and {new!r}; neither may be empty: give a name such as 'python'"
            )
        (before,), (after,) = names
        renamed = self._tables.topics.rename(before, after, self._permissions.changes)
        if not renamed:
            raise NotFound(
                f"no memory has the topic {before!r}; `scrubjay topics` lists all topics"
            )
        return renamed

    def forget(self, id: str | Iterable[str]) -> int:
        ids = [id] if isinstance(id, str) else list(dict.fromkeys(id))
        with self._tables.records.transaction():
            # Of a damaged one the type is unknown: it may be a message.
            damaged = set(self._damaged(ids))
            found = self.to_change([id_ for id_ in ids if id_ not in damaged])
            resolve_later(self._context.shelf, found)
            messages = damaged | {memory.id for memory in found if memory.type == "message"}
            facts = self._context.facts.forget_messages(messages) if messages else []
            copies = self._tables.copies.of([*ids, *facts], self._permissions.changes)
            self._tables.records.delete(list(dict.fromkeys((*ids, *facts, *copies))))
        self._context.db.purge()
        return len(ids)

    def _damaged(self, ids: Sequence[str]) -> Iterable[str]:
        """Return those of these memories that cannot be read, and that the caller may forget."""
        records = self._tables.records
        if len(records.get(ids, self._permissions.changes)) == len(ids):
            return ()
        return records.unreadable(ids, self._permissions.changes)

    def only_of(self, id: str | Iterable[str]) -> list[Memory]:
        ids = {id} if isinstance(id, str) else set(id)
        facts = self._context.facts.only_of(ids)
        found = self._tables.records.get(facts, self._permissions.changes)
        return [memory for memory in found.values() if memory.id not in ids]

    def link(self, a: str, b: str, strength: float, kind: str) -> None:
        check_strength(strength)
        if a == b:
            raise InvalidInput(f"{a} cannot be linked to itself; give two different ids")
        if not kind.strip():
            raise InvalidInput("kind is empty; give a word such as 'related'")
        with self._tables.records.transaction():
            self._check_ends(a, b)
            made_us = micros(self._context.clock())
            self._tables.graph.link(a, b, float(strength), kind, made_us)

    def unlink(self, a: str, b: str, kind: str | None) -> int:
        with self._tables.records.transaction():
            self._check_ends(a, b)
            return self._tables.graph.unlink(a, b, kind)

    def _check_ends(self, a: str, b: str) -> None:
        """Refuse a link between two memories of which the caller may change neither."""
        self._read.get_all([a, b])
        self._context.lookup.refuse_others([a, b])
        if not self._tables.records.get([a, b], self._permissions.changes):
            self.to_change([a])

    def to_change(self, ids: Sequence[str]) -> Memories:
        found = self._read.get_all(ids)
        self._context.lookup.refuse_others(ids)
        allowed = self._tables.records.get(ids, self._permissions.changes)
        for memory in found:
            if memory.id not in allowed:
                shared = self._tables.people.by_namespace(memory.namespace)
                if shared is None:  # its collection was removed a moment ago
                    raise NotFound(f"no memory has the id {memory.id!r}", of="memory")
                self._permissions.check_role(shared, WRITER)
        return found

    def placed(self, given: dict[str, Any], shares: bool) -> dict[str, Any]:
        plain = not (given.get("namespace") or given.get("collection"))
        if plain and not shares and self._permissions.user is None:
            return given
        return self._permissions.placed(self._where_it_is(given) if shares else given)

    def _where_it_is(self, given: dict[str, Any]) -> dict[str, Any]:
        """Leave a memory of a shared collection there when it is replaced by its id alone."""
        placed = given.get("namespace") not in (None, "default") or given.get("collection")
        if placed or not isinstance(given.get("id"), str):
            return given
        before = self._tables.records.get([given["id"].strip()], self._permissions.changes)
        for memory in before.values():
            if memory.namespace.startswith(SHARED_PREFIX):
                return {**given, "namespace": memory.namespace, "collection": memory.collection}
        return given

    def separate_copies(self, stored: Sequence[Memory]) -> None:
        """Make published copies that were written again memories of their own."""
        shared = [memory.id for memory in stored if memory.namespace.startswith(SHARED_PREFIX)]
        if shared:
            self._tables.copies.detach(shared)
