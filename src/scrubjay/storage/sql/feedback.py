"""What became of results, in SQLite: who thought what of which one, and whether weights stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import StoreError
from scrubjay.storage.database import NOTE, Database
from scrubjay.times import moment

if TYPE_CHECKING:
    from scrubjay.types.reports import FeedbackGiven

_LAST = "feedback"  # the key of the last number that was given
_OWNER = ""  # who owns the file, and opens it for nobody in particular
_SELECT = (
    "SELECT f.n, f.at_us, f.query, m.id, f.action, f.person"
    " FROM feedback AS f JOIN memories AS m ON m.n = f.memory"
)


class Tally(NamedTuple):
    """How many results were accepted, modified and dismissed."""

    accepted: int = 0
    modified: int = 0
    dismissed: int = 0


class SqlFeedback:
    """The feedback of one caller in one file.

    A person's is theirs alone. Who owns the file, and is nobody in particular, sees and counts that of
    all. Whether the weights are frozen is each caller's own affair.
    """

    def __init__(self, db: Database, person: str | None) -> None:
        self._db = db
        self._person = person or _OWNER
        # Two conditions and not one of both: each can be answered from an index.
        self._mine = ("TRUE", ()) if self._person == _OWNER else ("f.person = ?", (self._person,))

    def add(self, id_: str, query: str, action: str, at_us: int) -> FeedbackGiven | None:
        """Keep what the caller thought of a result; None where the memory is not there any more."""
        with self._db.write() as db:
            # A number that was taken back is not given again: it would take back another feedback.
            (last,) = db.execute(
                "SELECT max(last) FROM (SELECT 0 AS last UNION ALL SELECT max(n) FROM feedback"
                " UNION ALL SELECT value FROM meta WHERE key = ?) AS known",
                (_LAST,),
            ).fetchone()
            made = db.execute(
                "INSERT INTO feedback (n, memory, query, action, at_us, person)"
                " SELECT ?, n, ?, ?, ?, ? FROM memories WHERE id = ?",
                (last + 1, self._db.codec.seal(query), action, at_us, self._person, id_),
            )
            if not made.rowcount:
                return None
            db.execute(NOTE, (_LAST, last + 1))
            row = db.execute(f"{_SELECT} WHERE f.n = ?", (last + 1,)).fetchone()
        return self._given(row)

    def tally(self) -> Tally:
        """Count the feedback of the caller."""

        mine, who = self._mine
        counts = dict.fromkeys(Tally._fields, 0)
        with self._db.read() as db:
            # Person by person: so an index has them in order, and nothing is sorted.
            for action, count in db.execute(
                f"SELECT f.action, count(*) FROM feedback AS f WHERE {mine}"
                " GROUP BY f.person, f.action",
                who,
            ):
                counts[action] += count
        return Tally(**counts)

    def newest(self, limit: int) -> list[FeedbackGiven]:
        """Return the caller's feedback, newest first."""
        mine, who = self._mine
        with self._db.read() as db:
            rows = db.execute(f"{_SELECT} WHERE {mine} ORDER BY f.n DESC LIMIT ?", (*who, limit))
            return [self._given(row) for row in rows]

    def undo(self, number: int | None) -> FeedbackGiven | None:
        """Take back the caller's feedback of this number, or the last; None where there is none."""
        mine, who = self._mine
        with self._db.write() as db:
            row = db.execute(
                f"{_SELECT} WHERE {mine} AND f.n = coalesce(?, f.n) ORDER BY f.n DESC LIMIT 1",
                (*who, number),
            ).fetchone()
            if row is None:
                return None
            db.execute("DELETE FROM feedback WHERE n = ?", row[:1])
        self._db.purge_log()  # what was asked is gone with it
        return self._given(row)

    def reset(self) -> int:
        """Remove all feedback of the caller; return how many there were."""
        mine, who = self._mine
        with self._db.write() as db:
            gone = db.execute(f"DELETE FROM feedback AS f WHERE {mine}", who).rowcount
        self._db.purge_log()
        return gone

    def frozen(self) -> float | None:
        """Return how far the weights were moved when the caller froze them; None while they are not."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT shift FROM frozen WHERE person = ?", (self._person,)
            ).fetchone()
        return None if row is None else float(row[0])

    def freeze(self, shift: float, at_us: int) -> None:
        """Let the weights of the caller's searches stay moved by this much."""
        with self._db.write() as db:
            db.execute(
                "INSERT INTO frozen (person, shift, at_us) VALUES (?, ?, ?) ON CONFLICT (person)"
                " DO UPDATE SET shift = excluded.shift, at_us = excluded.at_us",
                (self._person, shift, at_us),
            )

    def thaw(self) -> bool:
        """Let the weights follow the caller's feedback again; False where they did already."""
        with self._db.write() as db:
            thawed = db.execute("DELETE FROM frozen WHERE person = ?", (self._person,)).rowcount
        return bool(thawed)

    def _given(self, row: Sequence[Any]) -> FeedbackGiven:
        from scrubjay.types.reports import FeedbackGiven

        number, at_us, query, id_, action, person = row
        at = moment(at_us)
        assert at is not None
        return FeedbackGiven(number, at, self._db.codec.unseal(query), id_, action, person or None)


_WAIT_S = 0.2
_MOST = 2000  # of one kind; the oldest go


class SqlAnswerCache:
    """Small texts by kind and key."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, kind: str, key: str) -> str | None:
        """Return what was kept, or None."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT value FROM kept WHERE kind = ? AND key = ?", (kind, key)
            ).fetchone()
        return self._db.codec.unseal(row[0]) if row else None

    def put(self, kind: str, key: str, value: str, at_us: int) -> None:
        """Keep a text in place of any other of that key, unless the file is busy."""
        try:
            with self._db.write(_WAIT_S) as db:
                db.execute(
                    "INSERT INTO kept (kind, key, value, at_us) VALUES (?, ?, ?, ?) ON CONFLICT"
                    " (kind, key) DO UPDATE SET value = excluded.value, at_us = excluded.at_us",
                    (kind, key, self._db.codec.seal(value), at_us),
                )
                db.execute(
                    "DELETE FROM kept WHERE kind = ?1 AND key IN (SELECT key FROM kept"
                    " WHERE kind = ?1 ORDER BY at_us DESC, key LIMIT -1 OFFSET ?2)",
                    (kind, _MOST),
                )
        except StoreError:
            return

    def drop(self, kind: str, key: str) -> None:
        """Forget what was kept, if anything was."""
        if self.get(kind, key) is None:
            return
        try:
            with self._db.write(_WAIT_S) as db:
                db.execute("DELETE FROM kept WHERE kind = ? AND key = ?", (kind, key))
        except StoreError:
            return
