"""`ingest --watch`: changes are reported as they come, until Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue

import jsonschema
import pytest

from scrubjay.surfaces import schemas
from scrubjay.surfaces.cli.ingest import Changes, News, follow
from scrubjay.types.reports import Ingested

OK, FAILED = 0, 1
DEADLINE_S = 60.0  # a busy machine is slow; a test that passes never waits for this
SCHEMA = schemas.load()["ingested"]


def interrupted_after(*batches: Ingested) -> Iterator[tuple[str | None, Ingested]]:
    yield from ((None, one) for one in batches)
    raise KeyboardInterrupt


def test_each_batch_is_reported_and_ctrl_c_ends_it_in_peace(capsys):
    """To stop watching is what Ctrl-C is for."""
    seen: list[Ingested] = []

    follow(interrupted_after(Ingested(1), Ingested(2)), lambda _, one: seen.append(one), "/n")

    assert seen == [Ingested(1), Ingested(2)]
    assert capsys.readouterr().err.startswith("watching /n; Ctrl-C stops\n")


def test_batches_of_several_folders_come_in_the_order_of_the_changes():
    """Whichever thread saw them."""
    changes = Changes()
    changes.of("/a")(Ingested(1))
    changes.of("/b")(Ingested(2))
    arriving = iter(changes)

    assert [next(arriving), next(arriving)] == [("/a", Ingested(1)), ("/b", Ingested(2))]


def test_a_file_that_fails_each_time_is_said_once():
    """A folder is read again at each change; what is known is no news."""
    broken = ("/n/x.pdf", "corrupt")
    news = News([("/n", Ingested(failed=(broken,)))])

    assert news.of("/n", Ingested(unchanged=9, failed=(broken,))) is None
    assert news.of("/n", Ingested(added=1, failed=(broken,))) == Ingested(added=1)
    worse = ("/n/x.pdf", "no permission")
    assert news.of("/n", Ingested(failed=(worse,))) == Ingested(failed=(worse,))
    assert news.of("/n", Ingested(failed=())) is None
    assert news.of("/n", Ingested(failed=(broken,))) == Ingested(failed=(broken,))


# --- in a process of its own ------------------------------------------------------------------


class Watching:
    """`scrubjay ingest --watch` as a person runs it, its lines as they come."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scrubjay", "ingest", "--watch", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.out, self.err = Queue(), Queue()
        self._readers = [
            threading.Thread(target=self._pump, args=pair)
            for pair in ((self.process.stdout, self.out), (self.process.stderr, self.err))
        ]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _pump(stream, lines: Queue[str]) -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))

    def until(self, lines: Queue[str], wanted: Callable[[str], bool]) -> str:
        """Wait for a line that fits."""
        end, seen = time.monotonic() + DEADLINE_S, []
        while time.monotonic() < end and (self.process.poll() is None or not lines.empty()):
            try:
                seen.append(lines.get(timeout=0.1))
            except Empty:
                continue
            if wanted(seen[-1]):
                return seen[-1]
        raise AssertionError(f"no such line among {seen}; it said {list(self.err.queue)}")

    def interrupt(self) -> int:
        """Press Ctrl-C and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(DEADLINE_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def watch() -> Iterator[Callable[..., Watching]]:
    """Start watching; whatever happens, it ends with the test."""
    started: list[Watching] = []

    def start(*words: str) -> Watching:
        started.append(Watching(*words))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def notes(tmp_path) -> Path:
    """A folder with one note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Alpha\n\nThe kettle whistles.\n", encoding="utf-8")
    return folder


posix = pytest.mark.skipif(os.name == "nt", reason="there Ctrl-C reaches the whole console")


@pytest.mark.slow
@posix
def test_a_new_file_is_found_while_it_watches_and_ctrl_c_is_success(watch, notes, bare_shell):
    """The first pass, then one line a change; no traceback at the end."""
    watching = watch(str(notes), "--no-embed")
    watching.until(watching.out, lambda line: line.endswith("1 new"))
    watching.until(watching.err, lambda line: line == f"watching {notes}; Ctrl-C stops")

    (notes / "b.md").write_text("# Bravo\n\nThe samovar hums.\n", encoding="utf-8")

    watching.until(watching.out, lambda line: line == f"{notes}  1 new")
    found = bare_shell("search", "samovar", "--json")
    assert [hit["title"] for hit in found.json["hits"]] == ["Bravo"]
    (notes / "b.md").unlink()
    watching.until(watching.out, lambda line: line == f"{notes}  1 removed")
    assert watching.interrupt() == OK
    watching.close()
    assert not [line for line in watching.err.queue if "Traceback" in line]


@pytest.mark.slow
@posix
def test_json_is_one_document_a_line_and_each_fits_the_schema(watch, notes):
    """A program reads line by line."""
    watching = watch(str(notes), "--no-embed", "--json")
    first = json.loads(watching.until(watching.out, bool))
    watching.until(watching.err, lambda line: line.startswith("watching "))

    (notes / "b.md").write_text("# Bravo\n\nThe samovar hums.\n", encoding="utf-8")

    second = json.loads(watching.until(watching.out, bool))
    for document in (first, second):
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        assert document["ingested"][0]["path"] == str(notes)
        assert document["ingested"][0]["added"] == 1
    assert watching.interrupt() == OK


@pytest.mark.slow
@posix
def test_every_known_folder_can_be_watched(watch, notes, bare_shell):
    """Without a path, as without --watch."""
    bare_shell("ingest", str(notes), "--no-embed")
    watching = watch("--no-embed")
    watching.until(watching.err, lambda line: line == f"watching {notes}; Ctrl-C stops")

    (notes / "a.md").write_text("# Alpha\n\nThe kettle is silent.\n", encoding="utf-8")

    watching.until(watching.out, lambda line: line == f"{notes}  1 changed")
    assert watching.interrupt() == OK


def test_without_the_package_that_watches_the_command_that_installs_it_is_said(
    bare_shell, notes, monkeypatch
):
    """A missing piece is an answer with a command in it."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)

    done = bare_shell("ingest", str(notes), "--watch", "--no-embed")

    assert done.code == FAILED
    assert "install" in done.err
    assert "Traceback" not in done.err
