"""`scrubjay embed`: embeds what is pending, shows rate and time left, and says what was done."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
import slow_models

import scrubjay
from scrubjay.errors import Unavailable
from scrubjay.runtime import progress
from scrubjay.surfaces import schemas

DONE = re.compile(
    r"embedded 3 passages of 3 memories with hashing-256 in [\d.]+ s; nothing is pending"
)


def remember(shell, *texts):
    for text in texts:
        assert shell("add", text, "--no-embed").code == 0


def test_the_last_line_says_what_was_done(shell):
    """Then it is found by meaning, and a second run has nothing to do."""
    remember(shell, "No shrimp for Ann", "The kettle whistles", "The hob is hot")
    done = shell("embed")

    assert (done.code, done.err) == (0, "")
    assert DONE.fullmatch(done.out.strip())
    assert shell("vsearch", "allergic", "--json").json["hits"][0]["text"] == "No shrimp for Ann"
    assert shell("status", "--json").json["pending"] == 0
    again = shell("embed")
    assert again.code == 0
    assert again.out == "nothing was pending: every passage is embedded with hashing-256\n"


def test_a_long_memory_has_several_passages(shell):
    remember(
        shell, "\n\n".join(f"Paragraph {n}. " + "The kettle whistles. " * 60 for n in range(6))
    )
    done = shell("embed", "--json").json

    assert done["passages"] == shell("status", "--json").json["chunks"] > 1
    assert done["memories"] == 1


def test_json_fits_its_schema_and_has_the_numbers(shell):
    remember(shell, "The kettle whistles", "The hob is hot")
    done = shell("embed", "--json").json

    jsonschema.validate(done, schemas.load()["embedded"])
    assert (done["passages"], done["memories"], done["model"]) == (2, 2, "hashing-256")
    assert (done["pending"], done["failed"], done["why_pending"]) == (0, 0, "")
    assert 0 <= done["seconds"] < 60


def test_a_model_that_fails_leaves_everything_pending_and_says_why(shell, embedder, monkeypatch):
    remember(shell, "The kettle whistles", "The hob is hot")

    def fails(texts, *, as_query=False):
        raise Unavailable("the power is off")

    with monkeypatch.context() as outage:
        outage.setattr(embedder, "embed", fails)
        failed = shell("embed")
        as_json = shell("embed", "--json")
    assert failed.code == as_json.code == 1
    assert "embedded 0 of 2 passages with hashing-256" in failed.out
    assert failed.out.endswith("2 are pending: the power is off\n")
    assert "the next run tries them again: scrubjay embed" in failed.err
    jsonschema.validate(as_json.json, schemas.load()["embedded"])
    assert (as_json.json["passages"], as_json.json["pending"]) == (0, 2)
    assert as_json.json["why_pending"] == "the power is off"
    assert shell("embed", "--json").json["passages"] == 2


def test_a_text_that_breaks_the_model_is_counted_and_tried_again(shell, embedder, monkeypatch):
    """The others are embedded."""
    remember(shell, "The kettle whistles", "Poison", "The hob is hot")
    embed = embedder.embed

    def chokes(texts, *, as_query=False):
        if any("Poison" in text for text in texts):
            raise Unavailable("a text breaks it")
        return embed(texts, as_query=as_query)

    with monkeypatch.context() as choking:
        choking.setattr(embedder, "embed", chokes)
        first = shell("embed")
        second = shell("embed", "--json")
    assert first.code == second.code == 1
    assert "embedded 2 of 3 passages" in first.out
    assert first.out.endswith("1 failed: a text breaks it\n")
    assert "the next run tries it again: scrubjay embed" in first.err
    assert (second.json["passages"], second.json["failed"]) == (0, 1)
    assert second.json["failures"] == ["a text breaks it"]
    assert "embedded 1 passage of 1 memory" in shell("embed").out


def test_links_that_wait_are_made_as_status_says(shell, monkeypatch):
    for text in ("The kettle whistles", "The kettle is on the hob"):
        shell("add", text)
    with monkeypatch.context() as unlinked:
        unlinked.setattr("scrubjay.write.auto_links.AutoLinks.link_next", lambda *_: 0)
        shell("query", "kettle", "--profile", "novamem")
        assert "2 memories not linked yet; to link them: scrubjay embed" in shell("status").out
    done = shell("embed")

    assert done.code == 0
    assert done.out == "linked 2 memories; every passage is embedded with hashing-256\n"
    assert shell("status", "--json").json["unlinked"] == 0


class TestRefused:
    def test_offline_and_no_model(self, bare_shell):
        """The text stays stored, and the message has the command that works."""
        bare_shell("add", "The kettle whistles", "--no-embed")
        refused = bare_shell("embed")
        as_json = bare_shell("embed", "--json")

        assert refused.code == as_json.code == 1
        assert "all-MiniLM-L6-v2 is not here" in refused.err
        assert "nothing is embedded" in refused.err
        assert "SCRUBJAY_OFFLINE=0" in refused.err
        assert "scrubjay embed" in refused.err
        assert bare_shell("search", "kettle").code == 0
        jsonschema.validate(as_json.json, schemas.load()["error"])

    @pytest.mark.parametrize("off", ["none", "NONE", "off"])
    def test_an_embedder_that_is_switched_off(self, bare_shell, monkeypatch, off):
        bare_shell("add", "The kettle whistles", "--no-embed")
        monkeypatch.setenv("SCRUBJAY_EMBEDDER", off)
        refused = bare_shell("embed")

        assert refused.code == 2
        assert "no model to embed with" in refused.err
        assert "SCRUBJAY_EMBEDDER" in refused.err

    def test_a_name_that_means_nothing(self, bare_shell, monkeypatch):
        bare_shell("add", "The kettle whistles", "--no-embed")
        monkeypatch.setenv("SCRUBJAY_EMBEDDER", "bge-m4")
        refused = bare_shell("embed")

        assert refused.code == 2
        assert "did you mean 'BAAI/bge-m3'" in refused.err

    def test_a_store_that_does_not_exist_is_not_created(self, shell, tmp_path):
        db = tmp_path / "none.db"
        assert shell("embed", "--db", str(db)).code == 3
        assert not db.exists()

    def test_an_argument(self, shell):
        assert shell("embed", "everything").code == 2


class TestProgress:
    @pytest.fixture
    def impatient(self, monkeypatch):
        """Lines from the first moment on, at every step."""
        monkeypatch.setattr(progress, "_FIRST_LINE_S", 0.0)
        monkeypatch.setattr(progress, "_NEXT_LINE_S", 0.0)

    def test_lines_are_written_where_there_is_no_terminal(self, shell, embedder, impatient):
        embedder.texts_at_once = 2
        remember(shell, *(f"The kettle number {number}" for number in range(10)))
        done = shell("embed")

        lines = done.err.splitlines()
        assert lines[:3] == [
            "scrubjay: embedding: 0 of 10 passages",
            "scrubjay: embedding: 4 of 10 passages",
            "scrubjay: embedding: 8 of 10 passages",
        ]
        assert len(lines) == 3  # the last line of the command says that it is done
        assert "embedded 10 passages of 10 memories" in done.out

    def test_json_is_alone_on_standard_output(self, shell, impatient):
        remember(shell, "The kettle whistles")
        done = shell("embed", "--json")
        assert done.json["passages"] == 1
        assert "embedding: 0 of 1 passages" in done.err

    @pytest.mark.parametrize("words", [["add", "Tea"], ["ingest", "{docs}"], ["import", "{docs}"]])
    def test_whatever_waits_for_embedding_shows_the_same(
        self, shell, impatient, tmp_path, words, monkeypatch
    ):
        # The worker in the background may have embedded it all before the command begins to wait.
        monkeypatch.setattr("scrubjay.write.embedding.Embedding.wake", lambda embedding: None)
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "a.md").write_text("# Tea\n\nGreen.\n", encoding="utf-8")
        remember(shell, "The kettle whistles")
        done = shell(*(word.format(docs=tmp_path / "docs") for word in words))
        assert done.code == 0
        assert "scrubjay: embedding: 0 of 2 passages" in done.err

    def test_so_does_models_pull(self, shell, impatient):
        remember(shell, "The kettle whistles")
        done = shell("models", "pull")
        assert "scrubjay: embedding: 0 of 1 passages" in done.err
        assert "made 1 vector" in done.out


def test_ctrl_c_says_how_far_it_came(shell, embedder, monkeypatch, tmp_path):
    """And that the next run resumes; it does, at once."""
    db = str(tmp_path / "n.db")
    embedder.texts_at_once = 2
    with scrubjay.open(db, embedder=False) as store:
        store.add_many({"text": f"The kettle number {number}"} for number in range(10))
    embed = embedder.embed

    def interrupted(texts, *, as_query=False):
        if any("number 5" in text for text in texts):
            raise KeyboardInterrupt
        return embed(texts, as_query=as_query)

    with monkeypatch.context() as pressed:
        pressed.setattr(embedder, "embed", interrupted)
        stopped = shell("embed", "--db", db)
    done = shell("status", "--db", db, "--json").json["models"]["hashing-256"]
    assert stopped.code == 130
    assert stopped.out == ""
    assert 0 < done < 10
    assert re.search(r"interrupted; \d of 10 passages are embedded", stopped.err)
    assert stopped.err.endswith(f"the next run resumes: scrubjay embed --db {db}\n")

    began = time.monotonic()
    rest = shell("embed", "--db", db, "--json").json
    assert time.monotonic() - began < 10  # it does not wait for the lease of the first
    assert rest["passages"] == 10 - done


# --- in processes of their own ----------------------------------------------------------------


def started(db: Path, *words: str, **streams) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrubjay", "embed", "--db", str(db), *words]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.Popen(command, text=True, encoding="utf-8", **streams)


def store_of(tmp_path: Path, count: int) -> Path:
    db = tmp_path / "slow.db"
    with scrubjay.open(db, embedder=False) as store:
        store.add_many({"text": f"note number {number}"} for number in range(count))
    return db


def read_by_model(log: Path) -> list[str]:
    return log.read_text("utf-8").splitlines()


def until_read(log: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(read_by_model(log)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_two_processes_share_the_work(tmp_path, monkeypatch):
    """Both end when nothing is pending, and no text is embedded twice."""
    log = slow_models.install(tmp_path / "plug-in", monkeypatch, seconds=0.02)
    db = store_of(tmp_path, 120)
    both = [started(db), started(db)]
    said = [process.communicate(timeout=90) for process in both]

    assert [process.returncode for process in both] == [0, 0], said
    for out, _ in said:
        assert out.endswith("nothing is pending\n") or out.startswith("nothing was pending")
    read = read_by_model(log)
    assert len(read) == len(set(read)) == 120
    with scrubjay.open(db, embedder=False) as store:
        assert store.status().models["slow"] == 120


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
def test_an_interrupted_process_resumes(tmp_path, monkeypatch):
    log = slow_models.install(tmp_path / "plug-in", monkeypatch, seconds=0.03)
    db = store_of(tmp_path, 100)
    first = started(db)
    until_read(log, 20)
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=60)
    assert first.returncode == 130
    assert "Traceback" not in err
    assert re.search(r"interrupted; \d+ of 100 passages are embedded; the next run resumes", err)
    with scrubjay.open(db, embedder=False) as store:
        before = store.status().models["slow"]
    assert 15 <= before < 100

    monkeypatch.setenv("SLOW_S", "0")
    out, err = started(db).communicate(timeout=60)
    assert f"embedded {100 - before} passages of {100 - before} memories with slow" in out, err
    assert set(read_by_model(log)) == {f"note number {number}" for number in range(100)}


@pytest.mark.slow
def test_a_killed_process_loses_nothing(tmp_path, monkeypatch):
    """The next one waits until the lease of what the first was at has run out."""
    log = slow_models.install(tmp_path / "plug-in", monkeypatch, seconds=0.03)
    db = store_of(tmp_path, 60)
    first = started(db)
    until_read(log, 20)
    first.kill()
    first.communicate(timeout=60)

    monkeypatch.setenv("SLOW_S", "0")
    second = started(db)
    out, err = second.communicate(timeout=60)
    assert second.returncode == 0, err
    assert "nothing is pending" in out
    with scrubjay.open(db, embedder=False) as store:
        assert store.status().models["slow"] == 60


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals of this kind")
def test_a_terminal_shows_rate_and_time_left(tmp_path, monkeypatch):
    """In one line that is erased; the last line is on standard output."""
    slow_models.install(tmp_path / "plug-in", monkeypatch, seconds=0.03)
    db = store_of(tmp_path, 100)
    master, terminal = os.openpty()
    process = started(db, stderr=terminal)
    os.close(terminal)
    drawn = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        drawn += part
    os.close(master)
    out, _ = process.communicate(timeout=60)

    lines = drawn.decode().split("\r")
    assert process.returncode == 0
    bar = re.compile(r"embedding \[#+-*\] +\d+%  \d+ of 100 passages, \d+/s, \d s left *")
    assert any(bar.fullmatch(line) for line in lines), lines
    assert all(len(line) < 80 for line in lines)
    assert "\n" not in drawn.decode()
    assert lines[-2].strip() == "" == lines[-1]
    assert "embedded 100 passages of 100 memories with slow in " in out
