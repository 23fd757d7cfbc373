"""A table of time expressions, English and German, with a fixed clock and two time zones."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from places import DATA

from scrubjay.text.dates import events_in, window_of

TABLE = DATA / "time_expressions.tsv"
ROWS = [
    tuple(line.split("\t"))
    for line in TABLE.read_text("utf-8").splitlines()
    if not line.startswith("#")
]
READ = {"query": window_of, "event": events_in}


def moment(written, zone):
    """A local time of the table in UTC; where it stands with an offset, that one."""
    read = datetime.fromisoformat(written)
    return (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[3]} ({row[0]})")
def test_an_expression_means_this_range(row):
    """CG-6: today, last week, weekdays, ago, months, dates, ranges, and the same in German."""
    now, zone, kind, text, begins, ends = row
    zone = ZoneInfo(zone)
    found = READ[kind](text, datetime.fromisoformat(now).replace(tzinfo=zone))

    if begins == "-":
        assert found is None
    else:
        assert found is not None
        assert found.begins == moment(begins, zone)
        assert found.ends == moment(ends, zone)
        assert found.said in text


def test_the_table_is_as_large_as_it_should_be():
    """CG-6: at least 200 expressions, in two zones, in both languages."""
    assert len({row[3] for row in ROWS}) >= 300
    assert {row[1] for row in ROWS} == {"Europe/Berlin", "America/Los_Angeles"}
