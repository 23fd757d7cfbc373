"""Stores of the version before our own keyword index: FTS5 has the words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

import scrubjay
from scrubjay.storage import schema
from scrubjay.storage.sqlite.postings import tables
from scrubjay.storage.sqlite.postings.worker import Indexer

_LINES = "title, text, topics, context, ident"


def older_store(path: Path, texts: Iterable[str]) -> None:
    """Write a store of the fourteenth version."""
    with scrubjay.open(path, embedder=False) as store:
        store.add_many({"text": text, "id": f"m{n}"} for n, text in enumerate(texts))
    downgrade(path)


def downgrade(path: Path) -> None:
    """Give a file FTS5's index again, and the number of the version that had it."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("ALTER TABLE words RENAME TO lines")
        db.execute(
            f'CREATE VIRTUAL TABLE words USING fts5({_LINES}, tokenize="{schema._TOKENIZER}")'
        )
        db.execute(f"INSERT INTO words (rowid, {_LINES}) SELECT memory, {_LINES} FROM lines")
        for table in ("lines", *tables.TABLES):
            db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM meta WHERE key LIKE 'postings%' OR key LIKE 'indexed_%'")
        db.execute("PRAGMA user_version = 14")


def write_to_fts5_alone(older: pytest.MonkeyPatch) -> None:
    """Write to a file that has no tables of our own keyword index yet, as an older version did."""
    older.setattr(tables, "add", lambda db, numbers: None)
    older.setattr(tables, "has_unindexed", lambda db, most: False)
    older.setattr(Indexer, "note_write", lambda self: None)
