"""Calendar arithmetic, and the context that the time of an expression is computed from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from scrubjay.text.dates.tokens import Expression

DAY = timedelta(days=1)
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Span(NamedTuple):
    """A range of local time, or of UTC if it is aware; the end is exclusive."""

    begins: datetime
    ends: datetime


def days(first: date, count: int = 1) -> Span:
    return Span(_midnight(first), _midnight(first + count * DAY))


def until(first: date, end: date) -> Span:
    return Span(_midnight(first), _midnight(end))


def month(year: int, number: int, count: int = 1) -> Span:
    """Return whole months; a number outside 1 to 12 is in another year."""
    return until(_first_of(year, number), _first_of(year, number + count))


def unit_at(unit: str, day: date, steps: int = 0) -> Span:
    """Return the calendar day, week, weekend, month, quarter or year of a day, or the one `steps` away."""
    if unit == "day":
        return days(day + steps * DAY)
    if unit in ("week", "weekend"):
        monday = day + (7 * steps - day.weekday()) * DAY
        return days(monday, 7) if unit == "week" else days(monday + 5 * DAY, 2)
    size = _MONTHS[unit]
    return month(day.year, (day.month - 1) // size * size + 1 + size * steps, size)


def units(unit: str, day: date, first: int, last: int) -> Span:
    """Return calendar units, from the one `first` steps away to the one `last` steps away."""
    return Span(unit_at(unit, day, first).begins, unit_at(unit, day, last).ends)


def back(unit: str, day: date, count: int) -> date:
    """Return the day `count` units before; the 31st becomes the last of a shorter month."""
    if unit in ("day", "week"):
        return day - count * (7 if unit == "week" else 1) * DAY
    first = _first_of(day.year, day.month - count * _MONTHS[unit])
    after = _first_of(first.year, first.month + 1)
    return min(first + (day.day - 1) * DAY, after - DAY)


def third(span: Span, unit: str, which: int) -> Span:
    """Return the early, middle or late part: of a month ten days, of a week three, three and four."""
    first, end = span.begins.date(), span.ends.date()
    if unit in ("year", "quarter"):
        size = _MONTHS[unit] // 3
        return month(first.year, first.month + size * which, size)
    count = (end - first).days
    cuts = {"month": ((0, 10), (10, 20), (20, count)), "week": ((0, 3), (2, 5), (3, count))}
    return until(*(first + day * DAY for day in cuts[unit][which])) if unit in cuts else span


def hours(day: date, first: int, end: int) -> Span:
    """Return hours of a day; an hour above 24 is on the next day."""
    begins = _midnight(day)
    return Span(begins + timedelta(hours=first), begins + timedelta(hours=end))


def easter(year: int) -> date:
    golden, century = year % 19, year // 100
    skipped = century - century // 4
    # The age of the moon on the first of January, with both corrections of 1582.
    epact = (skipped - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    full = epact - (epact // 28) * (1 - (29 // (epact + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + full + 2 - skipped) % 7
    return date(year, 3, 28) + (full - weekday) * DAY


def in_utc(moment: datetime, zone: tzinfo) -> datetime:
    """Return a local moment in UTC, from year 1 to 9999; a midnight that the clock skips is moved on."""
    local = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    try:
        return local.astimezone(UTC)
    except OverflowError:
        return _FIRST if moment.year < 5000 else _LAST


def closing(now: datetime) -> datetime:
    """Return the end of a range that lasts until now, including this minute."""
    return now.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)


def on_or_before(weekday: int, day: date) -> date:
    return day - (day.weekday() - weekday) % 7 * DAY


def on_or_after(weekday: int, day: date) -> date:
    return day + (weekday - day.weekday()) % 7 * DAY


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min)


def _first_of(year: int, number: int) -> date:
    years, index = divmod(number - 1, 12)
    return date(year + years, index + 1, 1)


class Context(NamedTuple):
    """Where an expression stands: the moment, its zone, the tense, the words around it.

    `not_after` is the end of a range; its beginning may leave out the year.
    """

    now: datetime
    zone: tzinfo
    tense: int
    is_clear: bool
    is_query: bool
    day_first: bool
    not_after: date | None = None
    before: Sequence[str] = ()
    after: Sequence[str] = ()

    @property
    def today(self) -> date:
        return self.now.date()

    @property
    def closing(self) -> datetime:
        return closing(self.now)


Resolver = Callable[[Expression, Context], Span | None]
