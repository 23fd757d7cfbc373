"""What a search of conversations may show, and by what it is found."""

from __future__ import annotations

import pytest
from fakes import HashingEmbedder

import scrubjay


@pytest.fixture
def talk(tmp_path, clock):
    """An empty store that is searched as cognis does."""
    with scrubjay.open(
        tmp_path / "c.db", profile="cognis", embedder=HashingEmbedder(), clock=clock
    ) as store:
        yield store


def texts(found):
    return [hit.text for hit in found]


def told(found):
    """Everything that an answer shows."""
    return " ".join(f"{hit.text} {hit.context} {hit.snippet}" for hit in found)


class TestNeighbours:
    def test_a_message_of_another_session_is_not_shown_beside_one_that_has_settled(
        self, talk, clock
    ):
        """CG-9: what was said a second ago elsewhere is no context either."""
        talk.add_message("secret plum cake", session="b")
        clock.advance(seconds=300)
        talk.add_message("the vault code is zebra", session="b")
        talk.pending()

        assert "zebra" not in told(talk.search("plum today", session="a"))
        assert "zebra" not in told(talk.search("plum today"))

    @pytest.mark.parametrize("profile", ["default", "cognis"])
    def test_until_binds_the_turns_around_a_hit(self, talk, clock, profile):
        """R-3: a turn said after `until` is not shown."""
        talk.add_message("secret plum cake", session="b")
        clock.advance(hours=5)
        talk.add_message("the vault code is zebra", session="b")
        clock.advance(hours=5)
        talk.pending()

        found = talk.search("plum cakes", until="2026-05-03T13:00", profile=profile)

        assert texts(found) == ["secret plum cake"]
        assert "zebra" not in told(found)

    def test_what_is_no_longer_valid_is_not_shown_around_a_hit(self, talk, clock):
        """R-3: an expired message is not shown."""
        talk.add("plum cake, yes", type="message", session="b")
        talk.add(
            "the code is zebra", type="message", session="b", valid_until="2026-05-03T12:00:30"
        )
        clock.advance(seconds=300)
        talk.pending()

        assert "zebra" not in told(talk.search("plum", profile="default"))

    @pytest.mark.parametrize(
        ("given", "asked"),
        [
            ({"topics": ["food"]}, {"topics": ["food"]}),
            ({"domain": "food"}, {"only_domain": "food"}),
        ],
    )
    def test_topics_and_domain_bind_the_turns_around_a_hit(self, talk, clock, given, asked):
        """R-3: a turn of another topic or domain is not shown."""
        talk.add("plum cake here", type="message", session="b", **given)
        talk.add("zebra is private", type="message", session="b")
        clock.advance(seconds=300)
        talk.pending()

        assert "zebra" not in told(talk.search("plum", profile="default", **asked))

    @pytest.mark.parametrize("profile", ["default", "cognis"])
    def test_a_word_that_only_a_neighbour_says_excludes_nothing(self, talk, clock, profile):
        """GN-6: `-zebra` is about what a message says itself."""
        talk.add_messages(
            [("user", "we talked of plum cake"), ("bot", "I like zebra")], session="b"
        )
        clock.advance(seconds=300)
        talk.pending()

        assert texts(talk.search("plum -zebra", profile=profile)) == ["we talked of plum cake"]


def test_a_message_that_comes_while_the_query_is_embedded_stays_in_its_session(tmp_path, clock):
    """CG-9: it is looked at once more before it is shown."""
    path = tmp_path / "c.db"
    other = scrubjay.open(path, embedder=False, clock=clock)

    class Slow(HashingEmbedder):
        def embed(self, texts, *, as_query=False):
            if as_query:
                other.add_message("plum of another session", session="b")
            return super().embed(texts, as_query=as_query)

    with other, scrubjay.open(path, profile="cognis", embedder=Slow(), clock=clock) as talk:
        talk.add("a plum tree")
        talk.pending()

        assert texts(talk.search("plum thing", session="a")) == ["a plum tree"]


def compared(found):
    """What the notes of the vector list and of immediate recall say."""
    steps = [one for step in found.trace for one in step.branches]
    return [one.notes.get("compared") for one in steps if one.stage in ("vector", "immediate")]


def test_the_explanation_says_which_vectors_were_compared(talk, monkeypatch):
    """CG-1, CG-3: all whole ones in a small store, else short ones first."""
    from scrubjay.storage.sqlite import vectors

    for n in range(30):
        talk.add(f"a plum tree with {n} plums")
    talk.add_message("a plum in my hand", session="s")
    talk.pending(wait=True)

    assert compared(talk.search("plum tree", session="s")) == [
        "all 30 vectors, whole; not short ones: they are used from 20,000 on",
        "all 1 vectors, whole; not short ones: they are used from 20,000 on",
    ]
    monkeypatch.setattr(vectors, "MIN_ROTATED", 20)
    talk.add("one plum more")
    talk.pending(wait=True)
    talk.search("plum tree")
    talk._context.tables.vectors.short.wait()
    assert compared(talk.search("plum tree", overrides={"shortlist_size": 5})) == [
        "31 vectors by 64 numbers, then 5 whole",
        None,
    ]
