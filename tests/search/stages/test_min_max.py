"""The fuse of the novamem profile, with a pencil and with any lists."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run
from scrubjay.search.profiles.novamem import WEIGHTS
from scrubjay.search.stages.min_max import SOURCES, between, check_weights, clamp, min_max
from scrubjay.types import Query, RankedList, Row


def run_of(**lists):
    """A run in which each tier found these memories with these scores."""
    return Run(
        Query("q"),
        lists=tuple(
            RankedList(
                name,
                tuple(
                    Row(id_, score)
                    for id_, score in sorted(rows.items(), key=lambda row: (-row[1], row[0]))
                ),
            )
            for name, rows in lists.items()
        ),
    )


def fused(run, weights=WEIGHTS):
    return {one.id: one for one in min_max(weights=weights)(run).pool}


def test_each_list_is_stretched_by_itself_and_summed_by_weight():
    """NM-3, NM-4: (raw - worst) / (best - worst), .3 + .6 + .1, and 0 for a list that lacks it."""
    run = run_of(
        keyword={"a": 8.0, "b": 4.0, "c": 2.0},
        vector={"a": 0.5, "b": 0.9, "d": 0.1},
        graph={"b": 0.4, "d": 0.8},
    )

    found = fused(run)

    assert found["a"].why == pytest.approx({"keyword": 0.3, "vector": 0.3, "graph": 0.0})
    assert found["b"].why == pytest.approx({"keyword": 0.1, "vector": 0.6, "graph": 0.0})
    assert found["c"].why == pytest.approx({"keyword": 0.0, "vector": 0.0, "graph": 0.0})
    assert found["d"].why == pytest.approx({"keyword": 0.0, "vector": 0.0, "graph": 0.1})
    assert [one.id for one in min_max(weights=WEIGHTS)(run).pool] == ["b", "a", "d", "c"]


@pytest.mark.parametrize("rows", [{"a": 0.2}, {"a": 0.0}, {"a": 3.5, "b": 3.5, "c": 3.5}])
def test_one_hit_alone_and_hits_that_are_equal_have_all_of_it(rows):
    """NM-3: 1.0, whatever the score is, where there is no range to lie in."""
    assert {one.score for one in fused(run_of(vector=rows)).values()} == {0.6}


def test_a_tier_that_found_nothing_gives_nothing():
    """NM-4: the other tiers are not raised in its place."""
    found = fused(run_of(keyword={"a": 2.0}, vector={}, graph={}))

    assert found["a"].score == pytest.approx(0.3)


def test_weights_are_taken_as_they_are():
    """NM-4: what does not sum to 1 is not made to."""
    found = fused(run_of(keyword={"a": 2.0}, vector={"a": 0.5}), {"keyword": 2, "vector": 3.0})

    assert found["a"].score == 5.0


def test_the_notes_have_what_the_sum_is_made_of():
    """R-7: the weight and the ends of each list."""
    after = min_max(weights=WEIGHTS)(run_of(keyword={"a": 8.0, "b": 2.0}))

    assert after.notes == {"keyword": {"weight": 0.3, "worst": 2.0, "best": 8.0}}


@pytest.mark.parametrize(
    "weights",
    [{"keyword": -0.1}, {"keyword": nan}, {"keyword": inf}, {"keyword": "1"}, {"keyword": True}],
)
def test_a_weight_that_is_no_number_of_0_or_more_is_refused(weights):
    """NM-4."""
    with pytest.raises(InvalidInput, match=r"the weight of keyword is .* give a number of 0 or"):
        check_weights(weights=weights)


def test_weights_of_which_none_is_above_0_and_unknown_ones_are_refused():
    """NM-4: nothing would have a score."""
    with pytest.raises(InvalidInput, match="one of them must be above 0"):
        check_weights(weights={"keyword": 0, "vector": 0.0})
    with pytest.raises(InvalidInput, match="names 'kyword'; the lists are graph, keyword, vector"):
        min_max(weights={"kyword": 1.0})(run_of(keyword={"a": 1.0}))


def test_clamp_touches_one_list_and_refuses_ends_that_cross():
    """NM-2: a cosine lies in -1..1, the tier gives 0..1."""
    run = run_of(vector={"a": 1.00001, "b": 0.4, "c": -0.3}, keyword={"a": 12.0, "c": -1.0})

    after = clamp(name="vector", low=0.0, high=1.0)(run)

    assert {one.name: [row.score for row in one.rows] for one in after.lists} == {
        "vector": [1.0, 0.4, 0.0],
        "keyword": [12.0, -1.0],
    }
    with pytest.raises(InvalidInput, match="high must be above low"):
        clamp(low=1.0, high=0.0)(run)


SCORES = st.dictionaries(
    st.sampled_from("abcdefgh"), st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: round(x, 5))
)
LISTS = st.fixed_dictionaries(dict.fromkeys(SOURCES, SCORES))


@given(lists=LISTS)
def test_scores_lie_in_0_to_the_sum_of_weights_and_parts_sum_to_them(lists):
    """Any lists: NM-3, NM-4; the order is that of the scores."""
    pool = min_max(weights=WEIGHTS)(run_of(**lists)).pool

    assert {one.id for one in pool} == {id_ for rows in lists.values() for id_ in rows}
    for one in pool:
        assert one.score == pytest.approx(sum(one.why.values()))
        assert all(0 <= part <= WEIGHTS[name] + 1e-9 for name, part in one.why.items())
    assert [one.order for one in pool] == sorted(one.order for one in pool)


@given(lists=LISTS, order=st.permutations(SOURCES))
def test_the_order_of_the_lists_changes_nothing(lists, order):
    """Tiers answer when they answer."""
    first = {id_: (one.score, one.why) for id_, one in fused(run_of(**lists)).items()}
    again = fused(run_of(**{name: lists[name] for name in order}))

    assert {id_: (one.score, one.why) for id_, one in again.items()} == first


@given(
    rows=SCORES.filter(lambda rows: len({round(score, 6) for score in rows.values()}) > 1),
    scale=st.sampled_from([0.5, 2.0, 10.0]),
    shift=st.sampled_from([-3.0, 0.0, 7.0]),
)
def test_the_unit_of_a_tier_does_not_matter(rows, scale, shift):
    """The best has 1, the worst 0, and what is stretched already is not stretched again."""
    other = {id_: scale * score + shift for id_, score in rows.items()}
    first, again = (
        {id_: one.score for id_, one in fused(run_of(keyword=of), {"keyword": 1.0}).items()}
        for of in (rows, other)
    )

    assert again == pytest.approx(first, abs=1e-6)
    assert min(first.values()) == 0.0
    assert max(first.values()) == 1.0
    twice = fused(run_of(keyword=first), {"keyword": 1.0})
    assert {id_: one.score for id_, one in twice.items()} == pytest.approx(first, abs=1e-9)


@given(score=st.floats(-1e6, 1e6), count=st.integers(1, 5))
def test_ties_are_1_however_often_they_are_fused(score, count):
    """NM-3: ties stay ties."""
    once = fused(run_of(graph={str(n): score for n in range(count)}), {"graph": 1.0})
    again = fused(run_of(graph={id_: one.score for id_, one in once.items()}), {"graph": 1.0})

    assert {one.score for one in (*once.values(), *again.values())} == {1.0}
    assert between(score, score, score) == 1.0
