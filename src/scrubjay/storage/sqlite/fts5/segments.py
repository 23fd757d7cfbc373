"""Levels of the FTS5 keyword index: empty ones are removed before they make the index unusable.

Before SQLite 3.41, each `optimize` adds two levels to the index and removes none. A thousand of them leave
2,000 levels, and then FTS5 takes the index for damaged: the store can be neither searched nor written.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from scrubjay.storage.database import Connection

MAX_LEVELS = 60  # newer versions of SQLite stop at 64
_STRUCTURE = 10  # the row of `words_data` that lists levels and their segments
_COOKIE_BYTES = 4
_SEGMENT_NUMBERS = 3  # number, first page and last page


def optimize(db: Connection) -> None:
    """Merge all segments into one, so that nothing of deleted rows is left; only inside a write."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")
    if remove_empty_levels(db):
        # FTS5 has the old levels in memory; this merges nothing, and makes it read the new ones.
        db.execute("INSERT INTO words (words) VALUES ('optimize')")


def has_too_many_levels(db: Connection) -> bool:
    stored = _read(db)
    return stored is not None and compact(stored) != stored


def remove_empty_levels(db: Connection) -> bool:
    """Remove empty levels where there are many; False if nothing was changed. Only inside a write."""
    stored = _read(db)
    if stored is None:
        return False
    compacted = compact(stored)
    if compacted == stored:
        return False
    db.execute("UPDATE words_data SET block = ? WHERE id = ?", (compacted, _STRUCTURE))
    return True


def compact(stored: bytes) -> bytes:
    """Return the record without its empty levels if it has many, else as it is.

    The order of the levels is that of age, and stays. A merge under way has its output in the level
    after its inputs, so no level between the two is empty.
    """
    numbers = list(_varints(stored[_COOKIE_BYTES:]))
    if numbers[0] <= MAX_LEVELS:
        return stored
    try:
        levels, segments, writes = numbers[:3]
        at, written = 3, []
        for _ in range(levels):
            merging, held = numbers[at : at + 2]
            until = at + 2 + held * _SEGMENT_NUMBERS
            if held:
                written.append((merging, held, *numbers[at + 2 : until]))
            at = until
    except ValueError:
        return stored  # a format of another version
    if at != len(numbers) or sum(level[1] for level in written) != segments:
        return stored
    record = [len(written), segments, writes, *chain.from_iterable(written)]
    return stored[:_COOKIE_BYTES] + b"".join(map(_varint, record))


def _read(db: Connection) -> bytes | None:
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'words_data'").fetchone() is None:
        return None  # the file has our own index
    row = db.execute("SELECT block FROM words_data WHERE id = ?", (_STRUCTURE,)).fetchone()
    return None if row is None else bytes(row[0])


def _varints(data: bytes) -> Iterator[int]:
    """Yield SQLite's variable-length numbers; those of nine bytes do not occur here."""
    number = 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            yield number
            number = 0


def _varint(number: int) -> bytes:
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F | 0x80)
    return bytes(reversed(groups))
