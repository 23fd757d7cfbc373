"""What feedback makes of the weights: by hand, number by number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import InvalidInput, StoreError, Unavailable
from scrubjay.search.pipeline import Kit, Run, Tier, search
from scrubjay.search.profiles import Profile
from scrubjay.search.stages.adaptive import adapted, adaptive, rate, shift
from scrubjay.storage.sql.feedback import Tally
from scrubjay.types import Query

KEYWORD_ONLY = {
    "semantic": 0.40,
    "severity": 0.15,
    "temporal_decay": 0.15,
    "tag_overlap": 0.15,
    "domain_match": 0.15,
}
WITH_VECTORS = {**KEYWORD_ONLY, "semantic": 0.25, "vector": 0.15}
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
            ({"most": 1.5}, "adaptive.most is 1.5; it must be from 0 to 1"),
            ({"most": -0.1}, "adaptive.most is -0.1"),
        ],
    )
    def test_numbers_that_make_no_sense_are_refused(self, numbers, said):
        """When a profile is built, and before anything is weighed by them."""
        with pytest.raises(InvalidInput, match=said.replace(".", r"\.")):
            Profile("mine", (adaptive(**numbers),))
        with pytest.raises(InvalidInput, match=said.replace(".", r"\.")):
            after(Kit(feedback=Heard()), **numbers)
