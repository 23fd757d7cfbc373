"""A backup is put in the place of a store, whole or not at all, and the earlier file is kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.ops.restore import restore
from scrubjay.storage.schema import SCHEMA_VERSION
from scrubjay.storage.sqlite import location
from scrubjay.storage.sqlite import restore as module
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.location import restored_from
from scrubjay.surfaces.cli import main

WRITER = """
import sys
import scrubjay
store = scrubjay.open(sys.argv[1], embedder=False)
n = 0
print("ready", flush=True)
try:
    while True:
        print("added", store.add(f"{sys.argv[2]} wrote {n}").id, flush=True)
        n += 1
except scrubjay.StoreError as error:
    print("refused", error, flush=True)
sys.stdin.readline()
store.close()
print("closed", flush=True)
sys.stdin.readline()
"""
ADD_AND_DIE = """
import os, sys, scrubjay
scrubjay.open(sys.argv[1], embedder=False).add("in the log only", id="late")
os._exit(9)
"""
KILLED = 9


def add_and_die(path: Path) -> None:
    """Add a memory in a process that is killed, so that it is in the log only."""
    subprocess.run([sys.executable, "-c", ADD_AND_DIE, path])


def restore_and_die(backup: Path, path: Path, steps: int) -> int:
    """Restore in a process that is killed after some steps; return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = steps

    def counted(function):
        def call(*given):
            nonlocal left
            left -= 1
            if left < 0:
                os._exit(KILLED)
            return function(*given)

        return call

    for name in ("link", "replace", "rename", "unlink", "remove", "fsync"):
        setattr(os, name, counted(getattr(os, name)))
    code = 1
    try:
        restore(backup, path)
        code = 0
    finally:
        os._exit(code)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def ids(path: Path) -> set[str]:
    with scrubjay.open(path, embedder=False) as store:
        return {memory.id for memory in store.ls(limit=10_000)}


@pytest.fixture
def path(tmp_path):
    """A store with memories that its backup has not."""
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=False) as store:
        store.add_many({"text": f"memory {n}", "id": f"early{n}"} for n in range(50))
        store.backup(tmp_path / "copy.db")
        store.add("later", id="later")
    return path


EARLY = {f"early{n}" for n in range(50)}


class TestRestore:
    def test_it_answers_as_the_store_did(self, tmp_path, embedder: HashingEmbedder):
        """With vectors and links; the earlier file is complete under its new name."""
        path = tmp_path / "notes.db"
        with scrubjay.open(path, embedder=embedder) as store:
            store.add("the kettle whistles", id="kettle")
            store.add("the teapot is green", id="teapot")
            store.link("kettle", "teapot")
            store.pending()
            before = store.search("whistling kettle").hits
            store.backup(tmp_path / "copy.db")
            store.add("later", id="later")
        copied = (tmp_path / "copy.db").read_bytes()

        done = restore(tmp_path / "copy.db", path)

        assert (done.path, done.memories) == (str(path), 2)
        assert done.backup == str(tmp_path / "copy.db")
        assert done.aside == f"{path}.before-restore"
        assert done.bytes == os.path.getsize(path)
        assert (tmp_path / "copy.db").read_bytes() == copied
        assert names(tmp_path) == ["copy.db", "notes.db", "notes.db.before-restore"]
        with scrubjay.open(path, embedder=embedder) as store:
            assert store.search("whistling kettle").hits == before
            assert [one.id for one in store.neighbors("kettle")] == ["teapot"]
            store.add("goes on", id="after")
        assert ids(Path(done.aside)) == {"kettle", "teapot", "later"}

    def test_twice(self, path, tmp_path):
        """Each earlier file has a name of its own."""
        first = restore(tmp_path / "copy.db", path)
        second = restore(tmp_path / "copy.db", path)

        assert (first.aside, second.aside) == (
            f"{path}.before-restore",
            f"{path}.before-restore-2",
        )
        assert ids(path) == EARLY
        assert restore(first.aside, path).memories == 51  # and back
        assert ids(path) == EARLY | {"later"}

    def test_where_there_is_no_file(self, path, tmp_path):
        """It is created, and a log that was left there does not become its log."""
        new = tmp_path / "new.db"
        Path(f"{new}-wal").write_bytes(b"left" * 100)

        done = restore(tmp_path / "copy.db", new)

        assert done.aside is None
        assert ids(new) == EARLY
        assert Path(f"{new}.before-restore-wal").read_bytes() == b"left" * 100

    def test_the_log_of_the_earlier_file_is_in_it(self, path, tmp_path):
        """Its last writer was killed."""
        add_and_die(path)

        done = restore(tmp_path / "copy.db", path)

        assert not os.path.exists(f"{path}-wal")
        assert ids(path) == EARLY
        assert ids(Path(done.aside)) == EARLY | {"later", "late"}

    def test_a_file_with_a_log_that_is_not_its_own(self, path, tmp_path):
        """As after copying a backup over it: both go aside, neither is applied to the other."""
        add_and_die(path)
        shutil.copyfile(tmp_path / "copy.db", path)
        log = Path(f"{path}-wal").read_bytes()

        done = restore(tmp_path / "copy.db", path)

        assert ids(path) == EARLY
        assert Path(done.aside).read_bytes() == (tmp_path / "copy.db").read_bytes()
        assert Path(f"{done.aside}-wal").read_bytes() == log

    @pytest.mark.parametrize(
        "content", [b"", b"hi", b"# My notes\n" * 200, b"SQLite format 3\0" + b"\xff" * 9000]
    )
    def test_a_target_that_is_not_a_store(self, path, tmp_path, content):
        """It may be what is left of one: it is kept as it is."""
        path.write_bytes(content)

        done = restore(tmp_path / "copy.db", path)

        assert Path(done.aside).read_bytes() == content
        assert ids(path) == EARLY

    def test_a_damaged_target(self, path, tmp_path):
        """Damaged in the middle, with the first pages whole."""
        data = path.read_bytes()
        path.write_bytes(data[:16384] + b"\xff" * (len(data) - 16384))
        damaged = path.read_bytes()

        done = restore(tmp_path / "copy.db", path)

        assert Path(done.aside).read_bytes() == damaged
        assert ids(path) == EARLY

    def test_a_backup_of_an_older_version(self, path, tmp_path, monkeypatch):
        """It is migrated when it is opened."""
        from scrubjay.storage.sqlite import connection, prepare

        with monkeypatch.context() as older:
            older.setattr(prepare, "SCHEMA_VERSION", 9)
            connection.SqliteDatabase(str(tmp_path / "old.db")).close()

        assert restore(tmp_path / "old.db", path).memories == 0
        with scrubjay.open(path, embedder=False) as store:
            assert store.status().schema == SCHEMA_VERSION

    def test_a_backup_that_is_a_store_in_use(self, path, tmp_path):
        """With what is in its log; it is not changed."""
        with scrubjay.open(path, embedder=False) as store:
            store.add("in the log", id="logged")
            done = restore(path, tmp_path / "other.db")
            assert done.memories == 52
            store.add("goes on")
        assert ids(tmp_path / "other.db") == EARLY | {"later", "logged"}

    def test_replicas_receive_everything_again(self, path, tmp_path):
        """They may have changes that the backup does not know."""
        with sqlite3.connect(tmp_path / "copy.db") as copy:
            copy.execute("INSERT INTO projections (tier, place) VALUES ('vectors', 'qdrant://x')")
        copy.close()

        restore(tmp_path / "copy.db", path)

        with scrubjay.open(path, embedder=False) as store:
            assert not store.servers()

    @pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
    def test_a_store_behind_a_link(self, path, tmp_path):
        """The link stays, and leads to the restored file."""
        link = tmp_path / "link.db"
        link.symlink_to(path)

        assert restore(tmp_path / "copy.db", link).path == str(path)
        assert link.is_symlink()
        assert ids(link) == EARLY

    def test_without_links(self, path, tmp_path, monkeypatch):
        """As on some memory sticks: the earlier file is copied."""

        def refuse(source, target):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)
        done = restore(tmp_path / "copy.db", path)

        assert ids(Path(done.aside)) == EARLY | {"later"}
        assert ids(path) == EARLY


class TestRefused:
    def refused(self, backup, path, error, words):
        """Nothing is changed."""
        folder = path.parent
        before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        with pytest.raises(error, match=words):
            restore(backup, path)
        after = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        assert after == before

    def test_a_newer_schema(self, path, tmp_path):
        with sqlite3.connect(tmp_path / "copy.db") as copy:
            copy.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        copy.close()
        self.refused(tmp_path / "copy.db", path, StoreError, "newer scrubjay")

    def test_a_damaged_backup(self, path, tmp_path):
        copy = tmp_path / "copy.db"
        data = copy.read_bytes()
        copy.write_bytes(data[:16384] + b"\xff" * (len(data) - 16384))
        self.refused(copy, path, StoreError, "damaged|cannot be restored")

    def test_files_that_are_no_backup(self, path, tmp_path):
        foreign = tmp_path / "foreign.db"
        with sqlite3.connect(foreign) as db:
            db.execute("CREATE TABLE bookmarks (url)")
        db.close()
        (tmp_path / "text.md").write_text("my notes " * 200)
        (tmp_path / "empty.db").touch()
        for name, error, words in (
            ("foreign.db", InvalidInput, "not a scrubjay store"),
            ("text.md", StoreError, "not a database"),
            ("empty.db", InvalidInput, "not a scrubjay store"),
            ("nowhere.db", NotFound, "no file"),
            (".", InvalidInput, "is a folder"),
            ("notes.db", InvalidInput, "is the store itself"),
        ):
            self.refused(tmp_path / name, path, error, words)

    def test_wrong_targets(self, path, tmp_path):
        copy = tmp_path / "copy.db"
        for place, words in (
            ("postgres://localhost/x", "promote"),
            (":memory:", "in memory"),
            (tmp_path, "is a folder"),
            (tmp_path / "no" / "where.db", "no folder"),
        ):
            with pytest.raises(InvalidInput, match=words):
                restore(copy, place)

    def test_a_store_that_was_moved(self, path, tmp_path):
        """There would be two."""
        path.write_text("scrubjay: the memories of this file were moved to postgres://there/x\n")
        self.refused(tmp_path / "copy.db", path, InvalidInput, "were moved to postgres")

    def test_a_backup_beside_the_log_of_another_file(self, path, tmp_path):
        """What it would become is not what was backed up."""
        copy = tmp_path / "copy.db"
        add_and_die(path)
        shutil.copyfile(f"{path}-wal", f"{copy}-wal")
        self.refused(copy, path, StoreError, "does not belong")


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced on Windows")
class TestOtherProcesses:
    def test_writers_stop_and_lose_nothing(self, path, tmp_path):
        """What they were acknowledged is in the earlier file; then they are refused, and their end does
        not harm the restored one."""
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, path, name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in ("ann", "ben")
        ]
        said: list[list[str]] = [[], []]

        def listen(n: int) -> None:
            for line in writers[n].stdout or ():
                said[n].append(line.strip())

        threads = [threading.Thread(target=listen, args=(n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        while not all(any("added" in line for line in lines) for lines in said):
            time.sleep(0.01)

        done = restore(tmp_path / "copy.db", path)

        while not all(lines[-1].startswith("refused") for lines in said):
            time.sleep(0.01)
        assert all("was replaced while it was open" in lines[-1] for lines in said)
        with scrubjay.open(path, embedder=False) as store:
            store.add("of the restored store", id="new")
            for writer in writers:
                writer.stdin.write("\n")
                writer.stdin.flush()
            while not all(lines[-1] == "closed" for lines in said):
                time.sleep(0.01)
            assert os.path.getsize(f"{path}-wal") > 0  # they did not remove our log
            store.add("after their end", id="newer")
        for writer in writers:
            writer.communicate("\n")
        for thread in threads:
            thread.join()
        assert ids(path) == EARLY | {"new", "newer"}
        acknowledged = {line.split()[1] for lines in said for line in lines if "added" in line}
        kept = ids(Path(done.aside))
        assert kept >= EARLY | {"later"} | acknowledged
        # Of each writer, one more may have arrived there before it was refused.
        assert len(kept - EARLY - {"later"} - acknowledged) <= len(writers)

    def test_processes_that_open_it_meanwhile(self, path, tmp_path):
        """Each finds one of the two stores, whole, or is asked to try again."""
        stop, found, errors = threading.Event(), [], []

        def opener() -> None:
            while not stop.is_set():
                try:
                    with scrubjay.open(path, embedder=False) as store:
                        found.append(len(store.ls(limit=1000)))
                except StoreError as error:
                    errors.append(str(error))

        threads = [threading.Thread(target=opener) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(4):
                restore(tmp_path / "copy.db", path)
                restore(f"{path}.before-restore", path)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert set(found) <= {50, 51}
        assert all("replaced" in error or "removed" in error for error in errors), errors
        assert ids(path) == EARLY | {"later"}

    def test_a_store_that_is_created_meanwhile(self, path, tmp_path, monkeypatch):
        """Its file is replaced before anything is known of it: what is written is in the restored one."""
        new, open_writer = tmp_path / "new.db", SqliteDatabase._open_writer

        def open_then_restore(db: SqliteDatabase) -> None:
            open_writer(db)
            monkeypatch.undo()
            restore(tmp_path / "copy.db", new)
            db._identities = db._files_found()

        monkeypatch.setattr(SqliteDatabase, "_open_writer", open_then_restore)
        with scrubjay.open(new, embedder=False) as store:
            store.add("acknowledged", id="mine")
        assert ids(new) == EARLY | {"mine"}

    def test_a_reader_that_stays(self, path, tmp_path):
        """It goes on reading the earlier file; restoring does not wait for its end."""
        with scrubjay.open(path, embedder=False) as store:
            assert len(store.ls(limit=1000)) == 51
            restore(tmp_path / "copy.db", path)
            with pytest.raises(StoreError, match="was replaced"):
                store.add("into the earlier file")
        assert ids(path) == EARLY

    def test_killed_at_every_step(self, path, tmp_path):
        """The store is the earlier or the restored one; where it is neither, running it again helps."""
        copy, original = tmp_path / "copy.db", path.read_bytes()
        interrupted = 0
        for step in range(30):
            folder = tmp_path / f"step{step}"
            folder.mkdir()
            target = folder / "notes.db"
            target.write_bytes(original)
            code = restore_and_die(copy, target, step)
            if restored_from(str(target)) is None:
                assert ids(target) in (EARLY, EARLY | {"later"})
            else:
                interrupted += 1
                with pytest.raises(StoreError, match="scrubjay restore"):
                    scrubjay.open(target, embedder=False)
                assert ids(Path(f"{target}.before-restore")) == EARLY | {"later"}
                assert restore(copy, target).aside == f"{target}.before-restore"
                assert ids(target) == EARLY
            if code == 0:
                break
            assert code == KILLED
            restore(copy, target)
            assert ids(target) == EARLY
            left = {name.removesuffix("-2") for name in names(folder)}
            assert left == {"notes.db", "notes.db.before-restore"}
        else:
            pytest.fail("it did not end")
        assert interrupted


class TestShell:
    def test_it_says_what_is_restored(self, path, tmp_path, capsys):
        """And the name of the earlier file."""
        assert main(["restore", str(tmp_path / "copy.db"), "--db", str(path)]) == 0

        said = capsys.readouterr().out
        assert "50 memories" in said
        assert "notes.db.before-restore" in said

    def test_another_file(self, path, tmp_path, capsys):
        """--to is the file that is written, and --db is left alone."""
        before = path.read_bytes()
        new = tmp_path / "new.db"
        assert (
            main(["restore", str(tmp_path / "copy.db"), "--to", str(new), "--db", str(path)]) == 0
        )
        assert ids(new) == EARLY
        assert path.read_bytes() == before

    def test_exit_codes(self, path, tmp_path, capsys):
        """Wrong usage is 2, and a backup that cannot be used 1."""
        (tmp_path / "text.md").write_text("my notes " * 200)
        assert main(["restore", str(path), "--db", str(path)]) == 2
        assert main(["restore", str(tmp_path / "text.md"), "--db", str(path)]) == 1
        assert main(["restore", str(tmp_path / "copy.db"), "--db", "postgres://x/y"]) == 2
        assert "promote" in capsys.readouterr().err


def test_names_are_not_followed_through_links(path, tmp_path):
    """A link at the name of the unfinished file leads to a file that stays as it is."""
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    Path(f"{path}.unfinished").symlink_to(mine)
    Path(f"{path}.restoring").symlink_to(mine)

    restore(tmp_path / "copy.db", path)

    assert mine.read_text() == "mine"
    assert ids(path) == EARLY
    assert module.BEFORE in "".join(names(tmp_path))


@pytest.mark.skipif(os.name == "nt", reason="locks belong to the process on POSIX only")
def test_a_store_that_replaces_a_note_keeps_its_locks(path, monkeypatch):
    """It is put there between the look at its size and the reading of the note."""
    code = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN EXCLUSIVE')"
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(location, "is_small", lambda path: True)

        assert restored_from(str(path)) is None

        other = subprocess.run([sys.executable, "-c", code, path], capture_output=True)
        assert b"locked" in other.stderr
