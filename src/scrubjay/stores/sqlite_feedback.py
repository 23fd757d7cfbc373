"""What became of results, in SQLite: who thought what of which one, and whether weights stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.stores.sqlite import Database
from scrubjay.times import moment

if TYPE_CHECKING:
    from scrubjay.reports import FeedbackGiven
    from scrubjay.stores.protocols import Tally

_OWNER = ""  # who owns the file, and opens it for nobody in particular
_SELECT = (
    "SELECT f.n, f.at_us, f.query, m.id, f.action, f.person"
    " FROM feedback AS f JOIN memories AS m ON m.n = f.memory"
)


class SqliteFeedback:
    """The feedback of one caller in one file.

    A person's is theirs alone. Who owns the file, and is nobody in particular, sees and counts that of
    all. Whether the weights are frozen is each caller's own affair.
    """

    def __init__(self, db: Database, person: str | None) -> None:
        self._db = db
        self._person = person or _OWNER

    def add(self, id_: str, query: str, action: str, at_us: int) -> None:
        """Keep what the caller thought of a result."""
        with self._db.write() as db:
            db.execute(
                "INSERT INTO feedback (memory, query, action, at_us, person)"
                " SELECT n, ?, ?, ?, ? FROM memories WHERE id = ?",
                (self._db.codec.seal(query), action, at_us, self._person, id_),
            )

    def tally(self) -> Tally:
        """Count the feedback of the caller."""
        from scrubjay.stores.protocols import Tally

        with self._db.read() as db:
            rows = db.execute(
                "SELECT action, count(*) FROM feedback WHERE ?1 IN ('', person) GROUP BY action",
                (self._person,),
            ).fetchall()
        return Tally(**dict(rows))

    def newest(self, limit: int) -> list[FeedbackGiven]:
        """Return the caller's feedback, newest first."""
        with self._db.read() as db:
            rows = db.execute(
                f"{_SELECT} WHERE ?1 IN ('', f.person) ORDER BY f.n DESC LIMIT ?2",
                (self._person, limit),
            )
            return [self._given(row) for row in rows]

    def undo(self, number: int | None) -> FeedbackGiven | None:
        """Take back the caller's feedback of this number, or the last; None where there is none."""
        with self._db.write() as db:
            row = db.execute(
                f"{_SELECT} WHERE ?1 IN ('', f.person) AND f.n = ifnull(?2, f.n)"
                " ORDER BY f.n DESC LIMIT 1",
                (self._person, number),
            ).fetchone()
            if row is None:
                return None
            db.execute("DELETE FROM feedback WHERE n = ?", row[:1])
        self._db.purge_log()  # what was asked is gone with it
        return self._given(row)

    def reset(self) -> int:
        """Remove all feedback of the caller; return how many there were."""
        with self._db.write() as db:
            gone = db.execute(
                "DELETE FROM feedback WHERE ?1 IN ('', person)", (self._person,)
            ).rowcount
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
                "INSERT OR REPLACE INTO frozen (person, shift, at_us) VALUES (?, ?, ?)",
                (self._person, shift, at_us),
            )

    def thaw(self) -> bool:
        """Let the weights follow the caller's feedback again; False where they did already."""
        with self._db.write() as db:
            thawed = db.execute("DELETE FROM frozen WHERE person = ?", (self._person,)).rowcount
        return bool(thawed)

    def _given(self, row: Sequence[Any]) -> FeedbackGiven:
        from scrubjay.reports import FeedbackGiven

        number, at_us, query, id_, action, person = row
        return FeedbackGiven(
            number, moment(at_us), self._db.codec.unseal(query), id_, action, person or None
        )
