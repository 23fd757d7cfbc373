"""A store with something of every kind, made once and copied for each test."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from promote_stores import complete, furnish

from scrubjay.storage.sqlite.connection import SqliteDatabase


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a file `notes.db`, and of the documents in it."""
    folder = tmp_path_factory.mktemp("furnished")
    furnish(folder / "notes.db", folder / "docs")
    with closing(SqliteDatabase(str(folder / "notes.db"))) as db:
        complete(db)
        db.purge_log()
    return folder


@pytest.fixture
def notes(furnished: Path, tmp_path: Path) -> Path:
    """A file of the test's own."""
    return Path(shutil.copy(furnished / "notes.db", tmp_path / "notes.db"))
