"""Levels of FTS5's index, which an older file has: thousands of forgettings leave it usable."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from older_stores import older_store

import scrubjay
from scrubjay.storage.sqlite import prepare
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.fts5.segments import MAX_LEVELS, compact, optimize

COOKIE = b"\0\0\0\7"


def test_a_thousand_merges(tmp_path, monkeypatch):
    """SQLite before 3.41 adds two levels with each, and takes an index with 2,000 for damaged."""
    monkeypatch.setattr(prepare, "SCHEMA_VERSION", 14)
    db = SqliteDatabase(str(tmp_path / "notes.db"))
    levels = 0
    for n in range(1_100):
        with db.write() as connection:
            row = (10_000 + n, f"word{n}")
            connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", row)
            connection.execute("DELETE FROM words WHERE rowid = ?", row[:1])
            connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", row)
            optimize(connection)
            (stored,) = connection.execute("SELECT block FROM words_data WHERE id = 10").fetchone()
            levels = max(levels, stored[4])

    assert levels <= MAX_LEVELS
    with db.write() as connection:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    db.close()


def test_a_store_that_was_left_with_too_many_is_healed(tmp_path):
    """FTS5 refuses the whole table; opening the store removes the empty levels."""
    path = tmp_path / "notes.db"
    older_store(path, [f"letter {n} from Rhodes" for n in range(3)])
    with closing(sqlite3.connect(path)) as db, db:
        (stored,) = db.execute("SELECT block FROM words_data WHERE id = 10").fetchone()
        assert stored[4] == 1
        many = stored[:4] + b"\x8f\x52" + stored[5:7] + b"\0\0" * 2001 + stored[7:]
        db.execute("UPDATE words_data SET block = ? WHERE id = 10", (many,))

    with scrubjay.open(path, embedder=False) as store:
        assert len(store.search("rhodes")) == 3
        store.add("another letter from Rhodes")
        assert len(store.search("rhodes")) == 4


def test_levels_keep_their_order_and_their_merges():
    """Only empty levels go; a record that is not understood stays as it is."""
    first, second = b"\2\2\1\1\3\2\1\4", b"\0\1\5\1\x81\1"
    levels = MAX_LEVELS + 2
    record = COOKIE + bytes([levels, 3, 9]) + b"\0\0" * (levels - 2) + first + second

    assert compact(record) == COOKIE + bytes([2, 3, 9]) + first + second
    assert compact(record[:-1]) == record[:-1]
    assert compact(record + b"\1") == record + b"\1"
    assert compact(COOKIE + b"\xff\0\0\1" + record[4:]) == COOKIE + b"\xff\0\0\1" + record[4:]
    assert compact(COOKIE + b"\1\1\1\0\1\1\1\2") == COOKIE + b"\1\1\1\0\1\1\1\2"
