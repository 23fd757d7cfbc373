"""Whether a weekday or a date without a year lies before or after the day it was said."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from places import DATA

from scrubjay.text.dates import events_in

BERLIN = ZoneInfo("Europe/Berlin")
ROWS = [
    line.split("\t")
    for line in (DATA / "event_dates.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def day_of(text, said):
    """The first local day of what a text speaks of."""
    found = events_in(text, datetime.fromisoformat(f"{said}T12:00").replace(tzinfo=BERLIN))
    return found and found.begins.astimezone(BERLIN).date().isoformat()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[2]} ({row[0]})")
def test_the_clause_of_a_date_decides_where_it_lies(row):
    """CG-7: not the verb of another clause, however near."""
    said, _, text, expected = row
    assert day_of(text, said) == expected


def test_the_table_has_both_languages_and_both_ways():
    """CG-7: at least 60 sentences a language, a quarter of them about what is to come."""
    for language in ("en", "de"):
        rows = [row for row in ROWS if row[1] == language]
        ahead = [row for row in rows if date.fromisoformat(row[3]) > date.fromisoformat(row[0])]
        assert len(rows) >= 60
        assert len(ahead) >= 15


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He wants to come on 5 May.", "2026-05-05"),
        ("The concert will be on 5 May.", "2027-05-05"),
        ("He wants to come on 3 March.", "2027-03-03"),
        ("We got engaged on 20 May.", "2025-05-20"),
        ("I've accepted a job on 1 June.", "2026-06-01"),
        ("I had to move the party on 10 May.", "2026-05-10"),
        ("5 May, 5 May, 5 May", "2026-05-05"),
        (", 5 May ,,", "2026-05-05"),
        ("and 5 May and", "2026-05-05"),
    ],
)
def test_a_day_that_has_just_gone_or_comes_soon_is_meant_unless_the_tense_is_clear(text, expected):
    """CG-7: said on 6 May."""
    assert day_of(text, "2026-05-06") == expected
