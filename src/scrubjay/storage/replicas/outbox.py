"""Outbox: changes waiting for a replica, written by triggers and taken under a lease.

It also defines what a replica is, and reads from the database what a replica stores.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.storage.database import Connection
from scrubjay.storage.sql.readable import vector_of
from scrubjay.storage.sql.scope import SqlTable, in_parts
from scrubjay.text.urls import is_server_url

T = TypeVar("T")

VECTORS, GRAPH = KINDS = ("vectors", "graph")
WORDS = "words"  # of a store in Postgres, on the server of its vectors
MAX_COUNTED = 100_000  # counting more takes time and is of no use
REBUILT = ""  # as `other`: the memory was deleted, and all its links with it
EVERYTHING = ""  # as `id`: clear the whole store before the changes after this one
_DROPPED = "dropped "  # a key of this and a kind has the address of the replica that was dropped

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

    def is_outdated(self) -> bool:
        """True when everything must be sent again, although nothing is missing."""


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(values)
    while part := list(islice(left, size)):
        yield part


class Change(NamedTuple):
    """A memory that changed; with `other`, the links between the two."""

    n: int
    id: str
    other: str | None = None


class Outbox(SqlTable):
    """The outbox of one store."""

    def store_id(self) -> str:
        row = self._row("SELECT key FROM keys WHERE name = 'store'")
        if row is None:
            raise StoreError(f"{self._db.path} has no store id; open it for writing once")
        return bytes(row[0]).hex()

    def separate_copied_file(self) -> None:
        """Give a copied file its own store id: two of one id would delete each other's data on servers."""
        here = self._db.path
        if here == ":memory:" or is_server_url(here):
            return
        row = self._row("SELECT key FROM keys WHERE name = 'home'")
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
        return dict(self._rows("SELECT tier, place FROM projections ORDER BY tier"))

    def attach(self, kind: str, place: str) -> bool:
        """Record changes for a replica; a new one (True) gets everything. A kind has only one."""
        if self.is_attached(kind, place):
            return False
        with self._db.write() as db:
            if self.is_attached(kind, place):  # another process was faster
                return False
            db.execute("INSERT INTO projections (tier, place) VALUES (?, ?)", (kind, place))
            db.execute("DELETE FROM keys WHERE name = ?", (_DROPPED + kind,))
            self.add_everything(kind)
        return True

    def attach_unless_dropped(self, kind: str, place: str) -> bool:
        """Attach a replica unless it was dropped; True when it is attached now."""
        with self._db.write():
            if self.is_dropped(kind, place):
                return False
            self.attach(kind, place)
        return True

    def is_dropped(self, kind: str, place: str) -> bool:
        """True when this replica was dropped and not attached since: no worker attaches it by itself."""
        row = self._row("SELECT key FROM keys WHERE name = ?", (_DROPPED + kind,))
        return row is not None and bytes(row[0]).decode() == place

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
        """Stop recording changes for a replica, and note that it was dropped, for every process."""
        with self._db.write() as db:
            if place := self.attached().get(kind):
                db.execute(
                    "INSERT INTO keys (name, key) VALUES (?, ?)"
                    " ON CONFLICT (name) DO UPDATE SET key = excluded.key",
                    (_DROPPED + kind, place.encode()),
                )
            db.execute("DELETE FROM projections WHERE tier = ?", (kind,))
            db.execute("DELETE FROM outbox WHERE tier = ?", (kind,))

    def forget(self, kind: str) -> None:
        """Stop recording changes for a replica; the next process that names it attaches it."""
        if kind in self.attached():
            with self._db.write() as db:
                db.execute("DELETE FROM projections WHERE tier = ?", (kind,))
                db.execute("DELETE FROM outbox WHERE tier = ?", (kind,))

    def add_everything(self, kind: str) -> None:
        """Have a replica cleared and filled again."""
        with self._db.write() as db:
            db.execute("DELETE FROM outbox WHERE tier = ?", (kind,))
            db.execute("INSERT INTO outbox (tier, id) VALUES (?, ?)", (kind, EVERYTHING))
            db.execute(
                "INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p,"
                " memories AS m WHERE p.tier = ? ORDER BY m.n",
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
        waiting = f"SELECT 1 FROM outbox WHERE tier = ? LIMIT {MAX_COUNTED}"
        return self._number(f"SELECT count(*) FROM ({waiting}) AS waiting", (kind,))

    def next(self, kind: str, limit: int = 1_000) -> list[Change]:
        statement = "SELECT n, id, other FROM outbox WHERE tier = ? ORDER BY n LIMIT ?"
        return [Change(*row) for row in self._rows(statement, (kind, limit))]

    def lease(self, kind: str, owner: str, seconds: float) -> bool:
        """Take the lease to feed a replica; False while another process holds it."""
        now_s = time.time()
        free = "tier = ? AND (leased_by = ? OR leased_until_s < ?)"
        if self._row(f"SELECT 1 FROM projections WHERE {free}", (kind, owner, now_s)) is None:
            return False
        statement = f"UPDATE projections SET leased_by = ?, leased_until_s = ? WHERE {free}"
        return self._write(statement, (owner, now_s + seconds, kind, owner, now_s)) > 0

    def renew(self, kind: str, owner: str, seconds: float) -> bool:
        """Extend a lease; False when another process has taken it."""
        statement = "UPDATE projections SET leased_until_s = ? WHERE tier = ? AND leased_by = ?"
        return self._write(statement, (time.time() + seconds, kind, owner)) > 0

    def release(self, kind: str, owner: str) -> None:
        statement = "UPDATE projections SET leased_by = '', leased_until_s = 0"
        self._write(f"{statement} WHERE tier = ? AND leased_by = ?", (kind, owner))

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
            self.add_everything(kind)
            return
        # A memory that we removed may have had links that the other process wrote: rewrite them all.
        links = REBUILT if kind == GRAPH else None
        rows = {(change.id, change.other or links): None for change in changes}
        db.executemany(
            "INSERT INTO outbox (tier, id, other) VALUES (?, ?, ?)", [(kind, *row) for row in rows]
        )


class ReplicaSource(SqlTable):
    """Reads memories and links from the database in the form that replicas store."""

    def memories(
        self, ids: Sequence[str], *, vectors: bool = False
    ) -> tuple[list[ReplicaRecord], list[str]]:
        """Return the memories of these ids, and the ids of those that do not exist."""
        with self._db.read():
            rows = self._rows_in(f"SELECT {_FIELDS} FROM memories WHERE id IN ({{values}})", ids)
            numbers = [row[0] for row in rows]
            topics: dict[int, list[str]] = {n: [] for n in numbers}
            for n, topic in self._rows_in(
                "SELECT memory, topic FROM topics WHERE memory IN ({values}) ORDER BY topic",
                numbers,
            ):
                topics[n].append(topic)
            stored = self._vectors(numbers) if vectors else {}
        found = {
            id_: ReplicaRecord._make(
                (id_, namespace, type_, tuple(topics[n]), *others, tuple(stored.get(n, ())))
            )
            for n, id_, namespace, type_, *others in rows
        }
        return list(found.values()), [id_ for id_ in dict.fromkeys(ids) if id_ not in found]

    def links_between(self, pairs: Iterable[tuple[str, str]]) -> list[ReplicaLink]:
        wanted = dict.fromkeys((min(pair), max(pair)) for pair in pairs)
        found: dict[ReplicaLink, None] = {}  # a link of a memory with itself comes twice
        for part in batches(wanted, _PAIRS_PER_QUERY):
            ids = list({id_ for pair in part for id_ in pair})
            numbers = dict(self._rows_in("SELECT id, n FROM memories WHERE id IN ({values})", ids))
            both = [
                n
                for a, b in part
                if a in numbers and b in numbers
                for n in (numbers[a], numbers[b], numbers[b], numbers[a])
            ]
            if both:
                values = ", ".join(["(?, ?)"] * (len(both) // 2))
                select = _LINK.format("pairs AS p CROSS JOIN ", " ON e.a = p.a AND e.b = p.b")
                rows = self._rows(f"WITH pairs (a, b) AS (VALUES {values}) {select}", both)
                found.update((ReplicaLink(*row), None) for row in rows)
        return list(found)

    def links_of(self, ids: Sequence[str]) -> list[ReplicaLink]:
        select = _LINK.format("", "")
        rows = [
            row
            for end in "xy"
            for row in self._rows_in(f"{select} WHERE {end}.id IN ({{values}})", ids)
        ]
        return list(dict.fromkeys(ReplicaLink(*row) for row in rows))

    def count(self, kind: str) -> int:
        """Return the number of memories that a complete replica has."""
        with_vectors = (
            " WHERE EXISTS (SELECT 1 FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
            " JOIN models AS o ON o.n = v.model WHERE c.memory = m.n AND o.role = 'main')"
        )
        if kind == WORDS:
            return self._number("SELECT count(*) FROM words")
        which = with_vectors if kind == VECTORS else ""
        return self._number(f"SELECT count(*) FROM memories AS m{which}")

    def _vectors(self, numbers: Sequence[int]) -> dict[int, list[tuple[str, int, Any]]]:
        found: dict[int, list[tuple[str, int, Any]]] = {}
        for memory, model, ordinal, stored, dims in self._rows_in(
            "SELECT c.memory, m.name, c.ordinal, v.vector, m.dims FROM chunks AS c"
            " JOIN vectors AS v ON v.chunk = c.n JOIN models AS m ON m.n = v.model"
            " WHERE m.role = 'main' AND c.memory IN ({values}) ORDER BY m.name, c.ordinal",
            numbers,
        ):
            if (vector := vector_of(self._db.codec, stored, dims)) is not None:
                found.setdefault(memory, []).append((model, ordinal, vector))
        return found
