"""What searches leave behind: feedback on results, and cached answers of models."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import StoreError
from scrubjay.storage.codec import UNREADABLE, DamagedValue, readable
from scrubjay.storage.database import NOTE, Database
from scrubjay.storage.sql.scope import SqlTable
from scrubjay.times import moment

if TYPE_CHECKING:
    from scrubjay.types.reports import FeedbackGiven

_LAST = "feedback"  # key of the last number that was given
_OWNER = ""  # the owner of the database, who opens it without a user
_SELECT = (
    "SELECT f.n, f.at_us, f.query, m.id, f.action, f.person"
    " FROM feedback AS f JOIN memories AS m ON m.n = f.memory"
)
_QUERY, _VALUE = "feedback.query", "kept.value"  # their places, as the codec knows them
_CACHE_WAIT_S = 0.2
_MAX_CACHED = 2000  # answers of one kind; the oldest are deleted


class Tally(NamedTuple):
    """How many results were accepted, modified and dismissed."""

    accepted: int = 0
    modified: int = 0
    dismissed: int = 0


class SqlFeedback(SqlTable):
    """The tables `feedback` and `frozen`, for one caller.

    A user sees and counts only their own feedback; the owner of the database, opening it without a user,
    sees that of all. Each caller freezes their own weights.
    """

    def __init__(self, db: Database, person: str | None) -> None:
        super().__init__(db)
        self._person = person or _OWNER
        # Two conditions rather than one with OR: each can use an index.
        self._mine = ("TRUE", ()) if self._person == _OWNER else ("f.person = ?", (self._person,))

    def add(self, id_: str, query: str, action: str, at_us: int) -> FeedbackGiven | None:
        """Record whether a result helped; None if the memory was deleted."""
        with self._db.write() as db:
            # Numbers are not reused: undo by an old number would delete other feedback.
            (last,) = db.execute(
                "SELECT max(last) FROM (SELECT 0 AS last UNION ALL SELECT max(n) FROM feedback"
                " UNION ALL SELECT value FROM meta WHERE key = ?) AS known",
                (_LAST,),
            ).fetchone()
            sealed = self._seal(query, _QUERY, f"{last + 1} {id_}")
            added = db.execute(
                "INSERT INTO feedback (n, memory, query, action, at_us, person)"
                " SELECT ?, n, ?, ?, ?, ? FROM memories WHERE id = ?",
                (last + 1, sealed, action, at_us, self._person, id_),
            )
            if not added.rowcount:
                return None
            db.execute(NOTE, (_LAST, last + 1))
            row = db.execute(f"{_SELECT} WHERE f.n = ?", (last + 1,)).fetchone()
        return self._given(row)

    def tally(self) -> Tally:
        condition, arguments = self._mine
        counts = dict.fromkeys(Tally._fields, 0)
        # By person: so an index has them in order, and nothing is sorted.
        for action, count in self._rows(
            f"SELECT f.action, count(*) FROM feedback AS f WHERE {condition}"
            " GROUP BY f.person, f.action",
            arguments,
        ):
            if action in counts:
                counts[action] += count
        return Tally(**counts)

    def newest(self, limit: int) -> list[FeedbackGiven]:
        condition, arguments = self._mine
        rows = self._rows(
            f"{_SELECT} WHERE {condition} ORDER BY f.n DESC LIMIT ?", (*arguments, limit)
        )
        return list(readable(self._given, rows))

    def undo(self, number: int | None) -> FeedbackGiven | None:
        """Delete the caller's feedback of this number, or the last; None where there is none."""
        condition, arguments = self._mine
        with self._db.write() as db:
            row = db.execute(
                f"{_SELECT} WHERE {condition} AND f.n = coalesce(?, f.n) ORDER BY f.n DESC LIMIT 1",
                (*arguments, number),
            ).fetchone()
            if row is None:
                return None
            db.execute("DELETE FROM feedback WHERE n = ?", row[:1])
            self._db.mark_deleted(words=False)
        self._db.purge()  # the query is deleted, too
        return self._given(row)

    def reset(self) -> int:
        """Delete all feedback of the caller; return how many there were."""
        condition, arguments = self._mine
        with self._db.write():
            deleted = self._write(f"DELETE FROM feedback AS f WHERE {condition}", arguments)
            self._db.mark_deleted(words=False)
        self._db.purge()
        return deleted

    def frozen(self) -> float | None:
        """Return the shift of the weights when the caller froze them; None while they are not frozen."""
        row = self._row("SELECT shift FROM frozen WHERE person = ?", (self._person,))
        with suppress(*UNREADABLE):
            return None if row is None else float(row[0])
        return None

    def freeze(self, shift: float, at_us: int) -> None:
        self._write(
            "INSERT INTO frozen (person, shift, at_us) VALUES (?, ?, ?) ON CONFLICT (person)"
            " DO UPDATE SET shift = excluded.shift, at_us = excluded.at_us",
            (self._person, shift, at_us),
        )

    def thaw(self) -> bool:
        """Let feedback change the weights again; False when they were not frozen."""
        return bool(self._write("DELETE FROM frozen WHERE person = ?", (self._person,)))

    def _given(self, row: Sequence[Any]) -> FeedbackGiven:
        from scrubjay.types.reports import FeedbackGiven

        number, at_us, query, id_, action, person = row
        at = moment(at_us)
        if at is None:
            raise DamagedValue("feedback has no time")
        query = self._unseal(query, _QUERY, f"{number} {id_}")
        return FeedbackGiven(number, at, query, id_, action, person or None)


class SqlAnswerCache(SqlTable):
    """The table `kept`: texts by kind and key, such as expansions, a model's speed or its last failure.

    All of them can be made again, so a locked database is no reason to wait or to fail.
    """

    def get(self, kind: str, key: str) -> str | None:
        statement = "SELECT value FROM kept WHERE kind = ? AND key = ?"
        row = self._row(statement, (kind, self._stored_key(key)))
        with suppress(*UNREADABLE):
            return self._unseal(row[0], _VALUE, f"{kind} {key}") if row else None
        return None

    def put(self, kind: str, key: str, value: str, at_us: int) -> None:
        """Cache a text, replacing any other of that key, unless the database is locked."""
        with suppress(StoreError), self._db.write(_CACHE_WAIT_S) as db:
            sealed = self._seal(value, _VALUE, f"{kind} {key}")
            db.execute(
                "INSERT INTO kept (kind, key, value, at_us) VALUES (?, ?, ?, ?) ON CONFLICT"
                " (kind, key) DO UPDATE SET value = excluded.value, at_us = excluded.at_us",
                (kind, self._stored_key(key), sealed, at_us),
            )
            db.execute(
                "DELETE FROM kept WHERE kind = ?1 AND key IN (SELECT key FROM kept"
                " WHERE kind = ?1 ORDER BY at_us DESC, key LIMIT -1 OFFSET ?2)",
                (kind, _MAX_CACHED),
            )

    def drop(self, kind: str, key: str) -> None:
        if self.get(kind, key) is not None:
            with suppress(StoreError), self._db.write(_CACHE_WAIT_S) as db:
                db.execute(
                    "DELETE FROM kept WHERE kind = ? AND key = ?", (kind, self._stored_key(key))
                )

    def _stored_key(self, key: str) -> str:
        return self._db.codec.exact(key, "kept.key")
