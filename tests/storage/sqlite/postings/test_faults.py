"""Faults of the index: killed merges, damaged and missing blocks; found, repaired, and no hit is lost."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import pairwise

import pytest

import scrubjay
from scrubjay import config
from scrubjay.ops.repair.run import repair_store, verify_store
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.postings import merging, migration, pages, tables
from scrubjay.storage.sqlite.postings.check import damage_of


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A store of 120 memories in six segments; in the second, many hold one token."""
    monkeypatch.setattr(pages, "BYTES", 20)
    path = tmp_path / "store.db"
    ends = [0, 10, 80, 90, 100, 110, 120]
    with scrubjay.open(path, embedder=False) as store:
        for part, (begin, end) in enumerate(pairwise(ends)):
            store.add_many(
                {"text": f"apples number{n} part{part}", "id": f"m{n}"} for n in range(begin, end)
            )
            with store._context.db.write() as db:
                tables.index_some(db, 1000)
    return path


def changed(path, statement):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TRIGGER IF EXISTS words_delete")  # it would be refused
        assert db.execute(statement).rowcount


DAMAGE = {
    "a changed byte": "UPDATE postings SET body = CAST(substr(body, 1, length(body) - 1) || 'x' AS BLOB)"
    " WHERE term = 'appl' AND segment = 2",
    "a block cut off": "UPDATE postings SET body = x'01' WHERE term = 'appl' AND segment = 2",
    "a head cut off": "UPDATE postings SET head = x'01' WHERE term = 'appl' AND segment = 2",
    "a missing block": "DELETE FROM postings WHERE term = 'appl' AND segment = 2",
    "a changed byte of a page": "UPDATE posting_pages SET"
    " data = CAST(substr(data, 1, length(data) - 1) || 'x' AS BLOB) WHERE segment = 1",
    "a page cut off": "UPDATE posting_pages SET data = x'01' WHERE segment = 1",
    "a page of it cut off": "UPDATE posting_pages SET data = x'01' WHERE segment = 2",
    "a missing page": "DELETE FROM posting_pages WHERE segment = 1 AND term LIKE 'numb%'",
    "a missing segment": "DELETE FROM segments WHERE n = 2",
    "a wrong size": "UPDATE meta SET value = value + 1 WHERE key = 'indexed_tokens'",
    "a memory that waits for nothing": "DELETE FROM words WHERE rowid = 5",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_and_repaired_in_place(path, damage):
    """By `verify` and `doctor --repair`."""
    changed(path, DAMAGE[damage])
    settings = config.load(db=str(path))

    problems = verify_store(settings).problems
    assert "keyword index" in {problem.check for problem in problems}

    list(repair_store(settings, dry_run=False))
    assert verify_store(settings).problems == ()
    with scrubjay.open(path, embedder=False) as store:
        assert len(store.search("apples", limit=200)) == 120


@pytest.mark.parametrize(
    "damage", ["a changed byte", "a block cut off", "a changed byte of a page"]
)
def test_a_search_says_that_a_block_is_damaged(path, damage):
    """R-6: instead of leaving hits out."""
    changed(path, DAMAGE[damage])
    with scrubjay.open(path, embedder=False) as store:
        assert any("keyword index is damaged" in note for note in store.search("apples").degraded)


@pytest.mark.parametrize("damage", ["a block cut off", "a page of it cut off"])
def test_forgetting_with_a_damaged_block_leaves_nothing_and_finds_the_others(path, damage):
    """What cannot be read cannot be left; all are indexed again from their lines."""
    changed(path, DAMAGE[damage])
    with scrubjay.open(path, embedder=False) as store:
        assert store.forget("m25")
        assert len(store.search("apples", limit=200)) == 119
        with store._context.db.read() as db:
            assert damage_of(db, filled=True) == ""


def test_a_killed_merge_is_continued_by_the_next_process(path, monkeypatch):
    """Killed in the middle of a step and between two; every search still finds all."""
    monkeypatch.setattr(merging, "_STEP", 12)
    monkeypatch.setattr(merging, "_FACTOR", 4)
    script = (
        "import os, signal, sys\n"
        "from scrubjay.storage.sqlite.connection import SqliteDatabase\n"
        "from scrubjay.storage.sqlite.postings import merging, pages\n"
        "merging._STEP, merging._FACTOR, pages.BYTES = 12, 4, 20\n"
        "db = SqliteDatabase(sys.argv[1])\n"
        "for _ in range(3):\n"
        "    with db.write() as writer: assert merging.merge_some(writer)\n"
        "with db.write() as writer:\n"
        "    merging.merge_some(writer)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    for _ in range(3):
        killed = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
        assert killed.returncode == -signal.SIGKILL
        with closing(SqliteDatabase(str(path))) as db, db.read() as reader:
            assert merging.can_merge(reader)
            assert damage_of(reader, filled=True) == ""
    with scrubjay.open(path, embedder=False) as store:
        assert len(store.search("apples", limit=200)) == 120
        db = store._context.db
        with db.write() as writer:
            while migration.step(writer):
                pass
        with db.read() as reader:
            assert reader.execute("SELECT count(*) FROM segments").fetchone() == (1,)
            assert damage_of(reader, filled=True) == ""
        assert len(store.search("apples", limit=200)) == 120


@pytest.mark.parametrize("damage", ["a block cut off", "a changed byte of a page"])
def test_a_merge_that_finds_damage_makes_the_index_again(path, monkeypatch, damage):
    """From the lines: nothing is lost, and no search is degraded afterwards."""
    monkeypatch.setattr(merging, "_FACTOR", 4)
    monkeypatch.setattr(tables, "SEGMENT", 60)
    changed(path, DAMAGE[damage])
    with scrubjay.open(path, embedder=False) as store:
        db = store._context.db
        with db.write() as writer:
            while migration.step(writer):
                pass
        with db.read() as reader:
            assert damage_of(reader, filled=True) == ""
        results = store.search("apples", limit=200)
        assert len(results) == 120
        assert not any("damaged" in note for note in results.degraded)


def test_two_processes_that_merge_at_once_take_turns(path, monkeypatch):
    """Each step is whole, whichever process takes it, and both see the end."""
    monkeypatch.setattr(merging, "_STEP", 12)
    monkeypatch.setattr(merging, "_FACTOR", 4)
    with closing(SqliteDatabase(str(path))) as one, closing(SqliteDatabase(str(path))) as other:
        turns = 0
        merges = [True, True]
        while any(merges):
            for at, db in enumerate((one, other)):
                with db.write() as writer:
                    merges[at] = merging.merge_some(writer)
                turns += merges[at]
            with other.read() as reader:
                assert damage_of(reader, filled=True) == ""
        assert turns > 4
        with one.read() as reader:
            assert reader.execute("SELECT count(*) FROM segments").fetchone() == (1,)


def test_a_cold_search_imports_no_numpy(path):
    """Loading it takes longer than the search."""
    script = (
        "import sys, scrubjay\n"
        "with scrubjay.open(sys.argv[1], embedder=False) as store:\n"
        "    assert len(store.search('apples number7', limit=200, mode='keyword')) == 120\n"
        "print('numpy' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
