"""Feedback: given, listed, taken back, counted, each caller's own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from traces import steps

import scrubjay
from scrubjay import InvalidInput, NotFound, StoreError
from scrubjay.storage.sql.feedback import Tally

BASE = {
    "semantic": 0.40,
    "severity": 0.15,
    "temporal_decay": 0.15,
    "tag_overlap": 0.15,
    "domain_match": 0.15,
}


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

        noon = datetime(2026, 5, 3, 12, tzinfo=UTC)
        assert first == (1, noon, "oil leak", "a", "accepted", None, None)
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

    def test_a_number_is_given_once(self, entries):
        """SV-10: undone, reset or gone with its memory: a number never means another feedback."""
        given(entries, "accepted", "dismissed")
        entries.undo_feedback()
        given(entries, "modified")
        assert [one.number for one in entries.feedbacks()] == [3, 1]

        entries.reset_feedback()
        assert entries.feedback("q", "a", "accepted").number == 4
        entries.forget("a")
        assert entries.feedback("q", "b", "accepted").number == 5

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

        assert [one._context.tables.feedback.tally() for one in team] == [
            Tally(1, 1, 0),
            Tally(0, 0, 1),
            Tally(1, 1, 2),
        ]

    def test_to_freeze_is_ones_own_decision(self, team):
        """The weights of others go on following theirs."""
        ann, _, owner = team
        given(ann, *["accepted"] * 30, id="oil")

        assert ann.freeze_weights() == pytest.approx(0.15)
        assert [one._context.tables.feedback.frozen() for one in team] == [
            pytest.approx(0.15),
            None,
            None,
        ]
        assert owner.thaw_weights() is False
        assert ann.thaw_weights() is True
        assert ann._context.tables.feedback.frozen() is None

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
            "moment": 0.5,
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


class TestVault:
    """The weights of signals, from feedback to the score of a hit."""

    def score(self, store, **asked):
        """The first hit's score, and what it comes to with the weights in force."""
        (hit, *_) = store.search("engine oil", profile="vault", **asked)
        return hit, pytest.approx(
            sum(weight * hit.why[name] for name, weight in store.weights("vault").items()),
            abs=1e-6,
        )

    def test_without_feedback_they_are_those_of_the_profile(self, entries):
        """SV-6: five by word, in the order and by the names of `why`."""
        learned = entries.learned("vault")

        assert dict(entries.weights("vault")) == BASE
        assert list(learned.weights) == list(BASE)
        assert (learned.needed, learned.rate, learned.shift, learned.frozen) == (
            30,
            None,
            0.0,
            False,
        )

    def test_with_a_model_there_are_six(self, memory):
        """SV-6, SV-10: .25 and .15 five times; after 27 of 30 accepted .37 and .126 five times."""
        memory.add("The engine leaks oil", id="a")
        assert dict(memory.weights("vault")) == {**BASE, "semantic": 0.25, "vector": 0.15}
        given(memory, *["accepted"] * 27, *["dismissed"] * 3)

        now = dict(memory.weights("vault"))

        assert now.pop("semantic") == pytest.approx(0.37, abs=1e-12)
        assert list(now.values()) == [pytest.approx(0.126, abs=1e-12)] * 5

    def test_27_of_30_accepted_move_what_a_search_scores_by(self, entries):
        """SV-10: .52 and .12 four times, shown by `weights`, by the trace and by the score."""
        before, was = self.score(entries)
        assert before.score == was
        given(entries, *["accepted"] * 27, *["dismissed"] * 3)

        hit, is_ = self.score(entries)

        assert entries.weights("vault")["semantic"] == pytest.approx(0.52, abs=1e-12)
        assert entries.weights("vault")["domain_match"] == pytest.approx(0.12, abs=1e-12)
        assert hit.score == is_ != was
        notes = steps(entries.search("engine oil", profile="vault"))["adaptive"].notes
        assert (notes["accepted"], notes["dismissed"], notes["rate"]) == (27, 3, 0.9)
        assert notes["shift"] == pytest.approx(0.12, abs=1e-12)

    def test_29_are_too_few_and_undoing_one_brings_that_back(self, entries):
        """SV-10: from the thirtieth on, and no longer once it is taken back."""
        given(entries, *["accepted"] * 29)
        assert dict(entries.weights("vault")) == BASE
        given(entries, "accepted")
        assert entries.weights("vault")["semantic"] == pytest.approx(0.55)
        entries.undo_feedback()
        assert dict(entries.weights("vault")) == BASE
        given(entries, "accepted")
        entries.reset_feedback()
        assert dict(entries.weights("vault")) == BASE

    def test_learning_can_be_left_out(self, entries, tmp_path, monkeypatch):
        """SV-10: of one search, and of a profile of one's own."""
        before = self.score(entries)[0].score
        given(entries, *["accepted"] * 30)
        file = tmp_path / "scrubjay.toml"
        file.write_text('[profile.calm]\nbase = "vault"\nadaptive = false\n', encoding="utf-8")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))

        found = entries.search("engine oil", profile="vault", overrides={"adaptive": False})

        assert found[0].score == before
        assert entries.search("engine oil", profile="vault")[0].score != before
        assert entries.search("engine oil", profile="calm")[0].score == before
        assert dict(entries.weights("calm")) == BASE
        assert entries.learned("calm").needed is None

    def test_frozen_weights_stay_and_thawed_ones_follow_again(self, entries):
        """SV-10: whatever feedback comes in between."""
        given(entries, *["accepted"] * 30)
        entries.freeze_weights()
        given(entries, *["dismissed"] * 30)

        hit, is_ = self.score(entries)

        assert entries.weights("vault")["semantic"] == pytest.approx(0.55)
        assert hit.score == is_
        assert entries.learned("vault").frozen
        entries.thaw_weights()
        assert dict(entries.weights("vault")) == BASE

    def test_nobody_is_moved_by_what_others_think(self, tmp_path, clock):
        """Ann's searches follow hers, Ben's his."""
        path = tmp_path / "team.db"
        with (
            scrubjay.open(path, user="ann", embedder=False, clock=clock) as ann,
            scrubjay.open(path, user="ben", embedder=False, clock=clock) as ben,
        ):
            ann.create_collection("crew")
            ann.share("crew", "ben")
            ann.add("The engine leaks oil", id="a", collection="crew")
            before = self.score(ben)[0].score
            given(ann, *["accepted"] * 30)

            assert ann.weights("vault")["semantic"] == pytest.approx(0.55)
            assert dict(ben.weights("vault")) == BASE
            assert self.score(ben)[0].score == before != self.score(ann)[0].score


class TestTiers:
    @pytest.fixture
    def tiered(self, tmp_path, clock):
        """Two tiers with an entry each."""
        files = {name: str(tmp_path / f"{name}.db") for name in ("agent", "team")}
        for name, path in files.items():
            with scrubjay.open(path, embedder=False, clock=clock) as store:
                store.add(f"the boiler of the {name}", id=f"{name}-entry")
        with scrubjay.open(tiers=files, profile="vault", embedder=False, clock=clock) as store:
            yield store

    def test_feedback_is_kept_in_the_file_of_its_entry(self, tiered, tmp_path, clock):
        """SV-10: per vault; listed together, each with its tier."""
        tiered.feedback("boiler", "team-entry", "dismissed")
        clock.advance(minutes=1)
        tiered.feedback("boiler", "agent-entry", "accepted")

        assert [(one.tier, one.number, one.action) for one in tiered.feedbacks()] == [
            ("agent", 1, "accepted"),
            ("team", 1, "dismissed"),
        ]
        with scrubjay.open(tmp_path / "team.db", embedder=False) as team:
            assert [(one.id, one.tier) for one in team.feedbacks()] == [("team-entry", None)]

    def test_what_was_noted_can_be_taken_back(self, tiered):
        """SV-10: numbers repeat between files, so the answer says which one it is of."""
        tiered.feedback("boiler", "agent-entry", "dismissed")
        given = tiered.feedback("boiler", "team-entry", "accepted")

        assert (given.number, given.tier) == (1, "team")
        tiered.undo_feedback(given.number, tier=given.tier)
        assert [one.id for one in tiered.feedbacks()] == ["agent-entry"]

    def test_a_search_counts_that_of_all_tiers(self, tiered):
        """SV-10: 27 of 30, of which 10 are the team's, give .52 and .12 four times."""
        for number in range(30):
            id_ = "team-entry" if number < 10 else "agent-entry"
            tiered.feedback("boiler", id_, "accepted" if number < 27 else "dismissed")

        weights = tiered.weights()

        assert weights["semantic"] == pytest.approx(0.52, abs=1e-12)
        assert [weights[name] for name in weights if name != "semantic"] == [
            pytest.approx(0.12, abs=1e-12)
        ] * 4
        (noted,) = [
            step.notes["weights"]
            for step in tiered.search("boiler").trace
            if step.stage == "signals"
        ]
        assert noted == weights

    def test_each_tier_counts_and_undoes_its_own(self, tiered, clock):
        """A number without a tier is of the store's own file; the last is the last of all."""
        tiered.feedback("boiler", "agent-entry", "accepted")
        clock.advance(minutes=1)
        tiered.feedback("boiler", "team-entry", "dismissed")

        assert tiered.undo_feedback(1).tier == "agent"
        assert tiered.undo_feedback().tier == "team"
        with pytest.raises(NotFound, match="no feedback with the number 1"):
            tiered.undo_feedback(1, tier="team")
        with pytest.raises(NotFound, match="no tier is called 'project'; there are: agent, team"):
            tiered.undo_feedback(1, tier="project")
        tiered.feedback("boiler", "team-entry", "dismissed")
        assert (tiered.reset_feedback(), tiered.reset_feedback(tier="team")) == (0, 1)


class TestTiersComeAndGo:
    """What is lost counts no more; what is frozen is in the own file."""

    @pytest.fixture
    def files(self, tmp_path, clock):
        paths = {name: tmp_path / f"{name}.db" for name in ("agent", "project", "team")}
        for name, path in paths.items():
            with scrubjay.open(path, embedder=False, clock=clock) as store:
                store.add(f"The engine of the {name} leaks oil", id=name)
        return paths

    @pytest.fixture
    def tiers(self, files, clock):
        with scrubjay.open(tiers=files, embedder=False, clock=clock) as store:
            yield store

    def test_all_tiers_count_together(self, tiers, files):
        """SV-4, SV-10: 20 here, 7 there, 3 dismissed elsewhere; a tier that is gone counts no more."""
        given(tiers, *["accepted"] * 20, id="agent")
        given(tiers, *["accepted"] * 7, id="project")
        given(tiers, *["dismissed"] * 3, id="team")

        assert tiers.weights("vault")["semantic"] == pytest.approx(0.52)
        hit = tiers.search("engine oil", profile="vault")[0]
        weights = tiers.weights("vault")
        assert (hit.tier, hit.id) == ("agent", "agent")
        assert hit.score == pytest.approx(sum(weights[n] * hit.why[n] for n in weights), abs=1e-6)
        files["team"].unlink()
        assert dict(tiers.weights("vault")) == BASE  # 27 are too few
        with pytest.raises(StoreError, match="tier team"):
            tiers.reset_feedback(tier="team")
        assert tiers.search("engine oil", profile="vault")[0].id == "agent"

    def test_frozen_is_in_the_own_file_and_holds_for_all_tiers(self, tiers):
        """SV-10: at what all tiers had come to then."""
        given(tiers, *["accepted"] * 15, id="agent")
        given(tiers, *["accepted"] * 15, id="team")
        assert tiers.freeze_weights() == pytest.approx(0.15)
        given(tiers, *["dismissed"] * 30, id="team")

        assert tiers.weights("vault")["semantic"] == pytest.approx(0.55)
        notes = steps(tiers.search("engine oil", profile="vault"))["adaptive"].notes
        assert (notes["frozen"], notes["shift"]) == (True, pytest.approx(0.15))

    def test_where_the_own_file_is_lost_nothing_is_written(self, tiers, files, clock):
        """As with every other verb that writes."""
        tiers.close()
        files["agent"].write_bytes(b"no database " * 100)
        with scrubjay.open(tiers=files, embedder=False, clock=clock) as store:
            with pytest.raises(StoreError, match="nothing is written"):
                store.feedback("oil", "team", "accepted")
            assert store.feedbacks() == []
