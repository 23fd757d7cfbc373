"""Rows that cannot be decoded: skipped one by one, so that every other row is still found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.codec import UNREADABLE, DamagedValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.codec import Codec
    from scrubjay.storage.database import Database

_MOST_NOTED = 1000
_MOST_NAMED = 5
_LENGTH_ERROR = 1e-4
_PLURALS = {"memory": "memories", "vector": "vectors"}
_MAX_LENGTH_SQUARED = 4.0  # vectors have the length 1, or 0 for a text without words


def note_damage(db: Database, id_: object, why: str) -> None:
    """Remember that a memory cannot be read; of very many, the latest."""
    if not isinstance(id_, str):
        return
    for oldest in list(db.damaged)[: len(db.damaged) - _MOST_NOTED + 1]:
        db.damaged.pop(oldest, None)
    db.damaged[id_] = why


def texts(values: Sequence[Any]) -> tuple[str, ...]:
    """Return token lines, with an empty one in the place of a value that is not a text."""
    return tuple(value if type(value) is str else "" for value in values)


def reason(error: Exception) -> str:
    """Return why a row cannot be read, in a few words and without its text."""
    if isinstance(error, DamagedValue):
        return str(error)
    if isinstance(error, UnicodeDecodeError):
        return "a text is not UTF-8"
    if isinstance(error, OverflowError):
        return "a time is outside the years 1 to 9999"
    if "JSON" in type(error).__name__:
        return "a field is not JSON"
    return re.sub(r"\s+", " ", str(error))[:80] or type(error).__name__


def named_damage(
    what: Literal["memory", "vector"], consequence: str, ids: Sequence[str], db: str
) -> str:
    """Say how many of what are damaged, of which memories, and what to do."""
    shown = ", ".join(ids[:_MOST_NAMED]) + (" …" if len(ids) > _MOST_NAMED else "")
    count = f"1 {what} is" if len(ids) == 1 else f"{len(ids):,} {_PLURALS[what]} are"
    return f"{count} damaged and {consequence} ({shown}); run: {to_type('doctor --repair', db)}"


def named_alteration(ids: Sequence[str], db: str) -> str:
    """Say that texts do not match their hashes, of which memories, and what to do."""
    shown = ", ".join(ids[:_MOST_NAMED]) + (" …" if len(ids) > _MOST_NAMED else "")
    count = "1 memory does" if len(ids) == 1 else f"{len(ids):,} memories do"
    return (
        f"{count} not match the hash of its text and may be damaged ({shown}); run:"
        f" {to_type('verify', db)}"
    )


def are_sound(matrix: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return a flag for each row: False where it has NaN or infinity, or is far too long."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        sound: NDArray[np.bool_] = np.einsum("ij,ij->i", matrix, matrix) <= _MAX_LENGTH_SQUARED
    return sound


def vector_of(codec: Codec, stored: Any, dims: int) -> NDArray[np.float32] | None:
    """Return one stored vector; None where it is damaged."""
    try:
        vector = _decoded([codec.unseal_vector(stored)], dims)[0]
        return vector if are_sound(vector[None, :])[0] else None
    except UNREADABLE:
        return None


def _decoded(found: Sequence[bytes], dims: int) -> NDArray[np.float32]:
    """Return vectors of one form as rows: float32, or whole numbers of one byte, which have the same
    direction and are scaled to length one. Raises one of UNREADABLE for any other length."""
    import numpy as np

    if {len(one) for one in found} != {dims}:
        matrix = np.frombuffer(b"".join(found), "<f4").reshape(len(found), dims)
        if {len(one) for one in found} - {4 * dims}:
            raise DamagedValue("a vector has another length than those of its model")
        return matrix
    codes = np.frombuffer(b"".join(found), np.int8).reshape(len(found), dims).astype(np.float32)
    lengths = np.linalg.norm(codes, axis=1, keepdims=True)
    units: NDArray[np.float32] = codes / np.maximum(lengths, 1e-12)
    return units


def as_codes(vector: NDArray[np.float32]) -> bytes:
    """Return the direction of a vector as whole numbers of one byte: a quarter of its size."""
    import numpy as np

    peak = max(float(np.abs(vector).max(initial=0.0)), 1e-12)
    codes: NDArray[np.int8] = np.rint(vector * (127 / peak)).astype(np.int8)
    return codes.tobytes()


def has_right_length(vector: NDArray[np.float32] | None) -> bool:
    """True for the length 1, or 0 for a text without words; a flipped bit changes it.
    Too slow for every search, which only leaves out vectors that could outrank all others."""
    import numpy as np

    length = 0.5 if vector is None else float(np.linalg.norm(vector))
    return abs(length - 1) < _LENGTH_ERROR or length == 0


def vector_or_zeros(codec: Codec, stored: Any, dims: int) -> NDArray[np.float32]:
    """Return one stored vector; where it is damaged, one that is near to none."""
    import numpy as np

    vector = vector_of(codec, stored, dims)
    return np.zeros(dims, np.float32) if vector is None else vector


def vectors_of(
    codec: Codec, stored: Sequence[Any], dims: int
) -> tuple[NDArray[np.float32], list[int]]:
    """Return stored vectors as the rows of a matrix, and the places of those that are not damaged."""
    import numpy as np

    try:
        matrix = _decoded([codec.unseal_vector(one) for one in stored], dims)
        if are_sound(matrix).all():
            return matrix, list(range(len(matrix)))
    except UNREADABLE:
        pass  # one by one
    vectors = [vector_of(codec, one, dims) for one in stored]
    places = [place for place, vector in enumerate(vectors) if vector is not None]
    sound = [vector for vector in vectors if vector is not None]
    return np.array(sound, np.float32).reshape(len(sound), dims), places
