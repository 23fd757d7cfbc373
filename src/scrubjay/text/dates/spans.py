"""Calendar arithmetic: spans of local days, and what they are in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

DAY = timedelta(days=1)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Span(NamedTuple):
    """A range of local wall time, or of UTC where it is aware; the end is not in it."""

    begins: datetime
    ends: datetime


def days(first: date, count: int = 1) -> Span:
    """Return whole days."""
    return Span(_midnight(first), _midnight(first + count * DAY))


def until(first: date, end: date) -> Span:
    """Return the days from one up to another, which is not in it."""
    return Span(_midnight(first), _midnight(end))


def month(year: int, number: int, count: int = 1) -> Span:
    """Return whole months; a number outside 1..12 is in another year."""
    return until(_first_of(year, number), _first_of(year, number + count))


def unit_at(unit: str, day: date, steps: int = 0) -> Span:
    """Return the calendar day, week, weekend, month, quarter or year of a day, or one steps away."""
    if unit == "day":
        return days(day + steps * DAY)
    if unit in ("week", "weekend"):
        monday = day + (7 * steps - day.weekday()) * DAY
        return days(monday, 7) if unit == "week" else days(monday + 5 * DAY, 2)
    if unit == "month":
        return month(day.year, day.month + steps)
    if unit == "quarter":
        return month(day.year, (day.month - 1) // 3 * 3 + 1 + 3 * steps, 3)
    if unit == "year":
        return month(day.year + steps, 1, 12)
    raise ValueError(unit)


def back(unit: str, day: date, count: int) -> date:
    """Return the day so many units before; the 31st becomes the last of a shorter month."""
    if unit in ("day", "week"):
        return day - count * (7 if unit == "week" else 1) * DAY
    months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
    first = _first_of(day.year, day.month - months)
    after = _first_of(first.year, first.month + 1)
    return min(first.replace(day=1) + (day.day - 1) * DAY, after - DAY)


def third(span: Span, unit: str, which: int) -> Span:
    """Return the early, middle or late part: of a month ten days, of a week three, three and four."""
    first, end = span.begins.date(), span.ends.date()
    count = (end - first).days
    cuts = {"month": (0, 10, 10, 20, 20, count), "week": (0, 3, 2, 5, 3, count)}.get(unit)
    if cuts is None and unit in ("year", "quarter"):
        size = 4 if unit == "year" else 1
        months = size * 3
        start = first.month + size * which
        return month(first.year, start, size if which < 2 else months - 2 * size)
    if cuts is None:
        return span
    return until(first + cuts[2 * which] * DAY, first + cuts[2 * which + 1] * DAY)


def hours(day: date, first: int, end: int) -> Span:
    """Return hours of a day; an hour above 24 is on the next."""
    begins = _midnight(day)
    return Span(begins + timedelta(hours=first), begins + timedelta(hours=end))


def easter(year: int) -> date:
    """Return Easter Sunday in the Gregorian calendar."""
    golden, century = year % 19, year // 100
    skipped = century - century // 4
    # The age of the moon on the first of January, with both corrections of 1582.
    epact = (skipped - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    full = epact - (epact // 28) * (1 - (29 // (epact + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + full + 2 - skipped) % 7
    return date(year, 3, 28) + (full - weekday) * DAY


def in_utc(moment: datetime, zone: tzinfo) -> datetime:
    """Return a local moment in UTC, kept inside the years 1 to 9999.

    A midnight that daylight saving leaves out is the first moment of its day; of two, it is the first.
    """
    local = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    try:
        return local.astimezone(UTC)
    except OverflowError:
        return _FIRST if moment.year < 5000 else _LAST


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min)


def _first_of(year: int, number: int) -> date:
    years, index = divmod(number - 1, 12)
    return date(year + years, index + 1, 1)
