"""What every write needs: the tables, the clock and the settings of one store."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.config import FileLimits
from scrubjay.storage.sqlite.cache.notes import files_of
from scrubjay.write.chunking import ChunkSizes

if TYPE_CHECKING:
    from scrubjay.storage.sql.files import SqlFiles, SqlFolders, SqlLinkTargets
    from scrubjay.storage.sql.graph import SqlGraph
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.versions import SqlVersions
    from scrubjay.write.static_vectors import StaticVectors


class WriteContext(NamedTuple):
    """The tables that a write touches, and the settings that apply to it.

    `check_place` refuses a namespace in which the user may not write. It is called in each
    transaction: reading a folder takes a while, and users may be removed meanwhile.
    """

    records: SqlRecords
    graph: SqlGraph
    files: SqlFiles
    folders: SqlFolders
    targets: SqlLinkTargets
    versions: SqlVersions
    clock: Callable[[], datetime]
    chunk_sizes: ChunkSizes = ChunkSizes()
    db_path: str = ":memory:"
    user: str = ""
    check_place: Callable[[str], object] = bool
    file_limits: FileLimits = FileLimits()
    static: StaticVectors | None = None

    @property
    def own_files(self) -> tuple[str, ...]:
        """The database's own files, which are not to be ingested or watched."""
        path = os.path.abspath(self.db_path)
        logs = (path + suffix for suffix in ("", "-wal", "-shm", "-journal"))
        return (*logs, *files_of(path))
