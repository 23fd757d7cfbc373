"""Expressions that name their time: dates, months, seasons, holidays, years."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from scrubjay.timewords.relative import unit_named
from scrubjay.timewords.seen import Resolver, Said, Seen, first_that, of_years, which_year
from scrubjay.timewords.spans import DAY, Span, days, easter, month, third, unit_at

_LONG_AGO_DAYS, _SOON_DAYS = 300, 31


def _iso(said: Said, seen: Seen) -> Span | None:
    unit, begins = said.values[0] or ("", seen.now)
    if unit in ("day", "month"):
        return unit_at(unit, begins.date())
    if not unit:
        return None
    begins = begins.replace(microsecond=0)
    length = timedelta(minutes=1) if unit == "minute" else timedelta(seconds=1)
    return Span(begins, begins + length)


def _of_days(seen: Seen, make: Callable[[int], Span], year: int | None) -> Span | None:
    """Return the day of a year; without a year, the one that the tense means, where that is clear.

    In conversations a day without a year is rarely far away, and a verb on -ed may be about anything:
    "I had to move the party on 10 July" is said in July of that party.
    """
    span = of_years(seen if seen.is_sure else seen._replace(lean=0), make, year)
    if span is None or year is not None or seen.is_query or seen.not_after or seen.lean >= 0:
        return span
    if (seen.today - span.begins.date()).days < _LONG_AGO_DAYS:
        return span
    ahead = first_that(make, seen.today, lambda one: one.ends.date() > seen.today)
    is_soon = ahead is not None and (ahead.begins.date() - seen.today).days <= _SOON_DAYS
    return ahead if is_soon else span


def _dots(said: Said, seen: Seen) -> Span | None:
    day, number, year = said.get("g")
    return _of_days(seen, lambda y: days(date(y, number, day)), year)


def _slash(said: Said, seen: Seen) -> Span | None:
    first, second, year = said.get("x")
    if second > 12 or (first <= 12 and not seen.day_first):
        first, second = second, first
    return days(date(year, second, first))


def _date(said: Said, seen: Seen) -> Span | None:
    day, number = said.get("NOQ"), said.get("Mmy")
    return _of_days(seen, lambda y: days(date(y, number, day)), said.get("Y"))


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

    return of_years(seen, make, said.get("Y"))


def _part(said: Said, seen: Seen) -> Span | None:
    which, unit = said.get("E"), said.get("wU")
    if unit:
        whole = unit_named(said, seen)
    elif said.has("Mmy"):
        whole, unit = _month(said, seen), "month"
    else:
        whole, unit = _year(said, seen), "year"
    return whole and third(whole, unit, which)


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

    return which_year(seen, said, make)


def _month(said: Said, seen: Seen) -> Span | None:
    number = said.get("Mmy")
    return which_year(seen, said, lambda year: month(year, number))


def _season(said: Said, seen: Seen) -> Span | None:
    if "fall" in said.words and any(
        word in ("im", "zum") or word.startswith(("dies", "letzt", "nachst", "naechst"))
        for word in said.words
    ):  # im Fall, in diesem Fall: a case
        return None
    first = said.get("S")
    return which_year(seen, said, lambda year: month(year, first, 3))


def _quarter(said: Said, seen: Seen) -> Span | None:
    if said.has("K"):
        week = said.get("N")

        def iso_week(year: int) -> Span:
            return days(date.fromisocalendar(year, week, 1), 7)

        return of_years(seen, iso_week, said.get("Y"))
    number = said.get("qQO")
    if said.has("U") and (said.get("U") != "quarter" or number > 4):
        return None
    return of_years(seen, lambda year: month(year, 3 * number - 2, 3), said.get("Y"))


def _decade(said: Said, seen: Seen) -> Span | None:
    first = said.get("c")
    if first < 100:
        if not said.has("tuE"):  # 30s is half a minute
            return None
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


DATES: dict[str, Resolver] = {
    "iso": _iso,
    "dots": _dots,
    "slash": _slash,
    "date": _date,
    "nth": _nth,
    "part": _part,
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
