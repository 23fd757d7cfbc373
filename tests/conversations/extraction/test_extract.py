"""From messages to facts in a store: every outcome, its history, and what stays whatever happens."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from clocks import NOON
from fakes import ScriptedGenerator
from talks import facts, offer, outcomes, says, talk

import scrubjay
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.text.recall_tags import wrap_recalled
from scrubjay.types import Scope, Spoken

BERLIN = says(offer(1, "I live in Berlin", "Ann lives in Berlin"))
SAID = "I am Ann and I live in Berlin"


def later(store, text, answer, minutes=60, **more):
    """Say one more thing, in another session, and let the model read it; `answer` may use its fact's id."""
    (id_,) = talk(
        store, text, session=f"later {minutes}", start=NOON + timedelta(minutes=minutes), **more
    )
    store._context.models._generator.inner._says = (answer,)
    return id_, store.extract()


def fact_of(store, text):
    """The one fact of this text."""
    (found,) = [one for one in store.ls(types="fact", limit=1000) if one.text == text]
    return store.get(found.id)


def spans(store, fact):
    """Where a fact is said."""
    return [one[:3] for one in store._context.facts.spans.of(fact.id)]


def seen(store, session=None):
    """What a search over all sessions sees of messages, once they have settled."""
    scope = Scope(types=("message",), spoken=Spoken(session, 2**60))
    return {one.text for one in store._context.tables.records.scan(scope, 100)}


class TestAFact:
    """What becomes of a sound answer."""

    def test_it_is_stored_with_its_words_and_its_time(self, told):
        """Owner, agent, namespace and time are those of the message; the message stays."""
        store = told(BERLIN)
        (said,) = talk(store, SAID, owner="ann", agent="robin", namespace="work")

        assert store.extract() == scrubjay.types.reports.Extracted(messages=1, added=1)
        fact = fact_of(store, "Ann lives in Berlin")
        assert (fact.owner, fact.agent, fact.namespace) == ("ann", "robin", "work")
        assert (fact.session, fact.source, fact.created_at) == (None, None, NOON)
        assert fact.metadata == {"message": said, "span": [13, 29], "session": "talk"}
        assert SAID[13:29] == "I live in Berlin"
        assert spans(store, fact) == [(said, 13, 29)]
        assert store.get(said).text == SAID
        assert outcomes(store)[SAID] == ("facts", 1, None)
        assert store.search("Berlin", types="fact")[0].id == fact.id

    def test_it_stands_for_its_message_outside_of_the_session(self, told):
        """CG-9: raw messages are of their session; what gave no fact stays a memory."""
        store = told(BERLIN)
        talk(store, SAID, "Thanks!")
        assert seen(store) == {SAID, "Thanks!"}
        store.extract()

        assert seen(store) == {"Thanks!"}
        assert seen(store, "talk") == {SAID, "Thanks!"}
        assert outcomes(store)["Thanks!"][0] == "nothing"

    def test_what_no_model_has_read_yet_is_found_in_its_session_alone(self, told, clock):
        """CG-9: with a generator, and however long ago it was said; once read it is as before."""
        store = told(says())
        talk(store, "my code word is swordfish", "Thanks, noted the swordfish!")
        clock.advance(hours=1)

        def found(**session):
            return {hit.text for hit in store.search("swordfish", profile="cognis", **session)}

        both = {"my code word is swordfish", "Thanks, noted the swordfish!"}
        assert found() == found(session="other") == set()
        assert found(session="talk") == both
        store.extract()
        assert found() == both
        with scrubjay.open(store.path, embedder=False, generator=False, clock=clock) as without:
            without.add_message("another swordfish", session="else")
            clock.advance(hours=1)
            asked = without.search("swordfish", profile="cognis")
            assert {hit.text for hit in asked} == both | {"another swordfish"}

    def test_what_failed_for_good_is_found_everywhere(self, told, clock):
        """CG-9: it is not going to be read."""
        store = told("no JSON")
        talk(store, "my code word is swordfish")
        clock.advance(hours=1)
        for _ in range(3):
            assert not store.search("swordfish", profile="cognis")
            store.extract()

        assert store.search("swordfish", profile="cognis").hits

    @pytest.mark.parametrize(
        ("said", "text", "whole"),
        [
            ("I am allergic to peanuts, and my cat Miez too.", "Ann is allergic to peanuts", False),
            ("I am allergic to peanuts.", "Ann is allergic to peanuts", True),
            ("Ich wohne mit zwei Katzen in der Stadt.", "Ann wohnt in der Stadt mit zwei Katzen", True),
            ("Ich habe zwei Katzen und einen Hund.", "Ann hat zwei Katzen", False),
            (
                f"{wrap_recalled('Miez is a cat', 'm')} I am allergic to peanuts.",
                "Ann is allergic to peanuts",
                True,
            ),
        ],
    )  # fmt: skip
    def test_it_hides_no_word_of_its_message(self, told, said, text, whole):
        """CG-9: only facts that hold every telling word of a message stand for it."""
        quote = "allergic to peanuts" if "peanuts" in said else "zwei Katzen"
        store = told(says(offer(1, quote, text)))
        talk(store, said, owner="Ann")
        assert store.extract().added == 1

        assert outcomes(store)[said][0] == ("facts" if whole else "partly")
        assert seen(store) == (set() if whole else {said})

    def test_the_model_is_told_who_talks(self, told):
        """So that a fact names them: "where does Anna live?" finds no "the user"."""
        store = told(says(offer(1, "I live in Berlin", "Anna lives in Berlin")))
        talk(store, "I live in Berlin", owner="Anna", agent="Robin")
        done = store.extract()

        (prompt,) = store._context.models._generator.inner.prompts
        assert "Who talks:\n~~~\nuser: Anna\nassistant: Robin\n~~~" in prompt
        assert (done.added, done.rejected) == (1, {})
        assert store.search("where does Anna live?", types="fact")[0].text == facts(store)[0]

    def test_messages_are_read_once(self, told):
        """A second call has nothing to do."""
        store = told(BERLIN)
        talk(store, SAID)
        store.extract()

        assert store.extract() == scrubjay.types.reports.Extracted()
        assert len(store._context.models._generator.inner.prompts) == 1

    def test_said_again_it_is_the_same_fact(self, told):
        """CG-8: the same but for case and signs; it has the words of both."""
        store = told(BERLIN)
        (first,) = talk(store, SAID)
        store.extract()
        second, done = later(
            store, "I live in Berlin!", says(offer(1, "I live in Berlin", "ann lives in berlin."))
        )

        assert (done.added, done.folded) == (0, 1)
        assert facts(store) == ["Ann lives in Berlin"]
        assert [span[0] for span in spans(store, store.ls(types="fact")[0])] == [first, second]

    def test_offered_twice_in_one_answer_it_is_one_fact(self, told):
        """The second finds the first, though nothing is committed yet."""
        twice = [offer(1, quote, "Ann lives in Berlin") for quote in ("in Berlin", "Ann")]
        store = told(says(*twice))
        talk(store, SAID)
        done = store.extract()

        assert (done.added, done.folded) == (1, 1)
        assert [one[1:] for one in spans(store, fact_of(store, "Ann lives in Berlin"))] == [
            (5, 8),
            (20, 29),
        ]

    def test_what_somebody_wrote_by_hand_is_not_drawn_again(self, told):
        """A memory of any type that says just this folds, and stays as it is."""
        store = told(BERLIN)
        note = store.add("Ann lives in Berlin", type="note")
        (said,) = talk(store, SAID)

        assert store.extract().folded == 1
        assert facts(store) == []
        store.forget(said)
        assert store.get(note.id).text == "Ann lives in Berlin"

    def test_what_owners_say_is_kept_apart(self, told):
        """Complaint 28: the same words of somebody else are theirs, and are not shown to a model."""
        store = told(BERLIN)
        talk(store, SAID, owner="ann")
        store.extract()
        for owner in ("ben", None):
            talk(store, SAID, owner=owner, session=f"of {owner}")
            assert store.extract().added == 1
            prompt = store._context.models._generator.inner.prompts[-1]
            assert "Known facts:\n~~~\n(none)\n~~~\nConversation:\n~~~\n[1]" in prompt

        assert facts(store) == ["Ann lives in Berlin"] * 3
        assert {one.owner for one in store.ls(types="fact")} == {"ann", "ben", None}

    def test_turns_of_one_session_by_several_owners_are_not_mixed(self, told):
        """Session names repeat; neither is the context of the other."""
        store = told('{"facts": []}')
        talk(store, "I like tea", owner="ann")
        talk(store, "I like rum", owner="ben", start=NOON + timedelta(seconds=5))
        store.extract()

        prompts = store._context.models._generator.inner.prompts
        assert sorted(("tea" in one, "rum" in one) for one in prompts) == [
            (False, True),
            (True, False),
        ]


class TestChanges:
    """What was so, and what is so now."""

    @pytest.fixture
    def store(self, told):
        store = told(BERLIN)
        talk(store, SAID)
        store.extract()
        return store

    def test_a_more_precise_text_takes_the_place_of_the_first(self, store, clock):
        """The earlier text is in its history, and both messages say it."""
        old = fact_of(store, "Ann lives in Berlin")
        clock.advance(hours=2)
        text = "I live in Berlin, in Kreuzberg"
        said, done = later(
            store,
            text,
            says(offer(1, text, "Ann lives in Berlin, in Kreuzberg", "update", old.id)),
        )

        assert (done.updated, done.added) == (1, 0)
        now = store.get(old.id)
        assert now.text == "Ann lives in Berlin, in Kreuzberg"
        assert now.metadata["message"] == said
        assert (now.created_at, now.updated_at) == (NOON, NOON + timedelta(hours=1))
        new, first = store.history(old.id)
        assert (new.text, new.what, new.changed_at) == (now.text, "edited", clock())
        assert (first.text, first.what) == (old.text, "created")
        assert len(spans(store, now)) == 2
        assert store.search("Kreuzberg", types="fact")[0].id == old.id

    def test_what_is_otherwise_now_ends_the_first(self, store, clock):
        """Both are stored, linked, and only one is found, unless what is over is asked for."""
        old = fact_of(store, "Ann lives in Berlin")
        clock.advance(hours=2)
        _, done = later(
            store,
            "I moved to Munich",
            says(offer(1, "I moved to Munich", "Ann lives in Munich", "supersede", old.id)),
        )

        assert (done.superseded, done.added) == (1, 0)
        new, old = fact_of(store, "Ann lives in Munich"), store.get(old.id)
        assert old.valid_until == NOON + timedelta(hours=1)
        assert ("supersedes", old.id) in [(link.kind, link.to) for link in new.links]
        ended, _ = store.history(old.id)
        assert (ended.what, ended.changed_at) == ("superseded", clock())
        assert ended.changed == {"valid_until": old.valid_until}
        assert [hit.id for hit in store.search("Ann lives", types="fact")] == [new.id]
        found = store.search("Ann lives", types="fact", include_expired=True)
        assert {hit.id for hit in found} == {old.id, new.id}

    def test_it_can_be_undone(self, store, clock):
        """Forget the new one, and let the old one hold again."""
        old = fact_of(store, "Ann lives in Berlin")
        clock.advance(hours=2)
        said, _ = later(
            store,
            "I moved to Munich",
            says(offer(1, "I moved to Munich", "Ann lives in Munich", "supersede", old.id)),
        )
        store.forget(said)
        store.update(old.id, valid_until=None)

        assert [hit.text for hit in store.search("Ann lives", types="fact")] == [old.text]

    def test_undo_takes_it_back_and_keeps_the_message(self, store, clock):
        """The old fact is valid again, without the link that says it was superseded."""
        old = fact_of(store, "Ann lives in Berlin")
        clock.advance(hours=2)
        later(
            store,
            "I moved to Munich",
            says(offer(1, "I moved to Munich", "Ann lives in Munich", "supersede", old.id)),
        )
        new = fact_of(store, "Ann lives in Munich")
        assert [(one.new, one.old, one.kind) for one in store.changes(since=clock())] == [
            (new.id, old.id, "supersedes")
        ]
        back = store.undo(old.id)

        assert (back.valid_until, back.links) == (None, ())
        assert store.changes() == []
        assert [version.what for version in store.history(old.id)][:2] == ["undo", "superseded"]
        assert fact_of(store, "Ann lives in Munich").links == ()
        assert len(store.search("Ann lives", types="fact")) == 2

    def test_undo_of_a_more_precise_text_brings_the_first_back(self, store, clock):
        """With the message that it is from."""
        old = fact_of(store, "Ann lives in Berlin")
        text = "I live in Berlin, in Kreuzberg"
        later(
            store,
            text,
            says(offer(1, text, "Ann lives in Berlin, in Kreuzberg", "update", old.id)),
        )
        back = store.undo(old.id)

        assert (back.text, back.metadata) == (old.text, old.metadata)
        assert store.search("Kreuzberg", types="fact").hits == ()

    def test_it_may_be_so_again(self, store, clock):
        """Berlin, Munich, Berlin: the first fact holds again, and its history tells."""
        old = fact_of(store, "Ann lives in Berlin")
        clock.advance(hours=5)
        later(
            store,
            "I moved to Munich",
            says(offer(1, "I moved to Munich", "Ann lives in Munich", "supersede", old.id)),
        )
        munich = fact_of(store, "Ann lives in Munich")
        (_,) = talk(store, "I am back in Berlin", session="last", start=NOON + timedelta(hours=3))
        store._context.models._generator.inner._says = (
            says(offer(1, "back in Berlin", "Ann lives in Berlin", "supersede", munich.id)),
        )
        assert store.extract().superseded == 1

        assert [hit.id for hit in store.search("Ann lives", types="fact")] == [old.id]
        assert store.get(munich.id).valid_until == NOON + timedelta(hours=3)
        happened = [version.what for version in store.history(old.id)]
        assert happened == ["restored", "superseded", "created"]

    def test_what_was_said_last_holds_in_whatever_order_it_is_read(self, store):
        """A turn of last week that comes in late does not end what is true now."""
        old = fact_of(store, "Ann lives in Berlin")
        _, done = later(
            store,
            "I moved to Munich",
            says(offer(1, "I moved to Munich", "Ann lives in Munich", "supersede", old.id)),
            minutes=-60 * 24 * 7,
        )

        assert done.superseded == 1
        assert store.get(old.id).valid_until is None
        assert fact_of(store, "Ann lives in Munich").valid_until == NOON
        assert [hit.id for hit in store.search("Ann lives", types="fact")] == [old.id]
        _, done = later(
            store,
            "I live in Berlin somewhere",
            says(offer(1, "I live in Berlin", "Ann lives in Berlin somewhere", "update", old.id)),
            minutes=-60 * 24 * 6,
        )
        assert (done.updated, done.folded) == (0, 1)
        assert store.get(old.id).text == "Ann lives in Berlin"

    def test_facts_written_by_hand_are_not_offered_for_change(self, told):
        """A model changes only what it drew."""
        store = told(BERLIN)
        by_hand = store.add("Ann lives in Hamburg")
        talk(store, SAID)
        store._context.models._generator.inner._says = (
            says(offer(1, "I live in Berlin", "Ann lives in Berlin", "supersede", by_hand.id)),
        )
        done = store.extract()

        assert by_hand.id not in store._context.models._generator.inner.prompts[0]
        assert done.rejected == {"it names a known fact that it was not shown": 1}
        assert store.get(by_hand.id).valid_until is None


class TestForgetting:
    """What goes with a message, and what stays."""

    def test_a_fact_goes_with_the_only_message_that_says_it(self, told):
        """Everything made from a message goes with it."""
        store = told(BERLIN)
        (said,) = talk(store, SAID)
        store.extract()

        assert store.forget(said) == 1
        assert facts(store) == []
        assert store.search("Berlin").hits == ()

    def test_a_fact_that_others_say_too_stays(self, told):
        """Only that span goes; its metadata names a message that is there."""
        store = told(BERLIN)
        (first,) = talk(store, SAID)
        store.extract()
        second, _ = later(store, SAID, BERLIN)
        store.forget(first)

        fact = fact_of(store, "Ann lives in Berlin")
        assert [span[0] for span in spans(store, fact)] == [second]
        assert fact.metadata == {"message": second, "span": [13, 29], "session": "later 60"}

    def test_what_a_forgotten_message_made_more_precise_is_undone(self, told):
        """The text before it comes back, and no history keeps the other."""
        store = told(BERLIN)
        talk(store, SAID)
        store.extract()
        old = fact_of(store, "Ann lives in Berlin")
        text = "I live in Berlin, in Kreuzberg"
        said, _ = later(
            store,
            text,
            says(offer(1, text, "Ann lives in Berlin, in Kreuzberg", "update", old.id)),
        )
        store.forget(said)

        assert store.get(old.id).text == "Ann lives in Berlin"
        assert [version.text for version in store.history(old.id)] == [old.text]
        assert store.search("Kreuzberg").hits == ()

    def test_what_a_forgotten_message_ended_holds_again(self, told, clock):
        """The fact that superseded goes with its message; the history of the other tells it."""
        store, old, said = self.moved(told, clock)
        assert [one.text for one in store.only_of(said)] == ["Ann lives in Munich"]
        assert store.forget(said) == 1

        assert store.get(old).valid_until is None
        assert store.get(old).links == ()
        assert [hit.id for hit in store.search("Ann lives", types="fact")] == [old]
        happened = [version.what for version in store.history(old)]
        assert happened == ["restored", "superseded", "created"]

    def test_what_something_else_ended_too_stays_over(self, told, clock):
        """Only what nobody else superseded, and nobody changed by hand, holds again."""
        store, old, said = self.moved(told, clock)
        rome = store.add("Ann lives in Rome")
        store.link(rome.id, old, kind="supersedes")
        ended = store.get(old).valid_until
        store.forget(said)
        assert store.get(old).valid_until == ended

    def test_an_end_that_was_set_by_hand_stays(self, told, clock):
        """Who has changed it since meant it."""
        store, old, said = self.moved(told, clock)
        store.update(old, valid_until="2026-01-01")
        ended = store.get(old).valid_until
        store.forget(said)
        assert store.get(old).valid_until == ended

    def test_links_say_which_of_two_is_over(self, told, clock):
        """Seen from either end; and written back, it is the same link."""
        store, old, _ = self.moved(told, clock)
        new = fact_of(store, "Ann lives in Munich")
        assert new.links == ((old, 1.0, "supersedes"),)
        assert store.get(old).links == ((new.id, 1.0, "superseded by"),)
        store.link(old, new.id, kind="superseded by")
        assert store.get(new.id).links == new.links
        assert store.unlink(old, new.id, kind="superseded by") == 1

    def moved(self, told, clock):
        """Berlin, superseded by Munich: the store, the old fact's id, and that of the later message."""
        store = told(BERLIN)
        talk(store, SAID)
        store.extract()
        old = fact_of(store, "Ann lives in Berlin").id
        clock.advance(hours=2)
        said, done = later(
            store,
            "I moved to Munich",
            says(offer(1, "I moved to Munich", "Ann lives in Munich", "supersede", old)),
        )
        assert done.superseded == 1
        return store, old, said

    def test_a_forgotten_fact_is_not_drawn_again(self, told):
        """The message stays, and has been read."""
        store = told(BERLIN)
        (said,) = talk(store, SAID)
        store.extract()
        store.forget(fact_of(store, "Ann lives in Berlin").id)

        assert store.extract(retry=True).added == 0
        assert facts(store) == []
        assert store.get(said).text == SAID


class TestJunk:
    """A model that is no help: nothing is lost, and it is said."""

    @pytest.mark.parametrize(
        "junk",
        [
            "",
            "Ann lives in Berlin.",
            "x" * 1_000_000,
            '{"facts": 7}',
            '{"facts": [[], 3]}',
            says(offer("?", "I live in Berlin", "Ann lives in Berlin")),
            says(offer(7, "I live in Berlin", "Ann lives in Berlin")),
            says(offer(1, "I live in Berlin", "Ann lives in Berlin", "supersede", "nope")),
            says(offer(1, "I live in Berlin", "John Doe lives in Berlin")),
        ],
    )
    def test_the_message_stays_as_it_was_said(self, told, junk):
        """At most three tries; then it is given up, counted, and a memory for good."""
        store = told(junk)
        (said,) = talk(store, SAID)
        for _ in range(3):
            done = store.extract()
            assert (done.messages, done.added, done.failed) == (0, 0, 1)
        assert (done.left, done.given_up) == (0, 1)
        assert store.extract() == scrubjay.types.reports.Extracted(given_up=1)

        assert facts(store) == []
        assert store.get(said).text == SAID
        assert seen(store) == {SAID}
        outcome, tries, reason = outcomes(store)[SAID]
        assert (outcome, tries) == ("failed", 3)
        assert reason in done.failures
        state = store.status().extraction
        assert (state.model, state.waiting, state.failed) == ("scribe", 0, 1)
        assert state.failures == {reason: 1}

    def test_what_failed_can_be_tried_again(self, told):
        """With a better model, or on a better day."""
        store = told("junk", "junk", "junk", BERLIN)
        talk(store, SAID)
        for _ in range(3):
            store.extract()
        assert store.extract(retry=True).added == 1
        assert store.status().extraction.failed == 0

    def test_what_is_rejected_keeps_its_message_beside_the_facts(self, told):
        """Part of a turn may be lost with the offer; so the turn stays a memory, too."""
        store = told(
            says(
                offer(1, "I live in Berlin", "Ann lives in Berlin"),
                offer(1, "I am Ann", "Ann is 42 years old"),
            )
        )
        talk(store, SAID)
        done = store.extract()

        assert (done.messages, done.added, done.failed) == (1, 1, 0)
        assert done.rejected == {"the fact has a number that nobody said": 1}
        assert outcomes(store)[SAID][0] == "partly"
        assert seen(store) == {SAID}

    def test_one_turn_fails_and_the_others_do_not(self, told):
        """Only what failed is asked again, with the others as its context."""
        store = told(
            says(
                offer(1, "I live in Berlin", "Ann lives in Berlin"),
                offer(2, "like tea", "John Doe likes tea"),
            ),
            says(offer(2, "like tea", "Ann likes tea")),
        )
        talk(store, SAID, "I like tea")
        assert store.extract()[:2] == (1, 1)
        assert store.extract()[:2] == (1, 1)

        assert facts(store) == ["Ann likes tea", "Ann lives in Berlin"]
        prompt = store._context.models._generator.inner.prompts[1]
        assert "facts of the turns 2;" in prompt

    @pytest.mark.parametrize("broken", [RuntimeError("boom"), Unavailable("it is down"), 7, None])
    def test_an_outage_is_no_try(self, told, clock, broken):
        """The messages wait, with the reason in the report; nothing is raised."""
        store = told(broken, BERLIN)
        talk(store, SAID)
        done = store.extract()

        assert (done.messages, done.failed, done.left) == (0, 0, 1)
        assert done.outage
        assert store.extract().outage.startswith("scribe is paused")
        assert store.status().extraction[1:3] == (1, 0)
        clock.advance(minutes=20)
        assert store.extract().added == 1

    def test_turns_that_a_server_refuses_are_given_up(self, told):
        """They may be too long for it; the server itself is well."""
        refused = Unavailable("too long")
        refused.status = 413
        store = told(refused, refused, refused, BERLIN)
        talk(store, SAID)
        assert [store.extract().failed for _ in range(3)] == [1, 1, 1]
        talk(store, SAID, session="other")
        assert store.extract().added == 1

    def test_a_message_that_changes_meanwhile_is_read_again(self, told):
        """What was drawn from the words before is dropped."""
        store = told()
        (said,) = talk(store, SAID)

        class Slow(ScriptedGenerator):
            def complete(self, prompt, *, schema=None):
                if not self.prompts:
                    store.update(said, text="I am Ann and I live in Rome")
                return super().complete(prompt, schema=schema)

        store._context.models._generator.inner = Slow(BERLIN, '{"facts": []}')
        assert store.extract()[:2] == (0, 0)
        assert facts(store) == []
        assert store.extract().messages == 1

    def test_a_message_that_is_changed_afterwards_is_a_memory_until_it_is_read_again(self, told):
        """Facts of what it said before do not stand for what it says now."""
        store = told(BERLIN, '{"facts": []}')
        (said,) = talk(store, SAID)
        store.extract()
        assert seen(store) == set()
        store.update(said, topics=["home"])
        assert seen(store) == set()
        store.update(said, text="I am Ann and I live in Rome")

        assert seen(store) == {"I am Ann and I live in Rome"}
        assert store.status().extraction.waiting == 1
        assert store.extract().messages == 1
        assert facts(store) == []

    def test_a_message_that_is_forgotten_meanwhile_leaves_nothing(self, told):
        """Its words went to the model; nothing of the answer is stored."""
        store = told()
        (said,) = talk(store, SAID)

        class Slow(ScriptedGenerator):
            def complete(self, prompt, *, schema=None):
                store.forget(said)
                return super().complete(prompt, schema=schema)

        store._context.models._generator.inner = Slow(BERLIN)
        assert store.extract() == scrubjay.types.reports.Extracted()
        assert facts(store) == []

    def test_recalled_text_goes_to_no_model(self, told):
        """A message of nothing else is read without asking; the rest is read without it."""
        store = told(says(offer(2, "my sister", "Zoe is the sister of the user")))
        talk(
            store,
            wrap_recalled("Zoe lives in Rome", "m"),
            f"{wrap_recalled('Zoe lives in Rome', 'm')} my sister",
        )
        done = store.extract()

        (prompt,) = store._context.models._generator.inner.prompts
        assert "Rome" not in prompt
        assert done.rejected == {"the fact has a name that nobody said": 1}
        assert outcomes(store)[wrap_recalled("Zoe lives in Rome", "m")][0] == "nothing"
        silent = told('{"facts": []}', generator=ScriptedGenerator(AssertionError("asked")))
        talk(silent, wrap_recalled("Zoe lives in Rome", "m"), session="silent")
        assert silent.extract(session="silent").messages == 1


class TestWindows:
    """How much is read at once."""

    def test_many_turns_are_read_in_parts_with_what_came_before(self, told):
        """Each turn is asked about once; a few before it are shown."""
        store = told('{"facts": []}')
        talk(store, *(f"number{n} is told" for n in range(30)))
        reported = []
        done = store.extract(progress=lambda *at: reported.append(at))

        prompts = store._context.models._generator.inner.prompts
        assert done.messages == 30
        assert [one.count("is told") for one in prompts] == [12, 18, 12]
        asked = [one.partition("facts of the turns ")[2].partition(";")[0] for one in prompts]
        assert sum(len(one.split(",")) for one in asked) == 30
        assert reported == [(12, 30), (24, 30), (30, 30)]

    def test_turns_out_of_order_are_read_by_their_time(self, told):
        """By when they were said, not by when they came."""
        store = told('{"facts": []}')
        for minute in (2, 0, 1):
            talk(store, f"turn at {minute}", start=NOON + timedelta(minutes=minute))
        store.extract()

        (prompt,) = store._context.models._generator.inner.prompts
        assert prompt.index("turn at 0") < prompt.index("turn at 1") < prompt.index("turn at 2")

    def test_a_long_message_is_read_in_part_and_stays_a_memory(self, told):
        """A megabyte does not go to a model, and what it did not read is not lost."""
        store = told(BERLIN)
        text = f"{SAID}. " + "and so on " * 100_000
        talk(store, text, "Bye")
        store.extract()

        prompts = store._context.models._generator.inner.prompts
        assert all(len(one) < 20_000 for one in prompts)
        assert outcomes(store)[text][0] == "partly"
        assert text in seen(store)

    def test_messages_without_a_session_are_read_alone(self, told):
        """They have nothing to do with each other."""
        store = told('{"facts": []}')
        talk(store, "I like tea", "I like rum", session=None)
        assert store.extract().messages == 2
        assert [one.count("I like") for one in store._context.models._generator.inner.prompts] == [
            1,
            1,
        ]

    def test_one_session_alone(self, told):
        """`session=` reads no other."""
        store = told(BERLIN)
        talk(store, SAID, session="one")
        talk(store, SAID, session="two")
        assert store.extract(session="one").messages == 1
        assert store.status().extraction.waiting == 1
        with pytest.raises(InvalidInput, match="session"):
            store.extract(session=3)
        with pytest.raises(NotFound, match="no session 'three'"):
            store.extract(session="three")


class TestWho:
    """Whose messages are read, and by whom."""

    def test_without_a_generator_it_says_what_to_do(self, words_only):
        """And that nothing is lost by it."""
        talk(words_only, SAID)
        with pytest.raises(Unavailable, match="set generator"):
            words_only.extract()
        assert words_only.status().extraction.model is None

    def test_words_borrowed_from_the_corpus_are_no_language_model(self, told):
        """It cannot draw facts."""
        store = told(generator="corpus")
        talk(store, SAID)
        with pytest.raises(Unavailable, match="corpus"):
            store.extract()

    def test_a_person_draws_only_from_what_they_may_change(self, told):
        """Complaint 28: another's messages are neither read nor counted."""
        ann, ben = told(BERLIN, user="ann"), told(BERLIN, user="ben")
        talk(ann, SAID)
        assert ben.extract() == scrubjay.types.reports.Extracted()
        assert ben.status().extraction.waiting == 0
        assert ann.extract().added == 1
        assert facts(ann) == ["Ann lives in Berlin"]
        assert facts(ben) == []


class TestTogether:
    """Several readers at once."""

    def test_two_threads_never_read_the_same_turns(self, told, tmp_path, clock):
        """Each window goes to one of them, and nothing is drawn twice."""
        prompts = []

        class Slow(ScriptedGenerator):
            def complete(self, prompt, *, schema=None):
                prompts.append(prompt)
                gate.wait(timeout=60)
                return super().complete(prompt, schema=schema)

        gate = threading.Barrier(2)
        stores = [told(generator=Slow('{"facts": []}')) for _ in range(2)]
        talk(stores[0], "I like tea", session="one")
        talk(stores[0], "I like rum", session="two")
        done = []
        threads = [
            threading.Thread(target=lambda one=one: done.append(one.extract())) for one in stores
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [one.messages for one in done] == [1, 1]
        assert sorted("tea" in one for one in prompts) == [False, True]

    def test_a_session_of_which_a_part_is_being_read_is_left_alone(self, told):
        """What is said later may depend on it."""
        first, second = told('{"facts": []}'), told('{"facts": []}')
        talk(first, *(f"number{n} is told" for n in range(20)))
        extraction = first._context.extraction()
        claim = extraction._claim(Scope(), False, set())

        assert len(claim.turns) == 12
        assert second.extract()[0] == 0
        extraction._queue.release(claim)
        assert second.extract().messages == 20

    def test_an_answer_that_comes_too_late_is_dropped(self, told):
        """Somebody else has read the turns since: nothing is written twice."""
        store = told(BERLIN)
        talk(store, SAID)
        extraction = store._context.extraction()
        claim = extraction._claim(Scope(), False, set())
        was_read = extraction._ask(claim)
        with store._context.db.write() as db:  # the lease runs out
            db.execute("UPDATE extractions SET leased_until_s = 1")
        assert store.extract().added == 1
        from collections import Counter

        counts = Counter()
        extraction._write(claim, was_read, counts, Counter(), Counter())
        assert counts == {}
        assert len(spans(store, fact_of(store, "Ann lives in Berlin"))) == 1
        assert outcomes(store)[SAID] == ("facts", 1, None)


class TestInTheBackground:
    """Nobody has to ask."""

    @pytest.fixture(autouse=True)
    def at_once(self, monkeypatch):
        monkeypatch.setattr("scrubjay.conversations.extraction.worker.FIRST_S", 0.01)
        monkeypatch.setattr("scrubjay.conversations.extraction.worker._AGAIN_S", 0.05)

    def wait(self, true):
        from time import monotonic, sleep

        deadline = monotonic() + 60
        while not true():
            assert monotonic() < deadline
            sleep(0.01)

    def test_settled_turns_are_read(self, told):
        """Two minutes old, or followed by two more; the last two are left."""
        store = told('{"facts": []}')
        talk(store, *(f"number{n} is told" for n in range(5)))  # the clock stands at the first
        self.wait(lambda: store.status().extraction.waiting == 2)
        assert sorted(outcomes(store)) == [f"number{n} is told" for n in range(3)]

    def test_what_is_said_just_now_is_left_until_it_settles(self, told, clock):
        """And then read without a further word."""
        store = told(BERLIN)
        talk(store, SAID)
        for _ in range(5):
            assert store._context.extraction().run(settled=True).messages == 0
        assert facts(store) == []
        clock.advance(minutes=3)
        store._context.extraction_worker.wake()
        self.wait(lambda: facts(store) == ["Ann lives in Berlin"])

    def test_junk_and_outages_raise_nothing_and_end(self, told, clock):
        """Three tries, then it is left alone."""
        store = told("junk", RuntimeError("boom"), "junk")
        clock.advance(hours=1)
        talk(store, SAID)

        def time_passes():
            clock.advance(minutes=20)
            return store.status().extraction.failed == 1

        self.wait(time_passes)
        assert store.get(store.ls()[0].id).text == SAID
        self.wait(lambda: not store._context.extraction_worker.thread.running)

    def test_waiting_for_vectors_does_not_wait_for_a_language_model(self, told, clock):
        """`pending` is about vectors; closing does not wait for long, and others may go on."""
        from fakes import HashingEmbedder

        entered, leave = threading.Event(), threading.Event()

        class Hanging(ScriptedGenerator):
            def complete(self, prompt, *, schema=None):
                entered.set()
                leave.wait(30)
                return super().complete(prompt, schema=schema)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("scrubjay.runtime.worker.STOP_S", 0.1)
            store = told(generator=Hanging(BERLIN), embedder=HashingEmbedder(32))
            clock.advance(hours=1)
            talk(store, SAID)
            assert entered.wait(20)
            assert store.pending() == 0
            assert store.status().extraction.waiting == 1
            store.close()
        other = told(BERLIN)
        assert other.extract().added == 1
        leave.set()
        assert facts(other) == ["Ann lives in Berlin"]

    def test_a_wrong_generator_does_not_keep_messages_from_being_stored(self, told, monkeypatch):
        """The settings are wrong; what is said is kept."""
        monkeypatch.setenv("SCRUBJAY_GENERATOR", "nobody-knows-this")
        store = told(generator=None)
        (said,) = talk(store, SAID)
        assert store.get(said).text == SAID
        assert store.status().extraction.model is None
