"""Calendar arithmetic, and the expression and context that a time is computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple

DAY = timedelta(days=1)
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
    if unit == "month":
        return month(day.year, day.month + steps)
    if unit == "quarter":
        return month(day.year, (day.month - 1) // 3 * 3 + 1 + 3 * steps, 3)
    if unit == "year":
        return month(day.year + steps, 1, 12)
    raise ValueError(unit)


def back(unit: str, day: date, count: int) -> date:
    """Return the day `count` units before; the 31st becomes the last of a shorter month."""
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


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min)


def _first_of(year: int, number: int) -> date:
    years, index = divmod(number - 1, 12)
    return date(year + years, index + 1, 1)


_FINER = {
    "year": ("month", 12),
    "quarter": ("month", 3),
    "month": ("day", 30),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
}
_YEARS_AROUND = 9  # 29 February may be eight years away


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

    def closing(self) -> datetime:
        """Return the end of a range that lasts until now, including this minute."""
        minute = timedelta(minutes=1)
        return self.now.astimezone(UTC).replace(second=0, microsecond=0) + minute


class Expression(NamedTuple):
    """The tokens of one expression."""

    classes: str
    values: list[Any]
    words: list[str]

    def get(self, kinds: str) -> Any:
        tokens = zip(self.classes, self.values, strict=True)
        return next((value for kind, value in tokens if kind in kinds), None)

    def has(self, kinds: str) -> bool:
        return any(kind in self.classes for kind in kinds)

    def units(self) -> tuple[str, int, int]:
        """Return a unit, and its smallest and largest count."""
        at = next(n for n, kind in enumerate(self.classes) if kind in "wUa")
        least, most = self.count_before(at)
        if self.has("h"):  # half a year, a year and a half
            least = most = least + 0.5 if self.has("&") else 0.5
        unit = self.values[at]
        if unit == "fortnight":
            unit, least, most = "week", 2 * least, 2 * most
        if least % 1:
            if unit not in _FINER:
                raise ValueError(unit)
            unit, size = _FINER[unit]
            least, most = least * size, most * size
        return unit, int(least), int(most)

    def count_before(self, at: int) -> tuple[float, float]:
        """Return the smallest and largest count before a token; 1 without a number."""
        count: Any = 1
        for kind, value in zip(self.classes[:at], self.values, strict=False):
            if kind in "N3YZ":
                count = value
        return count if isinstance(count, tuple) else (count, count)

    def with_token(self, start: int, end: int, kind: str, value: Any) -> Expression:
        return Expression(
            self.classes[:start] + kind + self.classes[end:],
            [*self.values[:start], value, *self.values[end:]],
            [*self.words[:start], "", *self.words[end:]],
        )


def in_year(context: Context, make: Callable[[int], Span], year: int | None = None) -> Span | None:
    """Return the span in a year; without a year, the one that the tense of the sentence means."""
    if year is not None:
        return make(year)
    if context.not_after:
        return latest_begun(make, context.not_after)
    if context.tense < 0:
        return latest_begun(make, context.today)
    ahead = first_match(make, context.today, lambda span: span.ends.date() > context.today)
    if context.tense > 0:
        return ahead
    both = [span for span in (latest_begun(make, context.today), ahead) if span]
    return min(both, key=lambda span: _distance(span, context.today), default=None)


def latest_begun(make: Callable[[int], Span], day: date) -> Span | None:
    years = range(day.year, day.year - _YEARS_AROUND, -1)
    return next((one for one in _valid_spans(make, years) if one.begins.date() <= day), None)


def first_match(
    make: Callable[[int], Span], day: date, matches: Callable[[Span], bool]
) -> Span | None:
    years = range(day.year - 1, day.year + _YEARS_AROUND)
    return next((one for one in _valid_spans(make, years) if matches(one)), None)


def _distance(span: Span, day: date) -> tuple[int, bool]:
    first, last = span.begins.date(), span.ends.date() - DAY
    if first <= day <= last:
        return 0, False
    # Of two that are as near, the past one: people speak more of the past.
    return min(abs((first - day).days), abs((last - day).days)), first > day


def _valid_spans(make: Callable[[int], Span], years: range) -> Iterator[Span]:
    for year in years:
        try:
            yield make(year)
        except (ValueError, OverflowError):
            continue


def of_year(context: Context, expression: Expression, make: Callable[[int], Span]) -> Span | None:
    """Return the last, this or next span of a yearly event; without such a word, by the tense."""
    year, today = expression.get("Y"), context.today
    if year is not None or not expression.has("LXT"):
        return in_year(context, make, year)
    if expression.has("T"):
        return make(today.year)
    if expression.has("X"):
        return first_match(make, today, lambda span: span.begins.date() > today)
    years = range(today.year, today.year - _YEARS_AROUND, -1)
    return next((one for one in _valid_spans(make, years) if one.ends.date() <= today), None)


Resolver = Callable[[Expression, Context], Span | None]
