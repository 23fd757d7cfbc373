"""Files of an older version: FTS5 answers until our own index has every memory, and no hit is missed."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from older_stores import older_store

import scrubjay
from scrubjay.storage.sql import keyword_ranking
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.postings import merging, migration, pages, tables
from scrubjay.storage.sqlite.postings.check import damage_of
from scrubjay.storage.sqlite.postings.worker import Indexer
from scrubjay.types import Scope, Term

WORDS = "harbour lighthouse anchor rigging compass tiller keel".split()


def texts(count=300):
    chance = random.Random(4)
    return [
        " ".join(chance.choices(WORDS, range(1, 8), k=12)) + f" number{n}" for n in range(count)
    ]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "old.db"
    older_store(path, texts())
    return path


@pytest.fixture
def by_hand(monkeypatch):
    """Nothing happens in the background; steps are small."""
    monkeypatch.setattr(Indexer, "note_write", lambda self: None)
    monkeypatch.setattr(Indexer, "wake_if_due", lambda self: None)
    monkeypatch.setattr(migration, "_STEP", 20)
    monkeypatch.setattr(migration, "_STEP_IN_BULK", 20)
    monkeypatch.setattr(tables, "SEGMENT", 8)
    monkeypatch.setattr(merging, "_STEP", 8)
    monkeypatch.setattr(pages, "BYTES", 100)
    monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)


def found(db, *words, limit=500):
    asked = [Term(((word,),)) for word in words]
    return [
        (row.id, round(row.score, 6)) for row in db.keyword.search(asked, Scope(), limit, {}).rows
    ]


def step(db):
    with db.write() as connection:
        return migration.is_due(connection) and migration.step(connection)


QUERIES = (("harbour",), ("keel", "tiller"), ("anchor", "number7"), ("number250",))


def test_every_search_has_the_same_results_at_every_step(path, by_hand):
    """In this process and in another one; the results are those of FTS5."""
    with closing(SqliteDatabase(str(path))) as db, closing(SqliteDatabase(str(path))) as other:
        right = {words: found(db, *words) for words in QUERIES}
        assert all(right.values())
        steps = answered = 0
        while step(db):
            steps += 1
            for words in QUERIES:
                assert found(db, *words) == found(other, *words) == right[words]
            with db.read() as connection:
                answered += migration.is_filled(connection)
        assert steps > 20
        assert 0 < answered < steps
        with db.read() as connection:
            assert damage_of(connection, filled=True) == ""
            names = {
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_schema WHERE type = 'table'"
                )
            }
            assert not any(name.startswith("words_") for name in names)


def test_what_is_written_meanwhile_is_found_at_every_step(path, by_hand):
    """R-9: added, changed and forgotten while the index is filled."""
    with scrubjay.open(path, embedder=False) as store:
        db = store._context.db
        for n in range(40):
            store.add(f"zebra number{n}", id=f"new{n}")
            store.add(f"walrus number{n}", id=f"m{7 * n}")
            store.forget(f"m{7 * n + 1}")
            step(db)
            assert len(found(db, "zebra")) == len(found(db, "walrus")) == n + 1
            assert found(db, f"number{7 * n + 1}") == [
                (id_, score)
                for id_, score in found(db, f"number{7 * n + 1}")
                if id_ != f"m{7 * n + 1}"
            ]
        while step(db):
            assert len(found(db, "zebra")) == len(found(db, "walrus")) == 40
        with db.read() as connection:
            assert damage_of(connection, filled=True) == ""


def test_a_process_of_the_older_version_cannot_write_behind_it(path, by_hand):
    """R-9: what it wrote would not be found later; an error says so at once, before the switch and after
    it, and every memory stays where it was."""
    with closing(sqlite3.connect(path)) as old, closing(SqliteDatabase(str(path))) as db:
        old.execute("SELECT count(*) FROM words").fetchone()
        step(db)
        for _ in range(3):
            for statement in (
                "INSERT INTO words (rowid, text) VALUES (9999, 'zebra')",
                "UPDATE words SET text = 'zebra' WHERE rowid = 3",
                "DELETE FROM words WHERE rowid = 3",
            ):
                with pytest.raises(sqlite3.IntegrityError):
                    old.execute(statement)
                old.rollback()
            while step(db):
                pass
        assert old.execute("SELECT count(*) FROM words WHERE memory = 3").fetchone() == (1,)
        with db.read() as connection:
            assert migration.is_filled(connection)
            assert damage_of(connection, filled=True) == ""
        assert len(found(db, "number3")) == 1
        assert found(db, "zebra") == []


def test_a_file_without_memories_refuses_an_older_process_too(tmp_path):
    """R-9: it is switched as it is opened."""
    older_store(tmp_path / "old.db", [])
    path = tmp_path / "old.db"
    with (
        closing(sqlite3.connect(path)) as old,
        closing(SqliteDatabase(str(path))),
        pytest.raises(sqlite3.IntegrityError, match="newer scrubjay"),
    ):
        old.execute("INSERT INTO words (rowid, text) VALUES (1, 'zebra')")


@pytest.mark.parametrize("steps", [0, 5, 40])
def test_what_is_forgotten_meanwhile_is_gone_from_the_file(path, by_hand, steps):
    """From FTS5's index too, whether it still answers or is being deleted."""
    with scrubjay.open(path, embedder=False) as store:
        store.add("the quaggaword is private", id="secret")
        for _ in range(steps):
            step(store._context.db)
        store.forget("secret")
    for file in path.parent.iterdir():
        assert b"quaggaword" not in file.read_bytes(), file.name


def test_two_processes_fill_it_together(path):
    """Each step is whole, and both end."""
    script = (
        "import sys, time, scrubjay\n"
        "from scrubjay.storage.sqlite.postings import migration\n"
        "with scrubjay.open(sys.argv[1], embedder=False) as store:\n"
        "    for n in range(300):\n"
        "        store.add(f'{sys.argv[2]} tea {n}')\n"
        "        with store._context.db.read() as db:\n"
        "            if n > 20 and not migration.is_due(db): break\n"
        "        time.sleep(0.05)\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", script, str(path), name], stderr=subprocess.PIPE)
        for name in ("first", "second")
    ]
    for process in both:
        _, said = process.communicate(timeout=240)
        assert process.returncode == 0, said
    with closing(SqliteDatabase(str(path))) as db, db.read() as connection:
        assert migration.is_filled(connection)
        assert damage_of(connection, filled=True) == ""
        memories = connection.execute("SELECT count(*) FROM memories").fetchone()
        assert connection.execute("SELECT count(*) FROM words").fetchone() == memories


def test_the_background_fills_it_and_commands_that_end_at_once_do_too(path):
    """A file used by short commands alone is not left with FTS5 for good."""
    for n in range(12):
        with scrubjay.open(path, embedder=False) as store:
            store.add(f"tea {n}")
            with store._context.db.read() as db:
                if migration.is_filled(db):
                    break
    else:
        pytest.fail("not filled")
    assert n > 0
