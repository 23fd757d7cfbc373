"""Expressions that name their time: dates, months, seasons, holidays, years."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from scrubjay.text.dates import calendar
from scrubjay.text.dates.calendar import DAY, Context, Resolver, Span, days, month, unit_at
from scrubjay.text.dates.relative import ago, named_unit
from scrubjay.text.dates.tokens import COUNTED_YEAR, Expression
from scrubjay.text.dates.words import known_words

_COUNTED_YEAR = re.compile(COUNTED_YEAR)
_GONE_DAYS, _SOON_DAYS = 10, 60
_YEARS_AROUND = 9  # 29 February may be eight years away
_SUBJECTS = frozenset("i we he she they it you".split())

_InYear = Callable[[int], Span]


def _in_year(context: Context, make: _InYear, year: int | None = None) -> Span | None:
    """Return the span in a year; without a year, the one that the tense of the sentence means."""
    if year is not None:
        return make(year)
    today, latest = context.today, context.not_after or context.today
    begun = _nearest(make, latest, lambda span: span.begins.date() <= latest, -1)
    if context.not_after or context.tense < 0:
        return begun
    ahead = _nearest(make, today, lambda span: span.ends.date() > today)
    both = [span for span in (begun, ahead) if span]
    nearest = min(both, key=lambda span: _distance(span, today), default=None)
    return ahead if context.tense > 0 else nearest


def _nearest(
    make: _InYear, day: date, matches: Callable[[Span], bool], step: int = 1
) -> Span | None:
    """Return the first match from the year before a day on, or with step -1 from its year back."""
    for year in range(day.year - (step > 0), day.year + step * _YEARS_AROUND, step):
        try:
            span = make(year)
        except (ValueError, OverflowError):
            continue
        if matches(span):
            return span
    return None


def _distance(span: Span, day: date) -> tuple[int, bool]:
    first, last = span.begins.date(), span.ends.date() - DAY
    if first <= day <= last:
        return 0, False
    # Of two that are as near, the past one: people speak more of the past.
    return min(abs((first - day).days), abs((last - day).days)), first > day


def _of_year(context: Context, expression: Expression, make: _InYear) -> Span | None:
    """Return the last, this or next span of a yearly event; without such a word, by the tense."""
    year, today = expression.get("Y"), context.today
    if year is not None or not expression.has("LXT"):
        return _in_year(context, make, year)
    if expression.has("T"):
        return make(today.year)
    if expression.has("X"):
        return _nearest(make, today, lambda span: span.begins.date() > today)
    return _nearest(make, today, lambda span: span.ends.date() <= today, -1)


def _iso(expression: Expression, context: Context) -> Span | None:
    if expression.values[0] is None:
        return None
    unit, begins = expression.values[0]
    if unit in ("day", "month"):
        return unit_at(unit, begins.date())
    begins = begins.replace(microsecond=0)
    return Span(begins, begins + timedelta(**{f"{unit}s": 1}))


def _of_days(context: Context, make: _InYear, year: int | None) -> Span | None:
    """Return the day in a year; without a year, by the tense if that is clear.

    In conversations a day without a year is rarely far away. So where the tense is not clear, the
    nearest day is meant if it has just gone ("he wants to come on 5 May", said on the 6th) or comes
    soon ("I had to move the party on 10 July").
    """
    if year is not None or context.is_query or context.not_after or context.is_clear:
        return _in_year(context, make, year)
    span, nearest = _in_year(context, make), _in_year(context._replace(tense=0), make)
    if nearest is None or context.tense == 0:
        return nearest
    ahead = (nearest.begins.date() - context.today).days
    return nearest if -_GONE_DAYS <= ahead <= _SOON_DAYS else span


def _dots(expression: Expression, context: Context) -> Span | None:
    day, number, year = expression.get("g")
    return _of_days(context, lambda y: days(date(y, number, day)), year or expression.get("Y"))


def _slash(expression: Expression, context: Context) -> Span | None:
    first, second, year = expression.get("x")
    if second > 12 or (first <= 12 and not context.day_first):
        first, second = second, first
    return days(date(year, second, first))


def _date(expression: Expression, context: Context) -> Span | None:
    day, number = expression.get("NOQ"), expression.get("Mmy")
    return _of_days(context, lambda y: days(date(y, number, day)), expression.get("Y"))


def _nth(expression: Expression, context: Context) -> Span | None:
    place, unit, number = expression.get("QO"), expression.get("wUa"), expression.get("Mmy")
    weekday = None if expression.get("D") is None else expression.get("D")[0]

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
            day = calendar.on_or_before(wanted, last)
        else:
            day = calendar.on_or_after(wanted, first) + 7 * (place - 1) * DAY
        return days(day, 1 if weekday is not None else 2)

    return _in_year(context, make, expression.get("Y"))


def _part(expression: Expression, context: Context) -> Span | None:
    which, unit = expression.get("E"), expression.get("wUa")
    if unit:
        whole = named_unit(expression, context)
    elif expression.has("Mmy"):
        whole, unit = _month(expression, context), "month"
    else:
        whole, unit = _year(expression, context), "year"
    return whole and calendar.third(whole, unit, which)


# The first day and the number of days; of movable holidays, counted from Easter Sunday.
_FIXED_HOLIDAYS = {
    "christmas": (12, 24, 3),
    "christmas day": (12, 25, 1),
    "christmas eve": (12, 24, 1),
    "new year's eve": (12, 31, 1),
    "new year": (1, 1, 1),
    "halloween": (10, 31, 1),
}
_MOVABLE_HOLIDAYS = {
    "easter": (-2, 4),
    "easter sunday": (0, 1),
    "easter monday": (1, 1),
    "good friday": (-2, 1),
    "pentecost": (49, 2),
}


def _holiday(expression: Expression, context: Context) -> Span | None:
    name = expression.get("C") or ""
    if expression.has("W"):
        name = "new year's eve" if expression.has("e") else "new year"
    elif expression.has("e"):
        name += " eve"
    elif expression.has("U") and expression.get("U") == "day":
        name += " day"
    if name not in _FIXED_HOLIDAYS:
        name = name.removesuffix(" eve").removesuffix(" day")

    def make(year: int) -> Span:
        if name in _FIXED_HOLIDAYS:
            number, day, count = _FIXED_HOLIDAYS[name]
            return days(date(year, number, day), count)
        after, count = _MOVABLE_HOLIDAYS[name]
        return days(calendar.easter(year) + after * DAY, count)

    return _of_year(context, expression, make)


def _month(expression: Expression, context: Context) -> Span | None:
    number = expression.get("Mmy")
    return _of_year(context, expression, lambda year: month(year, number))


def _season(expression: Expression, context: Context) -> Span | None:
    if "fall" in expression.words and any(
        word in ("im", "zum") or word.startswith(("dies", "letzt", "nachst", "naechst"))
        for word in expression.words
    ):  # im Fall, in diesem Fall: a case
        return None
    first = expression.get("S")
    return _of_year(context, expression, lambda year: month(year, first, 3))


def _quarter(expression: Expression, context: Context) -> Span | None:
    if expression.has("K"):
        week = expression.get("N")
        return _in_year(
            context, lambda year: days(date.fromisocalendar(year, week, 1), 7), expression.get("Y")
        )
    number = expression.get("qQO")
    if expression.has("U") and (expression.get("U") != "quarter" or number > 4):
        return None
    return _in_year(context, lambda year: month(year, 3 * number - 2, 3), expression.get("Y"))


def _decade(expression: Expression, context: Context) -> Span | None:
    first = expression.get("c")
    if first < 100:
        if not expression.has("tuE"):  # 30s is half a minute
            return None
        first += 2000 if first < 30 else 1900
    return month(first, 1, 120)


def _year(expression: Expression, context: Context) -> Span | None:
    year = expression.get("Y")
    if not expression.has("a") and not 1800 <= year <= 2199:  # in 1500 words
        return None
    return month(year, 1, 12)


def _of_month(expression: Expression, context: Context) -> Span | None:
    follows = "".join(context.after[:1])
    if follows.isalpha() and follows not in known_words() and follows not in _SUBJECTS:
        return None  # on the 5th floor
    day, today = expression.get("O"), context.today
    for steps in range(3) if context.tense > 0 else range(0, -3, -1):
        first = month(today.year, today.month + steps)
        made = days(first.begins.date() + (day - 1) * DAY)
        inside = day >= 1 and made.ends <= first.ends
        if inside and (made.begins.date() - today).days * (context.tense or -1) >= 0:
            return made
    return None


def _day(expression: Expression, context: Context) -> Span | None:
    end = context.not_after
    return days(end.replace(day=expression.get("NO"))) if end else None


def _dated(expression: Expression, context: Context) -> Span | None:
    """Resolve an expression after its year: last year in May, two years ago on 5 May."""
    by_class = {"C": _holiday, "g": _dots, "S": _season, "q": _quarter, "E": _part}
    resolvers = (by_class[kind] for kind in by_class if kind in expression.classes)
    usual = _date if expression.has("NOQ") else _month
    return next(resolvers, usual)(expression, context)


def _with_counted_year(resolve: Resolver) -> Resolver:
    """Return a resolver that first replaces a year counted from now, such as last year."""

    def resolved(expression: Expression, context: Context) -> Span | None:
        counted = _COUNTED_YEAR.search(expression.classes)
        if counted is None:
            return resolve(expression, context)
        start, end = counted.span()
        part = Expression(counted[0], expression.values[start:end], expression.words[start:end])
        if part.has("LXT"):
            year = context.today.year + part.get("LXT")
        else:
            unit, least, most = part.units()
            if unit != "year" or least != most:  # a few years ago
                return ago(part, context)
            year = context.today.year - most
        return resolve(expression.with_token(start, end, "Y", year), context)

    return resolved


# By the names of their forms.
ABSOLUTE: dict[str, Resolver] = {"short_month": _month, "short_year": _year}
for _resolve in (_iso, _slash, _decade, _year, _of_month, _day):
    ABSOLUTE[_resolve.__name__[1:]] = _resolve
for _resolve in (_dots, _date, _nth, _dated, _part, _holiday, _month, _season, _quarter):
    ABSOLUTE[_resolve.__name__[1:]] = _with_counted_year(_resolve)
