"""Search in segments: scores are those of a plain BM25 and of FTS5, whatever was written or moved."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from math import log

import pytest
from backends import a_memory, pieces

from scrubjay.storage.sql import keyword_ranking
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.storage.sqlite import keyword
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.postings import decoded, merging, migration, pages, tables
from scrubjay.storage.sqlite.postings.arithmetic import Plain
from scrubjay.storage.sqlite.postings.cache import Cache
from scrubjay.storage.sqlite.postings.check import damage_of
from scrubjay.storage.sqlite.postings.lookup import TokenList
from scrubjay.storage.sqlite.postings.vectors import Vectors
from scrubjay.types import Scope, Term

FIELDS = ("title", "text", "topics", "context", "ident")
WEIGHTS = {"title": 3.0, "topics": 2.0, "context": 0.5, "ident": 0.0}
VOCABULARY = [f"{a}{b}" for a in "bdfghk" for b in ("orn", "ulk", "ist", "ent", "orni")]


@pytest.fixture(params=[Plain(), Vectors()], ids=["lists", "numpy"])
def arithmetic(request, monkeypatch):
    monkeypatch.setattr(keyword, "_arithmetic", lambda postings: request.param)
    return request.param


@pytest.fixture
def db(tmp_path, monkeypatch):
    """A large store with tiny segments, which nothing maintains in the background."""
    monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    monkeypatch.setattr(tables, "SEGMENT", 8)
    monkeypatch.setattr(tables, "MOST_UNINDEXED", 10**9)
    monkeypatch.setattr(merging, "_STEP", 8)
    monkeypatch.setattr(tables, "_MANY", 10**9)
    monkeypatch.setattr(pages, "BYTES", 100)
    monkeypatch.setattr(decoded, "_LEAST_DENSE", 12)
    monkeypatch.setattr(merging, "_FACTOR", 3)
    monkeypatch.setattr(
        "scrubjay.storage.sqlite.postings.worker.Indexer.note_write", lambda self: None
    )
    with closing(SqliteDatabase(str(tmp_path / "store.db"))) as db:
        yield db


class Corpus:
    """Random memories, and random changes of them."""

    def __init__(self, db, seed):
        self.db = db
        self.records = SqlRecords(db)
        self.chance = random.Random(seed)
        self.count = 0

    def text(self, most=30):
        weights = range(1, len(VOCABULARY) + 1)
        return " ".join(self.chance.choices(VOCABULARY, weights, k=self.chance.randint(1, most)))

    def put(self, n):
        one = a_memory(
            f"id{n}", self.text(), hours=n % 5, title=self.text(2), context=self.text(2)
        )
        self.records.put(one, pieces(one.text))

    def add(self, many):
        for _ in range(many):
            self.count += 1
            self.put(self.count)

    def change(self, many):
        for _ in range(many):
            self.put(self.chance.randint(1, self.count))

    def delete(self, many):
        self.records.delete([f"id{self.chance.randint(1, self.count)}" for _ in range(many)])

    def step(self):
        with self.db.write() as db:
            if self.chance.random() < 0.5:
                tables.index_some(db, self.chance.randint(1, 20))
            else:
                merging.merge_some(db)

    def lines(self):
        with self.db.read() as db:
            return {
                n: lines for n, *lines in db.execute(f"SELECT rowid, {tables.LINES} FROM words")
            }


def runs_in(line, run):
    tokens, (*before, last) = line.split(), run
    return sum(
        tokens[at : at + len(before)] == before
        and (
            tokens[at + len(before)].startswith(last[:-1])
            if last.endswith("*")
            else tokens[at + len(before)] == last
        )
        for at in range(len(tokens) - len(before))
    )


def exhaustive(lines, asked):
    """BM25 of every memory, written from the formula; for each memory also how many terms it holds."""
    lengths = {n: sum(len(line.split()) for line in of) for n, of in lines.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores, held = {}, {}
    for term in asked:
        holding = set()
        for run in term.any_of:
            counts = {n: [runs_in(line, run) for line in of] for n, of in lines.items()}
            counts = {n: of for n, of in counts.items() if any(of)}
            holding |= counts.keys()
            weight = (
                max(log((len(lines) - len(counts) + 0.5) / (len(counts) + 0.5)), 1e-6)
                if len(counts) < len(lines) / 2
                else 1e-6
            )
            for n, of in counts.items():
                often = sum(
                    WEIGHTS.get(name, 1.0) * count for name, count in zip(FIELDS, of, strict=True)
                )
                longer = 1.2 * (0.25 + 0.75 * lengths[n] / mean)
                scores[n] = scores.get(n, 0.0) + weight * often * 2.2 / (often + longer)
        for n in holding:
            held[n] = held.get(n, 0) + 1
    return scores, {n for n, count in held.items() if count == len(asked)}


def by_fts5(lines, asked):
    """What FTS5 says."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE VIRTUAL TABLE words USING fts5({', '.join(FIELDS)})")
        db.executemany(
            "INSERT INTO words (rowid, title, text, topics, context, ident) VALUES (?, ?, ?, ?, ?, ?)",
            [(n, *of) for n, of in lines.items()],
        )
        runs = [run for term in asked for run in term.any_of]
        matching = " OR ".join(
            '"' + " ".join(run).removesuffix("*") + '"' + (" *" if run[-1].endswith("*") else "")
            for run in runs
        )
        weights = ", ".join(str(WEIGHTS.get(name, 1.0)) for name in FIELDS)
        return dict(
            db.execute(
                f"SELECT rowid, -bm25(words, {weights}) FROM words WHERE words MATCH ?",
                (matching,),
            )
        )


def a_query(chance):
    def run():
        tokens = chance.choices(VOCABULARY, k=chance.choice((1, 1, 1, 2)))
        if chance.random() < 0.2:
            tokens[-1] = f"{tokens[-1][:2]}*"
        return tuple(tokens)

    runs = list(dict.fromkeys(run() for _ in range(chance.randint(1, 6))))
    terms = [Term((one,)) for one in runs]
    if len(runs) > 3:
        terms = [Term(tuple(runs[:2])), *terms[2:]]
    return terms


def numbers_of(db):
    with db.read() as connection:
        return dict(connection.execute("SELECT id, n FROM memories"))


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_every_memory_scored(db, arithmetic, seed):
    """R-9, GN-6, R-5: after every mixture of writes, deletions, segments and merges."""
    corpus = Corpus(db, seed)
    corpus.add(30)
    for _ in range(8):
        for _ in range(6):
            corpus.chance.choice(
                (
                    corpus.step,
                    corpus.step,
                    lambda: corpus.add(9),
                    lambda: corpus.change(2),
                    lambda: corpus.delete(2),
                )
            )()
        lines, numbers = corpus.lines(), numbers_of(db)
        with db.read() as connection:
            assert damage_of(connection, filled=True) == ""
        for _ in range(8):
            asked, limit = a_query(corpus.chance), corpus.chance.choice((1, 3, 10, 200))
            right, complete = exhaustive(lines, asked)
            assert right == pytest.approx(by_fts5(lines, asked), abs=1e-6)

            found = db.keyword.search(asked, Scope(), limit, WEIGHTS, every_first=False).rows
            scored = {numbers[row.id]: row.score for row in found}
            assert scored == pytest.approx({n: right[n] for n in scored}, abs=1e-6)
            assert len(scored) == min(limit, len(right))
            lowest = min(scored.values(), default=0.0)
            assert all(n in scored or score <= lowest + 2e-6 for n, score in right.items())

            first = db.keyword.search(asked, Scope(), limit, WEIGHTS).rows
            assert {numbers[row.id] for row in first[: len(complete)]} <= complete
            assert len(first) == min(limit, len(right))


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_no_scope_loses_a_memory(db, arithmetic, monkeypatch, share):
    """R-3: the best that are visible, whether a scope selects few or nearly all."""
    monkeypatch.setattr(keyword, "_EXTRA", 0)
    corpus = Corpus(db, 3)
    corpus.add(200)
    for _ in range(20):
        corpus.step()
    lines, numbers = corpus.lines(), numbers_of(db)
    ids = tuple(id_ for id_ in numbers if corpus.chance.random() < share)
    seen = {numbers[id_] for id_ in ids}
    for _ in range(20):
        asked = a_query(corpus.chance)
        right = {n: score for n, score in exhaustive(lines, asked)[0].items() if n in seen}

        found = db.keyword.search(asked, Scope(ids=ids), 5, WEIGHTS, every_first=False).rows

        scored = {numbers[row.id]: row.score for row in found}
        assert len(scored) == min(5, len(right))
        best = sorted(right.values(), reverse=True)[:5]
        assert sorted(scored.values(), reverse=True) == pytest.approx(best, abs=1e-6)


def test_a_memory_that_most_hold_is_found_among_many_ties(db, arithmetic):
    """R-5: a word in all memories ties them; the latest are shown."""
    records = SqlRecords(db)
    for n in range(300):
        one = a_memory(f"{n:03}", "same words", hours=n)
        records.put(one, pieces(one.text))
    with db.write() as connection:
        tables.index_some(connection, 150)

    rows = db.keyword.search([Term((("same",),))], Scope(), 3, {}).rows

    assert [row.id for row in rows] == ["299", "298", "297"]


def test_tokens_with_quotes_are_their_parts_side_by_side(db, arithmetic):
    """R-9: as FTS5 took them."""
    records = SqlRecords(db)
    for id_, text in {"a": "d'artagnan rides", "b": "artagnan d rides"}.items():
        records.put(a_memory(id_, text), pieces(text))
    for _ in range(2):
        rows = db.keyword.search([Term((("d'artagnan",),))], Scope(), 3, {}).rows
        assert [row.id for row in rows] == ["a"]
        with db.write() as connection:
            tables.index_some(connection, 9)


def test_segments_are_few_and_hold_each_memory_once(db):
    """Merging ends, and everything is in a few segments then."""
    corpus = Corpus(db, 1)
    for _ in range(40):
        corpus.add(8)
        with db.write() as connection:
            tables.index_some(connection, 8)
    with db.write() as connection:
        steps = 0
        while migration.is_due(connection) and migration.step(connection):
            steps += 1
        (segments,) = connection.execute("SELECT count(*) FROM segments").fetchone()
        assert segments <= 6
        assert damage_of(connection, filled=True) == ""
    assert 3 < steps < 500


def test_a_search_sees_what_another_process_has_written_since_the_last_one(db, arithmetic):
    """R-9: lists that were decoded are kept only as long as the index is the same."""
    records = SqlRecords(db)
    for id_ in ("a", "b"):
        records.put(a_memory(id_, "harbour lights"), pieces("harbour lights"))
    with db.write() as connection:
        tables.index_some(connection, 9)
    asked = [Term((("harbour",),))]

    def found():
        return {row.id for row in db.keyword.search(asked, Scope(), 9, {}).rows}

    assert found() == {"a", "b"}
    with closing(SqliteDatabase(db.path)) as other:
        theirs = SqlRecords(other)
        theirs.put(a_memory("c", "harbour master"), pieces("harbour master"))
        assert found() == {"a", "b", "c"}
        with other.write() as connection:
            tables.index_some(connection, 9)
        assert found() == {"a", "b", "c"}
        theirs.delete(["a"])
        assert found() == {"b", "c"}


def test_lists_are_kept_up_to_a_number_of_bytes():
    """Those that were searched last; none of another state of the index."""
    cache = Cache(max_bytes=2000)
    for token in ("one", "two", "three", "one"):
        cache.put(1, token, TokenList())
    cache.get(1, "one")
    for token in ("four", "five"):
        cache.put(1, token, TokenList())

    kept = {token for token in ("one", "two", "three", "four", "five") if cache.get(1, token)}

    assert kept == {"three", "one", "four", "five"}
    assert cache.get(2, "one") is None
