"""The files of a store are private: the database, its log, backups, and the note of a moved one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import scrubjay
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.location import NEW_NOTE, MoveNote, moved_to, write_note

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="Windows has access lists instead of modes"
)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if path.is_file()}


@pytest.fixture(params=[0, 0o022], autouse=True, ids=oct)
def umask(request) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_the_database_and_its_log_are_private(tmp_path):
    """The log has every text that was just written."""
    with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
        store.add("The kettle whistles")

        assert modes(tmp_path) == dict.fromkeys(
            ("notes.db", "notes.db-wal", "notes.db-shm"), 0o600
        )


def test_a_store_that_its_owner_opened_to_others_stays_so(tmp_path):
    """With its log, without which the others could not read it."""
    path = tmp_path / "notes.db"
    scrubjay.open(path, embedder=False).close()
    path.chmod(0o660)

    with scrubjay.open(path, embedder=False) as store:
        store.add("The kettle whistles")

        assert modes(tmp_path) == dict.fromkeys(
            ("notes.db", "notes.db-wal", "notes.db-shm"), 0o660
        )


def test_a_link_to_a_new_store_creates_a_private_one(tmp_path):
    """The database may be on another disk."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "notes.db").symlink_to(tmp_path / "disk" / "notes.db")

    scrubjay.open(tmp_path / "notes.db", embedder=False).close()

    assert (tmp_path / "notes.db").is_symlink()
    assert modes(tmp_path / "disk") == {"notes.db": 0o600}


def test_threads_that_create_one_store_keep_their_locks(tmp_path):
    """The thread that creates the file closes it before another may lock it."""
    path, errors = str(tmp_path / "notes.db"), []
    begin = threading.Barrier(8)

    def create() -> None:
        begin.wait()
        try:
            SqliteDatabase(path).close()
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert modes(tmp_path) == {"notes.db": 0o600}


class TestBackups:
    @pytest.fixture
    def store(self, tmp_path) -> Iterator[scrubjay.Store]:
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
            store.add("The kettle whistles")
            yield store

    def test_a_backup_is_private(self, store, tmp_path):
        """From its first byte on."""
        seen = []
        store.backup(
            tmp_path / "copy.db",
            progress=lambda *_: seen.append(modes(tmp_path)["copy.db.unfinished"]),
        )

        assert modes(tmp_path)["copy.db"] == 0o600
        assert set(seen) == {0o600}

    def test_one_that_replaces_an_open_one_is_open(self, store, tmp_path):
        """Its owner opened it to others, such as the user who copies it elsewhere."""
        store.backup(tmp_path / "copy.db")
        (tmp_path / "copy.db").chmod(0o640)

        store.backup(tmp_path / "copy.db", force=True)

        assert modes(tmp_path)["copy.db"] == 0o640

    def test_a_link_in_its_place_is_not_followed(self, store, tmp_path):
        """Neither is one that has the name of the unfinished copy."""
        (tmp_path / "other").write_text("of another program")
        (tmp_path / "copy.db.unfinished").symlink_to(tmp_path / "other")

        store.backup(tmp_path / "copy.db")

        assert (tmp_path / "other").read_text() == "of another program"
        assert modes(tmp_path)["copy.db"] == 0o600


def test_the_note_of_a_moved_store_replaces_a_link(tmp_path):
    """The target of the link stays as it is."""
    (tmp_path / "other").write_text("of another program")
    note = tmp_path / "notes.db"
    note.symlink_to(tmp_path / "other")

    write_note(str(note), MoveNote("postgres://host/notes"))

    assert moved_to(str(note)) == "postgres://host/notes"
    assert (tmp_path / "other").read_text() == "of another program"
    assert modes(tmp_path)["notes.db"] == 0o600


def test_the_note_of_a_shared_store_is_shared(tmp_path):
    """Its users learn from the note where the memories are."""
    path = tmp_path / "notes.db"
    path.touch()
    path.chmod(0o640)

    write_note(f"{path}{NEW_NOTE}", MoveNote("postgres://host/notes"))

    assert modes(tmp_path)[f"notes.db{NEW_NOTE}"] == 0o640
