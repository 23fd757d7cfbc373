"""Near-duplicates in SQLite: memories that say nearly the same are found by sketches, and linked.

Each vector is compared with the few that share a bucket with it, so the work for one memory does not
grow with the store. The file itself notes in `unsketched` which vectors are still to be compared: new
ones, those of a store that is older than this, and those whose memory moved to another namespace.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import in_parts
from scrubjay.types import NEAR_DUPLICATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Of twenty pairs of questions each, read by eye, a quarter ask the same at 0.90, two fifths at 0.95, half
# above 0.97. The others differ in one word (east for west, where for when), at 0.98 still: so
# near-duplicates are shown, and never folded into one.
LEAST_COSINE = 0.95
MOST_NEAREST = 5  # links that a memory gets when it is compared
MOST_LINKS = 16  # and, more or less, in all: others are compared with it later
_MOST_READ = 512  # sketches read for one memory, whatever crowds its buckets
_MOST_COMPARED = 64  # of them by their vectors
_MOST_BITS = 16  # in which a pair may differ: of 60, pairs at 0.95 differ in 6, strangers in 30


class _New(NamedTuple):
    """A vector to be compared, and the memory it stands for."""

    vector: int
    model: int
    memory: int
    namespace: str
    content_hash: str
    values: NDArray[np.float32]


class SqlNearDuplicates:
    """The near-duplicates of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def link_next(self, most: int, *, newest: bool = False) -> int:
        """Compare the oldest or newest vectors that wait for it, and link what is alike; return how many.

        Only memories of one passage are compared, and neither messages nor documents: "ok" is said
        often, and files have copies on purpose.
        """
        with self._db.read() as db:
            if not db.execute("SELECT 1 FROM unsketched LIMIT 1").fetchone():
                return 0
        order = "DESC" if newest else "ASC"
        with self._db.write() as db:
            rows = db.execute(
                f"SELECT vector FROM unsketched ORDER BY vector {order} LIMIT ?", (most,)
            )
            waiting = [n for (n,) in rows]
            for new in self._comparable(db, waiting):
                self._compare(db, new)
            db.executemany("DELETE FROM unsketched WHERE vector = ?", [(n,) for n in waiting])
        return len(waiting)

    def _comparable(self, db: Connection, vectors: list[int]) -> list[_New]:
        """Return those that stand for a whole memory, oldest first."""
        import numpy as np

        found: list[_New] = []
        unseal = self._db.codec.unseal_vector
        for several, part in in_parts(vectors):
            rows = db.execute(
                "SELECT v.n, v.model, m.n, m.namespace, m.content_hash, v.vector"
                " FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
                f" JOIN memories AS m ON m.n = c.memory WHERE v.n IN ({several})"
                " AND m.type NOT IN ('message', 'document') AND NOT EXISTS"
                " (SELECT 1 FROM chunks AS other WHERE other.memory = m.n AND other.n <> c.n)",
                part,
            )
            found += (
                _New(n, model, memory, namespace, same, np.frombuffer(unseal(sealed), "<f4"))
                for n, model, memory, namespace, same, sealed in rows
            )
        return sorted(found, key=lambda one: one.vector)

    def _compare(self, db: Connection, new: _New) -> None:
        """Link one memory to its nearest, and keep its sketch for those to come."""
        made = sketch(new.values, f"{new.model} {new.namespace}")
        near = self._nearest(db, new, self._met(db, made))
        for other, cosine in self._chosen(db, near).items():
            self._link(db, max(new.memory, other), min(new.memory, other), cosine)
        # Whoever makes an encrypted store: equal bits tell which memories are alike, whatever they say.
        db.execute(
            "INSERT INTO sketches (vector, memory, bits) VALUES (?, ?, ?)",
            (new.vector, new.memory, made.bits),
        )

    def _met(self, db: Connection, made: Sketch) -> list[int]:
        """Return the vectors in the buckets of a sketch that differ in few bits, fewest first."""
        # One statement, because each is a journey where the database is a server.
        looks = " UNION ALL ".join(_LOOK[table] for table, _ in made.probes)
        arguments = [one for _, bucket in made.probes for one in (bucket, _MOST_READ)]
        rows = db.execute(f"{looks} LIMIT ?", (*arguments, _MOST_READ))
        differ = {vector: (bits ^ made.bits).bit_count() for vector, bits in rows}
        close = sorted((bits, -vector) for vector, bits in differ.items() if bits <= _MOST_BITS)
        return [-vector for _, vector in close[:_MOST_COMPARED]]

    def _nearest(self, db: Connection, new: _New, met: list[int]) -> list[tuple[float, int]]:
        """Return cosine and memory of the near-duplicates among these, nearest and then newest first."""
        import numpy as np

        unseal = self._db.codec.unseal_vector
        near: dict[int, float] = {}
        for several, part in in_parts(met):
            # The same text with another type is no near-duplicate but the same.
            rows = db.execute(
                "SELECT m.n, v.vector FROM sketches AS s JOIN vectors AS v ON v.n = s.vector"
                f" JOIN memories AS m ON m.n = s.memory WHERE s.vector IN ({several})"
                " AND v.model = ? AND m.namespace = ? AND m.content_hash <> ?",
                (*part, new.model, new.namespace, new.content_hash),
            )
            for memory, sealed in rows:
                cosine = float(np.frombuffer(unseal(sealed), "<f4") @ new.values)
                if round(cosine, 6) >= LEAST_COSINE:
                    near[memory] = min(cosine, 1.0)
        return sorted(
            ((cosine, memory) for memory, cosine in near.items()),
            key=lambda one: (-round(one[0], 6), -one[1]),
        )

    def _chosen(self, db: Connection, near: list[tuple[float, int]]) -> dict[int, float]:
        """Return which of these are linked: the nearest few that have not too many links already.

        Otherwise one of ten thousand like memories would have ten thousand links. Where all have too
        many, it is the one with the fewest.
        """
        chosen: dict[int, float] = {}
        links: dict[int, int] = {}
        for cosine, memory in near:
            links[memory] = self._links(db, memory)
            if links[memory] < MOST_LINKS:
                chosen[memory] = cosine
            if len(chosen) == MOST_NEAREST:
                break
        if near and not chosen:
            cosine, memory = min(near, key=lambda one: links[one[1]])
            chosen[memory] = cosine
        return chosen

    def _links(self, db: Connection, memory: int) -> int:
        """Return how many near-duplicates of a memory are linked already."""
        count: int = db.execute(
            "SELECT (SELECT count(*) FROM edges WHERE a = ?1 AND kind = ?2)"
            " + (SELECT count(*) FROM edges WHERE b = ?1 AND kind = ?2)",
            (memory, NEAR_DUPLICATE),
        ).fetchone()[0]
        return count

    def _link(self, db: Connection, a: int, b: int, cosine: float) -> None:
        """Connect two memories, unless somebody did so by hand."""
        db.execute(
            "INSERT INTO edges (a, b, kind, strength, made) SELECT ?1, ?2, ?3, ?4, 'near'"
            " WHERE NOT EXISTS (SELECT 1 FROM edges WHERE a = ?2 AND b = ?1 AND kind = ?3)"
            " ON CONFLICT (a, b, kind) DO UPDATE SET strength = excluded.strength"
            " WHERE edges.made = 'near'",
            (a, b, NEAR_DUPLICATE, cosine),
        )


# The newest of a bucket: the oldest of a crowd have all the links that they may have.
_LOOK = tuple(
    f"SELECT vector, bits FROM (SELECT vector, bits FROM sketches WHERE {part} = ?"
    " ORDER BY vector DESC LIMIT ?)"
    for part in ("bits & 1048575", "bits >> 20 & 1048575", "bits >> 40 & 1048575")
)


TABLES = 3
TABLE_BITS = 20
BITS = TABLES * TABLE_BITS
BUCKET = (1 << TABLE_BITS) - 1
_UNSURE_BITS = 8  # of each table: those whose planes the vector nearly touches
_LOOKS = 32  # into each table, at the likeliest ways to read these
_BYTES_A_NUMBER = 4


class Sketch(NamedTuple):
    """The bits of a vector, and the buckets to look into, `(table, bucket)`, the likeliest first."""

    bits: int
    probes: tuple[tuple[int, int], ...]


def sketch(vector: NDArray[np.float32], place: str) -> Sketch:
    """Return the sketch of a vector among those of one place: a namespace and a model.

    Each place turns bits around in its own way, which leaves distances within it as they are. So a
    crowd of like memories in one namespace does not fill the buckets of another.
    """
    import numpy as np

    sides, every = _planes(len(vector)) @ vector, _readings()
    signs = np.packbits(sides >= 0, bitorder="little").tobytes()
    bits = int.from_bytes(signs, "little") ^ _turned(place)
    near = np.abs(sides).reshape(TABLES, TABLE_BITS)
    unsure = np.argsort(near, axis=1, kind="stable")[:, :_UNSURE_BITS]
    # To flip bits whose planes are far away is as unlikely as these are far, taken together.
    unlikely = np.take_along_axis(near, unsure, axis=1) @ every.T
    readings = every[np.argsort(unlikely, axis=1, kind="stable")[:, :_LOOKS]]
    flips = (readings << unsure[:, None, :]).sum(axis=2)
    return Sketch(
        bits,
        tuple(
            (table, bucket_of(bits, table) ^ flip)
            for some in flips.T.tolist()
            for table, flip in enumerate(some)
        ),
    )


def bucket_of(bits: int, table: int) -> int:
    """Return the part of a sketch that is its bucket in a table."""
    return bits >> (table * TABLE_BITS) & BUCKET


@lru_cache(maxsize=1)
def _readings() -> NDArray[np.int64]:
    import numpy as np

    return np.arange(1 << _UNSURE_BITS)[:, None] >> np.arange(_UNSURE_BITS) & 1


@lru_cache(maxsize=8)
def _planes(dims: int) -> NDArray[np.float32]:
    """Return the planes for vectors of this width: the same in every process and version, for ever.

    The sum of a few random bytes is near enough to a normal number. numpy's own generators may give
    others in its next version, and then no stored sketch would be met again.
    """
    import numpy as np

    drawn = hashlib.shake_128(b"scrubjay near-duplicates").digest(BITS * dims * _BYTES_A_NUMBER)
    sums = np.frombuffer(drawn, np.uint8).reshape(BITS, dims, _BYTES_A_NUMBER).sum(axis=2)
    return np.asarray(sums - 127.5 * _BYTES_A_NUMBER, np.float32)


@lru_cache(maxsize=256)
def _turned(place: str) -> int:
    """Return the bits that a place flips."""
    digest = hashlib.blake2b(place.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") & ((1 << BITS) - 1)
