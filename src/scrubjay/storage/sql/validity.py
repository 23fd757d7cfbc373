"""When memories are valid: from when, until when, and what that leaves at a moment."""

from __future__ import annotations

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import where
from scrubjay.types import Scope

_BEFORE_ALL_US, _AFTER_ALL_US = -(2**62), 2**62


class SqlWindows:
    """The validity windows of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def state_us(self, now_us: int) -> int | None:
        """Return the last moment until now at which a window began or ended; None without any window.

        What is valid then is valid now. It stays the same number until something begins or ends, so
        sets of memories that were made for it can be kept.
        """
        with self._db.read() as db:
            last, any_from, any_until = db.execute(
                "SELECT (SELECT max(at) FROM (SELECT max(valid_from_us) AS at FROM memories"
                " WHERE valid_from_us <= ?1 UNION ALL"
                " SELECT max(valid_until_us) FROM memories WHERE valid_until_us <= ?1) AS ends),"
                # Said in so many words, or the indexes are not used and all memories are read.
                " (SELECT min(valid_from_us) FROM memories WHERE valid_from_us IS NOT NULL),"
                " (SELECT min(valid_until_us) FROM memories WHERE valid_until_us IS NOT NULL)",
                (now_us,),
            ).fetchone()
        if any_from is None and any_until is None:
            return None
        return _BEFORE_ALL_US if last is None else int(last)

    def ending(self, now_us: int, within_us: int | None, scope: Scope) -> list[str]:
        """Return the ids of what ends after now, within so long, the soonest first."""
        until_us = _AFTER_ALL_US if within_us is None else min(now_us + within_us, _AFTER_ALL_US)
        return self._ends("> ?", "<= ?", now_us, until_us, scope, "")

    def ended(self, now_us: int, within_us: int | None, scope: Scope) -> list[str]:
        """Return the ids of what has ended by now, within so long before, the latest first."""
        since_us = _BEFORE_ALL_US if within_us is None else max(now_us - within_us, _BEFORE_ALL_US)
        return self._ends(">= ?", "<= ?", since_us, now_us, scope, " DESC")

    def _ends(
        self, above: str, below: str, first_us: int, last_us: int, scope: Scope, order: str
    ) -> list[str]:
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT m.id FROM memories AS m WHERE m.valid_until_us {above}"
                f" AND m.valid_until_us {below} AND {condition} ORDER BY m.valid_until_us{order}, m.id",
                (first_us, last_us, *arguments),
            )
            return [id_ for (id_,) in rows]
