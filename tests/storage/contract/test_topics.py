"""What every topic index must do: GS-3 and GS-4, on the store's side."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from backends import a_memory, pieces

from scrubjay.storage.sql.topics import SqlTopics
from scrubjay.types import Scope

MODEL = "plain-4"
ALL = Scope()
EAST, NORTH = np.eye(4, dtype=np.float32)[:2]


@pytest.fixture
def topics(backend):
    """The topic index of one store."""
    return SqlTopics(backend.db, backend.vectors)


def put(backend, id_, *topics, **more):
    text = f"text of {id_}"
    backend.records.put(a_memory(id_, text, topics=tuple(topics), **more), pieces(text))


def found(index, *keywords, scope=ALL, limit=10, vector=None):
    rows = index.search(keywords, vector, MODEL, scope, limit).rows
    return [(row.id, row.score) for row in rows]


class TestMatching:
    def test_a_topic_is_found_as_a_whole_and_by_word(self, backend, topics):
        """GS-4: multi-word topics match as a whole and by word."""
        put(backend, "both", "continuous integration")
        put(backend, "one", "integration")

        assert found(topics, "continuous") == [("both", 1)]
        assert found(topics, "continuous integration") == [("both", 1)]
        assert [id_ for id_, _ in found(topics, "integration")] == ["both", "one"]

    def test_a_whole_of_two_words_counts_as_two(self, backend, topics):
        """The words of a whole are the keywords it stands for, each counted once."""
        put(backend, "both", "continuous integration", hours=-5)
        put(backend, "one", "integration", "server")
        asked = ("continuous", "integration", "continuous integration")

        assert found(topics, *asked) == [("both", 2), ("one", 1)]
        assert topics.search(asked, None, None, Scope(), 10).best == 2

    def test_it_is_exact(self, backend, topics):
        """No stems, no beginnings, no parts of words."""
        put(backend, "a", "databases", "postgresql")

        assert found(topics, "database", "postgres", "sql") == []

    @pytest.mark.parametrize("asked", ["Python", "PYTHON", " python "])
    def test_case_and_spaces_do_not_matter(self, backend, topics, asked):
        """Both sides are folded the same way."""
        put(backend, "a", "python")

        assert found(topics, asked) == [("a", 1)]

    @pytest.mark.parametrize(
        ("topic", "asked"),
        [("c++", "C++"), ("straße", "STRASSE"), (".net", "net"), ("🚀", "🚀"), ("東京", "東京"),
         ("don't panic!", "don't panic"), ("to do", "to do"), ("cafe\u0301", "caf\u00e9")],
    )  # fmt: skip
    def test_any_script_and_any_sign(self, backend, topics, topic, asked):
        """A topic is found by what people type for it."""
        put(backend, "a", topic)

        assert found(topics, asked) == [("a", 1)]

    def test_stop_words_of_a_longer_topic_do_not_find_it(self, backend, topics):
        """Half of all topics would match "of"."""
        put(backend, "a", "rate of change")

        assert found(topics, "of") == []
        assert found(topics, "rate of change") == [("a", 1)]

    def test_nothing_asked_finds_nothing(self, backend, topics):
        """Neither does what is empty, nor a store without topics."""
        assert found(topics, "python") == []
        put(backend, "a", "python")
        assert found(topics) == []
        assert found(topics, "", "  ") == []
        assert found(topics, "python", limit=0) == []


class TestOrder:
    def test_more_keywords_come_first_then_newer_then_id(self, backend, topics):
        """GS-4, where no cosine is known."""
        put(backend, "old", "a1", hours=-2)
        put(backend, "new-b", "a1")
        put(backend, "new-a", "a1")
        put(backend, "two", "a1", "b1", hours=-9)

        assert found(topics, "a1", "b1") == [("two", 2), ("new-a", 1), ("new-b", 1), ("old", 1)]

    def test_cosine_stands_between_them(self, backend, topics):
        """GS-4: the nearer before the newer, and what has no vector after both."""
        backend.activate(MODEL, 4)
        put(backend, "near", "a1", hours=-9)
        put(backend, "far", "a1", hours=-3)
        put(backend, "unknown", "a1")
        put(backend, "two", "a1", "b1", hours=-20)
        backend.embed(MODEL, {"near": [EAST], "far": [NORTH], "two": [NORTH]})

        ranked = found(topics, "a1", "b1", vector=EAST)
        assert [id_ for id_, _ in ranked] == ["two", "near", "far", "unknown"]
        rows = topics.search(["a1"], EAST, MODEL, Scope(), 4).rows
        assert [(row.id, row.chunk) for row in rows] == [
            ("near", 0),
            ("far", 0),
            ("two", 0),
            ("unknown", None),
        ]

    def test_of_very_many_the_nearest_are_found_as_well(self, backend, topics, monkeypatch):
        """Where too many tie to read each vector, the answer is the same."""
        backend.activate(MODEL, 4)
        rng = np.random.default_rng(3)
        vectors = {}
        with backend.records.transaction():
            for n in range(60):
                put(backend, f"m{n:02}", "a1" if n % 2 else "b1")
                one = rng.normal(size=4).astype(np.float32)
                vectors[f"m{n:02}"] = [one / np.linalg.norm(one)]
        backend.embed(MODEL, vectors)
        exact = found(topics, "a1", vector=EAST, limit=7)
        monkeypatch.setattr("scrubjay.storage.sql.topics._MAX_READ", 5)

        assert found(topics, "a1", vector=EAST, limit=7) == exact
        cosines = [float(vectors[id_][0] @ EAST) for id_, _ in exact]
        assert cosines == sorted(cosines, reverse=True)
        odd = [float(one[0] @ EAST) for id_, one in vectors.items() if int(id_[1:]) % 2]
        assert cosines == pytest.approx(sorted(odd, reverse=True)[:7])

    def test_of_very_many_those_without_a_vector_come_last_and_newest_first(
        self, backend, topics, monkeypatch
    ):
        """The same order as where each is read."""
        backend.activate(MODEL, 4)
        with backend.records.transaction():
            for n in range(40):
                put(backend, f"m{n:02}", "a1", hours=n)
            put(backend, "two", "a1", "b1", hours=-1)
        backend.embed(MODEL, {f"m{n:02}": [EAST] for n in (3, 37, 39)} | {"m05": [NORTH]})
        wanted = ["two", "m39", "m37", "m03", "m05", "m38", "m36", "m35"]
        for most_read in (2048, 5):
            monkeypatch.setattr("scrubjay.storage.sql.topics._MAX_READ", most_read)
            ranked = found(topics, "a1", "b1", vector=EAST, limit=8)
            assert [id_ for id_, _ in ranked] == wanted
            unread = found(topics, "a1", limit=3)
            assert [id_ for id_, _ in unread] == ["m39", "m38", "m37"]

    def test_many_are_ranked_without_numpy_as_well(self, backend, topics, monkeypatch):
        """R-6: it is not needed where no vector is given."""
        monkeypatch.setattr("scrubjay.storage.sql.topics._MAX_READ_WITHOUT_NUMPY", 5)
        monkeypatch.setattr("scrubjay.storage.sql.topics._MAX_READ", 5)
        with backend.records.transaction():
            for n in range(20):
                put(backend, f"m{n:02}", "a1", hours=n)
        with_it = found(topics, "a1", limit=3)
        monkeypatch.setitem(sys.modules, "numpy", None)

        assert found(topics, "a1", limit=3) == with_it == [("m19", 1), ("m18", 1), ("m17", 1)]


class TestScope:
    def test_only_what_the_scope_sees_is_ranked(self, backend, topics):
        """R-5: another's memories do not even take a place."""
        for n in range(5):
            put(backend, f"theirs{n}", "a1", "b1", namespace="user:ben")
        put(backend, "mine", "a1", namespace="user:ada", hours=-50)
        mine = Scope(namespaces=("user:ada",))

        assert found(topics, "a1", "b1", scope=mine, limit=1) == [("mine", 1)]
        assert found(topics, "b1", scope=mine) == []
        assert found(topics, "a1", scope=Scope(namespaces=())) == []

    def test_every_filter_narrows(self, backend, topics):
        """Types, collections and ids bind in the same query."""
        put(backend, "a", "a1", type="task", collection="c")
        put(backend, "b", "a1", type="fact")

        assert found(topics, "a1", scope=Scope(types=("task",))) == [("a", 1)]
        assert found(topics, "a1", scope=Scope(collection="c")) == [("a", 1)]
        assert found(topics, "a1", scope=Scope(ids=("b",))) == [("b", 1)]


class TestKept:
    def test_other_topics_replace_the_old_ones_and_forgetting_removes_them(self, backend, topics):
        """In the same transaction as the memory."""
        put(backend, "a", "old")
        put(backend, "a", "new")
        assert (found(topics, "old"), found(topics, "new")) == ([], [("a", 1)])

        backend.records.delete(["a"])
        with backend.db.read() as db:
            assert db.execute("SELECT count(*) FROM topic_hashes").fetchone() == (0,)

    def test_a_write_that_fails_leaves_no_key_behind_that_is_not_the_stores(self, backend, topics):
        """A key made in a transaction that is rolled back is made anew."""

        def fail():
            with backend.records.transaction():
                put(backend, "a", "python")
                assert found(topics, "python") == [("a", 1)]
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert found(topics, "python") == []
        put(backend, "b", "python")
        assert found(topics, "python") == [("b", 1)]

    def test_hashes_do_not_show_what_they_stand_for(self, backend, topics):
        """Keyed: the same topic looks different in another store."""
        other = backend.another()
        seen = []
        for one in (backend, other):
            put(one, "a", "python")
            with one.db.read() as db:
                seen.append(db.execute("SELECT hash FROM topic_hashes").fetchall())
                assert (
                    len(db.execute("SELECT key FROM keys WHERE name = 'topics'").fetchone()[0])
                    == 32
                )
        other.close()
        assert len(seen[0]) == len(seen[1]) == 1
        assert len(seen[0][0][0]) == 16
        assert seen[0] != seen[1]

    def test_a_second_process_uses_the_same_key(self, backend, topics):
        """Whoever writes first makes it."""
        again = backend.again()
        put(backend, "a", "python")
        put(again, "b", "python")
        assert [id_ for id_, _ in found(topics, "python")] == ["a", "b"]
        assert [id_ for id_, _ in found(SqlTopics(again.db), "python")] == ["a", "b"]
        again.close()

    def test_a_store_without_hashes_is_filled_once(self, backend, topics):
        """What was written before there were hashes is found as well."""
        topics.reindex()
        put(backend, "a", "continuous integration", "python")
        with backend.db.write() as db:
            before = db.execute("SELECT * FROM topic_hashes").fetchall()
            db.execute("DELETE FROM topic_hashes")
            db.execute("DELETE FROM meta WHERE key = 'topic_hashes'")
        topics.reindex()
        with backend.db.read() as db:
            assert db.execute("SELECT * FROM topic_hashes").fetchall() == before
        topics.reindex()
        assert found(topics, "continuous", "python") == [("a", 2)]


def test_very_many_topics_are_filled_and_searched_in_little_time(backend, topics):
    """A hundred thousand: they are hashed in seconds; a lookup reads what matches, not everything."""
    with backend.db.write() as db:
        db.execute("DELETE FROM meta WHERE key = 'topic_hashes'")
        columns = "id namespace type text title context metadata language content_hash".split()
        db.executemany(
            f"INSERT INTO memories ({', '.join(columns)}, topics, created_us, updated_us)"
            f" VALUES ({', '.join('?' * len(columns))}, ?, 0, 0)",
            [
                (f"m{n}", "default", "fact", "t", "", "", "{}", "", "", f'["topic number{n}"]')
                for n in range(20 * backend.many)
            ],
        )
    began = time.process_time()
    topics.reindex()
    filling_s = time.process_time() - began
    assert found(topics, "number17777") == [("m17777", 1)]
    began = time.process_time()
    for n in range(100):
        assert len(found(topics, f"number{n}", "nowhere")) == 1
    searching_s = time.process_time() - began

    assert filling_s < 30
    assert searching_s / 100 < 0.05
