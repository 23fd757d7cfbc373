"""Collections of a local Chroma database, read from `chroma.sqlite3`; MemPalace stores its drawers there.

The tables are those of Chroma 0.4 to 1.5; Chroma itself is not needed. Vectors are made again by the
model of this store.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrubjay.write.importers.foreign_sqlite import ForeignFile, file_in, opened
from scrubjay.write.importers.record import (
    Broken,
    Format,
    Item,
    LeftOut,
    Record,
    clean,
    text_in,
    time_in,
)

NAME = "chroma"
_NEEDED = {"collections", "segments", "embeddings", "embedding_metadata"}
_TEXT = "chroma:document"
_VALUES = ("string_value", "int_value", "float_value", "bool_value")  # the last only since 0.4.9
_TIMES = ("authored_at", "created_at", "timestamp", "date", "filed_at")
_TOPICS = ("wing", "room", "hall")  # of MemPalace
_ROWS = """
SELECT e.id AS number, e.embedding_id, e.created_at AS stored_at, c.id AS collection_id, c.name
FROM embeddings e JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection
ORDER BY e.id"""


def _files(path: str) -> list[str]:
    return file_in(path, "chroma.sqlite3")


def _read(path: str) -> Iterator[Item]:
    with opened(path) as file:
        if missing := sorted(_NEEDED - file.tables):
            what = f"the file has no table {missing[0]!r}, as Chroma 0.4 to 1.5 has"
            yield Broken(path, f"{what}; move older data with chroma-migrate first")
            return
        for row in file.rows(_ROWS):
            where = f"{path}:{row['name']}:{row['embedding_id']}"
            found = _metadata(file, row["number"])
            text = clean(found.pop(_TEXT, None))
            if not text.strip():
                yield LeftOut("a vector without a document")
                continue
            own = {key: value for key, value in found.items() if not key.startswith("chroma:")}
            at = time_in(own, *_TIMES) or time_in(row, "stored_at")
            fields = {
                "text": text,
                "topics": (
                    row["name"],
                    *(one for key in _TOPICS if isinstance(one := own.get(key), str)),
                ),
                "source": text_in(own, "source_file"),
                "created_at": at,
                "updated_at": at,
                "metadata": {"collection": row["name"], **own},
            }
            yield Record(where, f"{row['collection_id']}:{row['embedding_id']}", fields)


def _metadata(file: ForeignFile, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in file.rows("SELECT * FROM embedding_metadata WHERE id = ?", number):
        found[row["key"]] = _value(row)
    if "embedding_metadata_array" in file.tables:  # lists, since 1.5
        for row in file.rows("SELECT * FROM embedding_metadata_array WHERE id = ?", number):
            found.setdefault(row["key"], []).append(_value(row))
    return found


def _value(row: dict[str, Any]) -> Any:
    name = next((name for name in _VALUES if row.get(name) is not None), None)
    value = row[name] if name else None
    return bool(value) if name == _VALUES[-1] else value


FORMAT = Format(NAME, _files, _read)
