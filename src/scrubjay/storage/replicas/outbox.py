"""Outbox: changes waiting for a replica, written by triggers and taken under a lease.

It also defines what a replica is, and reads from the database what a replica stores.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import in_parts
from scrubjay.text.urls import is_server_url

VECTORS, GRAPH = KINDS = ("vectors", "graph")
MAX_COUNTED = 100_000  # counting more takes time and is of no use
REBUILT = ""  # as `other`: the memory was deleted, and all its links with it
EVERYTHING = ""  # as `id`: clear the whole store before the changes after this one

_FIELDS = (
    "n, id, namespace, type, collection, session, owner, agent, domain_label, created_us,"
    " valid_from_us, valid_until_us"
)
_LINK = (
    "SELECT x.id, y.id, e.kind, e.strength FROM {}edges AS e{}"
    " JOIN memories AS x ON x.n = e.a JOIN memories AS y ON y.n = e.b"
)
_PAIRS_PER_QUERY = 200


class ReplicaRecord(NamedTuple):
    """A memory as a replica stores it; `topics` are tokens, `vectors` (model, chunk ordinal, values)."""

    id: str
    namespace: str
    type: str
    topics: tuple[str, ...]
    collection: str | None
    session: str | None
    owner: str | None
    agent: str | None
    domain_label: str | None
    created_us: int
    valid_from_us: int | None
    valid_until_us: int | None
    vectors: tuple[tuple[str, int, Any], ...] = ()


class ReplicaLink(NamedTuple):
    """A link between two memories as a replica stores it."""

    a: str
    b: str
    kind: str
    strength: float


class Replica(Protocol):
    """A server with a copy of the vectors or the graph: writes can be repeated, errors are Unavailable."""

    kind: str
    place: str

    def put(self, memories: Sequence[ReplicaRecord]) -> None:
        """Write memories in place of what the server has of them."""

    def remove(self, ids: Sequence[str]) -> None:
        """Delete memories with their vectors and links."""

    def put_links(self, pairs: Sequence[tuple[str, str]], links: Sequence[ReplicaLink]) -> None:
        """Replace all links between each of these pairs."""

    def clear(self) -> None:
        """Delete everything of this store."""

    def count(self) -> int:
        """Return the number of memories of this store on the server."""

    def ping(self) -> None:
        """Raise Unavailable when the server does not answer."""


class Change(NamedTuple):
    """A memory that changed; with `other`, the links between the two."""

    n: int
    id: str
    other: str | None = None


class Outbox:
    """The outbox of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def store_id(self) -> str:
        with self._db.read() as db:
            row = db.execute("SELECT key FROM keys WHERE name = 'store'").fetchone()
        if row is None:
            raise StoreError(f"{self._db.path} has no store id; open it for writing once")
        return bytes(row[0]).hex()

    def separate_copied_file(self) -> None:
        """Give a copied file its own store id: two of one id would delete each other's data on servers."""
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
        with self._db.read() as db:
            return dict(db.execute("SELECT tier, place FROM projections ORDER BY tier").fetchall())

    def attach(self, kind: str, place: str) -> bool:
        """Record changes for a replica; a new one (True) gets everything. A kind has only one."""
        if self.is_attached(kind, place):
            return False
        with self._db.write() as db:
            if self.is_attached(kind, place):  # another process was faster
                return False
            db.execute("INSERT INTO projections (tier, place) VALUES (?, ?)", (kind, place))
            self._add_everything(db, kind)
        return True

    def is_attached(self, kind: str, place: str) -> bool:
        """True when this replica is attached; InvalidInput when another one is."""
        attached = self.attached().get(kind)
        if attached is not None and attached != place:
            raise InvalidInput(
                f"the {kind} of {self._db.path} are at {attached}, not at {place}; use that"
                f" address, or detach it first: scrubjay reindex {kind} --drop"
            )
        return attached == place

    def detach(self, kind: str) -> None:
        with self._db.write() as db:
            db.execute("DELETE FROM projections WHERE tier = ?", (kind,))
            db.execute("DELETE FROM outbox WHERE tier = ?", (kind,))

    def add_everything(self, kind: str) -> None:
        """Have a replica cleared and filled again."""
        with self._db.write() as db:
            self._add_everything(db, kind)

    def _add_everything(self, db: Connection, kind: str) -> None:
        db.execute("DELETE FROM outbox WHERE tier = ?", (kind,))
        db.execute("INSERT INTO outbox (tier, id) VALUES (?, ?)", (kind, EVERYTHING))
        db.execute(
            "INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, memories AS m"
            " WHERE p.tier = ? ORDER BY m.n",
            (kind,),
        )
        if kind == GRAPH:
            db.execute(
                "INSERT INTO outbox (tier, id, other) SELECT p.tier, x.id, y.id"
                " FROM projections AS p, edges AS e JOIN memories AS x ON x.n = e.a"
                " JOIN memories AS y ON y.n = e.b WHERE p.tier = ? ORDER BY e.a, e.b",
                (kind,),
            )

    def count(self, kind: str) -> int:
        """Return the number of changes that wait for a replica, up to MAX_COUNTED."""
        with self._db.read() as db:
            row = db.execute(
                f"SELECT count(*) FROM (SELECT 1 FROM outbox WHERE tier = ? LIMIT {MAX_COUNTED})"
                " AS waiting",
                (kind,),
            ).fetchone()
        return int(row[0])

    def next(self, kind: str, limit: int = 1_000) -> list[Change]:
        with self._db.read() as db:
            rows = db.execute(
                "SELECT n, id, other FROM outbox WHERE tier = ? ORDER BY n LIMIT ?", (kind, limit)
            )
            return [Change(*row) for row in rows]

    def lease(self, kind: str, owner: str, seconds: float) -> bool:
        """Take the lease to feed a replica; False while another process holds it."""
        now_s = time.time()
        with self._db.read() as db:
            free = db.execute(
                "SELECT 1 FROM projections WHERE tier = ?"
                " AND (leased_by = ? OR leased_until_s < ?)",
                (kind, owner, now_s),
            ).fetchone()
        if free is None:
            return False
        with self._db.write() as db:
            taken = db.execute(
                "UPDATE projections SET leased_by = ?, leased_until_s = ?"
                " WHERE tier = ? AND (leased_by = ? OR leased_until_s < ?)",
                (owner, now_s + seconds, kind, owner, now_s),
            )
            return taken.rowcount > 0

    def renew(self, kind: str, owner: str, seconds: float) -> bool:
        """Extend a lease; False when another process has taken it."""
        with self._db.write() as db:
            renewed = db.execute(
                "UPDATE projections SET leased_until_s = ? WHERE tier = ? AND leased_by = ?",
                (time.time() + seconds, kind, owner),
            )
            return renewed.rowcount > 0

    def release(self, kind: str, owner: str) -> None:
        with self._db.write() as db:
            db.execute(
                "UPDATE projections SET leased_by = '', leased_until_s = 0"
                " WHERE tier = ? AND leased_by = ?",
                (kind, owner),
            )

    def done(self, kind: str, changes: Sequence[Change], owner: str, lease_s: float) -> bool:
        """Delete changes that a replica has, and renew the lease, or release it if none are left.

        False when another process has taken the lease. It may have written newer states before us,
        which we then overwrote: so all our changes are recorded again.
        """
        with self._db.write() as db:
            if not self.renew(kind, owner, lease_s):
                self._add_again(db, kind, changes)
                return False
            for several, part in in_parts([change.n for change in changes]):
                db.execute(f"DELETE FROM outbox WHERE n IN ({several})", part)
            if not self.next(kind, 1):
                self.release(kind, owner)
        return True

    def _add_again(self, db: Connection, kind: str, changes: Sequence[Change]) -> None:
        if kind not in self.attached():
            return
        if any(change.id == EVERYTHING for change in changes):
            self._add_everything(db, kind)
            return
        # A memory that we removed may have had links that the other process wrote: rewrite them all.
        links = REBUILT if kind == GRAPH else None
        rows = {(change.id, change.other or links): None for change in changes}
        db.executemany(
            "INSERT INTO outbox (tier, id, other) VALUES (?, ?, ?)", [(kind, *row) for row in rows]
        )


class ReplicaSource:
    """Reads memories and links from the database in the form that replicas store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def memories(
        self, ids: Sequence[str], *, vectors: bool = False
    ) -> tuple[list[ReplicaRecord], list[str]]:
        found: list[ReplicaRecord] = []
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    f"SELECT {_FIELDS} FROM memories WHERE id IN ({several})", part
                ).fetchall()
                numbers = [row[0] for row in rows]
                topics = _topics(db, numbers)
                stored = self._vectors(db, numbers) if vectors else {}
                for n, id_, namespace, type_, *others in rows:
                    fields = (id_, namespace, type_, tuple(topics.get(n, ())), *others)
                    found.append(ReplicaRecord._make((*fields, tuple(stored.get(n, ())))))
        existing = {memory.id for memory in found}
        return found, [id_ for id_ in dict.fromkeys(ids) if id_ not in existing]

    def links_between(self, pairs: Iterable[tuple[str, str]]) -> list[ReplicaLink]:
        wanted = list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))
        found: dict[ReplicaLink, None] = {}  # a link of a memory with itself comes twice
        with self._db.read() as db:
            for start in range(0, len(wanted), _PAIRS_PER_QUERY):
                part = wanted[start : start + _PAIRS_PER_QUERY]
                numbers = _numbers(db, [id_ for pair in part for id_ in pair])
                both = [
                    n
                    for a, b in part
                    if a in numbers and b in numbers
                    for n in (numbers[a], numbers[b], numbers[b], numbers[a])
                ]
                if both:
                    values = ", ".join(["(?, ?)"] * (len(both) // 2))
                    select = _LINK.format("pairs AS p CROSS JOIN ", " ON e.a = p.a AND e.b = p.b")
                    rows = db.execute(f"WITH pairs (a, b) AS (VALUES {values}) {select}", both)
                    found.update((ReplicaLink(*row), None) for row in rows)
        return list(found)

    def links_of(self, ids: Sequence[str]) -> list[ReplicaLink]:
        found: dict[ReplicaLink, None] = {}
        select = _LINK.format("", "")
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    f"{select} WHERE x.id IN ({several}) UNION {select} WHERE y.id IN ({several})",
                    (*part, *part),
                )
                found.update((ReplicaLink(*row), None) for row in rows)
        return list(found)

    def count(self, kind: str) -> int:
        """Return the number of memories that a complete replica has."""
        with_vectors = (
            " WHERE EXISTS (SELECT 1 FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
            " WHERE c.memory = m.n)"
        )
        with self._db.read() as db:
            row = db.execute(
                f"SELECT count(*) FROM memories AS m{with_vectors if kind == VECTORS else ''}"
            ).fetchone()
        return int(row[0])

    def _vectors(
        self, db: Connection, numbers: Sequence[int]
    ) -> dict[int, list[tuple[str, int, Any]]]:
        import numpy as np

        unseal = self._db.codec.unseal_vector
        found: dict[int, list[tuple[str, int, Any]]] = {}
        for several, part in in_parts(numbers):
            rows = db.execute(
                "SELECT c.memory, m.name, c.ordinal, v.vector FROM chunks AS c"
                " JOIN vectors AS v ON v.chunk = c.n JOIN models AS m ON m.n = v.model"
                f" WHERE c.memory IN ({several}) ORDER BY m.name, c.ordinal",
                part,
            )
            for memory, model, ordinal, stored in rows:
                vector = np.frombuffer(unseal(bytes(stored)), np.float32)
                found.setdefault(memory, []).append((model, ordinal, vector))
        return found


def _topics(db: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for several, part in in_parts(numbers):
        for memory, topic in db.execute(
            f"SELECT memory, topic FROM topics WHERE memory IN ({several}) ORDER BY topic", part
        ):
            found.setdefault(memory, []).append(topic)
    return found


def _numbers(db: Connection, ids: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for several, part in in_parts(ids):
        found.update(db.execute(f"SELECT id, n FROM memories WHERE id IN ({several})", part))
    return found
