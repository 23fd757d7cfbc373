"""How vectors are made short, in SQLite: a rotation fitted on a model's own vectors, or their beginning.

A rotation puts the directions first in which the vectors differ, so that their first numbers say most of
what the whole vector says. What is fitted is written at once, with the recall that was measured, and
other processes notice its version.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.storage.database import Connection, Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORTLIST = 200
# The first of these that is good enough is taken.
SHORT_DIMS = (64, 96, 128)
GOOD_RECALL = 0.99
LEAST_RECALL = 0.95  # with less, whole vectors are compared
# Below it the exact search is as fast: to read a shortlist costs as much as to compare so many.
LEAST_VECTORS = 20_000
GROWN = 2  # fitted again when there are so many times as many vectors


class Turn(NamedTuple):
    """What makes vectors short: `matrix` has a column for each number; None for their beginning."""

    version: tuple[int, int]
    dims: int
    matrix: NDArray[np.float32] | None

    def rows(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return short unit vectors."""
        import numpy as np

        short = vectors[:, : self.dims] if self.matrix is None else vectors @ self.matrix
        norms = np.linalg.norm(short, axis=1, keepdims=True)
        units: NDArray[np.float32] = short / np.maximum(norms, np.float32(1e-12))
        return units

    def query(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the short vector of a query; its length does not matter."""
        import numpy as np

        if self.matrix is None:
            return vector[: self.dims]
        # Not by BLAS: its threads go on waiting in a busy loop long after so small a product.
        short: NDArray[np.float32] = np.einsum("i,ij->j", vector, self.matrix)
        return short


class Found(NamedTuple):
    """A rotation that was just fitted: its directions, best first; `matrix` is None for a beginning."""

    short_dims: int
    matrix: NDArray[np.float32] | None
    fitted_on: int
    trials: int
    recall: float


class Fitted(NamedTuple):
    """What is known of a model's short vectors."""

    version: int
    short_dims: int
    fitted_on: int
    shortlist: int
    trials: int
    recall: float
    at_us: int


def short_dims_of(dims: int, prefixes: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """Return how short vectors of a model may be, and whether these are its vectors' beginning.

    `prefixes` are the lengths at which a model's vectors can be cut: the longest of at most a third is
    taken. Without one, at most half of the dimensions; none where two passes would gain nothing.
    """
    fitting = [one for one in prefixes if one * 3 <= dims]
    if fitting:
        return (max(fitting),), True
    return tuple(one for one in SHORT_DIMS if one * 2 <= dims), False


class SqliteRotations:
    """The rotations of one file, one a model."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._look_again: dict[str, int] = {}

    def turn(self, db: Connection, model: int, short_dims: int | None) -> Turn | None:
        """Return what makes vectors of a model short, so short if that is said; None where nothing does."""
        import numpy as np

        row = db.execute(
            "SELECT r.version, r.at_us, r.short_dims, r.matrix, m.dims FROM rotations AS r"
            " JOIN models AS m ON m.n = r.model WHERE r.model = ?",
            (model,),
        ).fetchone()
        if row is None:
            return None
        version, at_us, usual, sealed, dims = row
        matrix = None
        most = dims
        if sealed is not None:
            matrix = np.frombuffer(self._db.codec.unseal_vector(sealed), "<f4").reshape(dims, -1)
            most = matrix.shape[1]
        short = usual if short_dims is None else short_dims
        if not 0 < short <= most:
            raise InvalidInput(f"short_dims is {short_dims}; give a number of 1 to {most}")
        if matrix is not None:
            matrix = np.ascontiguousarray(matrix[:, :short], np.float32)
        return Turn((version, at_us), short, matrix)

    def version(self, db: Connection, model: int) -> tuple[int, int] | None:
        """Return which rotation is the newest of a model, good or not."""
        row = db.execute(
            "SELECT version, at_us FROM rotations WHERE model = ?", (model,)
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def good_version(self, db: Connection, model: int) -> tuple[int, int] | None:
        """Return which rotation a search uses: the newest, unless its shortlists miss too much."""
        row = db.execute(
            "SELECT version, at_us FROM rotations WHERE model = ? AND recall >= ?",
            (model, LEAST_RECALL),
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def of(self, model: str) -> Fitted | None:
        """Return what was measured when a model's short vectors were fitted last."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT version, short_dims, fitted_on, shortlist, trials, recall, at_us"
                " FROM rotations WHERE model = (SELECT n FROM models WHERE name = ?)",
                (model,),
            ).fetchone()
        return None if row is None else Fitted(*row)

    def models(self) -> dict[str, int]:
        """Return the models of the file, with the length of their vectors."""
        with self._db.read() as db:
            return dict(db.execute("SELECT name, dims FROM models ORDER BY n").fetchall())

    def why_not(self, model: str, prefixes: Sequence[int]) -> str:
        """Say why a search does not use short vectors of a model; nothing where it does."""
        fitted = self.of(model)
        if fitted is not None:
            low = fitted.recall < LEAST_RECALL
            return f"recall is under {LEAST_RECALL}: whole vectors are compared" if low else ""
        dims = self.models()[model]
        if not short_dims_of(dims, prefixes)[0]:
            return f"vectors of {dims} numbers are short already"
        with self._db.read() as db:
            count, least = self._count_and_least(db, model)
        if count < least:
            return f"fitted when there are {least:,} vectors"
        return "not fitted yet: that is done in the background, after the last vector is made"

    def due(self, model: str, prefixes: Sequence[int]) -> bool:
        """True when there are enough vectors to fit, or far more than there were; cheap."""
        with self._db.read() as db:
            row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'").fetchone()
            added = 0 if row is None else int(row[0])
            # Counted only when so many were added that there can be enough.
            if added < self._look_again.get(model, LEAST_VECTORS):
                return False
            row = db.execute("SELECT dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is None or not short_dims_of(row[0], prefixes)[0]:
                return False
            count, least = self._count_and_least(db, model)
            self._look_again[model] = added + max(least - count, 0)
        return count >= least

    def write(self, model: int, before: tuple[int, int] | None, found: Found) -> bool:
        """Write what was fitted after `before`, at once; where another process was faster, its own stays."""
        matrix = found.matrix
        sealed = (
            None if matrix is None else self._db.codec.seal_vector(matrix.astype("<f4").tobytes())
        )
        with self._db.write() as db:
            if self.version(db, model) != before:
                return False
            db.execute(
                "INSERT INTO rotations (model, version, short_dims, fitted_on, matrix, shortlist,"
                " trials, recall, at_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (model)"
                " DO UPDATE SET (version, short_dims, fitted_on, matrix, shortlist, trials, recall,"
                " at_us) = (excluded.version, excluded.short_dims, excluded.fitted_on,"
                " excluded.matrix, excluded.shortlist, excluded.trials, excluded.recall,"
                " excluded.at_us)",
                (
                    model,
                    1 if before is None else before[0] + 1,
                    found.short_dims,
                    found.fitted_on,
                    sealed,
                    SHORTLIST,
                    found.trials,
                    found.recall,
                    time.time_ns() // 1000,
                ),
            )
        return True

    def _count_and_least(self, db: Connection, model: str) -> tuple[int, int]:
        """Return how many vectors a model has, and how many it takes to fit the next rotation."""
        (count,) = db.execute(
            "SELECT count(*) FROM vectors WHERE model = (SELECT n FROM models WHERE name = ?)",
            (model,),
        ).fetchone()
        last = self.of(model)
        return count, LEAST_VECTORS if last is None else last.fitted_on * GROWN
