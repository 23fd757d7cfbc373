"""Time in a score: by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from math import exp
from zoneinfo import ZoneInfo

import pytest
from clocks import NOON

from scrubjay import InvalidInput, Memory
from scrubjay.search.pipeline import Kit, Run
from scrubjay.search.profiles import Profile
from scrubjay.search.stages.timing import fit, in_time, recency, time_blend
from scrubjay.search.stages.understand import time_range
from scrubjay.text.dates import Window
from scrubjay.times import LocalZone
from scrubjay.types import Candidate, Query

DAY = timedelta(days=1)
WEEK = Window(NOON - 7 * DAY, NOON, "last seven days")


def run(*memories, window=None):
    pool = tuple(
        Candidate(one.id, 0.5, why={"vector": 0.3, "keyword": 0.2}, memory=one) for one in memories
    )
    return Run(Query("q", window=window), Kit(clock=lambda: NOON), pool=pool)


def told(id_, created_at=None, **more):
    return Memory(id_, id_, created_at=created_at, **more)


class TestTimeRange:
    @pytest.mark.parametrize(
        ("zone", "begins", "name"),
        [
            (ZoneInfo("Europe/Berlin"), "2026-03-01T00:00:00+01:00", "Europe/Berlin"),
            (UTC, "2026-03-01T00:00:00+00:00", "UTC"),
            (LocalZone(), None, "local"),
            (timezone(timedelta(hours=2)), "2026-03-01T00:00:00+02:00", None),
        ],
    )
    def test_the_window_is_shown_where_the_clock_is(self, zone, begins, name):
        """CG-6: whose March it is, the explanation says, with the offset of that day."""
        now = datetime(2026, 5, 6, 12, tzinfo=zone)
        asked = Run(Query("what was in March"), Kit(clock=lambda: now))

        notes = time_range()(asked).notes

        assert notes["said"] == "March"
        assert notes.get("zone") == name
        assert notes["begins"].startswith("2026-03-01T00:00:00")
        assert notes["ends"].startswith("2026-04-01T00:00:00")
        assert begins in (None, notes["begins"])

    def test_a_window_at_the_edge_of_the_calendar_is_shown_in_utc(self):
        """West of Greenwich the first hour of the year 1 has no local time."""
        now = datetime(2026, 5, 6, 12, tzinfo=ZoneInfo("America/Los_Angeles"))
        asked = Run(Query("0001-01-01T00:00Z"), Kit(clock=lambda: now))

        assert time_range()(asked).notes["begins"] == "0001-01-01T00:00:00+00:00"


class TestFit:
    @pytest.mark.parametrize(
        ("when", "fits"),
        [
            (NOON - 7 * DAY, 1.0),
            (NOON - DAY, 1.0),
            (NOON, 1.0),
            (NOON + 3.5 * DAY, 0.5),
            (NOON - 10.5 * DAY, 0.5),
            (NOON + 7 * DAY, 0.0),
            (NOON - 14 * DAY, 0.0),
            (NOON - 100 * DAY, 0.0),
        ],
    )
    def test_it_is_whole_inside_and_falls_over_one_more_length(self, when, fits):
        """CG-7: in a straight line, on both sides."""
        assert fit(told("a", when), WEEK) == pytest.approx(fits)

    def test_what_it_speaks_of_counts_not_when_it_was_said(self):
        """CG-7: the event time comes first."""
        assert fit(told("a", NOON, event_time=NOON - 100 * DAY), WEEK) == 0.0
        assert fit(told("a", NOON - 100 * DAY, event_time=NOON - DAY), WEEK) == 1.0

    def test_an_event_that_lasts_fits_where_it_overlaps(self):
        """A month that began before the week is in it all the same."""
        month = told("a", NOON, event_time=NOON - 30 * DAY, event_until=NOON - 6 * DAY)

        assert fit(month, WEEK) == 1.0

    @pytest.mark.parametrize(
        ("begins", "ends", "fits"),
        [
            (NOON - 8 * DAY, NOON - 7 * DAY, 6 / 7),  # its last moment is the window's first
            (NOON, NOON + DAY, 6 / 7),
            (NOON - 37 * DAY, NOON - 7 * DAY, 0.0),
            (NOON - 7.5 * DAY, NOON - 6.5 * DAY, 1.0),
            (NOON - DAY, NOON - 2 * DAY, 1.0),  # an end before the beginning
            (NOON + DAY, NOON - 2 * DAY, 6 / 7),
        ],
    )
    def test_an_event_beside_the_window_counts_from_its_far_end(self, begins, ends, fits):
        """CG-7: the day before does not fit like the days of the window."""
        lasts = told("a", NOON, event_time=begins, event_until=ends)

        assert fit(lasts, WEEK) == pytest.approx(fits)

    def test_a_memory_without_any_time_fits_by_half(self):
        """CG-7."""
        assert fit(told("a"), WEEK) == 0.5


class TestTimeBlend:
    def test_a_timed_query_counts_ranks_and_time(self):
        """CG-7: 0.6 rrf + 0.4 temporal relevance."""
        after = time_blend()(
            run(told("out", NOON - 90 * DAY), told("in", NOON - DAY), window=WEEK)
        )

        assert {one.id: one.score for one in after.pool} == pytest.approx(
            {"in": 0.6 * 0.5 + 0.4, "out": 0.6 * 0.5}
        )
        assert [one.id for one in after.pool] == ["in", "out"]
        assert after.pool[0].why == pytest.approx(
            {"vector": 0.18, "keyword": 0.12, "temporal": 0.4}
        )

    def test_without_a_time_the_score_stays(self):
        """CG-7: only a timed query is blended."""
        before = run(told("a", NOON))

        assert time_blend()(before) == before

    def test_a_share_beyond_one_is_refused_when_a_profile_is_built(self):
        """It says what is right."""
        with pytest.raises(InvalidInput, match="unknown"):
            Profile("mine", (time_blend(unknown=2),))


class TestRecency:
    @pytest.mark.parametrize(
        ("age_s", "added"), [(0, 0.25), (120, 0.25 * exp(-1)), (600, 0.25 * exp(-5))]
    )
    def test_it_fades_with_the_time_constant(self, age_s, added):
        """CG-5: 0.25 exp(-age / 120): about 0.09 after two minutes, 0.002 after ten."""
        after = recency()(run(told("a", NOON - timedelta(seconds=age_s))))

        assert after.pool[0].score == pytest.approx(0.5 + added)
        assert after.pool[0].why["recency"] == pytest.approx(added)
        assert round(0.25 * exp(-1), 2) == 0.09
        assert round(0.25 * exp(-5), 3) == 0.002

    def test_the_newer_of_equals_comes_first(self):
        """It decides between two that match alike."""
        old, new = told("old", NOON - DAY), told("new", NOON - timedelta(seconds=30))

        assert [one.id for one in recency()(run(old, new)).pool] == ["new", "old"]

    def test_what_is_said_to_come_is_now(self):
        """Another machine's clock may be ahead: it gains no more than now."""
        assert recency()(run(told("a", NOON + DAY))).pool[0].why["recency"] == 0.25

    def test_a_constant_of_nothing_is_refused(self):
        """It would divide by it."""
        with pytest.raises(InvalidInput, match="above 0"):
            Profile("mine", (recency(time_constant_s=0),))


class TestInTime:
    def test_what_does_not_fit_loses_up_to_a_share(self):
        """The default profile: a quarter, less for what is near."""
        near, far = told("near", NOON + 3.5 * DAY), told("far", NOON - 90 * DAY)

        after = in_time(share=0.25)(run(far, told("in", NOON - DAY), near, window=WEEK))

        assert {one.id: one.score for one in after.pool} == pytest.approx(
            {"in": 0.5, "near": 0.5 * (1 - 0.25 * 0.5), "far": 0.5 * 0.75}
        )
        assert [one.id for one in after.pool] == ["in", "near", "far"]
        assert all(one.score == pytest.approx(sum(one.why.values())) for one in after.pool)

    def test_said_then_or_speaking_of_then_is_both_right(self):
        """Who asks for last week may mean either."""
        said = told("said", NOON - DAY, event_time=NOON - 300 * DAY)
        spoken_of = told("spoken of", NOON - 300 * DAY, event_time=NOON - DAY)

        after = in_time()(run(said, spoken_of, window=WEEK))

        assert {one.score for one in after.pool} == {0.5}

    def test_a_date_near_which_nothing_was_said_is_left_to_the_words(self):
        """Whoever asks for the libraries of 1968 looks for texts, and not all of them name the year."""
        names = told("names", NOON - 300 * DAY, event_time=NOON - DAY)
        other = told("other", NOON - 300 * DAY)
        dated = Window(WEEK.begins, WEEK.ends, "from 24 April to 1 May 2026")

        by_text = in_time()(run(other, names, window=dated))
        assert {one.id: one.score for one in by_text.pool} == pytest.approx(
            {"names": 0.5, "other": 0.5 * 0.95}
        )
        # Some of it was said then, or the time counts from now: then it is the store's own time.
        with_one_said = in_time()(run(other, names, told("said", NOON - DAY), window=dated))
        counted = in_time()(run(other, names, window=dated._replace(said="last week")))
        for after in (with_one_said, counted):
            assert {one.id: one.score for one in after.pool}["other"] == pytest.approx(0.375)
        nothing_taken = in_time(by_text=0.0)(run(other, names, window=dated)).pool
        assert [one.score for one in nothing_taken] == [0.5, 0.5]

    def test_where_nothing_fits_all_scores_stay(self):
        """The books of a library were not read in 1865: their dates say nothing."""
        before = run(told("a", NOON - 900 * DAY), told("b", NOON - 900 * DAY), window=WEEK)

        assert in_time()(before).pool == before.pool

    def test_a_share_beyond_one_is_refused(self):
        """A score must not fall below nothing."""
        with pytest.raises(InvalidInput, match="between 0 and 1"):
            Profile("mine", (in_time(share=2),))
        with pytest.raises(
            InvalidInput, match=r"in_time.by_text is -1; it must be between 0 and 1"
        ):
            Profile("mine", (in_time(by_text=-1),))
