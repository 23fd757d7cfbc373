"""What every store of records knows of conversations: who stands beside whom, and which vector is right."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from backends import a_memory, asking, pieces
from clocks import NOON

from scrubjay.storage.sql.vectors import SqlEmbeddingQueue
from scrubjay.types import Scope

MODEL = "m"
EVERYTHING = Scope()


def turn(id_, text, minute=0, session="s", **more):
    at = NOON + timedelta(minutes=minute)
    return a_memory(
        id_, text, type="message", session=session, created_at=at, updated_at=at, **more
    )


def put(backend, *memories):
    for one in memories:
        backend.records.put(one, pieces(one.text))


def around(backend, id_, turns=1):
    found = backend.records.around([id_], turns, EVERYTHING).get(id_)
    return found and tuple([one.id for one in side] for side in found)


def found(backend, word):
    return {row.id for row in backend.keyword.search(asking(word), EVERYTHING, 10, {}).rows}


def vectors(backend):
    with backend.db.read() as db:
        return {
            id_: (n, np.frombuffer(vector, "<f4").tolist())
            for id_, n, vector in db.execute(
                "SELECT m.id, v.n, v.vector FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
                " JOIN memories AS m ON m.n = c.memory"
            )
        }


@pytest.fixture
def queue(backend):
    """The wishes of a store that knows one model of two dimensions."""
    made = SqlEmbeddingQueue(backend.db)
    made.activate(MODEL, 2)
    return made


def unit(angle):
    return np.array([np.cos(angle), np.sin(angle)], np.float32)


def answer(backend, wanted, angle):
    """Store the same vector for all that was claimed, as a model does."""
    backend.vectors.add(
        MODEL,
        [(one.chunk, unit(angle)) for one in wanted],
        {one.chunk: one.request for one in wanted},
    )


class TestBeside:
    def test_turns_stand_in_the_order_of_time_and_then_of_writing(self, backend):
        """Whatever the order in which they arrive."""
        put(backend, turn("d", "d", 2), turn("a", "a", 0), turn("c", "c", 1), turn("b", "b", 0))

        assert around(backend, "a", 5) == ([], ["b", "c", "d"])
        assert around(backend, "c") == (["b"], ["d"])
        assert around(backend, "d", 2) == (["b", "c"], [])

    def test_only_messages_of_the_same_namespace_and_session_do(self, backend):
        """R-3: nothing of another namespace is shown or found by its neighbour's words."""
        put(
            backend,
            turn("a", "apple"),
            turn("b", "banana", session="t"),
            turn("c", "cherry", namespace="theirs"),
            a_memory("d", "damson", type="fact", session="s"),
            a_memory("e", "elder", type="message"),
        )

        for id_ in "abc":
            assert around(backend, id_) == ([], [])
        assert around(backend, "d") is None
        assert around(backend, "e") is None
        assert backend.records.around(["nobody"], 1, EVERYTHING) == {}
        assert found(backend, "banana") == {"b"}

    def test_a_short_one_is_found_by_the_words_around_it(self, backend):
        """A long one stands alone, and only its first words are beside a short one."""
        long = "walrus " + "word " * 100 + "zebra"
        put(backend, turn("a", "plum", 0), turn("b", long, 1), turn("c", "cherry", 2))

        assert found(backend, "walrus") == {"a", "b", "c"}
        assert found(backend, "zebra") == {"b"}
        assert found(backend, "plum") == {"a"}

    def test_it_is_long_by_the_setting(self, backend):
        """With 0, every turn stands alone."""
        backend.db.short_turn_chars = 0
        put(backend, turn("a", "plum", 0), turn("b", "banana", 1))
        assert found(backend, "plum") == {"a"}
        backend.db.short_turn_chars = 5
        put(backend, turn("c", "cider", 2), turn("d", "fig", 3))
        assert found(backend, "fig") == {"d", "c"}
        assert found(backend, "cider") == {"c", "d"}
        assert found(backend, "banana") == {"b"}  # cut at five characters it is no whole word


class TestWishes:
    def test_a_model_reads_what_is_around_a_short_turn(self, backend, queue):
        """Before, after, and then the turn itself, by the caller."""
        put(backend, turn("a", "apple", 0), turn("b", "banana", 1), turn("c", "cherry", 2))

        wanted = {one.passage: one.around for one in queue.claim(MODEL, 10, 60)}

        assert wanted == {"apple": "banana", "banana": "apple\ncherry", "cherry": "banana"}

    def test_the_old_vector_stays_until_the_new_one_is_there(self, backend, queue):
        """A search is never without; the new one has a number of its own, so that caches see it."""
        put(backend, turn("a", "apple", 0))
        answer(backend, queue.claim(MODEL, 10, 60), 0.0)
        before = vectors(backend)
        assert backend.vectors.search(unit(0.0), MODEL, EVERYTHING, 5).rows[0].score == 1.0

        put(backend, turn("b", "banana", 1))
        assert vectors(backend) == before
        assert queue.left(MODEL) == (2, 0)
        assert backend.vectors.missing(MODEL, EVERYTHING) == 1

        answer(backend, queue.claim(MODEL, 10, 60), 1.0)
        after = vectors(backend)
        assert after["a"][0] > before["a"][0]
        assert after["a"][1] == unit(1.0).tolist()
        rows = backend.vectors.search(unit(1.0), MODEL, EVERYTHING, 5).rows
        assert [round(row.score, 6) for row in rows] == [1.0, 1.0]
        assert queue.left(MODEL) == (0, 0)

    def test_a_neighbour_that_arrives_while_the_model_reads_leaves_the_wish_open(
        self, backend, queue
    ):
        """What it read no longer stands there, and is not stored."""
        put(backend, turn("a", "apple", 0))
        early = queue.claim(MODEL, 10, 60)
        put(backend, turn("b", "banana", 1))

        answer(backend, early, 0.0)
        assert vectors(backend) == {}
        late = queue.claim(MODEL, 10, 60)
        assert {one.passage: one.around for one in late} == {"apple": "banana", "banana": "apple"}
        answer(backend, late, 1.0)
        assert {id_: vector for id_, (_, vector) in vectors(backend).items()} == {
            "a": unit(1.0).tolist(),
            "b": unit(1.0).tolist(),
        }
        assert queue.left(MODEL) == (0, 0)

    def test_two_that_read_the_same_make_one_vector(self, backend, queue):
        """The first stays: a lease may run out while a model is slow."""
        put(backend, turn("a", "apple", 0))
        first = queue.claim(MODEL, 10, -1)
        second = queue.claim(MODEL, 10, 60)
        assert [one.chunk for one in first] == [one.chunk for one in second]

        answer(backend, second, 1.0)
        answer(backend, first, 0.0)

        assert vectors(backend)["a"][1] == unit(1.0).tolist()

    def test_a_slow_one_does_not_grant_a_later_wish(self, backend, queue):
        """No two wishes for a vector have the same number, even if one was granted between them."""
        put(backend, turn("a", "apple", 0), turn("b", "banana", 1))
        answer(backend, queue.claim(MODEL, 10, 60), 0.0)
        for minute in (5, 4, 3, 2):  # each stands beside b in its turn
            put(backend, turn(f"c{minute}", "cherry", minute))
        slow = queue.claim(MODEL, 10, -1)
        answer(backend, queue.claim(MODEL, 10, 60), 0.5)
        for minute in (1.9, 1.8, 1.7, 1.6):
            put(backend, turn(f"d{minute}", "damson", minute))

            answer(backend, slow, 0.25)  # of b beside what no longer stands there

        assert vectors(backend)["b"][1] == unit(0.5).tolist()
        assert "banana" in {one.passage for one in queue.claim(MODEL, 10, 60)}

    def test_a_long_turn_is_not_read_again(self, backend, queue):
        """It stands alone, whatever comes beside it."""
        put(backend, turn("a", "word " * 100, 0), turn("b", "x", 2))
        answer(backend, queue.claim(MODEL, 10, 60), 0.0)

        put(backend, turn("c", "y", 1))

        assert {one.passage for one in queue.claim(MODEL, 10, 60)} == {"x", "y"}

    def test_what_changes_no_place_and_no_text_asks_for_nothing(self, backend, queue):
        """Other topics are no other neighbour; the words around stay in the index."""
        put(backend, turn("a", "apple", 0), turn("b", "banana", 1))
        answer(backend, queue.claim(MODEL, 10, 60), 0.0)

        put(backend, turn("a", "apple", 0, topics=("fruit",)))

        assert queue.left(MODEL) == (0, 0)
        assert found(backend, "banana") == {"a", "b"}


class TestForgotten:
    def test_no_word_of_it_stays_beside_and_no_vector_made_with_it(self, backend, queue):
        """At once: the vectors of its neighbours go with it, and are wanted anew."""
        put(
            backend,
            turn("a", "apple", 0),
            turn("b", "secret walrus", 1),
            turn("c", "cherry", 2),
            turn("d", "damson", 3),
        )
        answer(backend, queue.claim(MODEL, 10, 60), 0.0)
        assert found(backend, "walrus") == {"a", "b", "c"}

        backend.records.delete(["b"])

        assert found(backend, "walrus") == set()
        with backend.db.read() as db:
            rows = db.execute("SELECT context FROM words ORDER BY rowid").fetchall()
            terms = {token for (token,) in db.execute("SELECT token FROM terms")}
        assert [line for (line,) in rows] == ["cherri", "appl damson", "cherri"]
        assert terms == {"", "appl", "cherri", "damson"}
        assert set(vectors(backend)) == {"d"}
        assert {one.passage: one.around for one in queue.claim(MODEL, 10, 60)} == {
            "apple": "cherry",
            "cherry": "apple\ndamson",
        }

    def test_a_model_that_reads_it_in_that_moment_brings_nothing_back(self, backend, queue):
        put(backend, turn("a", "apple", 0), turn("b", "secret walrus", 1))
        reading = queue.claim(MODEL, 10, 60)

        backend.records.delete(["b"])
        answer(backend, reading, 0.0)

        assert vectors(backend) == {}
        assert [one.around for one in queue.claim(MODEL, 10, 60)] == [""]

    def test_all_of_a_conversation(self, backend, queue):
        ids = [f"turn{n}" for n in range(20)]
        put(backend, *(turn(id_, f"word{n}", n) for n, id_ in enumerate(ids)))

        backend.records.delete(ids)

        with backend.db.read() as db:
            for table in ("words", "terms", "wanting"):
                assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
