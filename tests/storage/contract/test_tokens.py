"""What every index of token vectors does."""

from __future__ import annotations

import numpy as np
import pytest
from backends import a_memory, pieces

from scrubjay.storage.sql.feedback import SqlAnswerCache
from scrubjay.storage.sql.vectors import SqlEmbeddingQueue, SqlTokenVectors
from scrubjay.types import Scope

TEXT = "aaaabbbb"


@pytest.fixture
def queue(backend):
    """Memories a and b of two passages each; the model m has tokens of width 3."""
    made = SqlEmbeddingQueue(backend.db)
    made.activate("m", 4, 3)
    for id_ in "ab":
        backend.records.put(a_memory(id_, TEXT), pieces(TEXT, 2))
    return made


@pytest.fixture
def tokens(backend, queue):
    return SqlTokenVectors(backend.db)


def chunks_of(backend, id_):
    """The numbers of a memory's passages."""
    with backend.db.read() as db:
        rows = db.execute(
            "SELECT c.n FROM chunks AS c JOIN memories AS m ON m.n = c.memory"
            " WHERE m.id = ? ORDER BY c.ordinal",
            (id_,),
        )
        return [n for (n,) in rows]


def count(backend, table="tokens"):
    with backend.db.read() as db:
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def rows(*numbers):
    return np.array(numbers, np.float32)


def read(tokens, *places, model="m"):
    """Token vectors of places, as numbers."""
    found = tokens.of(model, places)
    return {place: (one.codes * one.scale).round(2).tolist() for place, one in found.items()}


def test_they_come_back_by_memory_and_passage(backend, tokens):
    """To a step of four bits; what has none is left out."""
    first, second = chunks_of(backend, "a")
    tokens.add("m", [(first, rows([1, 0, 0], [0, 0.5, 0])), (second, rows([0, 0, -1]))])

    found = read(tokens, ("a", 0), ("a", 1), ("b", 0), ("a", 7), ("nobody", 0))

    assert found == {
        ("a", 0): [[1, 0, 0], [0, pytest.approx(0.5, abs=0.08), 0]],
        ("a", 1): [[0, 0, -1]],
    }


def test_a_passage_may_have_no_tokens_at_all(backend, tokens):
    """It is there, with none: nothing is wanted for it again."""
    first, _ = chunks_of(backend, "a")
    tokens.add("m", [(first, np.zeros((0, 3), np.float32))])

    assert read(tokens, ("a", 0)) == {("a", 0): []}


def test_each_model_has_its_own(backend, queue, tokens):
    """And a model that gave none, or is not known, has none."""
    queue.activate("wide", 4, 4)
    queue.activate("plain", 4)
    first, _ = chunks_of(backend, "a")
    tokens.add("m", [(first, rows([1, 0, 0]))])
    tokens.add("wide", [(first, rows([0, 0, 0, 1]))])
    tokens.add("unknown", [(first, rows([1, 1, 1]))])

    assert read(tokens, ("a", 0)) == {("a", 0): [[1, 0, 0]]}
    assert read(tokens, ("a", 0), model="wide") == {("a", 0): [[0, 0, 0, 1]]}
    assert read(tokens, ("a", 0), model="plain") == {}
    assert read(tokens, ("a", 0), model="unknown") == {}


def test_those_of_another_width_are_not_written(backend, queue, tokens):
    """An older version of the same model may still be at work in another process."""
    first, second = chunks_of(backend, "a")
    tokens.add("m", [(first, rows([1, 0, 0, 0])), (second, rows([1, 0, 0]))])

    assert set(read(tokens, ("a", 0), ("a", 1))) == {("a", 1)}


def test_the_first_stay(backend, tokens):
    """Two processes may make the same at once."""
    first, _ = chunks_of(backend, "a")
    tokens.add("m", [(first, rows([1, 0, 0]))])
    tokens.add("m", [(first, rows([0, 1, 0]))])

    assert read(tokens, ("a", 0)) == {("a", 0): [[1, 0, 0]]}


def test_they_go_with_the_memory(backend, tokens):
    """What is forgotten leaves nothing behind."""
    for id_ in "ab":
        tokens.add("m", [(n, rows([1, 0, 0])) for n in chunks_of(backend, id_)])
    assert count(backend) == 4

    backend.records.delete(["a"])

    assert count(backend) == 2
    assert set(read(tokens, ("a", 0), ("b", 0))) == {("b", 0)}


def test_a_passage_that_stays_keeps_them_and_a_new_one_has_none(backend, tokens):
    """Only what changed is read anew."""
    tokens.add("m", [(n, rows([1, 0, 0])) for n in chunks_of(backend, "a")])
    longer = TEXT + "cccc"
    backend.records.put(a_memory("a", longer), pieces(longer, 3))

    assert set(read(tokens, ("a", 0), ("a", 1), ("a", 2))) == {("a", 0), ("a", 1)}


def test_passages_that_are_gone_are_not_written(backend, tokens):
    """A memory may be forgotten while a model reads it."""
    first, _ = chunks_of(backend, "a")
    backend.records.delete(["a"])

    tokens.add("m", [(first, rows([1, 0, 0]))])

    assert count(backend) == 0


def test_another_open_store_sees_them(backend, tokens):
    """As another process would."""
    first, _ = chunks_of(backend, "a")
    tokens.add("m", [(first, rows([1, 0, 0]))])
    other = backend.again()

    assert read(SqlTokenVectors(other.db), ("a", 0)) == {("a", 0): [[1, 0, 0]]}
    other.close()


class TestActivate:
    def wanted(self, backend):
        return count(backend, "wanting")

    def embed(self, backend, model="m", dims=4):
        vector = np.eye(dims, dtype=np.float32)[0]
        backend.embed(model, {id_: [vector, vector] for id_ in "ab"})

    def test_a_model_that_learns_tokens_wants_them_for_all_and_keeps_its_vectors(self, backend):
        """A store of an older version, or of a model that gave none until now."""
        queue = SqlEmbeddingQueue(backend.db)
        queue.activate("m", 4)
        for id_ in "ab":
            backend.records.put(a_memory(id_, TEXT), pieces(TEXT, 2))
        self.embed(backend)
        assert self.wanted(backend) == 0

        queue.activate("m", 4, 3)

        assert self.wanted(backend) == 4
        assert count(backend, "vectors") == 4
        vector = np.eye(4, dtype=np.float32)[0]
        assert len(backend.vectors.search(vector, "m", Scope(), 5).rows) == 2
        assert backend.vectors.missing("m", Scope()) == 0  # they want tokens only

    def test_the_same_width_wants_nothing_new(self, backend, queue, tokens):
        """Opening again is free."""
        tokens.add("m", [(n, rows([1, 0, 0])) for n in chunks_of(backend, "a")])
        self.embed(backend)

        queue.activate("m", 4, 3)

        assert self.wanted(backend) == 0
        assert count(backend) == 2

    def test_another_width_drops_the_old_ones(self, backend, queue, tokens):
        """They cannot be compared; vectors stay."""
        tokens.add("m", [(n, rows([1, 0, 0])) for n in chunks_of(backend, "a")])
        self.embed(backend)

        queue.activate("m", 4, 2)

        assert count(backend) == 0
        assert count(backend, "vectors") == 4
        assert self.wanted(backend) == 4

    def test_a_model_opened_without_tokens_leaves_what_is_there(self, backend, queue, tokens):
        """Somebody else may still use them."""
        tokens.add("m", [(n, rows([1, 0, 0])) for n in chunks_of(backend, "a")])

        queue.activate("m", 4, 0)

        assert set(read(tokens, ("a", 0))) == {("a", 0)}


class TestKept:
    def test_a_text_is_kept_replaced_and_forgotten(self, backend):
        """By kind and key."""
        kept = SqlAnswerCache(backend.db)
        kept.put("expansion", "k", "one", 1)
        kept.put("speed", "k", "two", 1)
        kept.put("expansion", "k", "three", 2)

        assert kept.get("expansion", "k") == "three"
        assert kept.get("speed", "k") == "two"
        kept.drop("expansion", "k")
        kept.drop("expansion", "k")
        assert kept.get("expansion", "k") is None
        assert kept.get("speed", "k") == "two"

    def test_another_open_store_sees_it(self, backend):
        """GN-4: across processes."""
        SqlAnswerCache(backend.db).put("expansion", "k", "väl", 1)
        other = backend.again()

        assert SqlAnswerCache(other.db).get("expansion", "k") == "väl"
        other.close()

    def test_the_oldest_of_a_kind_go_when_there_are_too_many(self, backend):
        """A store that is asked for years does not grow by its questions."""
        kept = SqlAnswerCache(backend.db)
        with backend.db.write():
            kept.put("speed", "other", "stays", 0)
            for n in range(2010):
                kept.put("expansion", f"k{n:05}", "x", n)

        assert kept.get("expansion", "k00009") is None
        assert kept.get("expansion", "k00010") == "x"
        assert kept.get("expansion", "k02009") == "x"
        assert kept.get("speed", "other") == "stays"

    def test_a_busy_file_is_not_waited_for(self, backend):
        """R-6: what can be made again is no reason to fail; reading goes on."""
        other = backend.again()
        kept = SqlAnswerCache(other.db)
        kept.put("speed", "k", "1", 1)
        with backend.db.write() as db:
            db.execute("INSERT INTO meta VALUES ('k', 1)")
            kept.put("speed", "k", "2", 2)
            kept.drop("speed", "k")
            assert kept.get("speed", "k") == "1"
        assert kept.get("speed", "k") == "1"
        other.close()


def test_a_long_passage_comes_back_whole(backend, queue, tokens):
    """However many parts it is kept in."""
    queue.activate("wide", 64, 64)
    first, _ = chunks_of(backend, "a")
    made = np.random.default_rng(0).standard_normal((1000, 64)).astype(np.float32)
    tokens.add("wide", [(first, made)])
    tokens.add("wide", [(first, -made)])  # the first ones stay

    (found,) = tokens.of("wide", [("a", 0)]).values()

    assert found.codes.shape == (1000, 64)
    assert np.abs(found.codes * found.scale - made).max() <= np.abs(made).max() / 14 + 1e-6
