"""A store made the same as another, row by row, whatever became of either before."""

from __future__ import annotations

from contextlib import closing

import pytest
from fakes import TokenEmbedder

import scrubjay
from scrubjay.errors import StoreError
from scrubjay.ops.promote import mirror as mirroring
from scrubjay.ops.promote.compare import Differs, difference, digests, same_rows, same_searches
from scrubjay.ops.promote.mirror import Mirrored, mirror
from scrubjay.storage.postgres.connection import PostgresDatabase
from scrubjay.storage.sql.mirror import MIRRORED, SEALED_TEXTS, take
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.postings.check import damage_of
from scrubjay.text.urls import POSTGRES, parse_server_url


@pytest.fixture
def source(notes):
    with closing(SqliteDatabase(str(notes))) as db:
        yield db


@pytest.fixture
def schema(postgres_url):
    with closing(PostgresDatabase(parse_server_url(postgres_url, POSTGRES, "store"))) as db:
        take(db, 1)
        yield db


def lasting(done: Mirrored) -> tuple[int, int, int]:
    return done.added, done.changed, done.removed


def test_every_row_of_every_table_comes_across_and_back(source, schema, tmp_path, monkeypatch):
    """Issue 8, parity: the same by count and hash in Postgres, and in a file again; pages are small here."""
    monkeypatch.setattr(mirroring, "PAGE", 7)
    monkeypatch.setattr(mirroring, "_PAGES", {"memories": 5})
    before = digests(source)
    assert [name for name, digest in before.items() if not digest.rows] == []
    assert lasting(mirror(source, schema, 1)) == (
        sum(one.rows for one in before.values()) - 1,  # the id of the store is changed
        1,
        0,
    )
    assert digests(schema) == before
    with closing(SqliteDatabase(str(tmp_path / "back.db"))) as back:
        take(back, 2)
        mirror(schema, back, 2)
        assert digests(back) == before
        with back.read() as db, source.read() as old:
            for statement in (
                "SELECT name, sql FROM sqlite_schema ORDER BY name",
                "SELECT name, seq FROM sqlite_sequence"
                " WHERE name NOT IN ('gone', 'outbox') AND typeof(seq) = 'integer' ORDER BY name",
            ):
                assert db.execute(statement).fetchall() == old.execute(statement).fetchall()
            assert damage_of(db, filled=True) == ""
            for table in ("outbox", "projections", "gone"):
                assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        assert lasting(mirror(schema, back, 2)) == (0, 0, 0)


def test_leases_stay_behind(source, schema):
    """What one process had in hand, the next may take in hand at once."""
    mirror(source, schema, 1)
    with schema.read() as db:
        for table in ("wanting", "extractions"):
            rows = db.execute(f"SELECT DISTINCT leased_until_s FROM {table}").fetchall()
            assert rows == [(0.0,)]


def test_a_mirror_follows_what_was_changed_and_forgotten(source, schema, notes, furnished):
    """The second time only what changed is written, and nothing that was forgotten is left."""
    mirror(source, schema, 1)
    schema.vectors  # noqa: B018 - pgvector has a copy from here on
    with source.write() as db:
        db.execute("DELETE FROM wanting")  # whose lease would be waited for
    with scrubjay.open(notes, embedder=TokenEmbedder(32), user="ann") as store:
        store.update("m11", text="The lantern of day 11 went out. " * 40)
        store.update("odd", text="Nothing odd any more", source=None)
        store.forget("m12")
        store.add("The lantern of day 12 came back", id="m12")
        store.rename_topic("daily life", "days")
        store.unlink("m1", "m2")
        (furnished / "docs" / "b.md").write_text("# Boats\n\nNone.\n\n## Oars\n\nNo.\n")
        store.ingest(furnished / "docs")
        store.pending(wait=True)
    with source.write() as db:  # two passages change places
        memory, count = db.execute(
            "SELECT memory, count(*) FROM chunks GROUP BY memory ORDER BY 2 DESC LIMIT 1"
        ).fetchone()
        assert count > 1
        for was, is_ in ((0, -1), (1, 0), (-1, 1)):
            db.execute(
                "UPDATE chunks SET ordinal = ? WHERE memory = ? AND ordinal = ?",
                (is_, memory, was),
            )
    done = mirror(source, schema, 1)
    same_rows(source, schema)
    assert min(lasting(done)) > 0
    assert same_searches(source, schema, queries=20) > 20
    with schema.read() as db:
        assert db.execute(
            "SELECT (SELECT count(*) FROM vectors) - (SELECT count(*) FROM embeddings)"
        ).fetchone() == (0,)
        sizes = "SELECT count(*), sum(length) FROM words"
        noted = db.execute(
            "SELECT value FROM meta WHERE key IN ('indexed_memories', 'indexed_tokens')"
            " ORDER BY key"
        ).fetchall()
        assert [value for (value,) in noted] == list(db.execute(sizes).fetchone())


def test_numbers_go_on_where_they_were(source, schema):
    """A number that was given once is not given to another memory after the move."""
    with source.read() as db:
        (last,) = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'memories'").fetchone()
        (highest,) = db.execute("SELECT max(n) FROM memories").fetchone()
    with source.write() as db:
        db.execute("DELETE FROM memories WHERE n = ?", (highest,))
        db.execute("DELETE FROM words WHERE rowid = ?", (highest,))
    mirror(source, schema, 1)
    with schema.write() as db:
        (n,) = db.execute(
            "INSERT INTO memories (id, namespace, type, text, title, context, topics, metadata,"
            " language, content_hash, created_us, updated_us)"
            " VALUES ('new', 'default', 'fact', 'x', '', '', '[]', '{}', '', '', 1, 1) RETURNING n"
        ).fetchone()
    assert n == last + 1


def test_whoever_began_later_fills_the_target_alone(source, schema):
    """Two at once would undo each other's work: the first stops at its next write."""
    take(schema, 2)
    with pytest.raises(StoreError, match="another process has begun to fill it"):
        mirror(source, schema, 1)
    mirror(source, schema, 2)
    same_rows(source, schema)


def test_a_row_that_differs_is_named_by_its_table(source, schema):
    """Counts say what is missing, hashes what is not the same."""
    mirror(source, schema, 1)
    with schema.write() as db:
        db.execute("UPDATE edges SET strength = strength / 2 WHERE kind = 'related'")
    with pytest.raises(Differs, match="table edges: as many rows, but not the same"):
        same_rows(source, schema)
    with schema.write() as db:
        db.execute("DELETE FROM kept")
        db.execute("DELETE FROM edges")
    with pytest.raises(Differs, match=r"table edges: [1-9][0-9]* rows here, 0 there"):
        same_rows(source, schema)


def test_a_search_that_finds_something_else_is_named(source, schema):
    """The rows may be right and an index wrong."""
    mirror(source, schema, 1)
    schema.vectors  # noqa: B018
    with schema.write() as db:
        db.execute("UPDATE word_parts SET main = ''::tsvector")
    with pytest.raises(Differs, match=r"a search by words of m\d+: "):
        same_searches(source, schema, queries=20)


def test_lists_may_differ_by_ties_and_by_next_to_nothing():
    """Scores to 1e-4; a list that was cut may have lost what ties with its last."""
    ours = [("a", 0.9), ("b", 0.5), ("c", 0.2)]
    assert difference(ours, [("a", 0.90005), ("b", 0.5), ("c", 0.2)], 3) is None
    assert difference(ours, [("a", 0.9), ("b", 0.5), ("d", 0.2)], 3) is None
    assert difference(ours, [("a", 0.9), ("b", 0.5), ("d", 0.2)], 4) == "c is not found there"
    assert difference(ours, [("a", 0.9), ("c", 0.2)], 3) == "b is not found there"
    assert difference(ours, [("a", 0.8), ("b", 0.5), ("c", 0.2)], 3) is not None
    assert difference(ours, [*ours, ("d", 0.1)], 9) == "d is not found here"


# Sealed since after their columns were made: one for texts keeps bytes as they are.
TYPED = {
    "files": {"part"},
    "left_out": {"reason"},
    "wanting": {"reason"},
    "extractions": {"reason"},
}


def test_what_is_sealed_is_what_has_no_type_in_a_file(tmp_path, schema):
    """A new column that passes through the codec cannot be forgotten; both databases have all of them."""
    with closing(SqliteDatabase(str(tmp_path / "new.db"))) as file, file.read() as db:
        for table in MIRRORED:
            columns = db.execute(f"PRAGMA table_info({table.name})").fetchall()
            untyped = [name for _, name, type_, *_ in columns if not type_]
            if table.name not in ("meta", "words"):
                sealed = {*untyped, *TYPED.get(table.name, ())}
                assert sealed == set(SEALED_TEXTS.get(table.name, ()))
                spared = {"leased_until_s"} & {name for _, name, *_ in columns}
                assert {name for _, name, *_ in columns} == {*table.columns, *spared}
