"""What is written of conversations, and what writing costs beside them."""

from __future__ import annotations

import json
import sqlite3

import scrubjay
from scrubjay.surfaces.cli import main


def test_turns_of_one_moment_keep_their_order_through_export_and_import(tmp_path, clock):
    """They stand in the order of writing, and are written in that."""
    before, lines, after = tmp_path / "a.db", tmp_path / "a.jsonl", tmp_path / "b.db"
    with scrubjay.open(before, embedder=False, clock=clock) as store:
        said = store.add_messages([("user", f"turn {n}") for n in range(8)], session="t")
    assert main(["export", "--db", str(before), "--jsonl", str(lines)]) == 0
    assert main(["import", str(lines), "--db", str(after)]) == 0

    assert len([json.loads(line) for line in lines.read_text().splitlines()]) == 8
    with scrubjay.open(after, embedder=False, clock=clock) as store:
        turns = [one.text for one in store.around(said[0].id, 100)]
    assert turns == [f"turn {n}" for n in range(8)]


def test_a_statement_of_every_write_is_compiled_once(words_only):
    """Indexes WHERE type = 'message' made SQLite compile `type = ?` anew for each value."""
    compiled = []

    def noted(action, table, column, *_):
        if action == sqlite3.SQLITE_SELECT or column == "content_hash":
            compiled.append((table, column))
        return sqlite3.SQLITE_OK

    words_only.add("one")
    with words_only._context.db.write() as db:
        db.set_authorizer(noted)
    words_only.add_many([{"text": f"word{n}"} for n in range(50)])
    first = len(compiled)
    words_only.add_many([{"text": f"more{n}"} for n in range(50)])
    with words_only._context.db.write() as db:
        db.set_authorizer(None)

    assert len(compiled) - first < 50
