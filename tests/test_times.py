"""Moments in and out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import InvalidInput
from scrubjay.times import micros, moment, parse, system_clock, time_zone


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_and_back_is_the_same_moment(at):
    """To the last digit, from year 1 to 9999."""
    assert moment(micros(at)) == at


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),
    st.integers(-23, 23),
)
def test_a_time_zone_is_brought_to_utc(at, hours):
    """The same moment, however it is written."""
    there = at.replace(tzinfo=timezone(timedelta(hours=hours)))

    assert parse(there, "t") == there
    assert parse(there.isoformat(), "t") == there
    assert parse(there, "t").tzinfo is UTC


@given(st.datetimes())
def test_naive_means_utc(at):
    """Never the machine's own zone."""
    assert parse(at, "t") == at.replace(tzinfo=UTC)
    assert parse(at.isoformat(), "t") == at.replace(tzinfo=UTC)


@pytest.mark.parametrize("day", [date(2026, 5, 3), "2026-05-03", " 2026-05-03 "])
def test_a_bare_date_is_its_first_moment_or_its_last(day):
    """`until` a day includes that day."""
    assert parse(day, "since") == datetime(2026, 5, 3, tzinfo=UTC)
    last = parse(day, "until", end_of_day=True)
    assert last == datetime(2026, 5, 3, 23, 59, 59, 999999, tzinfo=UTC)


def test_a_full_time_is_not_moved_to_the_end_of_its_day():
    """Only a bare date is."""
    assert parse("2026-05-03T10:00", "until", end_of_day=True) == datetime(
        2026, 5, 3, 10, tzinfo=UTC
    )


def test_none_stays_none():
    """It means the default, which is not known here."""
    assert parse(None, "t") is None
    assert moment(None) is None


@pytest.mark.parametrize("wrong", ["", "soon", "2026-13-01", "03.05.2026", 5, 1.5, object(), []])
def test_anything_else_is_refused_with_an_example(wrong):
    """It names the argument and shows what would be right."""
    with pytest.raises(InvalidInput, match=r"^since is .*2026-05-03"):
        parse(wrong, "since")


@pytest.mark.parametrize("edge", ["0001-01-01T00:00+01:00", "9999-12-31T23:30-01:00"])
def test_a_moment_outside_the_calendar_is_refused(edge):
    """In UTC it would be in the year 0 or 10,000."""
    with pytest.raises(InvalidInput, match="years 1 to 9999"):
        parse(edge, "event_time")


def test_the_system_clock_is_aware():
    """And it is now, in the zone of this machine."""
    now = system_clock()

    assert now.utcoffset() == datetime.now().astimezone().utcoffset()
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)


@pytest.mark.parametrize("name", ["a/" * 2000, "x" * 100_000, "Europe/" + "Berlin" * 50])
def test_a_long_name_is_not_a_time_zone(name):
    """Found by fuzzing: zoneinfo imports a package for each slash, until the stack is full."""
    with pytest.raises(InvalidInput, match="time zone"):
        time_zone(name, "timezone")
    with pytest.raises(InvalidInput):
        parse(f"2026-05-03T14:30[{name}]", "at")


def test_a_long_text_is_refused_as_a_time_at_once():
    """Found by fuzzing: 40 KB of digits took 14 seconds, and an imported date may have any length."""
    begun = process_time()

    with pytest.raises(InvalidInput, match="at has 100000 characters"):
        parse("2026" * 25_000, "at")

    assert process_time() - begun < 1
