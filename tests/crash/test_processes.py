"""Many processes on one file, and processes that are killed: nothing acknowledged is ever lost."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.storage.sqlite.postings.check import damage_of

pytestmark = pytest.mark.slow

WORKERS = Path(__file__).with_name("workers.py")


def start(job, path, *more):
    """Start a worker and wait until it has the store open."""
    return ready(launch(job, path, *more))


def launch(job, path, *more):
    return subprocess.Popen(
        [sys.executable, str(WORKERS), job, str(path), *map(str, more)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def ready(process):
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    return process


def ended(process):
    """Wait for a worker that was killed or told to end, and return all that it said."""
    # Not communicate(): what readline() has read ahead would be lost.
    with process:
        process.stdin.close()
        return process.stdout.read(), process.stderr.read()


def finish(process):
    """Wait for a worker to end by itself, and return what it said."""
    out, err = ended(process)
    assert (process.returncode, err) == (0, "")
    return out


def assert_whole(path):
    """The file, its keyword index and its foreign keys are in order."""
    db = sqlite3.connect(path)
    try:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert damage_of(db, filled=True) == ""
        assert (
            db.execute("SELECT n FROM memories ORDER BY n").fetchall()
            == db.execute("SELECT rowid FROM words ORDER BY rowid").fetchall()
        )
        bare = "SELECT count(*) FROM memories WHERE n NOT IN (SELECT memory FROM chunks)"
        assert db.execute(bare).fetchone() == (0,)
        # Every chunk has a vector or waits for one.
        assert db.execute(
            "SELECT count(*) FROM chunks, models WHERE NOT EXISTS (SELECT 1 FROM vectors"
            " WHERE chunk = chunks.n AND model = models.n) AND NOT EXISTS (SELECT 1 FROM wanting"
            " WHERE chunk = chunks.n AND model = models.n)"
        ).fetchone() == (0,)
    finally:
        db.close()


def test_ten_processes_that_edit_one_file_lose_no_edit(tmp_path):
    """Issue 27, item 3: every line is there, as its last edit left it, and every edit is a version."""
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=False) as store:
        store.files.create("/memories/plan.md", "# Plan\n")
    writers = [launch("edit", path, f"w{n}", 3) for n in range(10)]
    for writer in [ready(writer) for writer in writers]:
        writer.stdin.write("begin\n")
        writer.stdin.flush()
    for writer in writers:
        finish(writer)

    with scrubjay.open(path, embedder=False) as store:
        lines = store.files.read("/memories/plan.md").text.splitlines()
        assert sorted(lines) == sorted(
            ["# Plan", *(f"w{n}x{m} done" for n in range(10) for m in range(3))]
        )
        assert len(store.files.history("/memories/plan.md")) == 61


def test_two_processes_write_a_thousand_each_while_a_third_searches(tmp_path):
    """Complaint 3: nothing is lost, nobody sees a lock, and all of it is found."""
    path = tmp_path / "shared.db"
    reader = start("search", path, "ada")
    one = start("fast_write", path, "ada", 1000)
    two = start("write", path, "bob", 1000)

    assert finish(one).count("batch") == 100
    acknowledged = {line.split()[1] for line in finish(two).splitlines()}
    assert int(finish(reader).split()[1]) > 3

    assert len(acknowledged) == 1000
    with scrubjay.open(path, embedder=HashingEmbedder(32)) as store:
        assert store.status().memories == 2000
        assert store.get_many(acknowledged).missing == ()
        assert store.pending(wait=True) == 0
        assert store.status().models == {"hashing-32": 2000}
        for name in ("ada", "bob"):
            assert len(store.search(f"{name} wrote", mode="keyword", limit=1000)) == 1000
            for n in (0, 500, 999):
                assert store.search(f"{name}x{n}", mode="keyword")[0].text.endswith(f"{name}x{n}")
    assert_whole(path)


def test_a_write_is_found_by_the_next_search_in_another_process(tmp_path):
    """By word at once, by meaning as soon as it is embedded."""
    path = tmp_path / "shared.db"
    with scrubjay.open(path, embedder=HashingEmbedder(32)) as here:
        assert len(here.search("ada")) == 0  # the caches are warm, and empty
        writer = start("write", path, "ada", 25)
        for n in range(25):
            _, id_ = writer.stdout.readline().split()
            assert here.search(f"adax{n}", mode="keyword")[0].id == id_
        finish(writer)
        assert here.pending(wait=False) == 0
        found = here.search("ada wrote note7 about adax7", mode="vector", limit=30)
        assert len(found) == 25
        assert next(hit for hit in found if "note7 " in hit.text).cosine > 0.999


@pytest.mark.parametrize("seed", [1])
def test_fifty_kills_lose_nothing_that_was_acknowledged(tmp_path, seed):
    """Complaint 8: kill -9 at random moments; the file is whole each time, and embedding resumes."""
    path, chance = tmp_path / "killed.db", random.Random(seed)
    must: set[str] = set()
    must_not: set[str] = set()
    changed: set[str] = set()
    begun: set[str] = set()  # to be forgotten; whether it was is not known
    lists = {"added": must, "updated": changed, "forgetting": begun, "forgot": must_not}
    for life in range(50):
        process = start("churn", path, f"life{life}")
        out = "".join(process.stdout.readline() for _ in range(chance.randrange(15)))
        time.sleep(chance.uniform(0.0, 0.02))
        process.kill()
        out += ended(process)[0]
        for line in out.split("\n")[:-1]:  # the last may have been cut off
            what, id_ = line.split()
            lists.get(what, set()).add(id_)
        if life % 10 == 9:
            assert_whole(path)
    assert len(must) > 100

    with scrubjay.open(path, embedder=HashingEmbedder(32)) as store:
        there = {one.id: one.text for one in store.get_many(sorted(must))}
        assert must - begun <= there.keys()
        assert must_not.isdisjoint(there)
        assert all("changed" in there[id_] for id_ in changed & there.keys())
        assert store.pending(wait=True) == 0
        state = store.status()
        assert state.models == {"hashing-32": state.chunks}
        for id_ in sorted(there)[::20]:
            assert id_ in [hit.id for hit in store.search(there[id_], limit=1000)]
    assert_whole(path)
