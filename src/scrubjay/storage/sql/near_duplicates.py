"""Near-duplicates: memories of nearly the same text, found by sketches of their vectors, and linked.

A sketch has 60 bits: on which side of 60 fixed planes a vector lies. Vectors of nearly the same direction
differ in few bits. Three parts of 20 bits are three buckets. The buckets of a vector, and those beyond the
planes that it nearly touches, contain its near-duplicates and few others: 99 of 100 pairs with a cosine of
0.95 or more, among 100,000 sentences (docs/decisions/013-near-duplicates.md). So the work for one memory
does not grow with the store.

Triggers note in `unsketched` which vectors are to be compared: new ones, those of an older store, and those
whose memory moved to another namespace.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.database import Connection
from scrubjay.storage.sql.readable import vector_of, vector_or_zeros
from scrubjay.storage.sql.scope import SqlTable
from scrubjay.storage.sql.vectors import is_width
from scrubjay.types import NEAR_DUPLICATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Of twenty pairs of questions each, read by eye, a quarter ask the same at 0.90, two fifths at 0.95, half
# above 0.97. The others differ in one word (east for west, where for when), at 0.98 still: so
# near-duplicates are shown, and never merged.
MIN_COSINE = 0.95
MAX_NEAREST = 5  # links that a memory gets when it is compared
MAX_LINKS = 16  # roughly, in all: others are compared with it later
_MAX_READ = 512  # sketches read for one memory, however full its buckets are
_MAX_COMPARED = 64  # of them by their vectors
_MAX_BITS = 16  # in which a pair may differ: of 60, pairs at 0.95 differ in 6, others in 30

TABLES = 3
TABLE_BITS = 20
BITS = TABLES * TABLE_BITS
_UNSURE_BITS = 8  # of each table: those whose planes the vector nearly touches
_PROBES = 32  # buckets of each table, the likeliest combinations of these bits
_BYTES_PER_NUMBER = 4
_SEED = "scrubjay near-duplicates"  # of the planes
# The newest of a bucket: the oldest of a crowd already have all the links they may have.
_PROBE = tuple(
    f"SELECT vector, bits FROM (SELECT vector, bits FROM sketches WHERE {part} = ?"
    " ORDER BY vector DESC LIMIT ?)"
    for part in ("bits & 1048575", "bits >> 20 & 1048575", "bits >> 40 & 1048575")
)


class _New(NamedTuple):
    """A vector to be compared, and its memory."""

    vector: int
    model: int
    memory: int
    namespace: str
    content_hash: str
    values: NDArray[np.float32]


class SqlNearDuplicates(SqlTable):
    """The tables `sketches` and `unsketched`."""

    def are_waiting(self) -> bool:
        """True when vectors are to be compared."""
        return self._row("SELECT 1 FROM unsketched LIMIT 1") is not None

    def link_next(self, most: int, *, newest: bool = False) -> int:
        """Compare the oldest or newest waiting vectors, and link near-duplicates; return how many.
        Only memories of one chunk are compared, not messages ("ok" is said often) or documents."""
        if not self.are_waiting():
            return 0
        order = "DESC" if newest else "ASC"
        with self._db.write() as db:
            rows = db.execute(
                f"SELECT vector FROM unsketched ORDER BY vector {order} LIMIT ?", (most,)
            ).fetchall()
            for new in self._comparable([n for (n,) in rows]):
                self._compare(db, new)
            db.executemany("DELETE FROM unsketched WHERE vector = ?", rows)
        return len(rows)

    def _comparable(self, vectors: list[int]) -> list[_New]:
        """Return the vectors that represent a whole memory, oldest first."""
        rows = self._rows_in(
            "SELECT v.n, v.model, m.n, m.namespace, m.content_hash, v.vector,"
            " (SELECT dims FROM models WHERE n = v.model)"
            " FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
            " JOIN memories AS m ON m.n = c.memory WHERE v.n IN ({values})"
            " AND m.type NOT IN ('message', 'document') AND NOT EXISTS"
            " (SELECT 1 FROM chunks AS other WHERE other.memory = m.n AND other.n <> c.n)",
            vectors,
        )
        new = [
            _New._make((*row, vector))
            for *row, sealed, dims in rows
            if is_width(dims) and (vector := vector_of(self._db.codec, sealed, dims)) is not None
        ]
        return sorted(new, key=lambda one: one.vector)

    def _compare(self, db: Connection, new: _New) -> None:
        """Link one memory to its nearest, and store its sketch."""
        seed = self._db.codec.exact(_SEED, "sketches.bits")
        made = sketch(new.values, f"{new.model} {new.namespace}", seed)
        near = self._nearest(new, self._similar(db, made))
        for other, cosine in self._chosen(db, near).items():
            # A link set by hand stays.
            db.execute(
                "INSERT INTO edges (a, b, kind, strength, made) SELECT ?1, ?2, ?3, ?4, 'near'"
                " WHERE NOT EXISTS (SELECT 1 FROM edges WHERE a = ?2 AND b = ?1 AND kind = ?3)"
                " ON CONFLICT (a, b, kind) DO UPDATE SET strength = excluded.strength"
                " WHERE edges.made = 'near'",
                (max(new.memory, other), min(new.memory, other), NEAR_DUPLICATE, cosine),
            )
        # In a sealed store only its key tells the planes. Equal bits still reveal which memories are alike.
        db.execute(
            "INSERT INTO sketches (vector, memory, bits) VALUES (?, ?, ?)",
            (new.vector, new.memory, made.bits),
        )

    def _similar(self, db: Connection, made: Sketch) -> list[int]:
        """Return the vectors in the buckets of a sketch that differ in few bits, fewest first."""
        # One statement, because each is a round trip where the database is a server.
        statement = " UNION ALL ".join(_PROBE[table] for table, _ in made.probes)
        arguments = [value for _, bucket in made.probes for value in (bucket, _MAX_READ)]
        rows = db.execute(f"{statement} LIMIT ?", (*arguments, _MAX_READ))
        differ = {vector: (bits ^ made.bits).bit_count() for vector, bits in rows}
        close = sorted((bits, -vector) for vector, bits in differ.items() if bits <= _MAX_BITS)
        return [-vector for _, vector in close[:_MAX_COMPARED]]

    def _nearest(self, new: _New, vectors: list[int]) -> list[tuple[float, int]]:
        """Return cosine and memory of the near-duplicates among these, nearest and then newest first."""
        near: dict[int, float] = {}
        # Equal text with another type is a duplicate, not a near-duplicate.
        for memory, sealed in self._rows_in(
            "SELECT m.n, v.vector FROM sketches AS s JOIN vectors AS v ON v.n = s.vector"
            " JOIN memories AS m ON m.n = s.memory WHERE s.vector IN ({values})"
            " AND v.model = ? AND m.namespace = ? AND m.content_hash <> ?",
            vectors,
            (new.model, new.namespace, new.content_hash),
        ):
            vector = vector_or_zeros(self._db.codec, sealed, len(new.values))
            cosine = float(vector @ new.values)
            if round(cosine, 6) >= MIN_COSINE:
                near[memory] = min(cosine, 1.0)
        pairs = ((cosine, memory) for memory, cosine in near.items())
        return sorted(pairs, key=lambda pair: (-round(pair[0], 6), -pair[1]))

    def _chosen(self, db: Connection, near: list[tuple[float, int]]) -> dict[int, float]:
        """Return the nearest few that do not have too many links yet, else the one with the fewest.
        Otherwise one of ten thousand like memories would have ten thousand links."""
        chosen: dict[int, float] = {}
        links: dict[int, int] = {}
        for cosine, memory in near:
            (links[memory],) = db.execute(
                "SELECT (SELECT count(*) FROM edges WHERE a = ?1 AND kind = ?2)"
                " + (SELECT count(*) FROM edges WHERE b = ?1 AND kind = ?2)",
                (memory, NEAR_DUPLICATE),
            ).fetchone()
            if links[memory] < MAX_LINKS:
                chosen[memory] = cosine
            if len(chosen) == MAX_NEAREST:
                break
        if near and not chosen:
            cosine, memory = min(near, key=lambda pair: links[pair[1]])
            chosen[memory] = cosine
        return chosen


class Sketch(NamedTuple):
    """The bits of a vector, and the buckets to read, `(table, bucket)`, the likeliest first."""

    bits: int
    probes: tuple[tuple[int, int], ...]


def sketch(vector: NDArray[np.float32], place: str, seed: str = _SEED) -> Sketch:
    """Return the sketch of a vector within one place: a namespace and a model; the seed draws the planes.

    Each place flips other bits, which leaves distances within it as they are. So a crowd of like
    memories in one namespace does not fill the buckets of another.
    """
    import numpy as np

    sides = _planes(len(vector), seed) @ vector
    signs = np.packbits(sides >= 0, bitorder="little").tobytes()
    bits = int.from_bytes(signs, "little") ^ _flipped_bits(place)
    distances = np.abs(sides).reshape(TABLES, TABLE_BITS)
    unsure = np.argsort(distances, axis=1, kind="stable")[:, :_UNSURE_BITS]
    # A combination is the less likely, the farther the planes of its flipped bits are.
    combinations = np.arange(1 << _UNSURE_BITS)[:, None] >> np.arange(_UNSURE_BITS) & 1
    unlikely = np.take_along_axis(distances, unsure, axis=1) @ combinations.T
    likeliest = combinations[np.argsort(unlikely, axis=1, kind="stable")[:, :_PROBES]]
    flips = (likeliest << unsure[:, None, :]).sum(axis=2)
    probes = (
        (table, bits >> (table * TABLE_BITS) & ((1 << TABLE_BITS) - 1) ^ flip)
        for row in flips.T.tolist()
        for table, flip in enumerate(row)
    )
    return Sketch(bits, tuple(probes))


@lru_cache(maxsize=8)
def _planes(dims: int, seed: str) -> NDArray[np.float32]:
    """Return the planes for vectors of this width: the same in every process and version."""
    # The sum of a few random bytes is near enough to a normal number. numpy's own generators may change
    # in its next version, and then stored sketches would match no more.
    import numpy as np

    drawn = hashlib.shake_128(seed.encode()).digest(BITS * dims * _BYTES_PER_NUMBER)
    sums = np.frombuffer(drawn, np.uint8).reshape(BITS, dims, _BYTES_PER_NUMBER).sum(axis=2)
    return np.asarray(sums - 127.5 * _BYTES_PER_NUMBER, np.float32)


@lru_cache(maxsize=256)
def _flipped_bits(place: str) -> int:
    digest = hashlib.blake2b(place.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") & ((1 << BITS) - 1)
