"""How many results each tier found, by the hour, in SQLite."""

from __future__ import annotations

from collections.abc import Mapping

from scrubjay.storage.database import Database

HOUR_US = 3_600_000_000
SEARCHES = ""  # the tier that counts searches
Counts = Mapping[tuple[int, str], int]  # by the beginning of an hour and a tier


class SqlHits:
    """The hits of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, counts: Counts, wait_s: float) -> None:
        """Add to what was counted before; a store that is busy longer than that is a StoreError."""
        with self._db.write(wait_s) as db:
            db.executemany(
                "INSERT INTO hits (hour_us, tier, count) VALUES (?, ?, ?)"
                " ON CONFLICT (hour_us, tier) DO UPDATE SET count = hits.count + excluded.count",
                [(hour, tier, count) for (hour, tier), count in sorted(counts.items())],
            )

    def since(self, hour_us: int) -> dict[tuple[int, str], int]:
        """Return the counts of the hours that begin at this moment or later."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT hour_us, tier, count FROM hits WHERE hour_us >= ?", (hour_us,)
            )
            return {(hour, tier): count for hour, tier, count in rows}
