"""Expressions that count from now: a year ago today, last week, Monday, tonight, just now."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo

from scrubjay.text.dates import calendar
from scrubjay.text.dates.calendar import DAY, Context, Resolver, Span, back, days, hours, unit_at
from scrubjay.text.dates.tokens import Expression
from scrubjay.text.dates.words import SPEECH

_JUST = timedelta(minutes=10)
_GERMAN_JUST = frozenset(("gerade", "eben", "soeben"))
_CLAUSE = 10  # words; a German participle stands at the end of its clause


def ago(expression: Expression, context: Context) -> Span | None:
    """Return the minute, hour, day, week … that long ago; multiples of 15 minutes are approximate."""
    unit, least, most = expression.units()
    if unit == "minute" and least == most and most % 15 == 0:
        least, most = most - most // 3, most + most // 3
    return _units_from_now(context, unit, -most, -least)


def _ahead(expression: Expression, context: Context) -> Span | None:
    unit, least, most = expression.units()
    return None if unit == "weekend" else _units_from_now(context, unit, least, most)


def _units_from_now(context: Context, unit: str, first: int, last: int) -> Span:
    if unit in ("minute", "hour"):
        return _exact(context, unit, first, last)
    return calendar.units(unit, context.today, first, last)


def _exact(context: Context, unit: str, first: int, last: int) -> Span:
    length = timedelta(**{f"{unit}s": 1})
    now = context.now.astimezone(UTC)

    def start(steps: int) -> datetime:
        local = (now + steps * length).astimezone(context.zone)
        begins = local.replace(second=0, microsecond=0)
        return (begins if unit == "minute" else begins.replace(minute=0)).astimezone(UTC)

    return Span(start(first), start(last) + length)


def _rolling(expression: Expression, context: Context) -> Span | None:
    unit, _, most = expression.units()
    if unit in ("minute", "hour"):
        begins = context.now.astimezone(UTC) - timedelta(**{f"{unit}s": most})
        return Span(begins, context.closing)
    if unit == "weekend":
        return Span(unit_at(unit, context.today, -most).begins, context.closing)
    return Span(days(back(unit, context.today, most)).begins, context.closing)


def _steps(expression: Expression) -> int:
    """Return the number of steps: vorletzte and the week before last are two back."""
    steps: int = expression.get("LPXT")
    return steps * 2 if expression.has("vz") else steps


def named_unit(expression: Expression, context: Context) -> Span | None:
    unit = expression.get("wUa")
    if unit in ("minute", "hour", "day"):
        return None  # "the next day" follows another day, "last minute" is late
    if unit == "fortnight":
        return _rolling(expression, context) if _steps(expression) < 0 else None
    return unit_at(unit, context.today, _steps(expression))


def _weekend(expression: Expression, context: Context) -> Span | None:
    if expression.get("U") != "weekend":
        return None
    this = unit_at("weekend", context.today)
    is_past = context.tense < 0 and this.begins.date() > context.today
    return unit_at("weekend", context.today, -1) if is_past else this


def _weekday_in(expression: Expression, context: Context) -> Span | None:
    number, part = expression.get("D")
    monday = unit_at("week", context.today, _steps(expression)).begins.date()
    return part_of(monday + number * DAY, part)


def part_of(day: date, part: tuple[int, int] | None) -> Span:
    return hours(day, *part) if part else days(day)


def _relative(expression: Expression, context: Context) -> Span | None:
    steps, part = expression.get("R"), expression.get("B")
    if expression.classes[0] == "U":  # the day before yesterday
        if expression.get("U") != "day":
            return None
        steps = (1 if steps is None else steps) + (-1 if expression.has("v") else 1)
        return days(context.today + steps * DAY) if abs(steps) == 2 else None
    if steps is None:
        steps = 1  # morgen
    elif expression.has("r"):
        part = (5, 12)  # heute Morgen
    return part_of(context.today + steps * DAY, part)


def _tonight(expression: Expression, context: Context) -> Span | None:
    if expression.has("G"):
        return hours(context.today, 18, 30)
    part, steps = expression.get("B"), expression.get("LT")
    return part_of(context.today + steps * DAY, part)


def _weekday(expression: Expression, context: Context) -> Span | None:
    number, part = expression.get("D")
    part = part or expression.get("B")
    today = context.today
    if expression.has("T"):
        day = today + (number - today.weekday()) * DAY
    elif expression.has("L"):
        day = calendar.on_or_before(number, today - DAY)
    elif expression.has("X"):
        day = calendar.on_or_after(number, today + DAY)
    elif context.not_after:
        day = calendar.on_or_before(number, context.not_after)
    elif context.tense > 0 or (context.tense == 0 and not context.is_query):
        day = calendar.on_or_after(number, today + DAY)
    else:  # in a memory, today would be called today
        day = calendar.on_or_before(number, today if context.is_query else today - DAY)
    return part_of(day, part)


def next_to(expression: Expression, anchor: Span, zone: tzinfo) -> Span | None:
    """Return the day, week or weekday before or after another: two days before 5 May."""
    first = anchor.begins.astimezone(zone).date()
    last = (anchor.ends - timedelta(microseconds=1)).astimezone(zone).date()
    after = expression.has("z")
    if expression.has("D"):
        number = expression.get("D")[0]
        return days(
            calendar.on_or_after(number, last + DAY)
            if after
            else calendar.on_or_before(number, first - DAY)
        )
    unit, least, most = expression.units()
    if unit in ("minute", "hour"):
        return None
    if not after:
        return calendar.units(unit, first, -most, -least)
    if unit == "weekend":  # the first one after a workday is that of the same week
        last += last.weekday() // 5 * 7 * DAY
        least, most = least - 1, most - 1
    return calendar.units(unit, last, least, most)


def _day_ago(expression: Expression, context: Context) -> Span | None:
    unit, least, most = expression.units()
    if unit in ("minute", "hour", "weekend") or least != most:
        return ago(expression, context)
    return days(back(unit, context.today + expression.get("R") * DAY, most))


def _day_ahead(expression: Expression, context: Context) -> Span | None:
    unit, least, most = expression.units()
    steps = 1 if expression.has("r") else expression.get("R")
    day = context.today + steps * DAY
    if unit in ("minute", "hour", "weekend") or least != most or steps < 0:
        return days(day)
    return days(back(unit, day, -most))


def _weekday_ago(expression: Expression, context: Context) -> Span | None:
    if expression.has("0"):  # two Mondays ago
        least, most = expression.count_before(expression.classes.index("0"))
        latest = calendar.on_or_before(expression.get("0"), context.today - DAY)
        first, last = (days(latest - 7 * (int(n) - 1) * DAY) for n in (most, least))
        return Span(first.begins, last.ends)
    unit, least, most = expression.units()
    if unit != "week" or least != most:
        return ago(expression, context)
    number, part = expression.get("D")
    if "nD" in expression.classes and expression.classes[0] not in "nD":  # a week ago on Monday
        day = unit_at("week", context.today, -most).begins.date() + number * DAY
    else:
        day = calendar.on_or_before(number, context.today) - 7 * most * DAY
    return part_of(day, part or expression.get("B"))


def _weekday_ahead(expression: Expression, context: Context) -> Span | None:
    unit, least, most = expression.units()
    if unit != "week" or least != most:
        return None
    number, part = expression.get("D")
    if expression.classes[0] == "I":  # in a week on Saturday
        day = unit_at("week", context.today, most).begins.date() + number * DAY
    else:
        # On a Saturday, "a week from Saturday" is not in seven days; "Samstag in einer Woche" is.
        first = context.today + DAY if expression.has("F") else context.today
        day = calendar.on_or_after(number, first) + 7 * most * DAY
    return part_of(day, part or expression.get("B"))


def _just(expression: Expression, context: Context) -> Span | None:
    if expression.has("Q") and "second" not in expression.words:
        return None
    if not expression.has("1Q") and not (context.is_query and _is_just_now(expression, context)):
        return None  # "I just wanted to say" is not about a time
    return Span(context.now.astimezone(UTC) - _JUST, context.closing)


def _is_just_now(expression: Expression, context: Context) -> bool:
    if len(expression.words) > 1:
        return expression.classes.endswith("j") or _GERMAN_JUST.issuperset(
            word
            for word, kind in zip(expression.words, expression.classes, strict=True)
            if kind == "J"
        )
    if expression.words[0] in _GERMAN_JUST:
        return not SPEECH.isdisjoint(context.after[:_CLAUSE])
    return expression.words[0] == "just" and not SPEECH.isdisjoint(context.after[:2])


def _recent(expression: Expression, context: Context) -> Span | None:
    this_day = Span(days(context.today).begins, context.closing)
    if not expression.has("6"):
        # "Recently" is not a window: of ten questions with it, one had its answer in the last two weeks.
        return this_day if expression.get("l") == "today" else None
    if expression.has("R"):
        steps = expression.get("R")
        return days(context.today + steps * DAY) if steps else this_day
    if expression.has("T"):
        if expression.get("wUa") in ("minute", "hour", "weekend", "fortnight"):
            return None
        return Span(unit_at(expression.get("wUa"), context.today).begins, context.closing)
    # Not: the earlier version, two days earlier, earlier than. Only where something was said earlier.
    follows = context.after[0] if context.after else ""
    is_said = context.is_query and not SPEECH.isdisjoint(context.before) and follows != "than"
    before = context.before[-1] if context.before else ""
    if not is_said or before in ("the", "an", "much", "no") or before.endswith("s"):
        return None
    return this_day


# By the names of their forms.
RELATIVE: dict[str, Resolver] = {"ago": ago, "unit": named_unit} | {
    resolve.__name__.lstrip("_"): resolve
    for resolve in (
        *(_ahead, _rolling, _relative, _tonight, _day_ago, _day_ahead, _just, _recent, _weekend),
        *(_weekday, _weekday_in, _weekday_ago, _weekday_ahead),
    )
}
