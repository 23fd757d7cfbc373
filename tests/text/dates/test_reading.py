"""Time words in any text, at any moment, in any zone: never an error, never a range that is none."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scrubjay.text.dates import events_in, window_of
from scrubjay.text.dates.words import known_words

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 5, 6, 12, tzinfo=BERLIN)
ZONES = [
    UTC,
    BERLIN,
    ZoneInfo("America/Sao_Paulo"),
    ZoneInfo("Pacific/Apia"),
    timezone(timedelta(hours=14)),
    timezone(-timedelta(hours=23, minutes=59)),
]
DIGITS = (
    "0 5 5. 31 99 2024 3000 5th 0th 2024-05-05 2024-02-30 2024-05-05T10:00 31.4. 5.5.2024 5/6/2024"
)
WORDS = st.sampled_from([*known_words(), *DIGITS.split(), ",", "-", "–", "foo"])
MOMENTS = st.builds(
    lambda at, zone: at.replace(tzinfo=zone), st.datetimes(), st.sampled_from(ZONES)
)


def check(text, now):
    for read in (window_of, events_in):
        found = read(text, now)
        if found is not None:
            assert found.begins < found.ends
            assert found.begins.tzinfo is UTC
            assert found.ends.tzinfo is UTC


@settings(max_examples=300, deadline=None)
@given(st.text(), MOMENTS)
def test_any_text_at_any_moment_is_read(text, now):
    """CG-6: no error, and a range begins before it ends."""
    check(text, now)


@settings(max_examples=500, deadline=None)
@given(st.lists(WORDS, max_size=10).map(" ".join), MOMENTS)
@example("in 3000 years", datetime.max.replace(tzinfo=UTC))
@example("3000 years ago", datetime.min.replace(tzinfo=UTC))
@example("since yesterday", datetime.min.replace(tzinfo=BERLIN))
@example("before 0001-01-01", datetime.max.replace(tzinfo=BERLIN))
def test_any_words_of_time_are_read(text, now):
    """CG-6: however they are mixed, and at both ends of the calendar."""
    check(text, now)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("America/Sao_Paulo", "2018-11-04", 23),  # midnight does not exist
        ("America/Sao_Paulo", "2018-02-17", 25),
        ("Africa/Cairo", "2024-04-26", 23),  # nor here
        ("Europe/Berlin", "2026-03-29", 23),
        ("Europe/Berlin", "2026-10-25", 25),
        ("America/Havana", "2024-11-03", 25),  # midnight comes twice
        ("Asia/Kolkata", "2026-03-29", 24),
    ],
)
def test_a_day_is_as_long_as_it_is_there(zone, day, hours):
    """CG-6: days begin at local midnight, or at the first moment after it."""
    zone = ZoneInfo(zone)
    noon = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=zone)
    after = noon + timedelta(days=1)

    today, yesterday = window_of("today", noon), window_of("yesterday", after)

    assert today[:2] == yesterday[:2]
    assert today.ends - today.begins == timedelta(hours=hours)
    assert today.begins.astimezone(zone).date().isoformat() == day
    before = today.begins - timedelta(microseconds=1)
    assert before.astimezone(zone).date() == noon.date() - timedelta(days=1)


def test_a_fixed_offset_and_a_moment_without_zone_are_seen_from_there():
    """CG-6: the zone is that of the clock; without one it is UTC."""
    at = datetime(2026, 5, 6, 1)
    there = timezone(timedelta(hours=5, minutes=30))

    assert window_of("today", at.replace(tzinfo=there)).begins == datetime(
        2026, 5, 5, 18, 30, tzinfo=UTC
    )
    assert window_of("today", at).begins == datetime(2026, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["Im März", "im MÄRZ", "im Ma\u0308rz", "im maerz", "İ im März"], ids=ascii
)
def test_letters_may_be_written_in_other_ways(text):
    """CG-6: umlauts as one sign, as two, as two letters; capitals that grow when they are made small."""
    found = window_of(text, NOON)

    assert found.begins == datetime(2026, 3, 1, tzinfo=BERLIN)
    assert found.said.lower() in ("märz", "maerz")


def test_the_narrowest_of_several_counts_and_the_first_of_equal_ones():
    """CG-6: in a query and in a memory alike."""
    for read in (window_of, events_in):
        assert read("last year, last month, yesterday, today", NOON).said == "yesterday"


def test_what_follows_the_first_pages_of_a_long_text_is_not_read():
    """A text of a million characters has no one event, and takes no longer than its first pages."""
    words = random.Random(7).choices([*known_words(), "foo", "bar."], k=150_000)
    long = " ".join(words)
    began = process_time()
    found = events_in("Yesterday we met. " + long, NOON)
    assert process_time() - began < 5
    assert found is not None
    assert events_in("foo " * 10_000 + "yesterday", NOON) is None
