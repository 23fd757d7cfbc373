"""Files of older versions, files of others, and files that cannot be used."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from older_stores import write_to_fts5_alone
from places import DATA

import scrubjay
from scrubjay import Link, StoreError
from scrubjay.storage import schema
from scrubjay.storage.schema import APPLICATION_ID, SCHEMA_VERSION
from scrubjay.storage.sqlite import prepare
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.errors import explain
from scrubjay.types import Scope

OLDEST = DATA / "schema-1.db"


class Fixed8:
    """The model whose vectors are in the old file; it counts how often it is asked."""

    name = "fixed-8"
    dims = 8

    def __init__(self):
        self.calls = []

    def embed(self, texts, *, as_query=False):
        self.calls.append(list(texts))
        return np.tile(np.eye(8, dtype=np.float32)[0], (len(texts), 1))


@pytest.fixture
def old(tmp_path):
    """A copy of a store that the first version made."""
    return Path(shutil.copy(OLDEST, tmp_path / "old.db"))


def version_of(path):
    db = sqlite3.connect(path)
    try:
        return db.execute("PRAGMA user_version").fetchone()[0]
    finally:
        db.close()


def everything_in(path, *tables):
    db = sqlite3.connect(path)
    try:
        return {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables}
    finally:
        db.close()


class TestOlder:
    TABLES = ("memories", "topics", "chunks", "models", "vectors", "edges", "feedback", "words")

    def test_a_store_of_the_first_version_opens_with_everything_in_it(self, old):
        """Memories, links, feedback and vectors are kept, and what is new works."""
        assert version_of(old) == 1
        before = everything_in(old, *self.TABLES)
        model = Fixed8()

        with scrubjay.open(old, embedder=model) as store:
            assert store.get("port").text == "The staging database moved to port 5433"
            assert store.get("port").topics == ("database", "staging")
            assert store.get("port").links == (Link("tmj9xce8xk5t", 0.5),)
            assert store.get("tmj9xce8xk5t").metadata == {"ticket": 7}
            assert [hit.id for hit in store.search("staging 5433", mode="keyword")] == ["port"]
            assert store.pending(wait=False) == 0
            assert len(store.search("anything", mode="vector")) == 3
            assert model.calls == [["anything"]]  # no text had to be embedded again
            state = store.status()
            assert (state.memories, state.links, state.feedback) == (3, 1, 1)
            assert (state.schema, state.models) == (SCHEMA_VERSION, {"fixed-8": 3})

        assert version_of(old) == SCHEMA_VERSION
        after = everything_in(old, *self.TABLES)
        # The fourth version added how wide token vectors are: this model gives none. The twelfth
        # added roles, and how a chosen model is loaded.
        assert after["models"] == [(*row, 0, "main", "") for row in before["models"]]
        # The eighth added whose feedback it is: here, the owner's.
        assert after["feedback"] == [(*row, "") for row in before["feedback"]]
        # The ninth added when what it speaks of is over, the tenth how its domain is compared: none.
        assert after["memories"] == [(*row, None, None) for row in before["memories"]]
        # The thirteenth added when a link was made: unknown.
        assert after["edges"] == [(*row, None) for row in before["edges"]]
        assert after == {
            **before,
            **{table: after[table] for table in ("models", "feedback", "memories", "edges")},
        }

    def test_its_topics_are_found_by_hash_and_its_memories_can_be_done(self, old):
        """The fifth version: hashes are made when it is opened, and history begins."""
        with scrubjay.open(old, embedder=False) as store:
            rows = store._context.tables.topics.search(
                ["staging", "database"], None, None, Scope(), 5
            ).rows
            assert [(row.id, row.score) for row in rows] == [("port", 2)]
            assert store.rename_topic("staging", "test servers") == 1
            assert [version.what for version in store.history("port")] == ["created"]
            store.done("port")
            assert [version.what for version in store.history("port")] == ["done", "created"]
        hashes = everything_in(old, "topic_hashes")["topic_hashes"]
        with scrubjay.open(old, embedder=False):
            pass
        assert everything_in(old, "topic_hashes")["topic_hashes"] == hashes

    def test_it_can_be_written_and_ingested_into_afterwards(self, old, tmp_path):
        """The tables of later versions are there."""
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "a.md").write_text("# New\n\nwords")
        with scrubjay.open(old, embedder=False) as store:
            assert store.ingest(tmp_path / "notes").added == 1
            store.forget("port")
            assert store.status().memories == 3

    def test_documents_of_the_second_version_go_on_without_being_embedded_again(self, tmp_path):
        """Their file is read once more, because readers have learnt; its passages are the same."""
        notes = tmp_path / "notes"
        notes.mkdir()
        (notes / "kettle.md").write_text("# Kettle\n\nBoils at six.\n")
        second = Path(shutil.copy(OLDEST.with_name("schema-2.db"), tmp_path / "old.db"))
        assert version_of(second) == 2
        with sqlite3.connect(second) as db:  # the folder was elsewhere then
            db.execute("UPDATE files SET path = ?", (str(notes / "kettle.md"),))
        db.close()
        model = Fixed8()

        with scrubjay.open(second, embedder=model) as store:
            assert store.get("haus").language == "de"
            assert [hit.id for hit in store.search("Häuser", mode="keyword")] == ["haus"]
            done = store.ingest(notes)
            assert (done.added, done.updated, done.removed) == (0, 1, 0)
            assert store.pending(wait=True) == 0
            assert model.calls == []
            assert store.collections()[0].folders == (str(notes),)

    def test_every_migration_runs_in_order_from_every_version(self, tmp_path, monkeypatch):
        """A file of any version becomes the same file."""
        fresh = SqliteDatabase(str(tmp_path / "fresh.db"))
        fresh.close()
        for start in range(1, SCHEMA_VERSION + 1):
            path = str(tmp_path / f"from{start}.db")
            with monkeypatch.context() as older:
                older.setattr(prepare, "SCHEMA_VERSION", start)
                # Sealed stores came later: before version 5 there is no table of keys.
                older.setattr(SqliteDatabase, "_check_codec", lambda self: None)
                SqliteDatabase(path).close()
            assert version_of(path) == start
            SqliteDatabase(path).close()
            assert version_of(path) == SCHEMA_VERSION
            shape = "SELECT type, name, sql FROM sqlite_schema ORDER BY name"
            one, two = sqlite3.connect(path), sqlite3.connect(tmp_path / "fresh.db")
            assert one.execute(shape).fetchall() == two.execute(shape).fetchall()
            one.close()
            two.close()


@pytest.mark.parametrize("where", ["file", "postgres"])
def test_tokens_come_to_a_store_of_the_tenth_version_with_data(
    where, tmp_path, monkeypatch, request
):
    """In a file and in Postgres; what was there is there."""
    from scrubjay.sharing.api_keys import access_of
    from scrubjay.storage.postgres import connection as postgres

    place = tmp_path / "a.db" if where == "file" else request.getfixturevalue("postgres_url")
    with monkeypatch.context() as older:
        older.setattr(prepare, "SCHEMA_VERSION", 10)
        write_to_fts5_alone(older)
        older.setattr(postgres, "SCHEMA_VERSION", 10)
        older.setattr(postgres, "MIGRATIONS", {10: postgres.MIGRATIONS[10]})
        with scrubjay.open(place, embedder=False) as store:
            store.add("The kettle whistles", id="kettle", topics=["tea"])
            store.add("The teapot is cracked", id="teapot", links=["kettle"])
            with pytest.raises(StoreError):
                access_of(store).any()

    with scrubjay.open(place, embedder=False) as store:
        assert [hit.id for hit in store.search("whistles")] == ["kettle"]
        assert store.get("teapot").links == (Link("kettle"),)
        access = access_of(store)
        assert not access.any()
        made = access.create("ci", tenant="acme")
        assert access.find(made.secret).tenant == "acme"
        with store._context.db.read() as db:
            noted = (
                "PRAGMA user_version"
                if where == "file"
                else ("SELECT value FROM meta WHERE key = 'schema'")
            )
            assert db.execute(noted).fetchone() == (SCHEMA_VERSION,)


@pytest.mark.parametrize("where", ["file", "postgres"])
def test_the_history_of_the_twelfth_version_becomes_versions(
    where, tmp_path, monkeypatch, request
):
    """Each change that was kept is shown; texts with escaped characters are what they were."""
    from scrubjay.storage.postgres import connection as postgres

    place = tmp_path / "a.db" if where == "file" else request.getfixturevalue("postgres_url")
    odd = "a\x1ab \0c"
    moved = "2026-05-03T12:00:00+00:00"
    with monkeypatch.context() as older:
        older.setattr(prepare, "SCHEMA_VERSION", 12)
        older.setattr(postgres, "SCHEMA_VERSION", 12)
        old = {n: step for n, step in postgres.MIGRATIONS.items() if n <= 12}
        older.setattr(postgres, "MIGRATIONS", old)
        with scrubjay.open(place, embedder=False) as store:
            number = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
            database = store._context.db
            with database.write() as db:
                db.execute(
                    "INSERT INTO memories (id, namespace, type, text, title, context, topics, metadata,"
                    " language, content_hash, created_us, updated_us)"
                    " VALUES ('a', 'default', 'task', 'new', '', '', '[]', '{}', '', '', 0, 0)"
                )
                if where == "postgres":
                    db.execute(
                        f"CREATE TABLE history (n {number}, memory BIGINT NOT NULL, at_us BIGINT"
                        " NOT NULL, change TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL)"
                    )
                for at_us, change, before, after in (
                    (1, "text", odd, "new"),
                    (3, "type", "task", "task_done"),
                    (2, "type", "task_done", "task"),
                    (4, "valid_until", "", moved),
                    (5, "valid_until", moved, ""),
                ):
                    db.execute(
                        "INSERT INTO history (memory, at_us, change, before, after)"
                        " SELECT n, ?, ?, ?, ? FROM memories",
                        (
                            at_us,
                            change,
                            *(database.codec.seal(one, "history", "a") for one in (before, after)),
                        ),
                    )

    with scrubjay.open(place, embedder=False) as store:
        versions = store.history("a")
        assert [version.what for version in versions] == [
            *("edited", "superseded", "undone", "done", "edited", "created")
        ]
        assert [version.changed_at.microsecond for version in versions] == [5, 4, 2, 3, 1, 0]
        assert [version.text for version in versions] == [*["new"] * 5, odd]
        assert versions[1].changed == {"valid_until": datetime.fromisoformat(moved)}
        with pytest.raises(scrubjay.NotFound, match="no change to undo"):
            store.undo("a")
        store.done("a")
        assert store.undo("a").type == "task"


KILLED = """
import os, sys
from scrubjay.storage import schema
from scrubjay.storage.sqlite import connection, prepare

real = schema.MIGRATIONS
def die(db):
    real[1](db)
    db.execute("INSERT INTO meta (key, value) VALUES ('half', 'done')")
    os._exit(9)

prepare.MIGRATIONS = (real[0], die, *real[2:])
connection.SqliteDatabase(sys.argv[1])
"""

OPENED = """
import sys
import scrubjay
sys.stdin.readline()
with scrubjay.open(sys.argv[1], embedder=False) as store:
    print(store.status().schema, store.status().memories)
"""


@pytest.mark.slow
class TestProcesses:
    def test_a_killed_upgrade_leaves_the_old_version_whole_and_the_next_finishes(self, old):
        """Each migration is one transaction with its version number."""
        assert subprocess.run([sys.executable, "-c", KILLED, str(old)], timeout=60).returncode == 9

        assert version_of(old) == 1
        tables = everything_in(old, "meta", "memories")
        assert tables["meta"] == everything_in(OLDEST, "meta")["meta"]
        assert len(tables["memories"]) == 3
        with scrubjay.open(old, embedder=False) as store:
            assert store.status().schema == SCHEMA_VERSION
            assert store.get("port").links == (Link("tmj9xce8xk5t", 0.5),)

    @pytest.mark.parametrize("new", [False, True], ids=["old-file", "new-file"])
    def test_several_processes_open_at_once(self, old, tmp_path, new):
        """One migrates, or makes the file; the others wait, and nobody fails."""
        path = tmp_path / "new.db" if new else old
        waiting = [
            subprocess.Popen(
                [sys.executable, "-c", OPENED, str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        for one in waiting:
            one.stdin.write("go\n")
            one.stdin.flush()
        said = [one.communicate(timeout=60) for one in waiting]

        assert said == [(f"{SCHEMA_VERSION} {0 if new else 3}\n", "")] * 4


def refused(path, says):
    """Opening fails with one sentence, and not a byte of the file has changed."""
    before = Path(path).read_bytes() if Path(path).is_file() else None
    with pytest.raises(StoreError, match=says) as caught:
        scrubjay.open(path, embedder=False)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    if before is not None:
        assert Path(path).read_bytes() == before
        assert [one.name for one in Path(path).parent.glob(f"{Path(path).name}-*")] == []


class TestRefused:
    def test_a_newer_schema(self, old):
        """It names both versions and the command that helps."""
        db = sqlite3.connect(old)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 7}")
        db.close()

        refused(old, rf"schema {SCHEMA_VERSION + 7}; .* {SCHEMA_VERSION}\).*upgrade with")

    @pytest.mark.parametrize("version", [0, 1, SCHEMA_VERSION, 99])
    @pytest.mark.parametrize("journal", ["delete", "wal"])
    def test_an_sqlite_file_of_another_program(self, tmp_path, version, journal):
        """Whatever number it uses for its own schema."""
        path = tmp_path / "theirs.db"
        db = sqlite3.connect(path)
        db.execute(f"PRAGMA journal_mode = {journal}")
        db.execute("CREATE TABLE bookmarks (url)")
        db.execute("INSERT INTO bookmarks VALUES ('https://example.org')")
        db.execute(f"PRAGMA user_version = {version}")
        db.commit()
        db.close()

        refused(path, "database of another program")

    @pytest.mark.parametrize("content", [b"# My notes\n" * 200, b"hi", b"\0" * 5000])
    def test_a_file_that_is_no_database(self, tmp_path, content):
        """A text given by mistake is not overwritten."""
        path = tmp_path / "notes.md"
        path.write_bytes(content)

        refused(path, "not an SQLite database")

    def test_a_folder(self, tmp_path):
        """It suggests a file in it."""
        refused(tmp_path, r"is a folder; give the path of a file, such as .*memory\.db")

    def test_a_folder_that_is_not_there(self, tmp_path):
        """Nothing is made on the way."""
        with pytest.raises(StoreError, match="there is no folder"):
            scrubjay.open(tmp_path / "no" / "where.db")
        assert not (tmp_path / "no").exists()

    def test_a_damaged_file(self, tmp_path):
        """A torn page is named as damage, with the command that looks at it."""
        path = tmp_path / "a.db"
        with scrubjay.open(path, embedder=False) as store:
            store.add_many({"text": f"memory {n} " * 50} for n in range(200))
        whole = bytearray(path.read_bytes())
        whole[4096 * 3 : 4096 * 60] = b"\xff" * (4096 * 57)
        path.write_bytes(bytes(whole))

        def read():
            with scrubjay.open(path, embedder=False) as store:
                store.ls(limit=1000)

        with pytest.raises(StoreError, match=r"is damaged .*scrubjay doctor"):
            read()


def read_only(monkeypatch):
    """Make SQLite open files as if they could not be written, which even root cannot then do."""
    real = sqlite3.connect

    def connect(path, **more):
        return real(f"{Path(path).as_uri()}?mode=ro", uri=True, **more)

    monkeypatch.setattr(sqlite3, "connect", connect)


class TestReadOnly:
    def test_it_can_be_searched_and_says_why_it_cannot_be_written(self, tmp_path, monkeypatch):
        """One sentence that names the permissions."""
        path = tmp_path / "a.db"
        with scrubjay.open(path, embedder=False) as store:
            store.add("kept for ever", id="a")
        before = path.read_bytes()
        read_only(monkeypatch)
        with scrubjay.open(path, embedder=False) as store:
            assert [hit.id for hit in store.search("kept")] == ["a"]
            with pytest.raises(StoreError, match="cannot be written: check the permissions"):
                store.add("more")
            with pytest.raises(StoreError, match="cannot be written: check the permissions"):
                store.forget("a")
        assert path.read_bytes() == before

    def test_an_old_one_is_refused_at_once(self, old, monkeypatch):
        """Not after a minute of trying."""
        before = old.read_bytes()
        read_only(monkeypatch)
        monkeypatch.setattr(prepare.time, "sleep", lambda s: pytest.fail("it waits for nobody"))

        with pytest.raises(StoreError, match="cannot be written: check the permissions"):
            scrubjay.open(old, embedder=False)
        assert old.read_bytes() == before


class TestFullDisk:
    def test_nothing_is_half_written_and_it_goes_on_when_there_is_room(self, tmp_path):
        """A batch that does not fit is not stored at all; the store is as before."""
        with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
            store.add("the first", id="first")
            writer = store._context.db._writer
            pages = writer.execute("PRAGMA page_count").fetchone()[0]
            writer.execute(f"PRAGMA max_page_count = {pages + 2}")
            with pytest.raises(StoreError, match="the disk is full; nothing was written"):
                store.add_many({"text": f"number {n} " * 200} for n in range(100))
            assert [one.id for one in store.ls()] == ["first"]
            assert [hit.id for hit in store.search("first number")] == ["first"]

            writer.execute("PRAGMA max_page_count = 1000000")
            store.add("there is room again")
            assert store.status().memories == 2
        db = sqlite3.connect(tmp_path / "a.db")
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        db.close()

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on file sizes")
    def test_a_disk_that_fills_up_at_the_last_moment(self, tmp_path):
        """When the commit itself fails, the next write still works."""
        import resource

        with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
            store.add("the first", id="first")
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))

            def fill():
                for n in range(100):
                    store.add(f"number {n} " * 2000)

            try:
                with pytest.raises(StoreError, match="disk"):
                    fill()
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            kept = store.status().memories
            assert kept >= 1
            store.add("there is room again", id="again")
            assert store.status().memories == kept + 1
            assert store.get("again").text == "there is room again"

    def test_a_new_file_on_a_full_disk(self, tmp_path, monkeypatch):
        """Refused at once, in one sentence."""

        def full(db):
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(prepare, "MIGRATIONS", (full, *schema.MIGRATIONS[1:]))
        with pytest.raises(StoreError, match="the disk is full"):
            scrubjay.open(tmp_path / "a.db", embedder=False)


class TestBusy:
    def test_a_writer_that_never_ends_is_named_after_a_bounded_wait(self, tmp_path):
        """Complaint 3: no "database is locked"; readers are not even slowed down."""
        path = str(tmp_path / "a.db")
        one = SqliteDatabase(path)
        two = SqliteDatabase(path, wait_s=0.2)
        with one.write() as db:
            db.execute("INSERT INTO meta VALUES ('k', 'v')")
            with two.read() as reader:
                read = reader.execute("SELECT count(*) FROM meta WHERE key = 'k'")
                assert read.fetchone() == (0,)
            with (
                pytest.raises(StoreError, match="another process has been writing") as caught,
                two.write(),
            ):
                pass
        assert "locked" not in str(caught.value)
        with two.write() as db:
            db.execute("INSERT INTO meta VALUES ('l', 'v')")
        one.close()
        two.close()


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("database is locked", "another process has been writing for more than 60 s"),
        ("database table is locked", "another process"),
        ("file is not a database", "is not a scrubjay store"),
        ("database or disk is full", "the disk is full"),
        ("attempt to write a readonly database", "check the permissions"),
        ("database disk image is malformed", "scrubjay doctor --repair --db notes.db"),
        ("something new", "notes.db: something new"),
    ],
)
def test_sqlites_words_become_a_sentence(said, says):
    """It says what to do."""
    assert says in explain("notes.db", sqlite3.OperationalError(said), 60.0)


def test_a_store_is_recognised_by_its_application_id(tmp_path):
    """`file notes.db` tells it, and so do we."""
    with scrubjay.open(tmp_path / "a.db", embedder=False):
        pass
    db = sqlite3.connect(tmp_path / "a.db")
    assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()
