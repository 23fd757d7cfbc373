"""A damaged value costs its own row and nothing else: each column of each table, written by hand."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import TokenEmbedder

import scrubjay
from scrubjay.errors import NotFound, ScrubjayError, StoreError
from scrubjay.storage.sql.readable import named_damage
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.postings.tables import index_some

NOT_UTF8 = b"\xff\xfe broken"
MEMORY_COLUMNS = (
    "namespace type text title context topics metadata collection session role owner agent severity"
    " domain source language content_hash created_us updated_us event_us event_until_us valid_from_us"
    " valid_until_us"
).split()
DAMAGE: dict[str, Any] = {"not UTF-8": NOT_UTF8, "blob": b"\x01\x02", "number": 9 * 10**18}
PROFILES = ("default", "gno", "gnosis", "vault", "cognis", "novamem")


@pytest.fixture
def path(tmp_path: Path, whole: Path) -> Path:
    """A copy of that store, to be damaged."""
    shutil.copytree(whole.parent / "notes", tmp_path / "notes")
    return Path(shutil.copy(whole, tmp_path / "damaged.db"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a memory for each column that is damaged, and three that stay whole."""
    folder = tmp_path_factory.mktemp("whole")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Alpha\n\nApples in a document, see [[b]].\n")
    (notes / "b.md").write_text("# Beta\n\nMore apples.\n")
    place = folder / "whole.db"
    with scrubjay.open(place, embedder=TokenEmbedder(64)) as store:
        names = [*MEMORY_COLUMNS, "whole-1", "whole-2", "whole-3"]
        for name in names:
            store.add(
                f"apples of the orchard, described by {name}",
                id=name,
                title=f"Apples {name}",
                topics=["fruit"],
                metadata={"of": name},
                source="basket",
            )
        for n in range(3):
            store.add_message(f"apples, said {n}", session="chat", owner="ann", agent="bot")
        store.link("whole-1", "whole-2")
        store.link("whole-2", "whole-3", kind="cites")
        store.feedback("apples", "whole-1", "accepted")
        store.update("whole-1", type="decision")
        store.ingest(notes, collection="notes")
        store.create_collection("team")
        store.pending(wait=True)
    return place


def write(path: Path, statement: str, value: object, *arguments: object) -> bool:
    """Write a value as no scrubjay would; False where SQLite itself refuses it."""
    with closing(sqlite3.connect(path)) as db:
        db.create_function("label", 1, lambda text: text, deterministic=True)
        for (trigger,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            db.execute(f"DROP TRIGGER {trigger}")
        cast = "CAST(? AS TEXT)" if value == NOT_UTF8 else "?"
        try:
            db.execute(statement.replace("?", cast, 1), (value, *arguments))
        except sqlite3.IntegrityError:
            return False
        db.commit()
        return True


def reopened(path: Path) -> scrubjay.Store:
    return scrubjay.open(path, embedder=TokenEmbedder(64))


def verbs(store: scrubjay.Store, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every verb that reads or writes what a person stored."""
    for profile in PROFILES:
        yield profile, lambda profile=profile: store.search("apples orchard", profile=profile)
    yield "keyword", lambda: store.search("apples", mode="keyword")
    yield "filters", lambda: store.search("apples", topics=["fruit"], since="2000-01-01")
    yield "get_many", lambda: store.get_many(["whole-1", "whole-2"])
    yield "ls", store.ls
    yield "topics", store.topics
    yield "landscape", store.landscape
    yield "history", lambda: store.history("whole-1")
    yield "neighbors", lambda: store.neighbors("whole-2")
    yield "surroundings", lambda: store.surroundings("whole-2")
    yield "sessions", store.sessions
    yield "map", store.map
    yield "coverage", store.coverage
    yield "collections", store.collections
    yield "feedbacks", store.feedbacks
    yield "weights", lambda: store.weights("vault")
    yield "hits", store.hits
    yield "expiring", lambda: store.expiring(expired=True)
    yield "status", store.status
    yield "export", lambda: store.export_jsonl(folder / "out.jsonl", force=True)
    yield "export_md", lambda: store.export_md(folder / "out", force=True)
    yield "backup", lambda: store.backup(folder / "copy.db", force=True)
    yield "add", lambda: store.add("a new apple")
    yield "add_message", lambda: store.add_message("apples again", session="chat", owner="ann")
    yield "link", lambda: store.link("whole-1", "whole-3")
    yield "rename_topic", lambda: store.rename_topic("fruit", "food")
    yield "ingest", lambda: store.ingest(folder / "notes", collection="notes")
    yield "pending", lambda: store.pending(wait=True, timeout_s=5)
    yield "reindex", store.reindex


def damaged_in_every_column(path: Path, value: object) -> list[str]:
    """Damage one memory in each column; return their ids."""
    return [
        column
        for column in MEMORY_COLUMNS
        if write(path, f"UPDATE memories SET {column} = ? WHERE id = ?", value, column)
    ]


@pytest.mark.parametrize("value", DAMAGE.values(), ids=DAMAGE)
def test_every_other_memory_is_found(path: Path, value: object) -> None:
    damaged_in_every_column(path, value)
    with reopened(path) as store:
        for profile in PROFILES:
            found = {hit.id for hit in store.search("apples orchard", profile=profile, limit=40)}
            assert {"whole-1", "whole-2", "whole-3"} <= found, profile
        assert {"whole-1", "whole-2", "whole-3"} <= {memory.id for memory in store.ls(limit=100)}


@pytest.mark.parametrize("value", DAMAGE.values(), ids=DAMAGE)
def test_no_verb_ends_with_a_traceback(path: Path, tmp_path: Path, value: object) -> None:
    assert damaged_in_every_column(path, value)
    with reopened(path) as store:
        for name, verb in verbs(store, tmp_path):
            try:
                verb()
            except ScrubjayError as error:
                pytest.fail(f"{name}: {error}")


def test_a_search_names_the_damaged_memory(path: Path) -> None:
    write(path, "UPDATE memories SET metadata = ? WHERE id = ?", "no json {", "metadata")
    with reopened(path) as store:
        (note,) = store.search("apples described by metadata", mode="keyword").degraded
    assert "metadata" in note
    assert "doctor --repair" in note


def test_a_damaged_memory_is_neither_missing_nor_returned(path: Path) -> None:
    write(path, "UPDATE memories SET created_us = ? WHERE id = ?", "yesterday", "owner")
    with reopened(path) as store:
        with pytest.raises(StoreError, match="damaged"):
            store.get("owner")
        with pytest.raises(NotFound):
            store.get("never-stored")
        assert store.get_many(["owner", "whole-1"]).missing == ("owner",)


@pytest.mark.parametrize("value", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_memory_can_be_forgotten(path: Path, value: object) -> None:
    ids = damaged_in_every_column(path, value)
    with reopened(path) as store:
        for id_ in ids:
            assert store.forget(id_) == 1
        with closing(sqlite3.connect(path)) as db:
            left = {id_ for (id_,) in db.execute("SELECT id FROM memories")}
        assert not left & set(ids)
        assert not store.search("apples orchard").degraded


def test_a_damaged_memory_can_be_replaced(path: Path) -> None:
    write(path, "UPDATE memories SET topics = ? WHERE id = ?", "[1, 2", "topics")
    with reopened(path) as store:
        store.add("pears instead", id="topics", topics=["pear"])
        store.pending(wait=True)
        assert store.get("topics").text == "pears instead"
        assert store.search("pears instead").hits[0].id == "topics"
        assert "topics" not in {hit.id for hit in store.search("described", mode="keyword")}


def test_another_user_cannot_replace_it(path: Path) -> None:
    with scrubjay.open(path, user="ann", embedder=False) as ann:
        ann.add("a secret", id="of-ann")
    write(path, "UPDATE memories SET metadata = ? WHERE id = ?", "no json {", "of-ann")
    with (
        scrubjay.open(path, user="bob", embedder=False) as bob,
        pytest.raises(ScrubjayError, match="of-ann"),
    ):
        bob.add("mine now", id="of-ann")


def test_the_same_text_can_be_added_again(path: Path) -> None:
    write(path, "UPDATE memories SET metadata = ? WHERE id = ?", "no json {", "owner")
    with reopened(path) as store:
        again = store.add("apples of the orchard, described by owner")
        assert again.id != "owner"


def test_export_lists_what_it_left_out(path: Path, tmp_path: Path) -> None:
    write(path, "UPDATE memories SET text = ? WHERE id = ?", NOT_UTF8, "text")
    write(path, "UPDATE memories SET id = ? WHERE id = ?", b"\x01\x02", "role")
    with reopened(path) as store:
        total = len(store.ls(limit=100))
        done = store.export_jsonl(tmp_path / "out.jsonl")
    assert done.entries == total
    assert sorted(id_ for id_, _ in done.damaged) == [repr(b"\x01\x02"), "text"]


OTHER_TABLES = {
    "chunks": "memory = (SELECT n FROM memories WHERE id = 'owner')",
    "vectors": "chunk = (SELECT n FROM chunks WHERE memory = (SELECT n FROM memories WHERE id = 'owner'))",
    "tokens": "chunk = (SELECT n FROM chunks WHERE memory = (SELECT n FROM memories WHERE id = 'owner'))",
    **dict.fromkeys(
        ("edges", "feedback", "files", "folders", "targets", "versions", "topics", "topic_hashes"),
        "1",
    ),
    **dict.fromkeys(("terms", "models", "keys", "collections", "left_out", "kept"), "1"),
}


@pytest.mark.parametrize("table", OTHER_TABLES)
def test_damage_in_any_other_table_ends_no_verb(path: Path, tmp_path: Path, table: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "n"]
    for column, value in zip(columns, [*DAMAGE.values()] * len(columns), strict=False):
        write(path, f"UPDATE {table} SET {column} = ? WHERE {OTHER_TABLES[table]}", value)
    with reopened(path) as store:
        found = {hit.id for hit in store.search("apples orchard", limit=40)}
        assert {"whole-1", "whole-2", "whole-3"} <= found
        for name, verb in verbs(store, tmp_path):
            try:
                verb()
            except NotFound:
                assert name == "rename_topic"  # the topic itself is damaged
            except ScrubjayError as error:
                pytest.fail(f"{name}: {error}")


ODD_VALUES = {
    "start": ("chunks", "start", 0.5),
    "stop": ("chunks", "stop", 1e308),
    "infinite stop": ("chunks", "stop", float("inf")),
    "ordinal": ("chunks", "ordinal", -(10**18)),
    "line": ("chunks", "first_line", -5),
    "strength": ("edges", "strength", 1e308),
    "infinite strength": ("edges", "strength", float("inf")),
    "keyword line": ("words", "text", "\x00\x01"),
}


@pytest.mark.parametrize(("table", "column", "value"), ODD_VALUES.values(), ids=ODD_VALUES)
def test_a_number_of_the_wrong_kind_ends_no_search(path, table, column, value) -> None:
    """SQLite keeps a fraction in a column of whole numbers."""
    write(path, f"UPDATE {table} SET {column} = ?", value)
    with reopened(path) as store:
        for profile in PROFILES:
            found = store.search("apples orchard", profile=profile, limit=40)
            assert {"whole-1", "whole-2", "whole-3"} <= {hit.id for hit in found}, profile
            assert all(abs(hit.score) < 1e6 for hit in found), profile
        assert all(node.score <= 1 for node in store.neighbors("whole-2"))


@pytest.mark.parametrize(
    "vector",
    [
        b"",
        b"\x00" * 7,
        np.full(64, np.nan, "<f4").tobytes(),
        np.full(64, 1e30, "<f4").tobytes(),
        "x",
        7,
    ],
    ids=["empty", "short", "nan", "huge", "text", "number"],
)
def test_a_damaged_vector_is_left_out_and_named(path: Path, vector: object) -> None:
    assert write(path, f"UPDATE vectors SET vector = ? WHERE {OTHER_TABLES['vectors']}", vector)
    with reopened(path) as store:
        results = store.search("apples described by owner", limit=40)
        assert "owner" in {hit.id for hit in results}  # by its words
        assert any("vector" in note and "owner" in note for note in results.degraded)
        assert all(abs(hit.cosine or 0) <= 1.001 for hit in results)
        nearest = store.search("apples orchard", mode="vector", limit=40)
        assert {"whole-1", "whole-2", "whole-3"} <= {hit.id for hit in nearest}


def test_users_learn_nothing_of_the_damage_of_others(path: Path) -> None:
    with scrubjay.open(path, user="ann", embedder=TokenEmbedder(64)) as ann:
        ann.add("apples of ann", id="of-ann")
        ann.pending(wait=True)
    write(path, "UPDATE memories SET metadata = ? WHERE id = ?", "no json {", "of-ann")
    write(path, f"UPDATE vectors SET vector = ? WHERE {OTHER_TABLES['vectors']}", b"")
    with scrubjay.open(path, user="bob", embedder=TokenEmbedder(64)) as bob:
        bob.add("apples of bob")
        bob.pending(wait=True)
        assert not any("damaged" in note for note in bob.search("apples").degraded)


def test_a_damaged_keyword_index_leaves_the_other_sources(path: Path) -> None:
    with closing(SqliteDatabase(str(path))) as file, file.write() as db:
        index_some(db, 1000)
    write(path, "UPDATE posting_pages SET data = ?", b"\x01\x02\x03")
    with reopened(path) as store:
        results = store.search("apples orchard", limit=40)
        assert "whole-1" in {hit.id for hit in results}
        assert any("keyword index is damaged" in note for note in results.degraded)


@pytest.mark.parametrize(
    ("what", "ids", "begins"),
    [
        ("memory", ["a"], "1 memory is damaged and left out (a); run: "),
        ("memory", ["a", "b"], "2 memories are damaged and left out (a, b); run: "),
        ("vector", list("abcdef"), "6 vectors are damaged and left out (a, b, c, d, e …); run: "),
    ],
)
def test_damage_is_counted_and_named(what, ids, begins) -> None:
    """A few ids are enough to find the rest; the command names the store."""
    said = named_damage(what, "left out", ids, "n.db")
    assert said == f"{begins}scrubjay doctor --repair --db n.db"
