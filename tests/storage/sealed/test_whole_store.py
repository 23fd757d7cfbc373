"""A whole store that is sealed, seen from outside: its files, other keys, damage, and equal results."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from clocks import Clock
from fakes import ScriptedGenerator, TokenEmbedder
from sealed_stores import open_sealed, sealed_database

import scrubjay
from scrubjay.errors import InvalidInput, Locked, StoreError
from scrubjay.storage.codec import DamagedValue
from scrubjay.storage.sealed.key_sources import secret_of
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.postings.tables import MOST_UNINDEXED, index_some
from scrubjay.types import Chunk, Memory

# Each is nowhere else in scrubjay, and no part of another.
SAID = {
    "text": "walrus", "earlier text": "narwhal", "title": "quartz", "topic": "xylophone",
    "renamed topic": "glockenspiel", "context": "juniper", "metadata": "obsidian",
    "metadata key": "lantern", "source": "pomegranate", "message": "marmalade",
    "file name": "kumquat", "heading": "tangerine", "body": "gooseberry", "link": "mulberry",
    "unreadable file": "apricot", "folder": "loganberry", "query": "persimmon",
    "feedback": "boysenberry", "expansion": "cloudberry", "forgotten": "medlar",
    "file of an agent": "damson", "path of that": "greengage",
}  # fmt: skip
PROFILES = ("default", "gno", "gnosis", "vault", "cognis", "novamem")


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """The folder of the store, which is the folder of temporary files, too. Settings and caches are beside
    it."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("TMPDIR", "SQLITE_TMPDIR"):
        monkeypatch.setenv(name, str(folder))
    return folder


@pytest.fixture
def sealed(home) -> Iterator[scrubjay.Store]:
    """An empty sealed store with a model of vectors and token vectors."""
    with open_sealed(home / "s.db", embedder=TokenEmbedder(), clock=Clock()) as store:
        yield store


def say_everything(store: scrubjay.Store, folder: Path) -> None:
    """Store every word of SAID, by every way in."""
    kept = store.add(
        f"The {SAID['earlier text']} sings at midnight.",
        title=SAID["title"],
        topics=[SAID["topic"], "other"],
        context=SAID["context"],
        metadata={SAID["metadata key"]: SAID["metadata"]},
        source=f"/notes/{SAID['source']}.md",
    )
    store.update(kept.id, text=f"The {SAID['text']} whispers at dawn.")
    store.rename_topic("other", SAID["renamed topic"])
    store.add_message(f"{SAID['message']} is what we spoke of", session="s", owner="ann")
    store.files.create(f"/memories/{SAID['path of that']}.md", f"{SAID['file of an agent']}\n")
    gone = store.add(f"{SAID['forgotten']} is to be forgotten")
    notes = folder / SAID["folder"]
    notes.mkdir()
    (notes / f"{SAID['file name']}.md").write_text(
        f"# {SAID['heading']}\n\n[see]({SAID['link']}.md) {SAID['body']}\n"
    )
    (notes / f"{SAID['unreadable file']}.docx").write_bytes(b"PK nothing")
    store.ingest(notes, collection="notes")
    shutil.rmtree(notes)
    store.pending(wait=True)
    store.search(f"where is the {SAID['query']}", profile="gno", mode="thorough")
    store.feedback(f"where is the {SAID['feedback']}", kept.id, "accepted")
    store.landscape()
    store.map()
    store.forget(gone.id)


def test_nothing_that_was_said_is_in_any_byte_of_any_file(home, tmp_path, caplog):
    """GS-17: database, log, temporary files and messages, while the store is open and afterwards."""
    caplog.set_level(logging.DEBUG)
    asked = f"where is the {SAID['query']} {SAID['expansion']}"
    expansion = json.dumps({"lexical": [asked], "semantic": [asked], "hyde": asked})
    store = open_sealed(
        home / "s.db",
        embedder=TokenEmbedder(),
        generator=ScriptedGenerator(expansion),
        clock=Clock(),
    )
    with store:
        say_everything(store, tmp_path)
        make_segment(store)
        vectors, tokens = vectors_in(store)
        store.backup(home / "copy.db")
        open_files = files_in(tmp_path)
    closed_files = files_in(tmp_path)

    assert {"home/s.db", "home/s.db-wal", "home/copy.db"} <= open_files.keys()
    for files in (open_files, closed_files):
        everything = b"\0".join(files.values())
        lower = everything.lower()
        assert {what for what, word in SAID.items() if word.encode() in lower} == set()
        assert len(vectors) == 4
        for vector in vectors:
            row = np.frombuffer(vector, "<f4")
            codes = np.rint(row * (127 / np.abs(row).max())).astype(np.int8).tobytes()
            assert vector[:64] not in everything
            assert codes[:64] not in everything
        assert not [codes for codes in tokens if codes[:64] in everything]
    assert not [word for word in SAID.values() if word in caplog.text.lower()]


def make_segment(store: scrubjay.Store) -> None:
    """Put all memories into a segment of the keyword index, as happens in the background after many."""
    with store._context.db.write() as db:
        assert index_some(db, MOST_UNINDEXED)
        assert db.execute("SELECT 1 FROM posting_pages UNION SELECT 1 FROM postings").fetchall()


def vectors_in(store: scrubjay.Store) -> tuple[list[bytes], list[bytes]]:
    """Return the vectors and the codes of token vectors as a plain store has them."""
    unseal = store._context.db.codec.unseal_vector
    with store._context.db.read() as db:
        vectors = [unseal(sealed) for (sealed,) in db.execute("SELECT vector FROM vectors")]
        parts = db.execute(
            "SELECT chunk, codes FROM tokens ORDER BY chunk, model, part"
        ).fetchall()
    whole: dict[int, bytes] = {}
    for chunk, codes in parts:
        whole[chunk] = whole.get(chunk, b"") + codes
    return vectors, [unseal(codes) for codes in whole.values()]


def files_in(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def test_everything_comes_back_with_the_key(home, tmp_path):
    """GS-17: after opening it again: records, versions, feedback, files, words, topics, vectors."""
    options = {"embedder": TokenEmbedder(), "clock": Clock()}
    with open_sealed(home / "s.db", "correct horse", **options) as store:
        say_everything(store, tmp_path)
    with open_sealed(home / "s.db", "correct horse", **options) as store:
        (hit, *_) = store.search(SAID["text"])
        assert hit.text == f"The {SAID['text']} whispers at dawn."
        assert [SAID["earlier text"] in version.text for version in store.history(hit.id)][1]
        assert SAID["file of an agent"] in store.files.view(f"/memories/{SAID['path of that']}.md")
        assert set(store.topics()) == {SAID["topic"], SAID["renamed topic"]}
        assert store.search(f'"{SAID["body"]}"')[0].source.endswith(f"{SAID['file name']}.md")
        assert SAID["feedback"] in store.feedbacks()[0].query
        assert any(SAID["unreadable file"] in file.path for file in store.coverage())
        assert store.search("sings", topics=[SAID["topic"]])[0].id == hit.id


def test_a_search_gives_what_a_plain_store_gives(home, tmp_path):
    """GS-17: the same ids, order and scores in every profile, by word, phrase, meaning, topic, filter."""
    options = {"embedder": TokenEmbedder(), "clock": Clock()}
    words = "river stone lamp winter garden bridge paper copper signal harbour".split()
    with (
        open_sealed(home / "s.db", **options) as sealed,
        scrubjay.open(tmp_path / "plain.db", **options) as plain,
    ):
        for store in (sealed, plain):
            store.add_many(
                {
                    "id": f"m{n:02}",
                    "text": " ".join(words[(n * k + k) % 10] for k in range(1, 4 + n % 5)),
                    "title": words[n % 7] if n % 3 else "",
                    "topics": [words[n % 4], f"{words[n % 3]} {words[n % 5]}"],
                    "type": "task" if n % 4 == 0 else "fact",
                }
                for n in range(60)
            )
            make_segment(store)
            for n in range(6):
                store.add(f"{words[n]} {words[n + 1]}", id=f"t{n}", type="message", session="s")
            store.pending(wait=True)
        for profile in PROFILES:
            for query, filters in (
                ("river stone", {}),
                ('"stone lamp" winter', {}),
                ("garden -bridge", {}),
                ("copper signal harbour paper", {"topics": [words[1]]}),
                ("lamp", {"types": ["task"], "limit": 30}),
            ):
                found = [
                    [
                        (hit.id, round(hit.score, 9))
                        for hit in store.search(query, profile=profile, **filters)
                    ]
                    for store in (sealed, plain)
                ]
                assert found[0] == found[1], (profile, query)
                assert found[1], (profile, query)
        assert sealed.topics() == plain.topics()


def test_the_beginning_of_a_word_is_refused(sealed):
    """GS-17: rather than finding nothing."""
    sealed.add("walrus")

    with pytest.raises(InvalidInput, match="whole word"):
        sealed.search("walr*")


def test_without_the_key_nothing_can_be_opened(home):
    """GS-17: neither the store nor a backup of it, with a wrong key or none."""
    with open_sealed(home / "s.db", embedder=False) as store:
        store.add("a secret")
        store.backup(home / "copy.db")

    for name in ("s.db", "copy.db"):
        with pytest.raises(Locked):
            scrubjay.open(home / name, embedder=False)
        with pytest.raises(Locked):
            open_sealed(home / name, b"w" * 32, embedder=False)
        with open_sealed(home / name, embedder=False) as store:
            assert store.search("secret")[0].text == "a secret"


def test_a_closed_store_has_no_keys(home):
    """GS-17: they are wiped when the store is closed."""
    store = open_sealed(home / "s.db", embedder=False)
    keys = store._context.db.codec.keys
    store.close()

    assert keys.is_locked
    assert not any(keys._master)


def test_changed_values_are_reported_and_the_rest_is_found(home):
    """GS-17: flipped, exchanged with another row, cut off, or replaced by a text, in any column."""
    fields = {"title": "T", "context": "c", "topics": ["x"], "metadata": {"k": 1}}
    columns = ("text", *fields)
    changes = {
        "flipped": lambda own, _: own[:-1] + bytes([own[-1] ^ 1]),
        "swapped": lambda _, other: other,
        "cut": lambda own, _: own[:-1],
        "clear": lambda _, __: "walrus",
    }
    damaged = {f"{how}-{column}": (how, column) for how in changes for column in columns}
    with open_sealed(home / "s.db", embedder=False) as store:
        store.add_many(
            {"text": f"walrus {id_}", "id": id_, **fields} for id_ in ("whole", *damaged)
        )
    with closing(sqlite3.connect(home / "s.db")) as db, db:
        for event in ("insert", "update"):
            db.execute(f"DROP TRIGGER sealed_memories_{event}")
        db.create_function("label", 1, lambda value: value, deterministic=True)
        for id_, (how, column) in damaged.items():
            read = f"SELECT {column} FROM memories WHERE id = ?"
            (own,), (other,) = (db.execute(read, (one,)).fetchone() for one in (id_, "whole"))
            changed = changes[how](own, other)
            db.execute(f"UPDATE memories SET {column} = ? WHERE id = ?", (changed, id_))

    with open_sealed(home / "s.db", embedder=False) as store:
        assert [hit.id for hit in store.search("walrus", limit=50)] == ["whole"]
        assert any(
            "20 memories are damaged" in why for why in store.search("walrus", limit=50).degraded
        )
        for id_ in damaged:
            with pytest.raises(StoreError, match="sealed"):
                store.get(id_)


def test_a_process_that_knows_no_key_cannot_add_to_it(home):
    """GS-17: one that had the empty store open while it was sealed."""
    path = str(home / "s.db")
    with closing(SqliteDatabase(path)) as plain:
        sealed_database(path, secret_of(b"k" * 32)).close()
        memory = Memory("a secret", "m1", content_hash="0")

        with pytest.raises(StoreError, match="sealed"):
            SqlRecords(plain).put(memory, [Chunk(0, 0, 8, 1, 1, "")])
        with pytest.raises(StoreError, match="sealed"), plain.write() as db:
            db.execute("INSERT INTO kept VALUES ('k', 'k', 'a secret', 0)")


def test_a_store_with_memories_is_not_sealed_by_opening_it(home):
    """GS-17: what is in it stays in clear, so it has to be converted."""
    with scrubjay.open(home / "s.db", embedder=False) as store:
        store.add("a secret")

    with pytest.raises(InvalidInput, match="not sealed"):
        open_sealed(home / "s.db", embedder=False)


def test_a_removed_collection_leaves_nothing_that_the_key_opens(home):
    """GS-17: its own key is destroyed, so that a copy of its rows cannot be read again."""
    with open_sealed(home / "s.db", embedder=False, user="ann") as store:
        store.create_collection("plans")
        store.add("a secret plan", id="plan", collection="plans")
        store.add("a note", id="note")
        codec = store._context.db.codec
        with store._context.db.read() as db:
            rows = dict(db.execute("SELECT id, text FROM memories"))
        assert codec.unseal(rows["plan"], "memories.text", "plan") == "a secret plan"

        store.remove_collection("plans")

        with pytest.raises(DamagedValue, match="destroyed"):
            codec.unseal(rows["plan"], "memories.text", "plan")
        assert codec.unseal(rows["note"], "memories.text", "note") == "a note"


def test_an_id_does_not_confirm_a_text(home, tmp_path):
    """GS-17: the id of a memory is made from its text, so it has to be made with a key, too."""
    with open_sealed(home / "s.db", embedder=False) as sealed:
        made = sealed.add("a guessable text").id
        assert sealed.add("a guessable text").id == made
    with scrubjay.open(tmp_path / "plain.db", embedder=False) as plain:
        assert plain.add("a guessable text").id != made
