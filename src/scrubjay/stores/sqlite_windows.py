"""When memories are valid: from when, until when, and what that leaves at a moment."""

from __future__ import annotations

from scrubjay.stores.sqlite import Database

_BEFORE_ALL_US = -(2**62)


class SqliteWindows:
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
                "SELECT max("
                " ifnull((SELECT max(valid_from_us) FROM memories WHERE valid_from_us <= ?1), ?2),"
                " ifnull((SELECT max(valid_until_us) FROM memories WHERE valid_until_us <= ?1), ?2)),"
                " (SELECT min(valid_from_us) FROM memories),"
                " (SELECT min(valid_until_us) FROM memories)",
                (now_us, _BEFORE_ALL_US),
            ).fetchone()
        return None if any_from is None and any_until is None else int(last)
