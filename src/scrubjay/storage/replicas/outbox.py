"""What servers have yet to be told, in SQL: rows that triggers write, taken under a lease."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import in_parts
from scrubjay.text.urls import is_server_url

GRAPH = "graph"
MOST_COUNTED = 100_000  # nobody wants to know how many more there are, and counting takes time
ANEW = ""  # stands for the other end: the memory was gone, and its links with it
EVERYTHING = ""  # stands for an id: forget the whole store, before what comes after this


class Note(NamedTuple):
    """A memory that a server has to be told of; with `other`, the links between two."""

    n: int
    id: str
    other: str | None = None


class SqlOutbox:
    """What is noted for the servers of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def store(self) -> str:
        """Return the id of this store, by which servers tell it from others."""
        with self._db.read() as db:
            row = db.execute("SELECT key FROM keys WHERE name = 'store'").fetchone()
        if row is None:
            raise StoreError(f"{self._db.path} has no id of its own; open it for writing once")
        return bytes(row[0]).hex()

    def tell_copy_apart(self) -> None:
        """Give a file that is a copy of another an id of its own, and no server yet.

        Under one id, each would have the servers forget what the other has told them.
        """
        here = self._db.path
        if here == ":memory:" or is_server_url(here):
            return
        with self._db.read() as db:
            row = db.execute("SELECT key FROM keys WHERE name = 'home'").fetchone()
        home = None if row is None else bytes(row[0]).decode()
        if home == here:
            return
        with self._db.write() as db:
            if home is not None and os.path.exists(home) and not os.path.samefile(home, here):
                db.execute("DELETE FROM projections")
                db.execute("DELETE FROM outbox")
                db.execute("UPDATE keys SET key = ? WHERE name = 'store'", (os.urandom(16),))
            db.execute(
                "INSERT INTO keys (name, key) VALUES ('home', ?)"
                " ON CONFLICT (name) DO UPDATE SET key = excluded.key",
                (here.encode(),),
            )

    def attached(self) -> Mapping[str, str]:
        """Return which tiers have a copy on a server, and where."""
        with self._db.read() as db:
            return dict(db.execute("SELECT tier, place FROM projections ORDER BY tier").fetchall())

    def attach(self, tier: str, place: str) -> bool:
        """Note from now on what a server has to be told; a new one is told everything. True then.

        A tier has one server, whoever opens the store: of two, each process would tell another one.
        """
        if self.is_attached(tier, place):
            return False
        with self._db.write() as db:
            if self.is_attached(tier, place):  # another process was faster
                return False
            db.execute("INSERT INTO projections (tier, place) VALUES (?, ?)", (tier, place))
            self._note_everything(db, tier)
        return True

    def is_attached(self, tier: str, place: str) -> bool:
        """True when a server is told of a tier already; another one is refused."""
        there = self.attached().get(tier)
        if there is not None and there != place:
            raise InvalidInput(
                f"the {tier} of {self._db.path} are at {there}, and {place} is another place; name"
                f" that one, or let go of it first: scrubjay reindex {tier} --drop"
            )
        return there == place

    def detach(self, tier: str) -> None:
        """Note nothing more for a tier, and forget what was noted."""
        with self._db.write() as db:
            db.execute("DELETE FROM projections WHERE tier = ?", (tier,))
            db.execute("DELETE FROM outbox WHERE tier = ?", (tier,))

    def again(self, tier: str) -> None:
        """Have a server forget this store, and tell it everything anew."""
        with self._db.write() as db:
            self._note_everything(db, tier)

    def _note_everything(self, db: Connection, tier: str) -> None:
        db.execute("DELETE FROM outbox WHERE tier = ?", (tier,))
        db.execute("INSERT INTO outbox (tier, id) VALUES (?, ?)", (tier, EVERYTHING))
        db.execute(
            "INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, memories AS m"
            " WHERE p.tier = ? ORDER BY m.n",
            (tier,),
        )
        if tier == GRAPH:
            db.execute(
                "INSERT INTO outbox (tier, id, other) SELECT p.tier, x.id, y.id"
                " FROM projections AS p, edges AS e JOIN memories AS x ON x.n = e.a"
                " JOIN memories AS y ON y.n = e.b WHERE p.tier = ? ORDER BY e.a, e.b",
                (tier,),
            )

    def lag(self, tier: str) -> int:
        """Return how many notes wait for a tier; of very many, only that there are so many."""
        with self._db.read() as db:
            row = db.execute(
                f"SELECT count(*) FROM (SELECT 1 FROM outbox WHERE tier = ? LIMIT {MOST_COUNTED})"
                " AS waiting",
                (tier,),
            ).fetchone()
        return int(row[0])

    def next(self, tier: str, most: int = 1_000) -> list[Note]:
        """Return the oldest notes of a tier."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT n, id, other FROM outbox WHERE tier = ? ORDER BY n LIMIT ?", (tier, most)
            )
            return [Note(*row) for row in rows]

    def lease(self, tier: str, who: str, seconds: float) -> bool:
        """Become the one who feeds a server; False while another is."""
        now_s = time.time()
        with self._db.read() as db:
            free = db.execute(
                "SELECT 1 FROM projections WHERE tier = ?"
                " AND (leased_by = ? OR leased_until_s < ?)",
                (tier, who, now_s),
            ).fetchone()
        if free is None:
            return False
        with self._db.write() as db:
            taken = db.execute(
                "UPDATE projections SET leased_by = ?, leased_until_s = ?"
                " WHERE tier = ? AND (leased_by = ? OR leased_until_s < ?)",
                (who, now_s + seconds, tier, who, now_s),
            )
            return taken.rowcount > 0

    def renew(self, tier: str, who: str, seconds: float) -> bool:
        """Stay the one who feeds a server; False when another has become that."""
        with self._db.write() as db:
            kept = db.execute(
                "UPDATE projections SET leased_until_s = ? WHERE tier = ? AND leased_by = ?",
                (time.time() + seconds, tier, who),
            )
            return kept.rowcount > 0

    def release(self, tier: str, who: str) -> None:
        """Let another feed a server."""
        with self._db.write() as db:
            db.execute(
                "UPDATE projections SET leased_by = '', leased_until_s = 0"
                " WHERE tier = ? AND leased_by = ?",
                (tier, who),
            )

    def done(self, tier: str, notes: Sequence[Note], who: str, lease_s: float) -> bool:
        """Strike what a server was told, and stay the one who feeds it while more waits; else let go.

        False when another has become that meanwhile. It may have told newer things before us, which
        we have then undone: so everything that we told is noted again.
        """
        with self._db.write() as db:
            if not self.renew(tier, who, lease_s):
                self._note_again(db, tier, notes)
                return False
            for several, part in in_parts([note.n for note in notes]):
                db.execute(f"DELETE FROM outbox WHERE n IN ({several})", part)
            if not self.next(tier, 1):
                self.release(tier, who)
        return True

    def _note_again(self, db: Connection, tier: str, notes: Sequence[Note]) -> None:
        if tier not in self.attached():
            return
        if any(note.id == EVERYTHING for note in notes):
            self._note_everything(db, tier)
            return
        # A memory that we have removed had links that the other may have told: it is told with all.
        anew = ANEW if tier == GRAPH else None
        rows = {(note.id, note.other or anew): None for note in notes}
        db.executemany(
            "INSERT INTO outbox (tier, id, other) VALUES (?, ?, ?)", [(tier, *row) for row in rows]
        )
