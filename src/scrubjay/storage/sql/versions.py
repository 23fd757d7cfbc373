"""Earlier versions of memories: what each change replaced, when, and by whom.

A row has only the fields that its change replaced. Walking back from the memory itself, newest first, gives
every version in full. Rows are deleted with their memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from scrubjay.storage.codec import UNREADABLE, DamagedValue, readable
from scrubjay.storage.sql.records import TEXT, TITLE
from scrubjay.storage.sql.scope import SqlTable, namespace_condition
from scrubjay.times import micros, moment
from scrubjay.types import Memory, Scope

CREATED, EDITED, DONE, UNDONE = "created", "edited", "done", "undone"
SUPERSEDED, RESTORED, UNDO = "superseded", "restored", "undo"
_EARLIER = "versions.earlier"  # its place, as the codec knows it
_BATCH = 200
_ROW = "v.n, v.at_us, v.what, v.person, v.can_undo, v.earlier"
_OF_ID = "memory = (SELECT n FROM memories WHERE id = ?)"
_TEXTS = ("text", "title", "type", "namespace", "context")
_TIMES = ("created_at", "event_time", "event_until", "valid_from", "valid_until")
# All but what is derived, and `updated_at`, which every change sets.
_FIELDS = (
    *("text", "title", "type", "topics", "namespace", "collection", "session", "role", "owner"),
    *("agent", "severity", "domain", "context", "source", "metadata", *_TIMES),
)


class Replaced(NamedTuple):
    """What one change of a memory replaced. `is_visible` is False where the memory was in a namespace
    that the caller may not see."""

    n: int
    at_us: int
    what: str
    person: str
    can_undo: bool
    is_visible: bool
    earlier: Mapping[str, Any]


class Wording(NamedTuple):
    """Text and title of a memory at some time."""

    text: str
    title: str


class SqlVersions(SqlTable):
    """The table `versions`."""

    table = "versions"

    def add(self, before: Memory, after: Memory, at_us: int, what: str, person: str) -> None:
        """Keep what a change replaced; nothing where no field has changed."""
        old, new = _plain(before), _plain(after)
        earlier = {name: value for name, value in old.items() if _differ(value, new[name])}
        if earlier:
            self._insert(after.id, at_us, what, person, before.namespace, earlier)

    def add_first(self, memory: Memory, at_us: int, person: str) -> None:
        """Keep who wrote a new memory."""
        self._insert(memory.id, at_us, CREATED, person, memory.namespace, {})

    def of(self, id_: str, scope: Scope) -> list[Replaced]:
        """Return the changes of a memory, newest first, back to the first one that is not visible."""
        changes: list[Replaced] = []
        for change in readable(self._replaced, self._rows_of([id_], scope)):
            changes.append(change)
            if not change.is_visible:
                break
        return changes

    def mark_undone(self, id_: str, n: int) -> None:
        self._write(
            "UPDATE versions SET can_undo = 0 WHERE n = ?"
            " AND memory = (SELECT n FROM memories WHERE id = ?)",
            (n, id_),
        )

    def wordings_at(self, ids: Sequence[str], at: datetime, scope: Scope) -> dict[str, Wording]:
        """Return text and title that memories had at a time, as far as they were not the present ones.

        A memory that did not change since is not in it; one that was created later has its first text.
        If the clock went back between two changes, the one written last counts. A text from before a
        memory came from a namespace that the scope may not see is not returned.
        """
        wordings: dict[str, dict[str, str]] = {}
        hidden: set[str] = set()
        for id_, *row in self._rows_of(ids, scope, since=at):
            if id_ in hidden:
                continue
            for change in readable(self._replaced, [(id_, *row)]):
                if not change.is_visible:
                    hidden.add(id_)
                elif not change.earlier.keys().isdisjoint(Wording._fields):
                    wordings.setdefault(id_, {}).update(change.earlier)
        return self._completed(wordings)

    def _completed(self, wordings: Mapping[str, Mapping[str, str]]) -> dict[str, Wording]:
        """Return wordings with the present text or title where that has not changed."""
        rows = self._rows_in(
            "SELECT id, text, title FROM memories WHERE id IN ({values})", list(wordings)
        )

        def whole(row: Sequence[Any]) -> tuple[str, Wording]:
            id_, text, title = row
            texts = (self._unseal(text, TEXT, id_), self._unseal(title, TITLE, id_))
            now = {**Wording(*texts)._asdict(), **wordings[id_]}
            return id_, Wording(now["text"], now["title"])

        return dict(readable(whole, rows))

    def delete(self, id_: str) -> None:
        """Delete the earlier versions of a memory."""
        with self._db.write():
            if self._write(f"DELETE FROM versions WHERE {_OF_ID}", (id_,)):
                self._db.mark_deleted(words=False)

    def delete_texts(self, id_: str) -> None:
        """Delete the changes of a memory that contain an earlier text."""
        with self._db.write():
            rows = self._rows(f"SELECT n, at_us, earlier FROM versions WHERE {_OF_ID}", (id_,))
            for n, at_us, sealed in rows:
                if self._may_have_text(id_, at_us, sealed):
                    self._write(f"DELETE FROM versions WHERE {_OF_ID} AND n = ?", (id_, n))
                    self._db.mark_deleted(words=False)

    def _may_have_text(self, id_: str, at_us: int, sealed: Any) -> bool:
        try:
            return "text" in json.loads(self._unseal(sealed, _EARLIER, _owner(id_, at_us)))
        except UNREADABLE:
            return True

    def damaged(self) -> Iterator[tuple[int, int, str]]:
        """Yield memory, number and id of the memory for each row that cannot be read."""
        after = (0, 0)
        while batch := self._rows(
            f"SELECT v.memory, m.id, {_ROW} FROM versions AS v JOIN memories AS m ON m.n = v.memory"
            " WHERE (v.memory, v.n) > (?, ?) ORDER BY v.memory, v.n LIMIT ?",
            (*after, _BATCH),
        ):
            after = (batch[-1][0], batch[-1][2])
            for memory, *row in batch:
                if not list(readable(self._replaced, [[*row, 1]])):
                    yield memory, row[1], row[0]

    def _insert(
        self, id_: str, at_us: int, what: str, person: str, namespace: str, earlier: object
    ) -> None:
        can_undo = int(what not in (CREATED, UNDO))
        text = json.dumps(earlier, ensure_ascii=False)
        sealed = self._seal(text, _EARLIER, _owner(id_, at_us), namespace)
        self._write(
            "INSERT INTO versions (memory, n, at_us, what, person, namespace, can_undo, earlier)"
            " SELECT m.n, 1 + coalesce((SELECT max(v.n) FROM versions AS v WHERE v.memory = m.n), 0),"
            " ?, ?, ?, ?, ?, ? FROM memories AS m WHERE m.id = ?",
            (at_us, what, person, namespace, can_undo, sealed, id_),
        )

    def _rows_of(
        self, ids: Sequence[str], scope: Scope, since: datetime | None = None
    ) -> list[tuple[Any, ...]]:
        """Return the rows of memories, newest first; with `since`, those after the last one until then."""
        visible, arguments = namespace_condition(scope, "v.namespace")
        newer, times = "", list[int]()
        if since is not None:
            newer = (
                " AND v.n > coalesce((SELECT max(w.n) FROM versions AS w"
                " WHERE w.memory = m.n AND w.at_us <= ?), 0)"
            )
            times.append(micros(since))
        rows = self._rows_in(
            f"SELECT m.id, {_ROW}, CASE WHEN {visible} THEN 1 ELSE 0 END"
            f" FROM memories AS m JOIN versions AS v ON v.memory = m.n WHERE m.id IN ({{values}}){newer}",
            list(dict.fromkeys(ids)),
            times,
            before=arguments,
        )
        whole = (row for row in rows if type(row[1]) is int)
        return sorted(whole, key=lambda row: row[:2], reverse=True)

    def _replaced(self, row: Sequence[Any]) -> Replaced:
        id_, n, at_us, what, person, can_undo, sealed, is_visible = row
        moment(at_us)  # a time outside the calendar is damage
        stored = json.loads(self._unseal(sealed, _EARLIER, _owner(id_, at_us)))
        texts = [what, person, *(stored[name] for name in _TEXTS if name in stored)]
        if type(stored) is not dict or not all(type(text) is str for text in texts):
            raise DamagedValue("an earlier version has a value of the wrong kind")
        earlier = {name: _value(name, stored[name]) for name in _FIELDS if name in stored}
        return Replaced(n, at_us, what, person, bool(can_undo), bool(is_visible), earlier)


def _owner(id_: str, at_us: int) -> str:
    return f"{at_us} {id_}"


def _plain(memory: Memory) -> dict[str, Any]:
    """Return the fields of a memory as JSON values."""
    fields = memory._asdict()
    plain = {name: fields[name] for name in _FIELDS}
    plain |= {"topics": list(memory.topics), "metadata": dict(memory.metadata)}
    times = ((name, fields[name]) for name in _TIMES)
    return plain | {name: None if time is None else time.isoformat() for name, time in times}


def _differ(one: Any, other: Any) -> bool:
    # In Python 1, 1.0 and True are equal; in the database they are not.
    return bool(one != other) or (type(one) is dict and json.dumps(one) != json.dumps(other))


def _value(name: str, stored: Any) -> Any:
    """Return the value of a field from its JSON form."""
    if name in _TIMES:
        return None if stored is None else datetime.fromisoformat(stored)
    return tuple(stored) if name == "topics" else stored
