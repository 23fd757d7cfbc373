"""The six signals of vault, each by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clocks import NOON

import scrubjay
from scrubjay.search import profiles
from scrubjay.search.profiles import Profile
from scrubjay.search.profiles.vault import KEYWORD_ONLY, SEVERITIES, WITH_VECTORS
from scrubjay.search.stages.decay import freshness
from scrubjay.search.stages.signals import overlap, signals
from scrubjay.types import Memory

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
            ({"keyword_only": {"semantic": 0.5, "vector": 0.5}}, "there is none of"),
            ({"half_life_days": 0}, "half_life_days is 0"),
            ({"fading": 0}, "fading 0"),
            ({"severities": {"critical": 2.0, "suggestion": 0.4}}, "in 0..1"),
            ({"unsaid": "minor"}, "'minor' stands for none given"),
        ],
    )
    def test_numbers_that_cannot_be_meant_are_refused(self, numbers, said):
        """A wrong number is told when the profile is built, not at a search."""
        with pytest.raises(scrubjay.InvalidInput, match=said):
            Profile("mine", (signals(**{**NUMBERS, **numbers}),))
