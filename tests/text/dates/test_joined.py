"""Expressions that are made of others, and what is none."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from scrubjay.text.dates import events_in, window_of

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 5, 3, 12, tzinfo=BERLIN)  # a Sunday


def days(window):
    """The first day of a window, and the day after its last."""
    ends = (window.begins, window.ends)
    return tuple(one.astimezone(BERLIN).date() for one in ends)


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("what did I say in May last year", date(2025, 5, 1), date(2025, 6, 1)),
        ("what did I say in April last year", date(2025, 4, 1), date(2025, 5, 1)),
        ("last year in April", date(2025, 4, 1), date(2025, 5, 1)),
        ("was war im April letzten Jahres", date(2025, 4, 1), date(2025, 5, 1)),
        ("was war letztes Jahr im April", date(2025, 4, 1), date(2025, 5, 1)),
        ("what is planned next year in March", date(2027, 3, 1), date(2027, 4, 1)),
        ("a year ago today", date(2025, 5, 3), date(2025, 5, 4)),
        ("heute vor einer Woche", date(2026, 4, 26), date(2026, 4, 27)),
        ("what did we do on Monday two weeks ago", date(2026, 4, 13), date(2026, 4, 14)),
        ("am Montag vor zwei Wochen", date(2026, 4, 13), date(2026, 4, 14)),
    ],
)
def test_two_expressions_that_make_one_are_read_as_one(text, begins, ends):
    """CG-6: a month of last year, a day of two weeks ago."""
    window = window_of(text, NOW)

    assert window is not None
    assert days(window) == (begins, ends)


def test_half_a_year_ago_is_not_a_year_ago():
    """CG-6: asked in November, last May is in the window."""
    november = NOW.replace(month=11)
    window = window_of("what did I say half a year ago", november)

    assert window is None or window.begins <= november.replace(month=5) < window.ends


@pytest.mark.parametrize("text", ["Since Monday my back hurts", "Seit Montag tut mein Knie weh"])
def test_what_is_so_since_monday_began_in_the_past(text):
    """CG-7: whatever the verb says."""
    window = events_in(text, NOW)

    assert window is not None
    assert window.begins < NOW


@pytest.mark.parametrize(
    "text",
    [
        "embedding in 2048 dimensions",
        "render in 1920 x 1080",
        "fits in 2000 characters",
        "between 1900 and 2100 MHz",
        "datetime.today() in python",
        "monday.com integration",
    ],
)
def test_what_is_no_time_is_not_taken_for_one(text):
    """CG-6: numbers with a unit are no years, and names in code no days."""
    assert window_of(text, NOW) is None


@pytest.mark.parametrize(
    "text",
    ["what is planned for Monday", "what is on my calendar for Monday"],
)
def test_a_question_for_plans_is_about_the_day_to_come(text):
    """CG-6: unless it asks for what was."""
    window = window_of(text, NOW)

    assert window is not None
    assert window.begins > NOW
