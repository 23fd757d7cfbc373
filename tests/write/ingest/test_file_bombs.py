"""A folder with a hostile file: the file fails with its reason, everything else is stored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import bombs
import pytest
from samples import pdf

import scrubjay
from scrubjay.config import FileLimits, load
from scrubjay.documents import isolated
from scrubjay.ops.doctor.run import examine, examine_store
from scrubjay.store import Store

BOMB = bombs.pdf_of_forms()


@pytest.fixture
def notes(tmp_path):
    """A note, a bomb, a paper and another note, in the order in which they are read."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Plums\n")
    (folder / "b.pdf").write_bytes(BOMB)
    (folder / "c.pdf").write_bytes(pdf("Pears"))
    (folder / "d.md").write_text("# Apples\n")
    return folder


@contextmanager
def opened(path, timeout_s=30, memory_mb=100):
    limits = {"file_timeout_s": timeout_s, "file_memory_mb": memory_mb}
    with Store(str(path), embedder=False, **limits) as store:
        yield store


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path / "s.db") as store:
        yield store


def sources(store):
    return sorted(os.path.basename(one.source) for one in store.ls())


def failed(store):
    return {os.path.basename(one.path): one.reason for one in store.coverage(state="failed")}


def test_the_folder_continues(store, notes):
    """The bomb is listed with what it would take."""
    done = store.ingest(notes)

    assert (done.added, [os.path.basename(path) for path, _ in done.failed]) == (3, ["b.pdf"])
    assert sources(store) == ["a.md", "c.pdf", "d.md"]
    assert "100 MB" in failed(store)["b.pdf"]


def test_status_and_doctor_count_it(store, notes):
    """With the command that lists it; users count their own."""
    assert store.status().failed_files == 0
    store.ingest(notes)
    store.ingest(notes / "a.md", namespace="other")

    assert store.status().failed_files == 1
    (finding,) = (one for one in examine_store(store) if one.component == "unread files")
    assert (finding.state, finding.detail) == ("degraded", "1 file could not be read")
    assert "ls --coverage --state failed" in finding.fix
    settings = load(db=store.path)
    assert [one for one in examine(settings) if one.component == "unread files"] == [finding]
    with Store(store.path, embedder=False, user="ann") as ann:
        assert ann.status().failed_files == 0


def test_a_bomb_is_tried_again_only_when_something_changed(store, notes, monkeypatch):
    """The file or the limits, or because it is named."""
    store.ingest(notes)
    started = started_processes(monkeypatch)

    done = store.ingest(notes)
    assert (done.unchanged, len(done.failed), started) == (3, 1, [])
    assert "100 MB" in failed(store)["b.pdf"]

    (notes / "b.pdf").write_bytes(BOMB + b"\n")
    assert len(store.ingest(notes).failed) == len(started) == 1
    assert len(store.ingest(notes / "b.pdf").failed) == 1
    assert len(started) == 2
    with opened(store.path, memory_mb=150) as larger:
        assert "150 MB" in larger.ingest(notes).failed[0][1]
    assert len(started) == 3

    (notes / "b.pdf").write_bytes(pdf("Cherries"))
    assert store.ingest(notes).added == 1
    assert failed(store) == {}


def test_a_document_stays_when_its_new_version_is_a_bomb(store, notes):
    """As with a file that cannot be opened."""
    store.ingest(notes)
    (notes / "c.pdf").write_bytes(BOMB)

    assert store.ingest(notes).removed == 0
    assert sources(store) == ["a.md", "c.pdf", "d.md"]
    assert failed(store).keys() == {"b.pdf", "c.pdf"}


def test_a_process_that_does_not_start_is_no_reason_to_give_a_file_up(store, notes, monkeypatch):
    """The next run tries again."""
    with monkeypatch.context() as patched:
        patched.setattr(isolated, "_PROGRAM", "raise SystemExit('broken')")
        done = store.ingest(notes)
    assert (done.added, len(done.failed)) == (2, 2)
    assert "broken" in done.failed[0][1]

    done = store.ingest(notes)
    assert (done.added, len(done.failed)) == (1, 1)


def test_no_process_is_started_for_text(store, tmp_path, monkeypatch):
    """Nor for PDF where its reader is not installed, and no process is left behind."""
    started = started_processes(monkeypatch)
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.md").write_text("# Plums\n")
    (tmp_path / "n" / "a.py").write_text("x = 1\n")
    store.ingest(tmp_path / "n")
    assert started == []

    (tmp_path / "n" / "a.html").write_text("<p>Pears")
    store.ingest(tmp_path / "n")
    assert [process._process.poll() is None for process in started] == [False]


def started_processes(monkeypatch):
    started, kind = [], isolated._ReaderProcess

    def start(*given):
        started.append(kind(*given))
        return started[-1]

    monkeypatch.setattr(isolated, "_ReaderProcess", start)
    return started


def wait_for(true):
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


SLOW = bombs.docx_of_runs()


def ingesting(folder, db):
    """A shell that reads a folder in which a file takes longer than anyone waits."""
    environment = {**os.environ, "SCRUBJAY_FILE_TIMEOUT_S": "100", "SCRUBJAY_OFFLINE": "1"}
    command = [sys.executable, "-m", "scrubjay", "ingest", str(folder), "--no-embed"]
    return subprocess.Popen([*command, "--db", str(db)], env=environment)


def state_and_parent(process):
    """Of a process in /proc; None when it is gone."""
    try:
        with open(f"/proc/{process}/stat") as stat:
            state, parent = stat.read().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return state, int(parent)


def children(process):
    numbers = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    found = {number: state_and_parent(number) for number in numbers}
    return [number for number, now in found.items() if now and now[1] == process]


def is_running(process):
    now = state_and_parent(process)
    return now is not None and now[0] != "Z"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="lists processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_read_before_is_stored_when_the_program_is_killed(tmp_path, notes, how):
    """And no process is left."""
    (notes / "b.pdf").unlink()
    (notes / "d.docx").write_bytes(SLOW)
    db = tmp_path / "s.db"
    with opened(db) as store, ingesting(notes, db) as shell:
        wait_for(lambda: sources(store) == ["a.md", "c.pdf"] or shell.poll() is not None)
        (reader,) = children(shell.pid)
        shell.send_signal(how)
        shell.wait(20)

        wait_for(lambda: not is_running(reader))
        assert sources(store) == ["a.md", "c.pdf"]
        assert store.search("plums", mode="keyword")


def test_a_failure_is_stored_at_once(tmp_path, notes):
    """A run that ends early does not have to fail again on the same file."""
    with opened(tmp_path / "s.db") as store:

        def stop(done, total, path):
            if path == "c.pdf":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.ingest(notes, progress=stop)
        assert failed(store).keys() == {"b.pdf"}


class TestWatch:
    def test_a_bomb_does_not_end_a_watch(self, store, notes):
        """What comes after it is read."""
        pytest.importorskip("watchfiles")
        (notes / "b.pdf").unlink()
        store.ingest(notes, watch=True)
        (notes / "b.pdf").write_bytes(BOMB)
        wait_for(lambda: "b.pdf" in failed(store))
        (notes / "e.md").write_text("# Cherries\n")

        wait_for(lambda: sources(store) == ["a.md", "c.pdf", "d.md", "e.md"])
        assert store.watch_failure is None

    def test_closing_does_not_wait_for_a_bomb(self, tmp_path, notes):
        """Its process is ended."""
        pytest.importorskip("watchfiles")
        (notes / "b.pdf").unlink()
        with opened(tmp_path / "s.db", timeout_s=100, memory_mb=1000) as store:
            store.ingest(notes, watch=True)
            (notes / "0.md").write_text("# Cherries\n")
            (notes / "b.docx").write_bytes(SLOW)
            wait_for(lambda: "0.md" in sources(store))
            start = time.monotonic()

        assert time.monotonic() - start < 5


def test_the_limits_are_settings(monkeypatch, tmp_path):
    """In the file and in the environment."""
    file = tmp_path / "scrubjay.toml"
    file.write_text("file_timeout_s = 12.5\nfile_memory_mb = 300\n")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
    with scrubjay.open(":memory:", embedder=False) as store:
        assert store._context.shelf.file_limits == FileLimits(12.5, 300)
    monkeypatch.setenv("SCRUBJAY_FILE_TIMEOUT_S", "3")
    monkeypatch.setenv("SCRUBJAY_FILE_MEMORY_MB", "400")
    with scrubjay.open(":memory:", embedder=False) as store:
        assert store._context.shelf.file_limits == FileLimits(3.0, 400)


@pytest.mark.parametrize(
    "wrong",
    ["file_timeout_s = 0", "file_timeout_s = true", "file_memory_mb = 5", "file_memory_mb = 'x'"],
)
def test_a_limit_that_cannot_work_is_refused(monkeypatch, tmp_path, wrong):
    """With the name of the setting."""
    file = tmp_path / "scrubjay.toml"
    file.write_text(wrong)
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
    with pytest.raises(scrubjay.InvalidInput, match=wrong.split()[0]):
        scrubjay.open(":memory:", embedder=False)
