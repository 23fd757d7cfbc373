"""Topics of a store: counted, renamed, and asked for by a query's words."""

from __future__ import annotations

import subprocess
import sys

import pytest

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.search.pipeline import Kit, Run, search
from scrubjay.search.stages.topics import keywords_in, topics
from scrubjay.types import Query, Scope

ALL = Scope()


def ask(store, text, scope=ALL, **numbers):
    """The rows that the source stage brings for a query."""
    run = Run(Query(text, scope), Kit(topics=store._context.tables.topics))
    return [(row.id, row.score) for row in topics(**numbers)(run).rows]


class TestSource:
    def test_words_are_keywords_and_neighbours_are_topics(self):
        """GS-4: as they are written, without stop words, every run of two to four as a whole."""
        assert keywords_in("Continuous integration of Postgres") == (
            "continuous",
            "integration",
            "postgres",
            "continuous integration",
            "integration of",
            "of postgres",
            "continuous integration of",
            "integration of postgres",
            "continuous integration of postgres",
        )

    def test_stop_words_count_only_where_there_is_nothing_else(self):
        """A query of them alone still asks."""
        assert keywords_in("to do") == ("to", "do", "to do")
        assert "what is" not in keywords_in("what is a kettle")
        assert keywords_in("?!") == ()
        assert keywords_in("") == ()

    def test_a_query_of_a_book_is_bounded(self):
        """A pasted page asks for its beginning."""
        assert len(keywords_in("word " * 100_000)) == 4
        assert len(keywords_in(" ".join(f"w{n}" for n in range(100_000)))) < 600

    def test_the_query_finds_by_topic_what_its_words_do_not_say(self, words_only):
        """GS-3: the source asks under the query's scope."""
        words_only.add("Runs on every push", id="ci", topics=["continuous integration"])
        words_only.add("Port 5433", id="db", topics=["postgres", "staging"])
        words_only.add("Sharded", id="shard", topics=["postgres"])

        assert ask(words_only, "the Postgres port of staging") == [("db", 2), ("shard", 1)]
        assert ask(words_only, "how does continuous integration run?") == [("ci", 2)]
        assert ask(words_only, "postgres", Scope(ids=("shard",))) == [("shard", 1)]
        assert ask(words_only, "\ud800 postgres")

    @pytest.mark.parametrize("spelled", ["ci-cd", "ci cd", "CI/CD", "ci_cd"])
    def test_how_two_words_are_joined_does_not_matter(self, words_only, spelled):
        """GS-4: neither in the topic nor in the query."""
        words_only.add("Runs on every push", id="a", topics=[spelled])
        words_only.add("Burns music", id="b", topics=["cd"])

        for asked in ("ci cd", "how does CI/CD run"):
            assert ask(words_only, asked) == [("a", 2), ("b", 1)]
        for asked in ("ci-cd", "how does ci_cd run"):  # one word, which is not "cd"
            assert ask(words_only, asked) == [("a", 1)]
        if spelled != "ci cd":
            words_only.forget("b")
        assert ("a", 1) in ask(words_only, "ci")

    def test_stop_words_that_are_joined_are_a_topic(self, words_only):
        """As they are where they stand alone."""
        words_only.add("Buy milk", id="a", topics=["to-do"])

        assert ask(words_only, "what is on my to-do list?") == [("a", 1)]
        assert ask(words_only, "what do I have to do today?") == []

    def test_a_topic_is_found_inside_a_script_without_spaces(self, words_only):
        """Any few neighbouring characters may be a word there; one alone is not."""
        words_only.add("Hot in summer", id="a", topics=["東京"])
        words_only.add("Rain", id="b", topics=["東京", "天気"])
        words_only.add("A day", id="c", topics=["天"])

        assert ask(words_only, "東京の天気") == [("b", 2), ("a", 1)]
        assert ask(words_only, "서울에서") == []
        words_only.add("Han river", id="d", topics=["서울"])
        assert ask(words_only, "서울에서") == [("d", 1)]
        assert "iphone" in keywords_in("iPhoneを買う")
        assert len(keywords_in("天気予報" * 10_000)) < 600

    def test_a_depth_of_nothing_is_refused(self, words_only):
        """With the number that would be right."""
        with pytest.raises(InvalidInput, match="depth is 0; it must be 1 or more"):
            ask(words_only, "x", depth=0)

    def test_without_an_index_the_source_is_lost_and_says_so(self):
        """R-2: a search goes on without it."""
        from scrubjay.search.pipeline import recall

        found = search(Query("x"), "test", (recall(sources=(topics(),)),), Kit())
        assert found.degraded == ("topics: no topics is configured",)


class TestCounts:
    def test_most_first_then_by_name(self, words_only):
        """Each memory counts once for a topic."""
        words_only.add("a", topics=["python", "web", "python"])
        words_only.add("b", topics=["Python", "api"], namespace="work")

        assert list(words_only.topics().items()) == [("python", 2), ("api", 1), ("web", 1)]
        assert words_only.topics(limit=1) == {"python": 2}
        assert words_only.topics(namespace="work") == {"api": 1, "python": 1}
        assert words_only.topics(namespace="nowhere") == {}

    @pytest.mark.parametrize("limit", [0, -1, True, 1.5, "3"])
    def test_a_wrong_limit_is_refused(self, words_only, limit):
        """It says what would be right."""
        with pytest.raises(InvalidInput, match="must be a whole number of 1 or more"):
            words_only.topics(limit=limit)


class TestRename:
    def test_records_words_and_hashes_follow(self, words_only):
        """The old name is gone everywhere, the new one works everywhere; times stay."""
        kept = words_only.add("Boils at six", id="a", topics=["tea", "kettles"])

        assert words_only.rename_topic("Kettles ", "Water Boilers") == 1
        assert words_only.get("a") == kept._replace(topics=("tea", "water boilers"))
        assert words_only.topics() == {"tea": 1, "water boilers": 1}
        assert [one.id for one in words_only.ls(topics="water boilers")] == ["a"]
        assert words_only.ls(topics="kettles") == []
        assert [hit.id for hit in words_only.search("boilers")] == ["a"]
        assert len(words_only.search("kettles")) == 0
        assert (ask(words_only, "water"), ask(words_only, "kettles")) == ([("a", 1)], [])
        assert [hit.id for hit in words_only.search("boils six")] == ["a"]

    def test_onto_one_that_is_there_it_joins(self, words_only):
        """No memory has a topic twice."""
        words_only.add("a", id="a", topics=["js", "web"])
        words_only.add("b", id="b", topics=["javascript", "js"])

        assert words_only.rename_topic("js", "javascript") == 2
        assert words_only.get("a").topics == ("javascript", "web")
        assert words_only.get("b").topics == ("javascript",)
        assert words_only.topics() == {"javascript": 2, "web": 1}
        assert words_only.rename_topic("javascript", "JavaScript") == 2

    def test_vectors_stay(self, memory, embedder):
        """A topic is nothing that a model reads."""
        memory.add("Boils at six", topics=["tea"])
        memory.pending()
        memory.rename_topic("tea", "kitchen")
        assert memory.pending(wait=False) == 0

    def test_an_unknown_one_and_an_empty_one_are_refused(self, words_only):
        """Nothing is changed."""
        words_only.add("a", topics=["tea"])
        with pytest.raises(NotFound, match="no memory has the topic 'coffee'"):
            words_only.rename_topic("coffee", "tea")
        with pytest.raises(InvalidInput, match="neither may be empty"):
            words_only.rename_topic("tea", "  ")
        with pytest.raises(InvalidInput, match="at most 512"):
            words_only.rename_topic("tea", "x" * 10_240)
        with pytest.raises(InvalidInput, match="printable"):
            words_only.rename_topic("tea", "a\x07b")
        with pytest.raises(InvalidInput, match="it must be a text"):
            words_only.rename_topic("tea", 7)
        assert words_only.topics() == {"tea": 1}


def test_a_user_sees_and_renames_only_their_own(tmp_path, clock):
    """R-5: what another has is neither counted nor touched."""
    path = tmp_path / "a.db"
    with (
        scrubjay.open(path, embedder=False, clock=clock, user="ada") as ada,
        scrubjay.open(path, embedder=False, clock=clock, user="ben") as ben,
    ):
        ada.add("a", id="a", topics=["tea"])
        ben.add("b", id="b", topics=["tea", "secret"])

        assert ada.topics() == {"tea": 1}
        assert ada.topics(namespace="user:ben") == {}
        assert ada.rename_topic("tea", "coffee") == 1
        assert ben.topics() == {"secret": 1, "tea": 1}
        with pytest.raises(NotFound):
            ada.rename_topic("secret", "mine")
        assert ben.get("b").topics == ("tea", "secret")


@pytest.mark.parametrize(
    ("topic", "says"), [("x" * 10_240, "10240 characters; at most 512"), ("a\x00b", "printable")]
)
def test_a_topic_that_cannot_be_is_refused(words_only, topic, says):
    """With the limit, or what would be right."""
    with pytest.raises(InvalidInput, match=says):
        words_only.add("a", topics=[topic])
    assert words_only.topics() == {}


WRITES = """
import sys, scrubjay
name = sys.argv[2]
sys.stdin.readline()
with scrubjay.open(sys.argv[1], embedder=False) as store:
    for n in range(20):
        store.add(f"{name} {n}", id=f"{name}{n}", topics=["shared", name])
"""


@pytest.mark.slow
def test_two_processes_that_begin_together_share_one_key(tmp_path):
    """Whoever comes first makes it; each finds what the other wrote."""
    path = str(tmp_path / "a.db")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITES, path, name], stdin=subprocess.PIPE)
        for name in ("one", "two")
    ]
    for one in writers:
        one.stdin.write(b"\n")
        one.stdin.close()
    assert [one.wait(timeout=120) for one in writers] == [0, 0]
    with scrubjay.open(path, embedder=False) as store:
        assert store.topics() == {"shared": 40, "one": 20, "two": 20}
        assert len(ask(store, "shared")) == 40
        assert len(ask(store, "shared", depth=5)) == 10
