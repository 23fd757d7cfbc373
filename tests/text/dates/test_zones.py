"""Time zones: a setting, behind a time, and that of the machine."""

from __future__ import annotations

import sys
import time
import zoneinfo
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

import scrubjay
from scrubjay import InvalidInput, config
from scrubjay.times import LocalZone, clock_in, parse, parse_zoned

NEW_YORK = "America/New_York"


@pytest.fixture
def in_new_york(monkeypatch):
    """The machine stands there for the length of a test."""
    monkeypatch.setenv("TZ", NEW_YORK)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(sys.platform == "win32", reason="the zone of the process cannot be set")
@pytest.mark.parametrize("at", ["2026-01-15T03:00", "2026-07-15T03:00", "2026-03-08T07:00"])
def test_the_zone_of_the_machine_knows_summer_and_winter(in_new_york, at):
    """An offset of now would be wrong half a year ago."""
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)

    there = moment.astimezone(LocalZone())

    assert there.replace(tzinfo=None) == moment.astimezone(ZoneInfo(NEW_YORK)).replace(tzinfo=None)
    assert there.utcoffset() == moment.astimezone(ZoneInfo(NEW_YORK)).utcoffset()
    assert there.astimezone(UTC) == moment


@pytest.mark.skipif(sys.platform == "win32", reason="the zone of the process cannot be set")
def test_an_hour_that_comes_twice_is_not_one(in_new_york):
    """Both moments go to local time and come back as they were."""
    first = datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
    for moment in (first, first + timedelta(hours=1)):
        there = moment.astimezone(LocalZone())
        assert (there.hour, there.astimezone(UTC)) == (1, moment)


@pytest.mark.skipif(sys.platform == "win32", reason="the zone of the process cannot be set")
def test_without_a_setting_a_day_begins_where_the_machine_is(in_new_york):
    """CG-6: yesterday is yesterday there, and other than in UTC."""
    with scrubjay.open(":memory:", embedder=False) as store:
        kept = store.add("It rained yesterday")
        begins = kept.event_time.astimezone(ZoneInfo(NEW_YORK))
        assert (begins.hour, begins.minute) == (0, 0)


def test_the_zone_is_a_setting(tmp_path, monkeypatch):
    """CG-6: from the file, then from the environment; a clock of one's own keeps its zone."""
    file = tmp_path / "scrubjay.toml"
    file.write_text('timezone = "Asia/Tokyo"\n', encoding="utf-8")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
    assert config.load().timezone == "Asia/Tokyo"
    monkeypatch.setenv("SCRUBJAY_TIMEZONE", "Asia/Kolkata")
    assert config.load().timezone == "Asia/Kolkata"

    with scrubjay.open(":memory:", embedder=False) as store:
        kept = store.add("It rained yesterday")
    assert (kept.event_time.hour, kept.event_time.minute) == (18, 30)

    with scrubjay.open(
        ":memory:", embedder=False, clock=lambda: datetime(2026, 5, 6, tzinfo=UTC)
    ) as store:
        assert store.add("It rained yesterday").event_time == datetime(2026, 5, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("Europe/berlin ", "Europe/Berlin"),
        ("America/New York", "America/New_York"),
        ("Mars/Olympus", "such as Europe/Berlin"),
        ("Europe", ""),
        ("../../etc/passwd", ""),
        ("\0", ""),
        ("/", ""),
    ],
)
def test_a_zone_that_does_not_exist_is_refused_with_one_that_does(monkeypatch, name, near):
    """Before anything is opened."""
    with pytest.raises(InvalidInput, match="time zone") as refused:
        clock_in(name)
    assert near in str(refused.value)
    if "\0" not in name:
        monkeypatch.setenv("SCRUBJAY_TIMEZONE", name)
        with pytest.raises(InvalidInput, match="timezone is"):
            scrubjay.open(":memory:")


def test_a_machine_without_zones_is_told_how_to_get_them(monkeypatch):
    """As Windows is without the package."""
    monkeypatch.setattr(zoneinfo, "available_timezones", set)
    with pytest.raises(InvalidInput, match="pip install tzdata"):
        clock_in("Nowhere/Land")


@pytest.mark.parametrize(
    "written",
    [
        "2026-05-03T10:00[Europe/Berlin]",
        "2026-05-03 10:00 Europe/Berlin",
        "2026-05-03T10:00:00 Europe/Berlin",
        "2026-05-03T10:00+02:00[Europe/Berlin]",
        "2026-05-03T08:00Z[Europe/Berlin]",
    ],
)
def test_a_time_may_name_its_zone(written):
    """The same moment, however it is written; where its zone matters, it is kept."""
    assert parse(written, "t") == datetime(2026, 5, 3, 8, tzinfo=UTC)
    assert parse_zoned(written, "t").tzinfo == ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("2026-05-03T10:00 Mars/Olympus", "the zone of at is 'Mars/Olympus'"),
        ("2026-05-03T10:00[Europe/Berln]", "did you mean Europe/Berlin"),
        ("2026-05-03T10:00+99:00", r"\+99:00 is not an offset"),
        ("2026-05-03T10:00[]", "2026-05-03T14:30"),
        ("2026-05-03 soon", "soon"),
        ("0001-01-01T00:00Z[America/New_York]", "outside the years"),
        ("0001-01-01T00:00[Asia/Tokyo]", "outside the years"),
    ],
)
def test_a_zone_behind_a_time_that_does_not_exist_is_refused(written, says):
    """It says which part is wrong, and what would be right."""
    with pytest.raises(InvalidInput, match=says):
        parse(written, "at")
