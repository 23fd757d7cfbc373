"""What becomes of facts when messages are forgotten, changed or moved."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from clocks import NOON
from talks import facts, offer, says, talk

import scrubjay


class Told:
    """A model that says what it is told next; what it is told may be a function."""

    name = "told"

    def __init__(self):
        self.next = says()

    def complete(self, prompt, *, schema=None):
        """Return what it was told."""
        return self.next() if callable(self.next) else self.next


@pytest.fixture
def model():
    return Told()


@pytest.fixture
def store(tmp_path, clock, model):
    """A store whose model says what a test tells it."""
    clock.advance(hours=5)
    with scrubjay.open(
        tmp_path / "t.db", embedder=False, clock=clock, generator=model, reranker=False
    ) as opened:
        yield opened


def say(store, model, text, answer, minutes=0, **more):
    """Say something in a session of its own, and let the model read it; return its id."""
    start = NOON + timedelta(minutes=minutes)
    (id_,) = talk(store, text, session=f"at {minutes}", start=start, **more)
    model.next = answer
    store.extract()
    return id_


@pytest.fixture
def thrice(store, model):
    """A fact that was made more precise twice; the ids of its three messages."""
    first = say(
        store, model, "I live in Berlin.", says(offer(1, "Berlin", "The user lives in Berlin"))
    )
    (fact,) = store.ls(types="fact")
    others = [
        say(
            store,
            model,
            f"To be precise {place} it is.",
            says(offer(1, place, f"The user lives in {place}", "update", fact.id)),
            minutes,
        )
        for minutes, place in ((10, "Kreuzberg"), (20, "Bergmannstrasse"))
    ]
    assert facts(store) == ["The user lives in Bergmannstrasse"]
    return first, *others


class TestForgetting:
    def test_the_last_words_go_after_the_first_went(self, store, thrice):
        """What the third message said goes with it, in whatever order messages are forgotten."""
        first, _, third = thrice
        store.forget(first)
        store.forget(third)

        assert "Bergmannstrasse" not in str(facts(store))

    def test_a_text_that_was_put_back_goes_with_its_message(self, store, thrice):
        """A text that was put back is still that of its message."""
        _, second, third = thrice
        store.forget(third)
        store.forget(second)

        assert "Kreuzberg" not in str(facts(store))

    def test_a_message_that_says_less_does_not_keep_what_another_said(self, store, model):
        """Each message keeps what it says itself, and no more."""
        late = say(
            store,
            model,
            "I live in Kreuzberg.",
            says(offer(1, "Kreuzberg", "The user lives in Kreuzberg")),
            30,
        )
        (fact,) = store.ls(types="fact")
        say(
            store,
            model,
            "I live in Berlin.",
            says(offer(1, "Berlin", "The user lives in Berlin", "update", fact.id)),
        )
        store.forget(late)

        assert "Kreuzberg" not in str(facts(store))

    def test_a_message_whose_fact_is_forgotten_is_a_memory_again(self, store, model):
        """CG-9: nothing stands for it any more, so it stands for itself."""
        say(store, model, "I live in Bonn.", says(offer(1, "Bonn", "The user lives in Bonn")), 9)
        (fact,) = store.ls(types="fact")
        store.forget(fact.id)

        found = store.search("Bonn", profile="cognis")

        assert [hit.text for hit in found] == ["I live in Bonn."]

    def test_what_a_message_no_longer_says_is_no_fact(self, store, model):
        """Who takes a secret out of a message takes it out of the facts, too."""
        id_ = say(
            store,
            model,
            "The code is 4711.",
            says(offer(1, "4711", "The code of the user is 4711")),
        )
        store.update(id_, text="The code is gone.")
        model.next = says()
        store.extract()

        assert facts(store) == []


class TestWhileAModelReads:
    @pytest.mark.parametrize(
        "change", [{"owner": "bob"}, {"namespace": "other"}, {"type": "note"}, {"agent": "x"}]
    )
    def test_a_message_that_moved_meanwhile_gives_no_facts_to_whose_it_was(
        self, store, model, change
    ):
        """R-3: whose it is now decides; what was read for another is read again."""
        (id_,) = talk(store, "I live in Berlin.", owner="ann")

        def answer():
            store.update(id_, **change)
            return says(offer(1, "Berlin", "The user lives in Berlin"))

        model.next = answer
        store.extract()

        now = store.get(id_)
        where = {(one.owner, one.namespace, one.agent) for one in store.ls(types="fact")}
        assert where <= (
            {(now.owner, now.namespace, now.agent)} if now.type == "message" else set()
        )

    def test_a_turn_before_it_that_was_forgotten_meanwhile_gives_no_names(self, store, model):
        """A turn that only lent its context is looked at again as well."""
        model.next = says()
        first, _ = talk(store, "My name is Petra Xu.", "Hello.")
        store.extract()
        talk(store, "I bake bread.", start=NOON + timedelta(minutes=9))

        def answer():
            store.forget(first)
            return says(offer(3, "I bake bread", "Petra Xu bakes bread"))

        model.next = answer
        store.extract()

        assert "Xu" not in str(facts(store))


def test_an_update_that_is_about_something_else_loses_nothing(store, model):
    """A model may not write one fact over another that has no word in common with it."""
    say(store, model, "I live in Berlin.", says(offer(1, "Berlin", "The user lives in Berlin")))
    (fact,) = store.ls(types="fact")
    say(
        store,
        model,
        "I had soup.",
        says(offer(1, "soup", "The user had soup", "update", fact.id)),
        9,
    )

    assert "Berlin" in str([hit.text for hit in store.search("Berlin", profile="cognis")])


def test_recalled_text_gives_no_event_time(store):
    """CG-7: only what the message says itself has a time."""
    kept = store.add_message(
        'I found: <recalled id="k">We met on 5 March 2024</recalled> ok', session="s"
    )

    assert kept.event_time is None
