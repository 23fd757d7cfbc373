"""When things were said and when they happened, in SQLite."""

from __future__ import annotations

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import where
from scrubjay.types import RankedList, Row, Scope, Spoken


class SqlMoments:
    """The times of the memories of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def spoken(self, session: str | None, settled_us: int) -> Spoken | None:
        """Return which raw messages are seen, by a number that stays until that changes.

        None where all of them are: then no search has to look at what is a message.
        """
        with self._db.read() as db:
            newest, newest_settled, extracted = db.execute(
                "SELECT (SELECT max(created_us) FROM memories WHERE type = 'message'),"
                " (SELECT max(created_us) FROM memories WHERE type = 'message' AND created_us <= ?),"
                " EXISTS (SELECT 1 FROM extractions WHERE outcome = 'facts')",
                (settled_us,),
            ).fetchone()
        if newest is None or (newest <= settled_us and not extracted):
            return None
        # Kept sets of memories are of one scope: with the moment itself, every search had its own.
        return Spoken(session, _BEFORE_ALL_US if newest_settled is None else newest_settled)

    def unsettled(self, settled_us: int, scope: Scope) -> int:
        """Return how many messages were said after a moment, of those that a scope may see."""
        condition, arguments = where(scope._replace(spoken=None), self._db)
        with self._db.read() as db:
            row = db.execute(
                "SELECT count(*) FROM memories AS m WHERE m.type = 'message' AND m.created_us > ?"
                f" AND {condition}",
                (settled_us, *arguments),
            ).fetchone()
        return int(row[0])

    def between(self, begins_us: int, ends_us: int, scope: Scope, limit: int) -> RankedList:
        """Return what happened, or was said, from one moment until another, the latest first.

        What began before and was not over by then comes last. A message without a word of
        its own, such as one of recalled text alone, is none of that.
        """
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            # Two statements in one: for what lasts, and for the rest, there is an index each.
            rows = db.execute(
                "SELECT id, updated_us FROM (SELECT * FROM (SELECT m.n, m.id, m.type, m.updated_us,"
                " coalesce(m.event_us, m.created_us) AS at FROM memories AS m"
                " WHERE coalesce(m.event_us, m.created_us) >= ?"
                f" AND coalesce(m.event_us, m.created_us) < ? AND {condition}"
                " UNION ALL SELECT m.n, m.id, m.type, m.updated_us, m.event_us FROM memories AS m"
                " WHERE m.event_until_us IS NOT NULL AND m.event_until_us > ? AND m.event_us < ?"
                # The limit inside keeps the words from being looked up of more than are returned.
                f" AND {condition}) AS seen ORDER BY at DESC, updated_us DESC, id LIMIT -1) AS latest"
                " WHERE type <> 'message' OR (SELECT text <> '' FROM words WHERE rowid = n) LIMIT ?",
                (begins_us, ends_us, *arguments, begins_us, begins_us, *arguments, limit),
            )
            return RankedList("moment", tuple(Row(id_, 1.0, None, us) for id_, us in rows))


_BEFORE_ALL_US = -(2**62)
