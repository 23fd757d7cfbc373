"""Others at the same file: writers that hold the lock, readers that stay, children that were forked."""

import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.errors import StoreError

SOON_S = 15.0  # on a busy machine; whoever waited for the other would wait 20 s or more


@pytest.fixture
def file(tmp_path):
    return tmp_path / "a.db"


def test_a_search_does_not_wait_for_a_writer_of_another_process(file):
    """Readers never block, even while this process still owes a vector."""
    with scrubjay.open(file, embedder=HashingEmbedder()) as store:
        store.add("The kettle whistles at noon")
        store.pending()
        with sqlite3.connect(file, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            store._context.db.wait_s = 0.3
            started = time.monotonic()
            found = store.search("kettle")
            took_s = time.monotonic() - started
            other.execute("ROLLBACK")
        other.close()
        assert [hit.text for hit in found] == ["The kettle whistles at noon"]
        assert took_s < SOON_S


def test_a_first_search_with_a_new_model_does_not_wait_either(file):
    """The model is made known later; the answer says what it lacks."""
    with scrubjay.open(file, embedder=False) as store:
        store.add("The kettle whistles at noon")
    with scrubjay.open(file, embedder=HashingEmbedder()) as store:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        found = store.search("kettle")
        took_s = time.monotonic() - started
        other.execute("ROLLBACK")
        other.close()
        assert len(found) == 1
        assert took_s < SOON_S


def test_forget_does_not_wait_for_a_reader_that_stays(file):
    """The log is emptied as soon as the reader has gone: at the next write, or at closing."""
    with scrubjay.open(file, embedder=False) as store:
        secret = store.add("The vault opens with xylophonist")
        reader = sqlite3.connect(file, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchone()
        started = time.monotonic()
        store.forget(secret.id)
        assert time.monotonic() - started < SOON_S
        reader.execute("ROLLBACK")
        reader.close()
        store.add("Something else")
        log = file.with_name("a.db-wal")
        assert b"xylophonist" not in file.read_bytes() + log.read_bytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_is_told_to_open_the_store_itself(file):
    """SQLite forbids to carry a connection over a fork; the child's own store works."""
    with scrubjay.open(file, embedder=HashingEmbedder()) as store:
        store.add("The kettle whistles at noon")
        store.search("kettle")  # threads are made before the fork
        child = os.fork()
        if child == 0:  # pragma: no cover - the child reports by its exit code
            code = 1
            try:
                store.search("kettle")
            except StoreError as error:
                with scrubjay.open(file, embedder=HashingEmbedder()) as own:
                    good = "open it again" in str(error) and len(own.search("kettle")) == 1
                    code = 0 if good else 2
            finally:
                os._exit(code)
        deadline = time.monotonic() + 60
        while (done := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert done == (child, 0)


def test_the_first_calls_of_many_threads_make_one_embedder(file, monkeypatch):
    """Each would have had a thread and a model of its own."""
    import scrubjay.write.embedding

    made = []
    real = scrubjay.write.embedding.Embedding.__init__

    def slowly(self, *given, **named):
        made.append(self)
        time.sleep(0.02)
        real(self, *given, **named)

    monkeypatch.setattr(scrubjay.write.embedding.Embedding, "__init__", slowly)
    with scrubjay.open(file, embedder=HashingEmbedder()) as store:
        threads = [threading.Thread(target=store.add, args=(f"text {n}",)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 1
        assert len(store.ls()) == 6


def test_a_copy_without_its_log_mode_is_put_right(file, tmp_path):
    """Other tools make copies that readers and writers would block each other on."""
    with scrubjay.open(file, embedder=False) as store:
        store.add("kept")
    copy = tmp_path / "copy.db"
    with sqlite3.connect(file) as db:
        db.execute("VACUUM INTO ?", (str(copy),))
    db.close()
    scrubjay.open(copy, embedder=False).close()
    with sqlite3.connect(copy) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_closing_does_not_wait_for_a_model_that_hangs(file, monkeypatch):
    """The lease runs out by itself; the text is safe."""
    monkeypatch.setattr("scrubjay.runtime.worker.STOP_S", 0.2)
    hanging = threading.Event()

    class Hanging(HashingEmbedder):
        def embed(self, texts, *, as_query=False):
            hanging.wait(20)
            return super().embed(texts)

    store = scrubjay.open(file, embedder=Hanging())
    store.add("safe")
    monkeypatch.setattr(scrubjay.write.embedding, "_SETTLE_S", 0.1)
    started = time.monotonic()
    store.close()
    assert time.monotonic() - started < SOON_S
    hanging.set()


LOOKS = """
import sys, scrubjay
with scrubjay.open(sys.argv[1], embedder=False) as store:
    print(len(store.search(sys.argv[2])))
"""


def found_elsewhere(file, word):
    """How many hits another process has."""
    done = subprocess.run(
        [sys.executable, "-c", LOOKS, str(file), word], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_what_is_written_after_another_process_came_and_went_is_not_lost(file):
    """It once took itself for the last one and deleted the log: this process had given up its locks."""
    with (
        scrubjay.open(file, embedder=False) as store,
        scrubjay.open(file, embedder=False) as again,  # a second store of the same process
    ):
        store.add("first fact avocado")
        assert len(store.search("avocado")) == len(again.search("avocado")) == 1
        assert found_elsewhere(file, "avocado") == 1
        store.add("second fact blueberry")
        assert found_elsewhere(file, "blueberry") == 1
    assert found_elsewhere(file, "blueberry") == 1
    db = sqlite3.connect(file)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_a_store_that_is_closed_while_others_search_ends_their_searches(tmp_path):
    """No connection is closed under a reader's hands: SQLite would take the process with it."""
    script = """
import sys, threading, time, scrubjay
store = scrubjay.open(sys.argv[1], profile="vault", embedder=False)
store.add_many({"text": f"kettle {n} whistles"} for n in range(2000))
said = []

def ask():
    try:
        while True:
            store.search("kettle whistles")
    except scrubjay.StoreError as error:
        said.append("is closed" in str(error))

threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads:
    thread.start()
time.sleep(0.3)
store.close()
for thread in threads:
    thread.join()
print(said)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a.db")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[True, True, True, True]\n", "")


def test_a_process_that_goes_to_another_folder_stays_with_its_file(tmp_path, monkeypatch):
    """Every thread opens a connection of its own, and a relative path leads elsewhere by then."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with scrubjay.open(tmp_path / name / "a.db", embedder=False) as store:
            store.add(f"The kettle of {name}")
    monkeypatch.chdir(tmp_path / "one")
    with scrubjay.open("a.db", profile="vault", embedder=False) as store:
        monkeypatch.chdir(tmp_path / "two")
        found = []
        thread = threading.Thread(target=lambda: found.extend(store.search("kettle")))
        thread.start()
        thread.join()
        assert [hit.text for hit in found] == ["The kettle of one"]
        store.add("and its lid")
        assert store.status().memories == 2
