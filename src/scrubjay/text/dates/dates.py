"""Expressions that name their time: dates, months, seasons, holidays, years."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from scrubjay.text.dates.grammar import COUNTED_YEAR
from scrubjay.text.dates.holidays import holiday
from scrubjay.text.dates.relative import ago, unit_named
from scrubjay.text.dates.seen import Resolver, Said, Seen, first_that, of_years, which_year
from scrubjay.text.dates.spans import DAY, Span, days, month, third, unit_at

_COUNTED_YEAR = re.compile(COUNTED_YEAR)
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
    return _of_days(seen, lambda y: days(date(y, number, day)), year or said.get("Y"))


def _slash(said: Said, seen: Seen) -> Span | None:
    first, second, year = said.get("x")
    if second > 12 or (first <= 12 and not seen.day_first):
        first, second = second, first
    return days(date(year, second, first))


def _date(said: Said, seen: Seen) -> Span | None:
    day, number = said.get("NOQ"), said.get("Mmy")
    return _of_days(seen, lambda y: days(date(y, number, day)), said.get("Y"))


def _nth(said: Said, seen: Seen) -> Span | None:
    place, unit, number = said.get("QO"), said.get("wUa"), said.get("Mmy")
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
    which, unit = said.get("E"), said.get("wUa")
    if unit:
        whole = unit_named(said, seen)
    elif said.has("Mmy"):
        whole, unit = _month(said, seen), "month"
    else:
        whole, unit = _year(said, seen), "year"
    return whole and third(whole, unit, which)


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
    if not said.has("a") and not 1800 <= year <= 2199:  # in 1500 words
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


def _dated(said: Said, seen: Seen) -> Span | None:
    """Return what follows its year: last year in May, two years ago on 5 May."""
    if said.has("C"):
        return holiday(said, seen)
    if said.has("g"):
        return _dots(said, seen)
    if said.has("S"):
        return _season(said, seen)
    if said.has("q"):
        return _quarter(said, seen)
    if said.has("E"):
        return _part(said, seen)
    return (_date if said.has("NOQ") else _month)(said, seen)


def _of_year(resolve: Resolver) -> Resolver:
    """Read a year that is counted from now, such as last year, before the rest is read."""

    def resolved(said: Said, seen: Seen) -> Span | None:
        counted = _COUNTED_YEAR.search(said.classes)
        if counted is None:
            return resolve(said, seen)
        start, end = counted.span()
        part = Said(counted[0], said.values[start:end], said.words[start:end])
        if part.has("LXT"):
            year = seen.today.year + part.get("LXT")
        else:
            unit, least, most = part.units()
            if unit != "year" or least != most:  # a few years ago
                return ago(part, seen)
            year = seen.today.year - most
        return resolve(said.with_token(start, end, "Y", year), seen)

    return resolved


DATES: dict[str, Resolver] = {
    "iso": _iso,
    "dots": _of_year(_dots),
    "slash": _slash,
    "date": _of_year(_date),
    "nth": _of_year(_nth),
    "dated": _of_year(_dated),
    "part": _of_year(_part),
    "holiday": _of_year(holiday),
    "month": _of_year(_month),
    "short_month": _month,
    "season": _of_year(_season),
    "quarter": _of_year(_quarter),
    "decade": _decade,
    "year": _year,
    "short_year": _year,
    "of_month": _of_month,
    "day": _day,
}
