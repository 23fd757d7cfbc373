"""From where an expression is seen, its tokens, and which of what comes every year is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from scrubjay.text.dates.spans import DAY, Span

_FINER = {
    "year": ("month", 12),
    "quarter": ("month", 3),
    "month": ("day", 30),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
}
_YEARS_AROUND = 9  # 29 February may be eight years away


class Seen(NamedTuple):
    """From where an expression is seen: the moment, its zone, the tense, the words around it.

    `not_after` is the end of a range that has no year of its own for its beginning.
    """

    now: datetime
    zone: tzinfo
    lean: int
    is_sure: bool
    is_query: bool
    day_first: bool
    not_after: date | None = None
    before: Sequence[str] = ()
    after: Sequence[str] = ()

    @property
    def today(self) -> date:
        """The local day."""
        return self.now.date()

    def closing(self) -> datetime:
        """Return the end of what lasts until now: the minute that is now is in it."""
        minute = timedelta(minutes=1)
        return self.now.astimezone(UTC).replace(second=0, microsecond=0) + minute


class Said(NamedTuple):
    """The tokens of one expression."""

    classes: str
    values: list[Any]
    words: list[str]

    def get(self, kinds: str) -> Any:
        """Return the worth of the first token of a class, None without one."""
        return next(
            (v for c, v in zip(self.classes, self.values, strict=True) if c in kinds), None
        )

    def has(self, kinds: str) -> bool:
        """True when a token is of one of these classes."""
        return any(kind in self.classes for kind in kinds)

    def units(self) -> tuple[str, int, int]:
        """Return a unit, and how many of it at least and at most."""
        at = next(n for n, kind in enumerate(self.classes) if kind in "wUa")
        least, most = self.how_many(at)
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

    def how_many(self, at: int) -> tuple[float, float]:
        """Return how many are said before a token, at least and at most; 1 without a number."""
        count: Any = 1
        for kind, value in zip(self.classes[:at], self.values, strict=False):
            if kind in "N3YZ":
                count = value
        return count if isinstance(count, tuple) else (count, count)

    def with_token(self, start: int, end: int, kind: str, value: Any) -> Said:
        """Return these tokens with one in place of some of them."""
        return Said(
            self.classes[:start] + kind + self.classes[end:],
            [*self.values[:start], value, *self.values[end:]],
            [*self.words[:start], "", *self.words[end:]],
        )


def of_years(seen: Seen, make: Callable[[int], Span], year: int | None = None) -> Span | None:
    """Return the one of a year; without a year, the one that the tense of the sentence means."""
    if year is not None:
        return make(year)
    if seen.not_after:
        return latest_on(make, seen.not_after)
    if seen.lean < 0:
        return latest_on(make, seen.today)
    ahead = first_that(make, seen.today, lambda span: span.ends.date() > seen.today)
    if seen.lean > 0:
        return ahead
    both = [span for span in (latest_on(make, seen.today), ahead) if span]
    return min(both, key=lambda span: _distance(span, seen.today), default=None)


def latest_on(make: Callable[[int], Span], day: date) -> Span | None:
    """Return the latest that has begun on a day."""
    years = range(day.year, day.year - _YEARS_AROUND, -1)
    return next((one for one in _made(make, years) if one.begins.date() <= day), None)


def first_that(
    make: Callable[[int], Span], day: date, is_it: Callable[[Span], bool]
) -> Span | None:
    """Return the first that is it, from the year before a day on."""
    years = range(day.year - 1, day.year + _YEARS_AROUND)
    return next((one for one in _made(make, years) if is_it(one)), None)


def _distance(span: Span, day: date) -> tuple[int, bool]:
    first, last = span.begins.date(), span.ends.date() - DAY
    if first <= day <= last:
        return 0, False
    # Of two that are as near, the past one: more is told than planned.
    return min(abs((first - day).days), abs((last - day).days)), first > day


def _made(make: Callable[[int], Span], years: range) -> Iterator[Span]:
    for year in years:
        try:
            yield make(year)
        except (ValueError, OverflowError):
            continue


def which_year(seen: Seen, said: Said, make: Callable[[int], Span]) -> Span | None:
    """Return the last, this or next of what comes once a year; without such a word, by the tense."""
    year, today = said.get("Y"), seen.today
    if year is not None or not said.has("LXT"):
        return of_years(seen, make, year)
    if said.has("T"):
        return make(today.year)
    if said.has("X"):
        return first_that(make, today, lambda span: span.begins.date() > today)
    years = range(today.year, today.year - _YEARS_AROUND, -1)
    return next((one for one in _made(make, years) if one.ends.date() <= today), None)


Resolver = Callable[[Said, Seen], Span | None]
