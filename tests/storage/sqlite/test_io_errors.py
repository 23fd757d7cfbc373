"""I/O errors at any point of a write: the caller learns whether it was carried out, and that is true."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from io_errors import FULL, IOERR_FSYNC, IOERR_READ, IOERR_WRITE, failing

import scrubjay
from scrubjay.errors import StoreError
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.log_chain import is_foreign


@pytest.fixture
def store(tmp_path: Path):
    with scrubjay.open(tmp_path / "a.db", embedder=False) as made:
        made.add("The first note", id="first")
        yield made


def writer_of(store: scrubjay.Store) -> sqlite3.Connection:
    db = store._context.db
    assert isinstance(db, SqliteDatabase)
    return db._writer


def after_a_power_cut(store: scrubjay.Store, folder: Path) -> set[str]:
    """The ids that a process would find that opens the files as they are on the disk now."""
    folder.mkdir()
    for part in ("", "-wal"):
        shutil.copy(f"{store.path}{part}", folder / f"a.db{part}")
    assert not is_foreign(str(folder / "a.db"))
    with closing(sqlite3.connect(folder / "a.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {id_ for (id_,) in db.execute("SELECT id FROM memories")}


def test_a_failed_flush_is_taken_back_for_good(store: scrubjay.Store, tmp_path: Path):
    """The transaction is in the log when the flush fails: a power cut would have brought it back."""
    with (
        failing(writer_of(store), "sync", IOERR_FSYNC, times=1),
        pytest.raises(StoreError, match="nothing was written") as caught,
    ):
        store.add("The second note", id="second")
    assert "scrubjay doctor --db" in str(caught.value)
    assert "SQLITE_IOERR_FSYNC" in str(caught.value)
    assert after_a_power_cut(store, tmp_path / "cut") == {"first"}
    store.add("The second note", id="second")
    assert after_a_power_cut(store, tmp_path / "later") == {"first", "second"}


def test_a_disk_that_stays_broken_leaves_it_open(store: scrubjay.Store, tmp_path: Path):
    """Then the error says that it is not known, and what to look for."""
    with (
        failing(writer_of(store), "sync", IOERR_FSYNC),
        pytest.raises(StoreError, match="not known") as caught,
    ):
        store.add("The second note", id="second")
    assert "before you try again" in str(caught.value)
    # The disk works again: the next write decides that it is gone.
    store.add("The third note", id="third")
    assert {one.id for one in store.ls()} == {"first", "third"}
    assert after_a_power_cut(store, tmp_path / "cut") == {"first", "third"}


@pytest.mark.parametrize("after", range(0, 12, 3))
@pytest.mark.parametrize(
    ("method", "code", "log"),
    [
        ("write", IOERR_WRITE, True),
        ("write", FULL, True),
        ("read", IOERR_READ, True),
        ("read", IOERR_READ, False),
        ("sync", IOERR_FSYNC, True),
    ],
)
@pytest.mark.parametrize("times", [1, None])
def test_what_the_error_says_is_true(
    method: str,
    code: int,
    log: bool,
    after: int,
    times: int | None,
    store: scrubjay.Store,
    tmp_path: Path,
):
    connection = writer_of(store)
    connection.execute("PRAGMA cache_size = 2")  # so that pages are read and written all the time
    long = "a long note that fills several pages of the log " * 2000
    with failing(connection, method, code, log=log, after=after, times=times):
        try:
            store.add(long, id="second")
        except StoreError as error:
            said = str(error)
        else:
            said = "stored"
    found = after_a_power_cut(store, tmp_path / "cut")
    if said == "stored":
        assert found == {"first", "second"}
    elif "not known" not in said:
        assert "nothing was written" in said
        assert found == {"first"}
    # The store goes on once the disk does.
    store.add("The third note", id="third")
    assert "third" in after_a_power_cut(store, tmp_path / "later")
    assert ("second" in {one.id for one in store.ls()}) == (said == "stored")


def test_a_search_that_cannot_read_says_so(store: scrubjay.Store):
    writer_of(store).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.search("note")  # opens this thread's connection
    connection = store._context.db._local.connection.sqlite
    connection.execute("PRAGMA shrink_memory")
    with (
        failing(connection, "read", IOERR_READ, log=False),
        pytest.raises(StoreError, match="the disk reported an error"),
    ):
        store.search("note")
    assert [hit.id for hit in store.search("note")] == ["first"]


def test_of_many_notes_the_first_batches_stay(store: scrubjay.Store, monkeypatch):
    """The error says how many: repeating the call does not store them twice."""
    monkeypatch.setattr("scrubjay.store.write._BATCH", 10)
    notes = [{"text": f"Note number {n}"} for n in range(30)]
    connection = writer_of(store)

    def given():
        yield from notes[:25]
        broken.__enter__()
        yield from notes[25:]

    broken = failing(connection, "write", IOERR_WRITE, times=1)
    with pytest.raises(StoreError, match="20 before it are stored"):
        store.add_many(given())
    broken.__exit__(None, None, None)
    assert store.status().memories == 21
    assert len(store.add_many(notes).known) == 20
    assert store.status().memories == 31
