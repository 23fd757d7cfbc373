"""A log that does not belong to its file is noticed, and so is one that is removed while it is used."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import scrubjay
from scrubjay.errors import StoreError
from scrubjay.storage.sqlite import log_chain
from scrubjay.surfaces.cli import main

MEMORIES = 384
WRITE_AND_DIE = """
import os, sys
import scrubjay
store = scrubjay.open(sys.argv[1], embedder=False)
for n in range(int(sys.argv[2])):
    store.add(f"memory {sys.argv[3]} {n} with some words of its own")
os._exit(9)
"""
HOLD = """
import sys
import scrubjay
store = scrubjay.open(sys.argv[1], embedder=False)
store.add("of the process that holds it")
print("ready", flush=True)
sys.stdin.readline()
store.close()
"""


def write_and_die(path: Path, count: int, name: str = "late") -> None:
    """Add memories in a process that is killed, so that they are in the log only."""
    done = subprocess.run([sys.executable, "-c", WRITE_AND_DIE, path, str(count), name])
    assert done.returncode == 9
    assert os.path.getsize(f"{path}-wal") > 0


def count(path: Path) -> int:
    with scrubjay.open(path, embedder=False) as store:
        return store.status().memories


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=False) as store:
        store.add_many(
            {"text": f"memory early {n} with words of its own"} for n in range(MEMORIES)
        )
        store.backup(tmp_path / "copy.db")
    return path


class TestForeignLog:
    @pytest.mark.parametrize("late", [1, 20])
    def test_a_backup_copied_over_a_file_whose_log_was_left_behind(self, path, tmp_path, late):
        """It is refused by name, nothing is changed, and without the log the backup is whole."""
        write_and_die(path, late)
        shutil.copyfile(tmp_path / "copy.db", path)
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

        for _ in range(2):
            with pytest.raises(StoreError, match=r"-wal does not belong .*scrubjay restore"):
                scrubjay.open(path, embedder=False)

        after = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        assert after == before
        os.rename(f"{path}-wal", tmp_path / "aside")
        os.unlink(f"{path}-shm")
        assert count(path) == MEMORIES

    def test_a_backup_made_while_the_log_was_in_use(self, path, tmp_path):
        """The log has the state of the backup in it, and yet it is not the backup's."""
        with scrubjay.open(path, embedder=False) as store:
            store.add("first of this log")
            store.backup(tmp_path / "middle.db")
            write_and_die(path, 3)
            shutil.copyfile(f"{path}-wal", tmp_path / "log")
        shutil.copyfile(tmp_path / "log", f"{path}-wal")
        shutil.copyfile(tmp_path / "middle.db", path)

        with pytest.raises(StoreError, match="does not belong"):
            scrubjay.open(path, embedder=False)

    def test_a_copy_of_an_earlier_state_of_the_file(self, path, tmp_path):
        """Made with `cp`, while no one used it."""
        shutil.copyfile(path, tmp_path / "old.db")
        write_and_die(path, 1)
        assert count(path) == MEMORIES + 1
        write_and_die(path, 1, "later")
        shutil.copyfile(tmp_path / "old.db", path)

        with pytest.raises(StoreError, match="does not belong"):
            scrubjay.open(path, embedder=False)

    def test_a_backup_of_a_version_without_the_chain(self, path, tmp_path):
        """Its state is not the one before the first transaction of the log, either."""
        with sqlite3.connect(tmp_path / "copy.db") as old:
            old.execute("DELETE FROM sqlite_sequence WHERE name = ?", (log_chain.STEP,))
        old.close()
        write_and_die(path, 2)
        shutil.copyfile(tmp_path / "copy.db", path)

        with pytest.raises(StoreError, match="does not belong"):
            scrubjay.open(path, embedder=False)

    def test_the_log_of_another_store(self, path, tmp_path):
        """Put beside the file by hand."""
        other = tmp_path / "other.db"
        with scrubjay.open(other, embedder=False) as store:
            store.add("something")
        write_and_die(other, 2)
        shutil.copyfile(f"{other}-wal", f"{path}-wal")

        with pytest.raises(StoreError, match="does not belong"):
            scrubjay.open(path, embedder=False)

    def test_doctor_reports_it(self, path, tmp_path, capsys):
        """With what to do."""
        write_and_die(path, 20)
        shutil.copyfile(tmp_path / "copy.db", path)

        assert main(["doctor", "--db", str(path)]) == 1
        assert "does not belong" in capsys.readouterr().out

    def test_as_a_tier(self, path, tmp_path):
        """A search says that it is lost, and answers from the others."""
        write_and_die(path, 2)
        shutil.copyfile(tmp_path / "copy.db", path)

        with scrubjay.open(
            tiers={"agent": tmp_path / "own.db", "team": path}, embedder=False
        ) as store:
            store.add("a kettle of my own")
            found = store.search("kettle", profile="vault")
        assert len(found) == 1
        assert "does not belong" in " ".join(found.degraded)


class TestOwnLog:
    def test_a_killed_process_leaves_a_log_that_is_used(self, path):
        """As often as it happens, and with what every process wrote."""
        for turn in range(1, 4):
            write_and_die(path, 2, f"turn {turn}")
            assert not log_chain.is_foreign(str(path))
        assert count(path) == MEMORIES + 6

    def test_a_new_store_whose_writer_is_killed(self, tmp_path):
        """The file itself has no state yet."""
        path = tmp_path / "new.db"
        write_and_die(path, 3)

        assert count(path) == 3

    @pytest.mark.parametrize("how", ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
    def test_a_log_that_was_moved_into_the_file(self, path, how):
        """All of it or the part that readers allow; then the next writes follow."""
        with scrubjay.open(path, embedder=False) as store:
            store.add("before the reader")
            reader = sqlite3.connect(path, isolation_level=None)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memories").fetchone()
            store.add("after the reader")
            other = sqlite3.connect(path, timeout=0)
            other.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
            assert not log_chain.is_foreign(str(path))
            reader.close()
            other.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
            assert not log_chain.is_foreign(str(path))
            store.add("after the checkpoint")
            assert not log_chain.is_foreign(str(path))
            other.close()
            assert count(path) == MEMORIES + 3

    def test_every_state_of_a_busy_store_is_accepted(self, path):
        """Other processes write, and move the log into the file, while it is opened again and again."""
        command = [sys.executable, "-c", WRITE_AND_DIE, path, "60", "busy"]
        with subprocess.Popen(command) as writer:
            opened = 0
            while writer.poll() is None:
                with sqlite3.connect(path) as other:
                    other.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
                other.close()
                log_chain.check_log(str(path))
                opened += 1
        assert opened > 5
        assert count(path) == MEMORIES + 60

    def test_other_programs_may_write_to_it(self, path):
        """What they write is in no chain, and breaks none."""
        with sqlite3.connect(path) as other:
            other.execute("UPDATE memories SET severity = 'low'")
        write_and_die(path, 1)
        with sqlite3.connect(path) as other:
            other.execute("UPDATE memories SET severity = 'high'")
        other.close()

        assert count(path) == MEMORIES + 1

    def test_a_file_of_an_earlier_version(self, path):
        """It has no chain before its next write."""
        with sqlite3.connect(path) as old:
            old.execute("DELETE FROM sqlite_sequence WHERE name = ?", (log_chain.STEP,))
        old.close()
        write_and_die(path, 2)

        assert count(path) == MEMORIES + 2

    def test_reading_writes_nothing(self, path):
        """A transaction without a change takes no number."""
        before = path.read_bytes()
        with scrubjay.open(path, embedder=False) as store:
            with store._context.db.write():
                pass
            assert os.path.getsize(f"{path}-wal") == 0
        assert path.read_bytes() == before

    def test_a_log_whose_file_is_missing(self, path):
        """No new file is created beside it: SQLite would play the log back into that."""
        write_and_die(path, 2)
        file = path.read_bytes()
        log = Path(f"{path}-wal").read_bytes()
        path.unlink()

        with pytest.raises(StoreError, match=r"notes.db is missing, but its log .*notes.db-wal"):
            scrubjay.open(path, embedder=False)
        assert not path.exists()
        assert Path(f"{path}-wal").read_bytes() == log

        path.write_bytes(file)
        assert count(path) == MEMORIES + 2


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed on Windows")
class TestRemovedWhileOpen:
    @pytest.mark.parametrize("suffix", ["-wal", "-shm"])
    def test_a_removed_log(self, path, suffix):
        """No write is acknowledged from then on; what was acknowledged is there afterwards."""
        with scrubjay.open(path, embedder=False) as store:
            store.add("acknowledged")
            os.unlink(f"{path}{suffix}")
            for _ in range(2):
                with pytest.raises(StoreError, match=f"notes.db{suffix} was removed"):
                    store.add("not acknowledged")
            assert len(store.search("acknowledged")) == 1
        assert count(path) == MEMORIES + 1

    def test_a_replaced_log(self, path, tmp_path):
        """By a copy of itself, as a tool that synchronizes files does."""
        with scrubjay.open(path, embedder=False) as store:
            store.add("acknowledged")
            shutil.copyfile(f"{path}-wal", tmp_path / "log")
            os.replace(tmp_path / "log", f"{path}-wal")
            with pytest.raises(StoreError, match="was replaced"):
                store.add("not acknowledged")

    def test_a_log_removed_during_a_write(self, path):
        """The write has begun, and is not acknowledged."""
        with scrubjay.open(path, embedder=False) as store:
            store.add("acknowledged")
            db = store._context.db

            def write() -> None:
                with db.write() as connection:
                    connection.execute("UPDATE memories SET severity = 'low'")
                    os.unlink(f"{path}-wal")

            with pytest.raises(StoreError, match="was removed"):
                write()

    def test_in_another_process(self, path):
        """Which also has the file open."""
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        with holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            with scrubjay.open(path, embedder=False) as store:
                os.unlink(f"{path}-wal")
                with pytest.raises(StoreError, match="was removed"):
                    store.add("not acknowledged")
            holder.communicate(b"\n")
        assert count(path) == MEMORIES + 1
