"""Forgotten means gone: nothing of a deleted text is left in the raw files."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from forgetting import Forgetting

import scrubjay
from scrubjay.errors import StoreError
from scrubjay.storage.sqlite import purge, raw_file
from scrubjay.storage.sqlite.dead_space import dirty_pages, overwrite
from scrubjay.storage.sqlite.postings.check import damage_of
from scrubjay.storage.sqlite.raw_file import RawFile

SECRET = "the vault opens with quetzalcoatlus northropi at dawn"
OTHER = "a heron stands in the reeds"
posix = pytest.mark.skipif(os.name != "posix", reason="locks belong to the process on POSIX")


@pytest.fixture
def path(tmp_path):
    """A store without memories."""
    scrubjay.open(tmp_path / "notes.db", embedder=False).close()
    return tmp_path / "notes.db"


def test_two_thousand_forgotten_memories(tmp_path):
    """Of mixed lengths, with adds and updates between: no piece of a text, title, topic, source or
    metadata value is left."""
    work = Forgetting(tmp_path, seed=6)
    with scrubjay.open(work.path, embedder=False) as store:
        work.forget(store, 2_000)

        assert work.left() == []
    assert work.left() == []
    assert_whole(work.path)


class TestUpdate:
    def test_the_old_text_is_gone_when_the_memory_is_forgotten(self, path):
        """It is a version until then; then it is gone from every place where it was."""
        with scrubjay.open(path, embedder=False) as store:
            id_ = store.add(SECRET, title=SECRET[:30]).id
            store.update(id_, text=OTHER, title="")
            store.undo(id_)
            store.update(id_, text=OTHER, title="")
            assert store.history(id_)[-1].text == SECRET
            store.forget(id_)

            assert leaks(path) == []
        assert leaks(path) == []

    def test_its_words_are_gone_from_the_keyword_index_at_once(self, path):
        """The version has the text alone."""
        with scrubjay.open(path, embedder=False) as store:
            store.update(store.add(SECRET).id, text=OTHER)
            assert store.search("quetzalcoatlus", mode="keyword").hits == ()

    def test_an_earlier_text_of_a_file_is_gone_when_the_store_is_closed(self, path, tmp_path):
        """Documents have no versions: from the log, the keyword index, and dead space."""
        note = tmp_path / "note.md"
        with scrubjay.open(path, embedder=False) as store:
            for text in (SECRET, OTHER):
                note.write_text(text)
                store.ingest(note)

        assert leaks(path) == []

    def test_it_is_gone_soon_in_the_background(self, path, tmp_path, monkeypatch):
        """A server is not closed for weeks."""
        monkeypatch.setattr(purge, "_DELAY_S", 0.05)
        note = tmp_path / "note.md"
        with scrubjay.open(path, embedder=False) as store:
            for text in (SECRET, OTHER):
                note.write_text(text)
                store.ingest(note)

            eventually(lambda: leaks(path) == [])

    def test_a_topic_that_was_renamed(self, path):
        """Its old name is in no file."""
        with scrubjay.open(path, embedder=False) as store:
            store.add(OTHER, topics=["quetzalcoatlus"])
            store.rename_topic("quetzalcoatlus", "bird")

        assert leaks(path) == []

    def test_adding_the_same_again_leaves_nothing_to_do(self, path):
        """Nothing is lost, so the index need not be merged."""
        with scrubjay.open(path, embedder=False) as store:
            for _ in range(2):
                store.add(OTHER, id="heron")
            assert marks(path) == []


class TestReaderInTheWay:
    def test_a_mark_stays_until_the_text_is_gone(self, path):
        """The next process that opens the file finishes."""
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            with scrubjay.open(path, embedder=False) as store:
                secret = store.add(SECRET)
                hold(reader)
                store.forget(secret.id)
                assert marks(path) == ["purge"]
                assert leaks(path) != []
            assert leaks(path) != []
            reader.execute("ROLLBACK")
            with scrubjay.open(path, embedder=False) as store:
                store.search("heron")

            assert leaks(path) == []
            assert marks(path) == []

    def test_it_is_tried_again_in_the_background(self, path, monkeypatch):
        """Also if nothing is written any more."""
        monkeypatch.setattr(purge, "_DELAY_S", 0.05)
        with (
            closing(sqlite3.connect(path, isolation_level=None)) as reader,
            scrubjay.open(path, embedder=False) as store,
        ):
            secret = store.add(SECRET)
            hold(reader)
            store.forget(secret.id)
            assert leaks(path) != []
            reader.execute("ROLLBACK")

            eventually(lambda: leaks(path) == [])

    def test_writes_do_not_wait_for_it(self, path):
        """Each of them tries again, at most for a moment."""
        with (
            closing(sqlite3.connect(path, isolation_level=None)) as reader,
            scrubjay.open(path, embedder=False) as store,
        ):
            secret = store.add(SECRET)
            hold(reader)
            store.forget(secret.id)
            started = time.monotonic()
            for n in range(20):
                store.add(f"{OTHER} {n}")

            assert time.monotonic() - started < 2
            reader.execute("ROLLBACK")


KILLED = """
import os, signal, sys
import scrubjay
from scrubjay.storage.sqlite import purge

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(purge, sys.argv[2], die) if hasattr(purge, sys.argv[2]) else setattr(purge.Purge, sys.argv[2], die)
store = scrubjay.open(sys.argv[1], embedder=False)
secret = store.add(sys.argv[3])
store.add(sys.argv[4])
store.forget(secret.id)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills by signal")
@pytest.mark.parametrize(
    "step", ["run", "_empty_log", "dirty_pages", "overwrite", "_remember_log"]
)
def test_a_process_killed_while_it_erases(path, step):
    """The deletion was committed, and the next process erases the rest."""
    script = [sys.executable, "-c", KILLED, str(path), step, SECRET, OTHER]
    if step == "overwrite":  # only called where there is something to overwrite
        script[2] = KILLED.replace("store = ", "purge.dirty_pages = lambda *_: [1]\nstore = ", 1)
    assert subprocess.run(script, check=False).returncode == -signal.SIGKILL

    with scrubjay.open(path, embedder=False) as store:
        assert [memory.text for memory in store.ls()] == [OTHER]

    assert leaks(path) == []
    assert marks(path) == []
    assert_whole(path)


WRITER = """
import sys
import scrubjay

with scrubjay.open(sys.argv[1], embedder=False) as store:
    for n in range(int(sys.argv[3])):
        memory = store.add(f"{sys.argv[2]} keeps note {n} " + f"{sys.argv[2]}{n} " * (n % 40))
        if n % 3 == 0:
            store.update(memory.id, text=f"{sys.argv[2]} changed note {n} " + f"long{n} " * (n % 60))
"""


def test_while_other_processes_write_and_read(tmp_path):
    """Dead space is overwritten beside them, and nothing that they wrote is damaged."""
    work = Forgetting(tmp_path, seed=6)
    with scrubjay.open(work.path, embedder=False) as store:
        script = [sys.executable, "-c", WRITER, str(work.path)]
        others = [subprocess.Popen([*script, name, "150"]) for name in ("anna", "bert")]
        while any(other.poll() is None for other in others):
            work.forget(store, 3)
            assert len(store.search("keeps changed", limit=1_000)) <= 300
        assert [other.returncode for other in others] == [0, 0]
        work.forget(store, 1)

        assert work.left() == []
        assert len(store.search("note", limit=1_000)) == 300
    assert_whole(work.path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_erases_at_the_same_time(tmp_path):
    """It has the descriptor of its parent, and must not move the parent's position in the file."""
    mine, other = Forgetting(tmp_path, seed=8), Forgetting(tmp_path, seed=9)
    with scrubjay.open(mine.path, embedder=False) as store:
        store.forget(store.add(SECRET).id)  # opens the descriptor
        child = os.fork()
        if not child:
            with scrubjay.open(mine.path, embedder=False) as own:
                other.forget(own, 60)
            os._exit(0)
        mine.forget(store, 60)
        assert os.waitpid(child, 0)[1] == 0
        mine.forget(store, 1)

    assert mine.left() == []
    assert_whole(mine.path)


class TestLocks:
    @posix
    def test_the_locks_of_sqlite_stay(self, path):
        """Otherwise another process, when it closes the file, takes itself for the last one and
        removes the log that this one writes to."""
        with scrubjay.open(path, embedder=False) as store:
            with scrubjay.open(path, embedder=False) as second:
                second.forget(second.add(SECRET).id)
            store.add(OTHER)
            assert another_process_leaves_the_log(path)
            store.forget(store.add(SECRET).id)
            assert another_process_leaves_the_log(path)

    @posix
    def test_those_of_the_application_stay_too(self, path):
        """The file stays open after the store is closed, where there are other descriptors of it."""
        with closing(sqlite3.connect(path, isolation_level=None)) as own:
            with scrubjay.open(path, embedder=False) as store:
                own.execute("SELECT count(*) FROM memories").fetchone()
                store.forget(store.add(SECRET).id)
            own.execute("INSERT INTO meta (key, value) VALUES ('own', 1)")

            assert another_process_leaves_the_log(path)
        raw_file.hold(identity := identity_of(path))
        raw_file.release(identity)

    @posix
    def test_no_descriptor_is_left_over(self, path):
        """A server opens and closes the files of many tenants."""
        for _ in range(3):
            with scrubjay.open(path, embedder=False) as store:
                store.forget(store.add(SECRET).id)

        assert identity_of(path) not in raw_file._held
        assert not raw_file._is_open_elsewhere(identity_of(path), -1)


class TestDeadSpace:
    def test_only_unused_bytes_are_overwritten(self, path):
        """What SQLite reads is the same before and after, page by page."""
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA secure_delete = OFF")
            db.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, text)")
            db.execute("CREATE INDEX by_text ON t (text)")
            for n in range(600):
                db.execute("INSERT INTO t VALUES (?, ?)", (n * 7 % 601, f"row {n} " * (n % 50)))
            db.execute("DELETE FROM t WHERE n % 5 = 0")
            db.commit()
            rows = db.execute("SELECT * FROM t ORDER BY n").fetchall()
        with closing(RawFile(str(path))) as file:
            dirty = list(dirty_pages(file))
            assert dirty
            overwrite(file, dirty)
            assert list(dirty_pages(file)) == []
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert db.execute("SELECT * FROM t ORDER BY n").fetchall() == rows

    def test_a_damaged_page_stays_as_it_is(self, tmp_path):
        """What its header says cannot be relied on."""
        path = tmp_path / "plain.db"
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE t (text)")
            db.execute("INSERT INTO t VALUES ('hello')")
            db.commit()
        data = bytearray(path.read_bytes())
        size = int.from_bytes(data[16:18], "big")
        data[size + 100] = 1  # something in the gap
        for at, value in ((size + 5, 0xFF), (size + 1, 0xFF)):
            path.write_bytes(bytes(data[:at]) + bytes([value]) + bytes(data[at + 1 :]))
            with closing(RawFile(str(path))) as file:
                assert list(dirty_pages(file)) == []

    def test_a_file_that_vacuums_itself_is_refused(self, tmp_path):
        """Some of its pages look like others."""
        path = tmp_path / "plain.db"
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA auto_vacuum = FULL")
            db.execute("CREATE TABLE t (text)")
            db.commit()
        with closing(RawFile(str(path))) as file, pytest.raises(StoreError, match="auto_vacuum"):
            list(dirty_pages(file))


def leaks(path):
    """Return the files that have a piece of the secret, or one of its long words."""
    pieces = [SECRET[at : at + 16].encode() for at in range(len(SECRET) - 15)]
    files = [file for file in path.parent.iterdir() if file.is_file()]
    return [file.name for file in files if any(piece in file.read_bytes() for piece in pieces)]


def marks(path):
    """Return what is still to be erased, as the file says."""
    with closing(sqlite3.connect(path)) as db:
        found = db.execute("SELECT key FROM meta WHERE key LIKE 'purge%' ORDER BY key").fetchall()
    return [key for (key,) in found]


def hold(reader):
    """Begin to read, and stay at this state."""
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memories").fetchone()


def eventually(condition):
    """Wait for a condition, not for long."""
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def identity_of(path):
    """Return what identifies a file."""
    found = path.stat()
    return found.st_dev, found.st_ino


def another_process_leaves_the_log(path):
    """Open and close the file in another process; False if that removes the log."""
    script = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]);"
        " db.execute('SELECT 1 FROM meta'); db.close()"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    return path.with_name(f"{path.name}-wal").exists()


def assert_whole(path):
    """Check the tables and the keyword index."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert damage_of(db, filled=True) == ""
