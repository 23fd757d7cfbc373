"""Feedback: given, listed, taken back, counted, each caller's own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.stores.protocols import Tally


@pytest.fixture
def entries(words_only):
    """Three memories."""
    for id_ in ("a", "b", "c"):
        words_only.add(f"The engine of the {id_} model leaks oil", id=id_)
    return words_only


def given(store, *actions, id="a"):
    for action in actions:
        store.feedback("oil", id, action)


class TestWhatWasGiven:
    def test_it_is_listed_newest_first_with_what_it_was_about(self, entries, clock):
        """SV-10: number, moment, query, memory and action."""
        entries.feedback("oil leak", "a", "accepted")
        clock.advance(hours=1)
        entries.feedback("Öl — läuft aus", "b", "dismissed")

        last, first = entries.feedbacks()

        assert first == (
            1,
            datetime(2026, 5, 3, 12, tzinfo=UTC),
            "oil leak",
            "a",
            "accepted",
            None,
        )
        assert (last.number, last.query, last.id, last.action) == (
            2,
            "Öl — läuft aus",
            "b",
            "dismissed",
        )
        assert last.at == clock.now
        assert entries.feedbacks(limit=1) == [last]

    def test_the_last_is_undone_or_the_one_that_is_named(self, entries):
        """SV-10: and what it was is said."""
        given(entries, "accepted", "modified", "dismissed")

        assert entries.undo_feedback(1).action == "accepted"
        assert entries.undo_feedback().action == "dismissed"
        assert [one.action for one in entries.feedbacks()] == ["modified"]

    def test_what_is_not_there_cannot_be_undone(self, entries):
        """The last of none, and a number that nobody has."""
        with pytest.raises(NotFound, match="there is no feedback;"):
            entries.undo_feedback()
        given(entries, "accepted")
        with pytest.raises(NotFound, match="no feedback with the number 7"):
            entries.undo_feedback(7)

    def test_all_of_it_can_be_removed(self, entries):
        """SV-10: it says how many there were."""
        given(entries, "accepted", "modified", "dismissed")

        assert entries.reset_feedback() == 3
        assert entries.feedbacks() == []
        assert entries.reset_feedback() == 0

    def test_nothing_of_what_was_asked_stays_in_the_file(self, entries, tmp_path):
        """Neither in the file nor in its log."""
        entries.feedback("narwhal tusk", "a", "accepted")
        entries.feedback("tapir snout", "a", "accepted")
        entries.undo_feedback()
        entries.reset_feedback()

        stored = b"".join(file.read_bytes() for file in tmp_path.glob("words.db*"))

        assert b"narwhal" not in stored
        assert b"tapir" not in stored

    def test_it_goes_with_the_memory(self, entries):
        """Forgetting a memory forgets what people thought of it; replacing it does not."""
        given(entries, "accepted")
        given(entries, "dismissed", id="b")
        entries.add("The engine was replaced", id="b")
        entries.forget("a")

        assert [(one.id, one.action) for one in entries.feedbacks()] == [("b", "dismissed")]

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda store: store.feedback("q", "a", "liked"),
            lambda store: store.feedback(None, "a", "accepted"),
            lambda store: store.feedbacks(limit=0),
            lambda store: store.feedbacks(limit=True),
            lambda store: store.undo_feedback(0),
            lambda store: store.undo_feedback("1"),
        ],
    )
    def test_wrong_arguments_are_refused(self, entries, wrong):
        """With what would be right."""
        with pytest.raises(InvalidInput):
            wrong(entries)


class TestWhoseItIs:
    @pytest.fixture
    def team(self, tmp_path, clock):
        """Ann and Ben share a collection with one entry; the owner of the file looks on."""
        path = tmp_path / "team.db"
        people = [
            scrubjay.open(path, user=who, embedder=False, clock=clock)
            for who in ("ann", "ben", None)
        ]
        people[0].create_collection("crew")
        people[0].share("crew", "ben")
        people[0].add("The engine leaks oil", id="oil", collection="crew")
        yield people
        for one in people:
            one.close()

    def test_a_persons_feedback_is_theirs_alone(self, team):
        """Nobody else sees, counts, undoes or removes it; who owns the file does."""
        ann, ben, owner = team
        given(ann, "accepted", "accepted", id="oil")
        given(ben, "dismissed", id="oil")

        assert [one.action for one in ben.feedbacks()] == ["dismissed"]
        assert (ann.status().feedback, ben.status().feedback, owner.status().feedback) == (2, 1, 3)
        assert [one.user for one in owner.feedbacks()] == ["ben", "ann", "ann"]
        with pytest.raises(NotFound):
            ben.undo_feedback(1)
        assert ben.reset_feedback() == 1
        assert len(ann.feedbacks()) == 2
        assert owner.undo_feedback(1).user == "ann"
        assert owner.reset_feedback() == 1
        assert ann.feedbacks() == []

    def test_the_tally_is_of_the_caller(self, team):
        """SV-10: a person's searches are moved by their own feedback, the owner's by all."""
        ann, ben, owner = team
        given(ann, "accepted", "modified", id="oil")
        given(ben, "dismissed", id="oil")
        given(owner, "dismissed", id="oil")

        assert [one._feedback.tally() for one in team] == [
            Tally(1, 1, 0),
            Tally(0, 0, 1),
            Tally(1, 1, 2),
        ]

    def test_to_freeze_is_ones_own_decision(self, team):
        """The weights of others go on following theirs."""
        ann, _, owner = team
        given(ann, *["accepted"] * 30, id="oil")

        assert ann.freeze_weights() == pytest.approx(0.15)
        assert [one._feedback.frozen() for one in team] == [pytest.approx(0.15), None, None]
        assert owner.thaw_weights() is False
        assert ann.thaw_weights() is True
        assert ann._feedback.frozen() is None

    def test_nobody_gives_feedback_on_what_they_cannot_see(self, team):
        """It is not there for them."""
        ann, ben, _ = team
        ann.add("A diary", id="diary")

        with pytest.raises(NotFound):
            ben.feedback("diary", "diary", "accepted")


class TestWeightsOfOtherProfiles:
    def test_they_are_those_of_the_stage_that_makes_one_pool(self, entries):
        """`weigh` in the default profile, `rrf` in gno; nothing where a profile weighs none."""
        assert entries.weights() == {
            "keyword": 0.5,
            "vector": 0.5,
            "late": 0.5,
            "cross_encoder": 0.25,
        }
        assert entries.weights("gno")["hyde"] == 1.4
        assert entries.weights("gnosis") == {}
        with pytest.raises(NotFound, match="there is no profile 'nosuch'"):
            entries.weights("nosuch")

    def test_they_do_not_follow_feedback(self, entries):
        """A profile without signals does not learn, and says so."""
        before = entries.weights()
        given(entries, *["accepted"] * 40)

        now = entries.learned("default")

        assert (now.weights, now.base, now.shift, now.needed) == (before, before, 0.0, None)
        assert (now.accepted, now.rate) == (40, 1.0)
