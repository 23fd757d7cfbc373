"""From the tokens of one expression to the span of time it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from scrubjay.timewords.spans import (
    DAY,
    Span,
    back,
    days,
    easter,
    hours,
    month,
    third,
    unit_at,
    until,
)

_YEARS_AROUND = 9  # 29 February may be eight years away


class Seen(NamedTuple):
    """From where an expression is seen: the moment, its zone, the tense, the language of dates.

    `not_after` is the end of a range that has no year of its own for its beginning.
    """

    now: datetime
    zone: tzinfo
    lean: int
    is_query: bool
    day_first: bool
    not_after: date | None = None

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
        at = next(n for n, kind in enumerate(self.classes) if kind in "wU")
        count: Any = 1
        for kind, value in zip(self.classes[:at], self.values, strict=False):
            if kind in "N3YZ":
                count = value
        least, most = count if isinstance(count, tuple) else (count, count)
        return self.values[at], least, most


def _of_years(seen: Seen, make: Callable[[int], Span], year: int | None = None) -> Span | None:
    """Return the one of a year; without a year, the one that the tense of the sentence means."""
    if year is not None:
        return make(year)
    if seen.not_after:
        return _latest(make, seen.not_after)
    if seen.lean < 0:
        return _latest(make, seen.today)
    ahead = _first(make, seen.today, lambda span: span.ends.date() > seen.today)
    if seen.lean > 0:
        return ahead
    both = [span for span in (_latest(make, seen.today), ahead) if span]
    return min(both, key=lambda span: _distance(span, seen.today), default=None)


def _latest(make: Callable[[int], Span], day: date) -> Span | None:
    """Return the latest that has begun on a day."""
    years = range(day.year, day.year - _YEARS_AROUND, -1)
    return next((one for one in _made(make, years) if one.begins.date() <= day), None)


def _first(make: Callable[[int], Span], day: date, is_it: Callable[[Span], bool]) -> Span | None:
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


def _which(seen: Seen, said: Said, make: Callable[[int], Span]) -> Span | None:
    """Return the last, this or next of what comes once a year; without such a word, by the tense."""
    year, today = said.get("Y"), seen.today
    if year is not None or not said.has("LXT"):
        return _of_years(seen, make, year)
    if said.has("T"):
        return make(today.year)
    if said.has("X"):
        return _first(make, today, lambda span: span.begins.date() > today)
    years = range(today.year, today.year - _YEARS_AROUND, -1)
    return next((one for one in _made(make, years) if one.ends.date() <= today), None)


def _iso(said: Said, seen: Seen) -> Span | None:
    unit, begins = said.values[0] or ("", seen.now)
    if unit in ("day", "month"):
        return unit_at(unit, begins.date())
    if not unit:
        return None
    begins = begins.replace(microsecond=0)
    length = timedelta(minutes=1) if unit == "minute" else timedelta(seconds=1)
    return Span(begins, begins + length)


def _dots(said: Said, seen: Seen) -> Span | None:
    day, number, year = said.get("g")
    return _of_years(seen, lambda y: days(date(y, number, day)), year)


def _slash(said: Said, seen: Seen) -> Span | None:
    first, second, year = said.get("x")
    if second > 12 or (first <= 12 and not seen.day_first):
        first, second = second, first
    return days(date(year, second, first))


def _date(said: Said, seen: Seen) -> Span | None:
    day, number = said.get("NOQ"), said.get("Mmy")
    return _of_years(seen, lambda y: days(date(y, number, day)), said.get("Y"))


def _nth(said: Said, seen: Seen) -> Span | None:
    place, unit, number = said.get("QO"), said.get("wU"), said.get("Mmy")
    weekday = None if said.get("D") is None else said.get("D")[0]

    def make(year: int) -> Span:
        whole = month(year, number)
        first, last = whole.begins.date(), whole.ends.date() - DAY
        if weekday is None and unit in ("day", "week"):
            size = 7 if unit == "week" else 1
            if place is None:
                return days(last - (size - 1) * DAY, size)
            return days(first + size * (place - 1) * DAY, size)
        wanted = 5 if weekday is None and unit == "weekend" else weekday
        if wanted is None:
            raise ValueError(unit)
        if place is None:
            day = last - (last.weekday() - wanted) % 7 * DAY
        else:
            day = first + ((wanted - first.weekday()) % 7 + 7 * (place - 1)) * DAY
        return days(day, 1 if weekday is not None else 2)

    return _of_years(seen, make, said.get("Y"))


def _ago(said: Said, seen: Seen) -> Span | None:
    unit, least, most = said.units()
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


def _unit(said: Said, seen: Seen) -> Span | None:
    unit = said.get("wU")
    if unit in (
        "minute",
        "hour",
        "day",
    ):  # "the next day" is after another one, "last minute" is late
        return None
    return unit_at(unit, seen.today, _steps(said))


def _weekday_in(said: Said, seen: Seen) -> Span | None:
    number, part = said.get("D")
    monday = unit_at("week", seen.today, _steps(said)).begins.date()
    return _part_of(monday + number * DAY, part)


def _part_of(day: date, part: tuple[int, int] | None) -> Span:
    return hours(day, *part) if part else days(day)


def _part(said: Said, seen: Seen) -> Span | None:
    which, unit = said.get("E"), said.get("wU")
    if unit:
        whole = _unit(said, seen)
    elif said.has("Mmy"):
        whole, unit = _month(said, seen), "month"
    else:
        whole, unit = _year(said, seen), "year"
    return whole and third(whole, unit, which)


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
    return _part_of(seen.today + steps * DAY, part)


def _tonight(said: Said, seen: Seen) -> Span | None:
    if said.has("G"):
        return hours(seen.today, 18, 30)
    part, steps = said.get("B"), said.get("LT")
    return _part_of(seen.today + steps * DAY, part)


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
    return _part_of(day, part)


def _holiday(said: Said, seen: Seen) -> Span | None:
    name = said.get("C") or ""
    if said.has("W"):
        name = "new year's eve" if said.has("e") else "new year"
    elif said.has("e"):
        name += " eve"
    elif said.has("U") and said.get("U") == "day":
        name += " day"

    def make(year: int) -> Span:
        fixed = {
            "christmas": (12, 24, 3),
            "christmas day": (12, 25, 1),
            "christmas eve": (12, 24, 1),
            "new year's eve": (12, 31, 1),
            "new year": (1, 1, 1),
            "halloween": (10, 31, 1),
        }
        known = name if name in fixed else name.removesuffix(" eve").removesuffix(" day")
        if known in fixed:
            number, day, count = fixed[known]
            return days(date(year, number, day), count)
        moving = {
            "easter": (-2, 4),
            "easter sunday": (0, 1),
            "easter monday": (1, 1),
            "good friday": (-2, 1),
            "pentecost": (49, 2),
        }
        after, count = moving[name.removesuffix(" eve").removesuffix(" day")]
        return days(easter(year) + after * DAY, count)

    return _which(seen, said, make)


def _month(said: Said, seen: Seen) -> Span | None:
    number = said.get("Mmy")
    return _which(seen, said, lambda year: month(year, number))


def _season(said: Said, seen: Seen) -> Span | None:
    if "fall" in said.words and any(
        word in ("im", "zum") or word.startswith(("dies", "letzt", "nachst", "naechst"))
        for word in said.words
    ):  # im Fall, in diesem Fall: a case
        return None
    first = said.get("S")
    return _which(seen, said, lambda year: month(year, first, 3))


def _quarter(said: Said, seen: Seen) -> Span | None:
    if said.has("K"):
        week = said.get("N")

        def iso_week(year: int) -> Span:
            return days(date.fromisocalendar(year, week, 1), 7)

        return _of_years(seen, iso_week, said.get("Y"))
    number = said.get("qQO")
    if said.has("U") and (said.get("U") != "quarter" or number > 4):
        return None
    return _of_years(seen, lambda year: month(year, 3 * number - 2, 3), said.get("Y"))


def _decade(said: Said, seen: Seen) -> Span | None:
    first = said.get("c")
    if first < 100:
        first += 2000 if first < 30 else 1900
    return month(first, 1, 120)


def _year(said: Said, seen: Seen) -> Span | None:
    year = said.get("Y")
    if said.has("U"):
        if said.get("U") != "year":
            return None
    elif not 1800 <= year <= 2199:  # in 1500 words
        return None
    return month(year, 1, 12)


def _of_month(said: Said, seen: Seen) -> Span | None:
    day, today = said.get("O"), seen.today
    for steps in range(3) if seen.lean > 0 else range(0, -3, -1):
        first = month(today.year, today.month + steps)
        made = days(first.begins.date() + (day - 1) * DAY)
        inside = day >= 1 and made.ends <= first.ends
        if inside and (made.begins.date() - today).days * (seen.lean or -1) >= 0:
            return made
    return None


def _day(said: Said, seen: Seen) -> Span | None:
    end = seen.not_after
    return days(end.replace(day=said.get("NO"))) if end else None


RESOLVERS: dict[str, Callable[[Said, Seen], Span | None]] = {
    "iso": _iso,
    "dots": _dots,
    "slash": _slash,
    "date": _date,
    "nth": _nth,
    "ago": _ago,
    "ahead": _ahead,
    "rolling": _rolling,
    "weekday_in": _weekday_in,
    "part": _part,
    "unit": _unit,
    "relative": _relative,
    "tonight": _tonight,
    "weekday": _weekday,
    "holiday": _holiday,
    "month": _month,
    "short_month": _month,
    "season": _season,
    "quarter": _quarter,
    "decade": _decade,
    "year": _year,
    "short_year": _year,
    "of_month": _of_month,
    "day": _day,
}


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
        return unit_at(unit, last, last.weekday() // 5) if after else unit_at(unit, first, -1)
    counts = (-least, -most) if after else (most, least)
    begin, end = (unit_at(unit, back(unit, last if after else first, n)) for n in counts)
    return until(begin.begins.date(), end.ends.date())
