"""A database that somebody else keeps: opened as it is, never made, never brought up to date."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from scrubjay.errors import StoreError
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.schema import SCHEMA_VERSION
from scrubjay.storage.sqlite.connection import SqliteDatabase

WAIT_S = 1.0
# A file that cannot be written is opened for reading; where not even its log can be made beside it,
# because the folder cannot be written either, as one that nobody changes.
_WAYS = ("mode=rw", "mode=ro", "mode=ro&immutable=1")


class ExistingDatabase(SqliteDatabase):
    """The file of a tier. With `why_not_written`, every write is refused with that reason.

    What has `failed` once is to be opened anew. One that is `frozen` was opened as a file that nobody
    changes, and is to be opened anew when somebody did.
    """

    def __init__(
        self, path: str, *, wait_s: float | None = None, why_not_written: str | None = None
    ) -> None:
        self._why_not_written = why_not_written
        self._way = _WAYS[0]
        super().__init__(path, wait_s=WAIT_S if wait_s is None else wait_s)

    @contextmanager
    def write(self, wait_s: float | None = None) -> Iterator[sqlite3.Connection]:
        """Give the writer inside one transaction, if this file may be written at all."""
        self.check_writable()
        with super().write(wait_s) as connection:
            yield connection

    def check_writable(self) -> None:
        """Refuse a file in which nothing may land."""
        if self._why_not_written is not None:
            raise StoreError(self._why_not_written)

    def _open(self) -> sqlite3.Connection:
        from pathlib import Path

        if not os.path.exists(self.path):
            raise StoreError(f"there is no file {self.path}; give the path of one that is there")
        uri = Path(os.path.abspath(self.path)).as_uri()
        for way in _WAYS[_WAYS.index(self._way) :]:
            connection = sqlite3.connect(
                f"{uri}?{way}",
                uri=True,
                timeout=self.wait_s,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                if "immutable" in way:
                    self._refuse_unread_log()
                connection.execute("PRAGMA schema_version").fetchone()
            except (sqlite3.Error, StoreError) as error:
                connection.close()
                barred = any(said in str(error) for said in ("unable to open", "readonly"))
                if way == _WAYS[-1] or not barred:
                    raise
            else:
                self._way = way
                self.frozen = way == _WAYS[-1]
                return connection
        raise AssertionError("the last way has raised")

    def check_same(self) -> None:
        """Refuse to go on with a file that was removed or replaced, or that somebody writes after all."""
        super().check_same()
        if self.frozen:
            self._refuse_unread_log()

    def _refuse_unread_log(self) -> None:
        log = f"{self.path}-wal"
        if os.path.exists(log) and os.path.getsize(log):
            raise StoreError(
                f"{self.path} cannot be read: what was written last is still in {log}, and the folder"
                " cannot be written; let who may write there open it once"
            )

    def _prepare(self) -> None:
        """Refuse a file that this scrubjay would have to change first."""
        found = self._version()
        self._refuse_newer(found)
        if not found and not os.path.getsize(self.path):
            raise StoreError(f"{self.path} is an empty file, not a scrubjay store")
        if not found:
            self._refuse_foreign()
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


def outdated(path: str) -> str:
    """Say what to do about a file that was written by an older scrubjay."""
    return (
        f"{path} was written by an older scrubjay; bring it up to date once with:"
        f" {to_type('status', path)}"
    )
