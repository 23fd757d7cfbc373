"""Copies of vectors in memory, kept in step with the file by two counters.

The file counts vectors added and vectors gone, by whichever process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scrubjay.storage.sqlite.int8 import Codes, Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.codec import Codec
    from scrubjay.storage.database import Connection
    from scrubjay.storage.sqlite.rotations import Turn

_AT_ONCE = 4096


def catch_up(
    codes: Codes,
    db: Connection,
    codec: Codec,
    model: int,
    turn: Turn | None = None,
    most: int | None = None,
) -> bool:
    """Drop what is gone and append what is new, short where a turn is given; True when more is left.

    With `most`, no more than so many vectors are read: whoever loads many lets others in between.
    """
    counters = dict(
        db.execute("SELECT name, seq FROM sqlite_sequence WHERE name IN ('vectors', 'gone')")
    )
    added, gone = counters.get("vectors", 0), counters.get("gone", 0)
    if not codes.seen_added:
        codes.seen_gone = gone  # what went before the first look was never loaded
    if gone > codes.seen_gone:
        lost = db.execute("SELECT vector FROM gone WHERE n > ?", (codes.seen_gone,))
        codes.drop([vector for (vector,) in lost])
    codes.seen_gone = gone
    if added > codes.seen_added:
        new = db.execute(
            "SELECT v.n, c.memory, c.ordinal, v.vector"
            " FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
            " WHERE v.model = ? AND v.n > ? AND v.n <= ? ORDER BY v.n LIMIT ?",
            (model, codes.seen_added, added, -1 if most is None else most),
        )
        read = 0
        while batch := new.fetchmany(_AT_ONCE):
            vectors = [codec.unseal_vector(one[3]) for one in batch]
            rows = as_rows(vectors, len(vectors[0]) // 4)
            places = [Place(*place) for *place, _ in batch]
            codes.extend(places, rows if turn is None else turn.rows(rows))
            codes.seen_added = batch[-1][0]
            read += len(batch)
            if read == most:
                return True
        codes.seen_added = added
    return False


def as_rows(vectors: list[bytes], dims: int) -> NDArray[np.float32]:
    """Return vectors, given as float32 bytes, as the rows of a matrix."""
    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, dims)
