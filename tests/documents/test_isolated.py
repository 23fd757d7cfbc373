"""Foreign formats are read in a process of their own, which a hostile file may end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import bombs
import pytest
from samples import docx, paragraph, pdf

from scrubjay.config import FileLimits
from scrubjay.documents import GaveUp, Unreadable, isolated, reader_process
from scrubjay.documents.isolated import IsolatedReader, Stopped
from scrubjay.documents.read import read

NARROW = FileLimits(timeout_s=1.0, memory_mb=150)
PAGE = (
    b"<title>A page</title><meta name=keywords content='red, green'><p>With <a href='b.html'>words"
)
FILES = {
    "a.pdf": pdf(
        "One", "", "Two", info="/Title (On birds) /CreationDate (D:20240131093000+02'00')"
    ),
    "a.docx": docx(paragraph("Größe", "Heading1") + paragraph("b"), "<dc:title>x</dc:title>"),
    "a.html": PAGE,
    "a.md": b"# A note\n",
}


@pytest.fixture
def reader():
    with IsolatedReader(FileLimits()) as reader:
        yield reader


def pid(reader):
    return reader._process._process.pid


def nothing():
    pass


@pytest.mark.parametrize("path", FILES)
def test_the_documents_are_those_of_a_reader_in_this_process(reader, path):
    """Title, topics, links, times and numbers survive the way through the pipe."""
    assert reader.read(path, FILES[path], nothing) == read(path, FILES[path])


def test_the_reasons_are_the_same_too(reader):
    """Empty, locked, damaged."""
    for path, data in (("a.html", b"<p>"), ("a.docx", b"PK"), ("a.pdf", b"%PDF-"), ("a.pdf", b"")):
        with pytest.raises(Unreadable) as here:
            read(path, data)
        with pytest.raises(Unreadable) as there:
            reader.read(path, data, nothing)

        assert (there.value.reason, there.value.failed) == (here.value.reason, here.value.failed)


@pytest.mark.parametrize(
    ("path", "bomb"),
    [
        ("a.pdf", bombs.pdf_of_forms),
        ("a.pdf", bombs.pdf_of_streams),
        ("a.pdf", bombs.pdf_of_pages),
        ("a.docx", bombs.docx_of_runs),
        ("a.html", bombs.html_of_tags),
    ],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_a_bomb_costs_no_more_than_its_limits(reader, path, bomb):
    """And the next file is read."""
    reader._limits = NARROW
    data, start = bomb(), time.monotonic()
    with pytest.raises(GaveUp, match=r"memory|longer"):
        reader.read(path, data, nothing)

    assert time.monotonic() - start < 5
    reader._limits = FileLimits()
    assert reader.read("b.pdf", FILES["a.pdf"], nothing)[0].title == "On birds"


@pytest.mark.parametrize(
    ("path", "bomb", "why"),
    [
        ("a.pdf", bombs.pdf_of_itself, "not a readable PDF"),
        ("a.docx", bombs.docx_of_tables, "nested too deeply"),
        ("a.docx", bombs.docx_of_entities, "damaged"),  # recent versions of expat refuse them
        ("a.docx", bombs.docx_that_claims, "too large when unpacked"),
        ("a.docx", lambda: bombs.docx_that_claims(10), "damaged"),
    ],
    ids=["itself", "tables", "entities", "claims much", "claims little"],
)
def test_a_bomb_that_is_recognized_is_refused(reader, path, bomb, why):
    """By its reader, at once."""
    with pytest.raises(Unreadable, match=why):
        reader.read(path, bomb(), nothing)


def test_text_without_end_is_not_returned(reader, monkeypatch):
    """The limit is that of the process which reads."""
    long = b"<p>" + b"words " * 150_000
    request = reader_process.Request("a.html", 1.0, long)
    monkeypatch.setattr(reader_process, "MAX_TEXT_CHARS", 1000)

    with pytest.raises(GaveUp, match="1,000 characters"):
        reader_process.unpack(reader_process._answer(request))


def test_one_process_reads_many_files_and_is_replaced_in_time(reader, monkeypatch):
    """None is started for text."""
    reader.read("a.md", b"# Text", nothing)
    assert reader._process is None
    monkeypatch.setattr(isolated, "_MAX_FILES", 3)
    pids = []
    for _ in range(4):
        reader.read("a.html", PAGE, nothing)
        pids.append(reader._process and pid(reader))

    assert pids[0] == pids[1]
    assert pids[2] is None
    assert pids[3] not in (None, pids[0])


def test_a_crash_of_a_library_is_a_reason(reader):
    """The process is gone, the program is not."""

    def end():
        os.kill(pid(reader), signal.SIGTERM)

    with pytest.raises(GaveUp, match="ended with"):
        reader.read("a.docx", bombs.docx_of_runs(), end)
    assert reader.read("a.html", PAGE, nothing)


def test_a_process_that_other_files_used_up_does_not_fail_the_next_one(reader):
    """The file gets a fresh one."""
    reader.read("a.html", PAGE, nothing)
    os.kill(pid(reader), signal.SIGTERM)

    assert reader.read("a.html", PAGE, nothing)


@pytest.mark.parametrize("error", [MemoryError(), SystemError("without exception set")])
def test_an_error_of_memory_ends_the_process(monkeypatch, error):
    """Whichever way a library in C reports it; any other error is a reason."""
    request = reader_process.Request("a.html", 1.0, PAGE)

    def fail(path, data):
        raise error

    monkeypatch.setattr(reader_process, "read", fail)
    with pytest.raises(type(error)):
        reader_process._answer(request)
    error = ZeroDivisionError("by zero")
    with pytest.raises(GaveUp, match="by zero"):
        reader_process.unpack(reader_process._answer(request))


def test_what_is_done_meanwhile_is_done_once(reader):
    """While a file takes long, those before it can be stored."""
    calls = []
    reader._limits = NARROW
    with pytest.raises(GaveUp):
        reader.read("a.html", bombs.html_of_tags(), lambda: calls.append(1))
    reader._limits = FileLimits()
    reader.read("a.html", PAGE, lambda: calls.append(2))

    assert calls == [1]


def test_another_thread_can_stop_a_long_read():
    """Without waiting for its limit."""
    stopping = threading.Event()
    with IsolatedReader(FileLimits(60), stopping) as reader:
        threading.Timer(0.3, stopping.set).start()
        start = time.monotonic()
        with pytest.raises(Stopped):
            reader.read("a.docx", bombs.docx_of_runs(), nothing)

        assert time.monotonic() - start < 3
        with pytest.raises(Stopped):
            reader.read("a.html", PAGE, nothing)
        assert reader.read("a.md", b"text", nothing)


def test_a_process_that_does_not_start_is_reported(reader, monkeypatch):
    """With its last words, and it is not tried again for every file."""
    monkeypatch.setattr(isolated, "_PROGRAM", "raise SystemExit('no such module')")
    with pytest.raises(OSError, match="no such module"):
        reader.read("a.html", PAGE, nothing)

    monkeypatch.setattr(isolated, "_ReaderProcess", None)
    with pytest.raises(OSError, match="no such module"):
        reader.read("a.html", PAGE, nothing)


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, True),
        ({"executable": "/usr/bin/uwsgi"}, True),  # there is an interpreter beside it
        ({"executable": None, "exec_prefix": "/nowhere"}, False),
        ({"frozen": True}, False),
    ],
    ids=["python", "embedded", "none", "frozen"],
)
def test_a_program_without_an_interpreter_reads_by_itself(monkeypatch, changed, found):
    """It cannot start one."""
    for name, value in changed.items():
        monkeypatch.setattr(sys, name, value, raising=False)
    monkeypatch.setattr(isolated, "_interpreter", isolated._interpreter.__wrapped__)
    with IsolatedReader(FileLimits()) as reader:
        assert reader.read("a.html", PAGE, nothing) == read("a.html", PAGE)
        assert (reader._process is not None) == found


def test_keys_are_not_passed_on(monkeypatch):
    """A file that takes the process over finds none there."""
    monkeypatch.setenv("SCRUBJAY_POSTGRES_PASSWORD", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    assert "secret" not in isolated._environment().values()
    assert isolated._environment()["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    "answer", [b"", b"[]", b"{}", b"null", b'{"documents": [{}]}', b'{"documents": [{"text": 1}]}']
)
def test_an_answer_that_is_none_is_a_failure_of_the_file(reader, answer, monkeypatch):
    """A process that was taken over cannot send anything but documents."""
    reader.read("a.html", PAGE, nothing)
    monkeypatch.setattr(reader._process, "ask", lambda *_: answer)

    with pytest.raises(GaveUp, match="invalid answer"):
        reader.read("a.html", PAGE, nothing)


PARENT = """
import sys
sys.path[:0] = {path!r}
import bombs
from scrubjay.config import FileLimits
from scrubjay.documents.isolated import IsolatedReader

with IsolatedReader(FileLimits(60)) as reader:
    reader.read("a.html", b"<p>x", bool)
    def busy():
        print(reader._process._process.pid, flush=True)
    reader.read("a.docx", bombs.docx_of_runs(), busy)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_no_process_is_left_when_its_parent_ends(how):
    """In the middle of a file, however it ends."""
    if not hasattr(signal, how) or os.name == "nt":
        pytest.skip("there are no such signals")
    program = PARENT.format(path=[os.path.dirname(bombs.__file__), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.send_signal(getattr(signal, how))

    assert_gone(child)


def assert_gone(process):
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{process}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except OSError:
            pass
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the process that reads is still there")


def test_a_request_and_an_answer_are_plain_data():
    """No pickle: it would run what the other side sends."""
    request = reader_process.Request("ä.pdf", 2.5, b"a\nb")

    head, data = reader_process.pack(request).split(b"\n", 1)
    assert (json.loads(head), data) == (["ä.pdf", 2.5], b"a\nb")
