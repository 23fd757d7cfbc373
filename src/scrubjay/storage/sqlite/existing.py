"""A database file that others maintain: opened as it is, never created or migrated."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from scrubjay.errors import StoreError
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.schema import SCHEMA_VERSION
from scrubjay.storage.sqlite.connection import SqliteDatabase, TolerantConnection
from scrubjay.storage.sqlite.errors import has_no_room
from scrubjay.storage.sqlite.prepare import refuse_foreign, version_of

WAIT_S = 1.0
# A file without write permission is opened read-only. When the folder cannot be written either, or the
# disk is full, so that no log can be created, it is opened as a file that does not change.
_MODES = ("mode=rw", "mode=ro", "mode=ro&immutable=1")


class ExistingDatabase(SqliteDatabase):
    """The file of a tier. With `why_not_written`, every write is refused with that reason.

    After an error `failed` is set, and the file must be opened again. A `frozen` one was opened as
    unchanging, and must be opened again when it has changed.
    """

    finishes_purges = False

    def __init__(
        self, path: str, *, wait_s: float | None = None, why_not_written: str | None = None
    ) -> None:
        self._why_not_written = why_not_written
        self._mode = _MODES[0]
        self._frozen_as: tuple[int, int] | None = None
        super().__init__(path, wait_s=WAIT_S if wait_s is None else wait_s)

    @contextmanager
    def write(self, wait_s: float | None = None) -> Iterator[sqlite3.Connection]:
        self.check_writable()
        with super().write(wait_s) as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        # SQLite does not look whether a file that it was told does not change has changed.
        if self.frozen and not self.closed and self._frozen_as != _last_change(self.path):
            self.failed = True
            raise StoreError(
                f"{self.path} was changed while it was open for reading; open it again"
            )
        with super().read() as connection:
            yield connection

    def check_writable(self) -> None:
        if self._why_not_written is not None:
            raise StoreError(self._why_not_written)

    def _open(self) -> sqlite3.Connection:
        from pathlib import Path

        if not os.path.exists(self.path):
            raise StoreError(f"there is no file {self.path}; give the path of an existing file")
        uri = Path(os.path.abspath(self.path)).as_uri()
        for mode in _MODES[_MODES.index(self._mode) :]:
            connection = sqlite3.connect(
                f"{uri}?{mode}",
                uri=True,
                timeout=self.wait_s,
                isolation_level=None,
                check_same_thread=False,
                factory=TolerantConnection,
            )
            try:
                if "immutable" in mode:
                    self._refuse_unread_log()
                connection.execute("PRAGMA schema_version").fetchone()
            except (sqlite3.Error, StoreError) as error:
                connection.close()
                denied = any(text in str(error) for text in ("unable to open", "readonly"))
                if mode == _MODES[-1] or not (denied or has_no_room(error)):
                    raise
            else:
                self._mode = mode
                if mode == _MODES[-1] and not self.frozen:
                    self.frozen, self._frozen_as = True, _last_change(self.path)
                return connection
        raise AssertionError("the last mode has raised")

    def check_same(self) -> None:
        """Refuse a file that was removed or replaced, or a frozen one that was written after all."""
        super().check_same()
        if self.frozen:
            self._refuse_unread_log()

    def _refuse_unread_log(self) -> None:
        log = f"{self.path}-wal"
        if os.path.exists(log) and os.path.getsize(log):
            raise StoreError(
                f"{self.path} cannot be read: the last writes are still in {log}, and the folder is"
                " not writable; open the store once as a user who may write there"
            )

    def _prepare(self) -> None:
        """Refuse a file that would have to be migrated first."""
        found = version_of(self.path, self._writer)
        self.refuse_newer(found)
        if not found:
            refuse_foreign(self.path, self._writer)
        if found < SCHEMA_VERSION:
            raise StoreError(outdated(self.path))

    @contextmanager
    def _errors(self, wait_s: float | None = None) -> Iterator[None]:
        try:
            with super()._errors(wait_s):
                yield
        except StoreError:
            self.failed = True
            raise


def _last_change(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def outdated(path: str) -> str:
    return (
        f"{path} was written by an older scrubjay; migrate it once with: {to_type('status', path)}"
    )
