"""Expressions that count from now: ago, last week, Monday, tonight."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo

from scrubjay.text.dates.seen import Resolver, Said, Seen
from scrubjay.text.dates.spans import DAY, Span, back, days, hours, unit_at, until


def ago(said: Said, seen: Seen) -> Span | None:
    """Return the minute, hour, day, week … so long ago; round minutes are not meant to the minute."""
    unit, least, most = said.units()
    if unit == "minute" and least == most and most % 15 == 0:
        least, most = most - most // 3, most + most // 3
    if unit in ("minute", "hour"):
        return _exact(seen, unit, -most, -least)
    if unit == "weekend":
        return Span(
            unit_at(unit, seen.today, -most).begins, unit_at(unit, seen.today, -least).ends
        )
    first, last = (unit_at(unit, back(unit, seen.today, n)) for n in (most, least))
    return Span(first.begins, last.ends)


def _ahead(said: Said, seen: Seen) -> Span | None:
    unit, least, most = said.units()
    if unit in ("minute", "hour"):
        return _exact(seen, unit, least, most)
    if unit == "weekend":
        return None
    first, last = (unit_at(unit, back(unit, seen.today, -n)) for n in (least, most))
    return Span(first.begins, last.ends)


def _exact(seen: Seen, unit: str, first: int, last: int) -> Span:
    length = timedelta(**{f"{unit}s": 1})
    now = seen.now.astimezone(UTC)

    def start(steps: int) -> datetime:
        local = (now + steps * length).astimezone(seen.zone)
        begins = local.replace(second=0, microsecond=0)
        return (begins if unit == "minute" else begins.replace(minute=0)).astimezone(UTC)

    return Span(start(first), start(last) + length)


def _rolling(said: Said, seen: Seen) -> Span | None:
    unit, _, most = said.units()
    if unit in ("minute", "hour"):
        begins = seen.now.astimezone(UTC) - timedelta(**{f"{unit}s": most})
        return Span(begins, seen.closing())
    if unit == "weekend":
        return Span(unit_at(unit, seen.today, -most).begins, seen.closing())
    return Span(days(back(unit, seen.today, most)).begins, seen.closing())


def _steps(said: Said) -> int:
    """Return how far away: vorletzte is two back, as is the week before last."""
    steps: int = said.get("LPXT")
    return steps * 2 if said.has("vz") else steps


def unit_named(said: Said, seen: Seen) -> Span | None:
    """Return the last, this or next week, weekend, month, quarter or year."""
    unit = said.get("wUa")
    if unit in (
        "minute",
        "hour",
        "day",
    ):  # "the next day" is after another one, "last minute" is late
        return None
    if unit == "fortnight":
        return _rolling(said, seen) if _steps(said) < 0 else None
    return unit_at(unit, seen.today, _steps(said))


def _weekend(said: Said, seen: Seen) -> Span | None:
    """Return the weekend that is meant without a word such as last: by the tense, as a weekday."""
    if said.get("U") != "weekend":
        return None
    this = unit_at("weekend", seen.today)
    is_past = seen.lean < 0 and this.begins.date() > seen.today
    return unit_at("weekend", seen.today, -1) if is_past else this


def _weekday_in(said: Said, seen: Seen) -> Span | None:
    number, part = said.get("D")
    monday = unit_at("week", seen.today, _steps(said)).begins.date()
    return part_of(monday + number * DAY, part)


def part_of(day: date, part: tuple[int, int] | None) -> Span:
    """Return a day, or those hours of it."""
    return hours(day, *part) if part else days(day)


def _relative(said: Said, seen: Seen) -> Span | None:
    steps, part = said.get("R"), said.get("B")
    if said.classes[0] == "U":  # the day before yesterday
        if said.get("U") != "day":
            return None
        steps = (1 if steps is None else steps) + (-1 if said.has("v") else 1)
        return days(seen.today + steps * DAY) if abs(steps) == 2 else None
    if steps is None:
        steps = 1  # morgen
    elif said.has("r"):
        part = (5, 12)  # heute Morgen
    return part_of(seen.today + steps * DAY, part)


def _tonight(said: Said, seen: Seen) -> Span | None:
    if said.has("G"):
        return hours(seen.today, 18, 30)
    part, steps = said.get("B"), said.get("LT")
    return part_of(seen.today + steps * DAY, part)


def _weekday(said: Said, seen: Seen) -> Span | None:
    number, part = said.get("D")
    part = part or said.get("B")
    today = seen.today
    since = (today.weekday() - number) % 7
    day = today - since * DAY
    if said.has("T"):
        day = today + (number - today.weekday()) * DAY
    elif said.has("L"):
        day = today - (since or 7) * DAY
    elif said.has("X"):
        day = today + ((number - today.weekday()) % 7 or 7) * DAY
    elif seen.not_after:
        day = seen.not_after - (seen.not_after.weekday() - number) % 7 * DAY
    elif seen.lean > 0 or (seen.lean == 0 and not seen.is_query):
        day = today + ((number - today.weekday()) % 7 or 7) * DAY
    elif not seen.is_query:  # who means today says so
        day = today - (since or 7) * DAY
    return part_of(day, part)


def next_to(said: Said, anchor: Span, zone: tzinfo) -> Span | None:
    """Return the day, week or weekday before or after another: two days before 5 May."""
    first = anchor.begins.astimezone(zone).date()
    last = (anchor.ends - timedelta(microseconds=1)).astimezone(zone).date()
    after = said.has("z")
    if said.has("D"):
        number = said.get("D")[0]
        if after:
            return days(last + ((number - last.weekday()) % 7 or 7) * DAY)
        return days(first - ((first.weekday() - number) % 7 or 7) * DAY)
    unit, least, most = said.units()
    if unit in ("minute", "hour"):
        return None
    if unit == "weekend":
        last += last.weekday() // 5 * 7 * DAY if after else timedelta(0)
        day, steps = (last, (least - 1, most - 1)) if after else (first, (-most, -least))
        return Span(unit_at(unit, day, steps[0]).begins, unit_at(unit, day, steps[1]).ends)
    counts = (-least, -most) if after else (most, least)
    begin, end = (unit_at(unit, back(unit, last if after else first, n)) for n in counts)
    return until(begin.begins.date(), end.ends.date())


RELATIVE: dict[str, Resolver] = {
    "ago": ago,
    "ahead": _ahead,
    "rolling": _rolling,
    "weekday_in": _weekday_in,
    "unit": unit_named,
    "weekend": _weekend,
    "relative": _relative,
    "tonight": _tonight,
    "weekday": _weekday,
}
