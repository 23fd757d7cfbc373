"""Short vectors in SQLite: by a rotation fitted on a model's own vectors, or by cutting them.

A rotation puts those directions first in which the vectors differ, so that a few numbers carry most of
a vector. A new rotation is stored with its measured recall, and other processes notice its version.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import SqlTable
from scrubjay.storage.sqlite import vectors
from scrubjay.storage.sqlite.cache.notes import notes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.runtime.worker import Worker
    from scrubjay.storage.sqlite.int8 import Int8Vectors

SHORTLIST = 200
# The first of these that is good enough is taken.
SHORT_DIMS = (64, 96, 128)
GOOD_RECALL = 0.99
MIN_RECALL = 0.95  # with less, whole vectors are compared
GROWTH = 2  # fitted again when there are this many times more vectors
_BATCH = 4096

# A model's name, and the length of its short vectors (None: the fitted one).
Key = tuple[str, int | None]


class Rotation(NamedTuple):
    """Shortens vectors: `matrix` has a column for each number; None cuts them."""

    version: tuple[int, int]
    dims: int
    matrix: NDArray[np.float32] | None

    def shorten(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        short = rows[:, : self.dims] if self.matrix is None else rows @ self.matrix
        norms = np.linalg.norm(short, axis=1, keepdims=True)
        units: NDArray[np.float32] = short / np.maximum(norms, np.float32(1e-12))
        return units

    def shorten_query(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        if self.matrix is None:
            return vector[: self.dims]
        # Not by BLAS: its threads go on spinning long after so small a product.
        short: NDArray[np.float32] = np.einsum("i,ij->j", vector, self.matrix)
        return short


class RotationInfo(NamedTuple):
    """What is stored about a model's rotation."""

    version: int
    short_dims: int
    fitted_on: int
    shortlist: int
    trials: int
    recall: float
    at_us: int


def short_dims_of(dims: int, prefixes: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """Return the possible lengths of short vectors, and whether they are cut.

    `prefixes` are the lengths to which a model's vectors can be cut: the longest of at most a third is
    taken. Without one, at most half of the dimensions; none where two passes would gain nothing.
    """
    fitting = [prefix for prefix in prefixes if prefix * 3 <= dims]
    if fitting:
        return (max(fitting),), True
    return tuple(short for short in SHORT_DIMS if short * 2 <= dims), False


class SqliteRotations(SqlTable):
    """The rotations of one file, one a model."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._check_at: dict[str, int] = {}

    def load(self, db: Connection, model: int, short_dims: int | None) -> Rotation | None:
        import numpy as np

        row = db.execute(
            "SELECT r.version, r.at_us, r.short_dims, r.matrix, m.dims FROM rotations AS r"
            " JOIN models AS m ON m.n = r.model WHERE r.model = ?",
            (model,),
        ).fetchone()
        if row is None:
            return None
        version, at_us, fitted_dims, sealed, longest = row
        matrix = None
        if sealed is not None:
            stored = np.frombuffer(self._db.codec.unseal_vector(sealed), "<f4")
            matrix = stored.reshape(longest, -1)
            longest = matrix.shape[1]
        short = fitted_dims if short_dims is None else short_dims
        if not 0 < short <= longest:
            raise InvalidInput(f"short_dims is {short_dims}; give a number from 1 to {longest}")
        if matrix is not None:
            matrix = np.ascontiguousarray(matrix[:, :short], np.float32)
        return Rotation((version, at_us), short, matrix)

    def version(
        self, db: Connection, model: int, min_recall: float = 0.0
    ) -> tuple[int, int] | None:
        row = db.execute(
            "SELECT version, at_us FROM rotations WHERE model = ? AND recall >= ?",
            (model, min_recall),
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def of(self, model: str) -> RotationInfo | None:
        row = self._row(
            f"SELECT {', '.join(RotationInfo._fields)} FROM rotations"
            " WHERE model = (SELECT n FROM models WHERE name = ?)",
            (model,),
        )
        return None if row is None else RotationInfo(*row)

    def models(self) -> dict[str, int]:
        rows = self._rows("SELECT name, dims FROM models WHERE role = 'main' ORDER BY n")
        return {name: dims for name, dims in rows if type(name) is str and type(dims) is int}

    def why_not(self, model: str, prefixes: Sequence[int]) -> str:
        """Return why a search does not use short vectors of a model; empty when it does."""
        if self._has_cells(model):
            return "the nearest cells make shortlists"
        info = self.of(model)
        if info is not None:
            low = info.recall < MIN_RECALL
            return f"recall is under {MIN_RECALL}: whole vectors are compared" if low else ""
        dims = self.models().get(model)
        if dims is None:
            return "no vector is stored yet"
        if not short_dims_of(dims, prefixes)[0]:
            return f"vectors of {dims} numbers are short already"
        count, needed = self._count_and_needed(model)
        if count < needed:
            return f"fitted when there are {needed:,} vectors"
        return "not fitted yet: that happens in the background, after the last chunk is embedded"

    def _has_cells(self, model: str) -> bool:
        with self._db.read() as db:
            row = db.execute("SELECT n FROM models WHERE name = ?", (model,)).fetchone()
            known = None if row is None else notes(db).get(row[0])
            return known is not None and known.probed > 0

    def due(self, model: str, prefixes: Sequence[int], added: int) -> bool:
        """True when there are enough vectors; counted only if `added`, ever, shows that there can be."""
        if added < self._check_at.get(model, 0) or self._has_cells(model):
            return False
        row = self._row("SELECT dims FROM models WHERE name = ? AND role = 'main'", (model,))
        if row is None or not short_dims_of(row[0], prefixes)[0]:
            return False
        count, needed = self._count_and_needed(model)
        self._check_at[model] = added + max(needed - count, 0)
        return count >= needed

    def write(
        self,
        model: int,
        before: tuple[int, int] | None,
        fitted: Rotation,
        fitted_on: int,
        trials: int,
        recall: float,
    ) -> bool:
        """Store a rotation fitted after version `before`; False when another process was faster."""
        sealed, version = None, 1 if before is None else before[0] + 1
        if fitted.matrix is not None:
            sealed = self._db.codec.seal_vector(fitted.matrix.astype("<f4").tobytes())
        row = (model, version, fitted.dims, fitted_on, sealed, SHORTLIST, trials, recall)
        with self._db.write() as db:
            if self.version(db, model) != before:
                return False
            db.execute(
                "INSERT OR REPLACE INTO rotations (model, version, short_dims, fitted_on, matrix,"
                " shortlist, trials, recall, at_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, time.time_ns() // 1000),
            )
        return True

    def _count_and_needed(self, model: str) -> tuple[int, int]:
        (count,) = self._row(
            "SELECT count(*) FROM vectors WHERE model = (SELECT n FROM models WHERE name = ?)",
            (model,),
        )
        last = self.of(model)
        return count, vectors.MIN_ROTATED if last is None else last.fitted_on * GROWTH


class ShortVectors(NamedTuple):
    """Short vectors in memory, and the rotation that made them."""

    model: int
    rotation: Rotation
    vectors: Int8Vectors


class ShortVectorCache:
    """The short vectors of one file, for shortlists.

    A new rotation is applied in a thread: until its copy is complete, searches use the old copy, or
    whole vectors. Then the copies are swapped. Both follow the file meanwhile.
    """

    def __init__(self, db: Database, rotations: SqliteRotations) -> None:
        self._db = db
        self._rotations = rotations
        self._copies: dict[Key, ShortVectors] = {}
        self._refreshing = threading.Lock()
        self._building: dict[Key, Worker] = {}

    def refreshed(self, model: str, short_dims: int | None) -> ShortVectors | None:
        """Return a copy in step with the file; None without a good rotation or a complete copy."""
        from scrubjay.storage.sqlite.int8 import Int8Vectors, catch_up

        key = (model, short_dims)
        with self._refreshing, self._db.read() as db:
            row = db.execute("SELECT n FROM models WHERE name = ?", (model,)).fetchone()
            newest = None if row is None else self._rotations.version(db, row[0], MIN_RECALL)
            if newest is None:
                return None
            copy = self._copies.get(key)
            if (copy is None or copy.rotation.version != newest) and key not in self._building:
                rotation = self._rotations.load(db, row[0], short_dims)
                if rotation is not None:
                    self._build(key, ShortVectors(row[0], rotation, Int8Vectors(rotation.dims)))
            if copy is not None:
                catch_up(copy.vectors, db, self._db.codec, copy.model, copy.rotation)
            return copy

    def release(self, model: str) -> None:
        """Free the copies of a model."""
        with self._refreshing:
            for key in [key for key in self._copies if key[0] == model]:
                del self._copies[key]

    def wait(self) -> None:
        for worker in list(self._building.values()):
            worker.join()

    def _build(self, key: Key, new: ShortVectors) -> None:
        from scrubjay.runtime.worker import Worker
        from scrubjay.storage.sqlite.int8 import catch_up

        def add_batch() -> float | None:
            left = False  # a batch at a time: closing the store need not wait for all
            try:
                with self._db.read() as db:
                    left = catch_up(
                        new.vectors, db, self._db.codec, new.model, new.rotation, _BATCH
                    )
                if not left:
                    with self._refreshing:
                        self._copies[key] = new
            except StoreError:
                pass  # the store was closed; nothing was changed
            finally:
                if not left:
                    self._building.pop(key, None)
            return 0.0 if left else None

        worker = self._building[key] = Worker("short-vectors", add_batch)
        worker.wake()
