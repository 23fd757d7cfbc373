"""SQLite files of other programs, read as they are and never written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from scrubjay.documents import Unreadable
from scrubjay.errors import InvalidInput

Fields = dict[str, Any]
_WAIT_S = 10.0  # the program may be writing


class ForeignFile:
    """An open file: its tables, and their rows by the names of the columns that this version has."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        self.tables = {name for (name,) in names}

    def rows(self, query: str, *values: object) -> Iterator[Fields]:
        cursor = self._connection.execute(query, values)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))


@contextmanager
def opened(path: str) -> Iterator[ForeignFile]:
    """Open a file for reading. One in a folder that cannot be written is opened as unchanging."""
    log = os.path.exists(f"{path}-wal") or os.access(os.path.dirname(path) or ".", os.W_OK)
    mode = "mode=ro" if log else "mode=ro&immutable=1"
    uri = f"{Path(path).absolute().as_uri()}?{mode}"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT_S)) as connection:
            # A text that is not UTF-8 must not end the import.
            connection.text_factory = lambda data: data.decode(errors="replace")
            yield ForeignFile(connection)
    except sqlite3.Error as error:
        raise Unreadable(f"SQLite cannot read it: {error}", failed=True) from error


def file_in(path: str, name: str) -> list[str]:
    """Return the file of this name in a folder, or the file that was given."""
    if not os.path.isdir(path):
        return [path]
    inside = os.path.join(path, name)
    if not os.path.isfile(inside):
        raise InvalidInput(f"there is no {name} in {path}; give the folder or file that has it")
    return [inside]
