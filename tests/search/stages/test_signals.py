"""The six signals of vault, each by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clocks import NOON
from hypothesis import given
from hypothesis import strategies as st

import scrubjay
from scrubjay import InvalidInput, StoreError, Unavailable
from scrubjay.search import profiles
from scrubjay.search.pipeline import Kit, Run, Tier, search
from scrubjay.search.profiles import Profile
from scrubjay.search.profiles.vault import KEYWORD_ONLY, SEVERITIES, WITH_VECTORS
from scrubjay.search.stages.signals import (
    adapted,
    adaptive,
    freshness,
    overlap,
    rate,
    shift,
    signals,
)
from scrubjay.storage.sql.feedback import Tally
from scrubjay.types import Memory, Query

NUMBERS = {
    "keyword_only": KEYWORD_ONLY,
    "with_vectors": WITH_VECTORS,
    "severities": SEVERITIES,
}


def aged(days):
    return freshness(Memory("", updated_at=NOON - timedelta(days=days)), NOON, 365, 0.25)


def windowed(begins, ends):
    window = {
        "valid_from": NOON + timedelta(days=begins),
        "valid_until": NOON + timedelta(days=ends),
    }
    # Its age must not count: it would be next to nothing.
    old = NOON - timedelta(days=9999)
    return freshness(Memory("", updated_at=old, **window), NOON, 365, 0.25)


class TestFreshness:
    @pytest.mark.parametrize(
        ("days", "expected"), [(0, 1), (365, 0.5), (730, 0.25), (1095, 0.125)]
    )
    def test_it_is_halved_every_year(self, days, expected):
        """SV-9: 0.5 ^ (age / 365 d)."""
        assert aged(days) == pytest.approx(expected, abs=1e-12)

    def test_what_was_changed_in_the_future_is_as_fresh_as_new(self):
        """SV-9: clocks differ; nothing is fresher than 1."""
        assert aged(-30) == 1

    @pytest.mark.parametrize(
        ("begins", "ends", "expected"),
        [
            (-10, 90, 1.0),  # a tenth of it is over
            (-74, 26, 1.0),
            (-75, 25, 1.0),  # the last quarter begins
            (-80, 20, 0.8),
            (-87.5, 12.5, 0.5),
            (-99, 1, 0.04),
            (-100, 0, 0.0),
            (-130, -30, 0.0),
            (10, 110, 1.0),
        ],
    )
    def test_in_a_window_it_falls_in_the_last_quarter_alone(self, begins, ends, expected):
        """SV-9: full value until the last quarter of the window, then down in a straight line to 0."""
        assert windowed(begins, ends) == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("end", ["valid_from", "valid_until"])
    def test_with_one_end_only_it_goes_by_age(self, end):
        """SV-9: with one end of the window only, decay goes by age."""
        one = Memory("", updated_at=NOON - timedelta(days=365), **{end: NOON + timedelta(days=1)})

        assert freshness(one, NOON, 365, 0.25) == pytest.approx(0.5)


class TestTags:
    @pytest.mark.parametrize(
        ("asked", "held", "expected"),
        [
            (("a", "b"), ("b", "c"), 1 / 3),
            (("a",), ("a",), 1.0),
            (("a",), (), 0.0),
            ((), ("a",), 0.0),
            ((), (), 0.0),
            (("a", "a"), ("a", "b"), 0.5),
        ],
    )
    def test_the_overlap_is_what_both_have_over_what_either_has(self, asked, held, expected):
        """SV-8: Jaccard with the query's tags, 0 without any."""
        assert overlap(asked, held) == expected


class TestWeights:
    def test_those_of_the_profile_are_as_documented(self):
        """SV-6: .40 and .15 four times; with vectors .25, .15 and the rest as before."""
        (part,) = [one for one in profiles.get("vault").stages if one.name == "signals"]

        assert part.numbers["keyword_only"] == {
            "semantic": 0.40,
            "severity": 0.15,
            "temporal_decay": 0.15,
            "tag_overlap": 0.15,
            "domain_match": 0.15,
        }
        assert part.numbers["with_vectors"] == {
            "semantic": 0.25,
            "vector": 0.15,
            "severity": 0.15,
            "temporal_decay": 0.15,
            "tag_overlap": 0.15,
            "domain_match": 0.15,
        }
        assert part.numbers["severities"] == {"critical": 1.0, "warning": 0.7, "suggestion": 0.4}

    @pytest.mark.parametrize("which", ["keyword_only", "with_vectors"])
    def test_a_profile_whose_weights_do_not_sum_to_1_is_refused_when_it_is_built(self, which):
        """SV-6: told at once, with the sum."""
        wrong = {**NUMBERS, which: {**NUMBERS[which], "severity": 0.10}}

        with pytest.raises(scrubjay.InvalidInput, match=rf"{which} sums to 0.95; .* sum to 1"):
            Profile("mine", (signals(**wrong),))

    def test_so_is_an_override(self):
        """SV-6: whether from a call, a --set or the settings file."""
        with pytest.raises(scrubjay.InvalidInput, match=r"sums to 0.9; the weights must sum to 1"):
            profiles.get("vault", {"signals.keyword_only": {"semantic": 0.5, "severity": 0.4}})

    def test_an_override_that_sums_to_1_is_taken(self):
        """SV-6: any weights will do, as long as they are shares of one whole."""
        wanted = {"semantic": 0.9, "severity": 0.1}

        mine = profiles.get("vault", {"signals.keyword_only": wanted})

        (part,) = [one for one in mine.stages if one.name == "signals"]
        assert part.numbers["keyword_only"] == wanted

    @pytest.mark.parametrize(
        ("numbers", "said"),
        [
            ({"keyword_only": {"semantic": 1.2, "severity": -0.2}}, "0 or more"),
            ({"keyword_only": {"meaning": 1.0}}, "the signals are semantic, vector"),
            ({"keyword_only": {"semantic": 0.5, "vector": 0.5}}, "vector"),
            ({"half_life_days": 0}, "half_life_days is 0"),
            ({"fading": 0}, "fading"),
            ({"severities": {"critical": 2.0, "suggestion": 0.4}}, "severities"),
            ({"unsaid": "minor"}, "'minor'"),
        ],
    )
    def test_numbers_that_cannot_be_meant_are_refused(self, numbers, said):
        """A wrong number is told when the profile is built, not at a search."""
        with pytest.raises(scrubjay.InvalidInput, match=said):
            Profile("mine", (signals(**{**NUMBERS, **numbers}),))


NONE = Tally()
TALLIES = st.builds(Tally, *[st.integers(0, 500)] * 3)


class Heard:
    """Feedback that is what a test says it is."""

    def __init__(self, tally=NONE, frozen=None, fails=None):
        self._tally, self._frozen, self._fails = tally, frozen, fails

    def tally(self):
        if self._fails:
            raise self._fails
        return self._tally

    def frozen(self):
        return self._frozen


def after(kit, **numbers):
    """The query, and the step of the stage, after it has run."""
    run = adaptive(**numbers)(Run(Query("oil"), kit))
    return run.query, run.notes


class TestByHand:
    def test_27_of_30_accepted_without_vectors(self):
        """SV-10: .40 and four times .15 become .52 and four times .12."""
        moved = shift(Tally(27, 0, 3), after=30, times=0.3, most=0.15)

        assert moved == pytest.approx(0.12, abs=1e-12)
        assert adapted(KEYWORD_ONLY, moved) == pytest.approx(
            {"semantic": 0.52, **dict.fromkeys(list(KEYWORD_ONLY)[1:], 0.12)}, abs=1e-12
        )

    def test_27_of_30_accepted_with_vectors(self):
        """SV-10: .25 and five times .15 become .37 and five times .126."""
        others = dict.fromkeys([*list(KEYWORD_ONLY)[1:], "vector"], 0.126)

        moved = adapted(WITH_VECTORS, shift(Tally(27, 0, 3)))

        assert moved == pytest.approx({"semantic": 0.37, **others}, abs=1e-12)

    @pytest.mark.parametrize(
        ("tally", "moved"),
        [
            (Tally(), 0.0),
            (Tally(29, 0, 0), 0.0),  # one too few
            (Tally(30, 0, 0), 0.15),
            (Tally(15, 0, 15), 0.0),
            (Tally(0, 30, 0), 0.0),  # each of them half
            (Tally(10, 10, 10), 0.0),
            (Tally(0, 0, 30), -0.15),
            (Tally(20, 10, 0), 0.1),  # 25 of 30: a third more than half of it, by 0.3
            (Tally(300, 0, 100), 0.075),
        ],
    )
    def test_the_shift_follows_the_rate_of_what_was_taken(self, tally, moved):
        """SV-10: (r - 0.5) x 0.3 after 30 feedbacks; modified counts half, each call counts."""
        assert shift(tally, after=30, times=0.3, most=0.15) == pytest.approx(moved, abs=1e-12)

    def test_it_never_moves_further_than_the_most(self):
        """SV-10: within +-0.15, whatever it is multiplied by."""
        assert shift(Tally(30, 0, 0), times=2.0) == 0.15
        assert shift(Tally(0, 0, 30), times=2.0) == -0.15
        assert shift(Tally(30, 0, 0), times=2.0, most=0.4) == 0.4

    def test_without_feedback_there_is_no_rate(self):
        """Nothing divided by nothing is not a number."""
        assert rate(Tally()) is None
        assert rate(Tally(1, 1, 2)) == 0.375

    @given(TALLIES, st.sampled_from([KEYWORD_ONLY, WITH_VECTORS]))
    def test_weights_sum_to_1_and_the_others_keep_their_proportion(self, tally, weights):
        """SV-10, for every tally there may be."""
        moved = adapted(weights, shift(tally))

        assert sum(moved.values()) == pytest.approx(1, abs=1e-12)
        assert list(moved) == list(weights)
        assert moved["severity"] == pytest.approx(moved["domain_match"], abs=1e-12)
        assert all(weight > 0 for weight in moved.values())

    @given(st.floats(-1, 1), st.floats(0, 1))
    def test_no_weight_is_ever_negative(self, moved, semantic):
        """Numbers of one's own may ask for more than there is."""
        weights = {"semantic": semantic, "vector": 1 - semantic}

        after = adapted(weights, moved)

        assert min(after.values()) >= 0
        assert sum(after.values()) == pytest.approx(1, abs=1e-12)


class TestTheStage:
    def test_it_tells_the_signals_how_far_to_move(self):
        """SV-10: and the trace says from which counts."""
        query, notes = after(Kit(feedback=Heard(Tally(27, 0, 3))))

        assert query.shift == pytest.approx(0.12)
        assert notes == {
            "accepted": 27,
            "modified": 0,
            "dismissed": 3,
            "rate": 0.9,
            "shift": query.shift,
            "frozen": False,
        }

    def test_frozen_weights_stay_whatever_feedback_comes(self):
        """Even those that were frozen before anything had moved."""
        query, notes = after(Kit(feedback=Heard(Tally(0, 0, 99), frozen=0.0)))

        assert (query.shift, notes["frozen"]) == (0.0, True)

    def test_the_feedback_of_all_tiers_counts_together(self):
        """SV-4, SV-10: 27 accepted here and 3 dismissed there are 30; a lost tier has none."""
        tiers = (
            Tier("agent", Kit(feedback=Heard(Tally(27, 0, 0)))),
            Tier("team", Kit(feedback=Heard(Tally(0, 0, 3)))),
            Tier("project", lost="there is no such file"),
        )

        query, notes = after(Kit(feedback=Heard(Tally(27, 0, 0)), tiers=tiers))

        assert query.shift == pytest.approx(0.12)
        assert "warning" not in notes  # whoever asks the lost tier for entries says so

    def test_only_the_own_tier_freezes(self):
        """What somebody has frozen in the team's file is their affair."""
        heard = Heard(Tally(30, 0, 0), frozen=-0.1)
        mine, theirs = (
            Tier("agent", Kit(feedback=heard), own=True),
            Tier("team", Kit(feedback=heard)),
        )
        free = Tier("agent", Kit(feedback=Heard(Tally(30, 0, 0))), own=True)

        assert after(Kit(tiers=(mine, theirs)))[0].shift == -0.1
        assert after(Kit(tiers=(free, theirs)))[0].shift == 0.15

    @pytest.mark.parametrize("error", [StoreError("team.db is damaged"), Unavailable("gone")])
    def test_a_tier_that_fails_is_named_and_the_others_count(self, error):
        """Each tier fails on its own."""
        tiers = (
            Tier("agent", Kit(feedback=Heard(Tally(30, 0, 0)))),
            Tier("team", Kit(feedback=Heard(fails=error))),
        )

        query, notes = after(Kit(feedback=Heard(), tiers=tiers))

        assert query.shift == 0.15
        assert notes["warning"] == f"not all feedback was counted (team: {error})"

    def test_without_a_store_the_search_goes_on_as_before(self):
        """What is missing is in the answer."""
        found = search(Query("oil"), "mine", (adaptive(),), Kit())

        assert found.degraded == ("adaptive: no feedback is configured",)

    @pytest.mark.parametrize(
        ("numbers", "said"),
        [
            ({"after": 0}, "adaptive.after is 0; it must be 1 or more"),
            ({"times": -1.0}, "adaptive.times is -1.0; it must be 0 or more"),
            ({"times": float("nan")}, "adaptive.times is nan"),
            ({"most": 1.5}, "adaptive.most is 1.5; it must be between 0 and 1"),
            ({"most": -0.1}, "adaptive.most is -0.1"),
        ],
    )
    def test_numbers_that_make_no_sense_are_refused(self, numbers, said):
        """When a profile is built, and before anything is weighed by them."""
        with pytest.raises(InvalidInput, match=said.replace(".", r"\.")):
            Profile("mine", (adaptive(**numbers),))
        with pytest.raises(InvalidInput, match=said.replace(".", r"\.")):
            after(Kit(feedback=Heard()), **numbers)
