"""Days counted from others: a year ago today, Monday two weeks ago, a week from Saturday."""

from __future__ import annotations

from datetime import date

from scrubjay.text.dates.relative import ago, part_of
from scrubjay.text.dates.seen import Resolver, Said, Seen
from scrubjay.text.dates.spans import DAY, Span, back, days, unit_at


def _day_ago(said: Said, seen: Seen) -> Span | None:
    unit, least, most = said.units()
    if unit in ("minute", "hour", "weekend") or least != most:
        return ago(said, seen)
    return days(back(unit, seen.today + said.get("R") * DAY, most))


def _day_ahead(said: Said, seen: Seen) -> Span | None:
    unit, least, most = said.units()
    steps = 1 if said.has("r") else said.get("R")
    day = seen.today + steps * DAY
    if unit in ("minute", "hour", "weekend") or least != most or steps < 0:
        return days(day)
    return days(back(unit, day, -most))


def _weekday_ago(said: Said, seen: Seen) -> Span | None:
    if said.has("0"):  # two Mondays ago
        least, most = said.how_many(said.classes.index("0"))
        latest = _latest(said.get("0"), seen.today - DAY)
        first, last = (days(latest - 7 * (int(n) - 1) * DAY) for n in (most, least))
        return Span(first.begins, last.ends)
    unit, least, most = said.units()
    if unit != "week" or least != most:
        return ago(said, seen)
    number, part = said.get("D")
    if "nD" in said.classes and said.classes[0] not in "nD":  # a week ago on Monday
        day = unit_at("week", seen.today, -most).begins.date() + number * DAY
    else:
        day = _latest(number, seen.today) - 7 * most * DAY
    return part_of(day, part or said.get("B"))


def _weekday_ahead(said: Said, seen: Seen) -> Span | None:
    unit, least, most = said.units()
    if unit != "week" or least != most:
        return None
    number, part = said.get("D")
    if said.classes[0] == "I":  # in a week on Saturday
        day = unit_at("week", seen.today, most).begins.date() + number * DAY
    else:
        # Said on a Saturday, a week from Saturday is not today in a week; Samstag in einer Woche is.
        first = seen.today + DAY if said.has("F") else seen.today
        day = first + ((number - first.weekday()) % 7 + 7 * most) * DAY
    return part_of(day, part or said.get("B"))


def _latest(weekday: int, day: date) -> date:
    return day - (day.weekday() - weekday) % 7 * DAY


COUNTED: dict[str, Resolver] = {
    "day_ago": _day_ago,
    "day_ahead": _day_ahead,
    "weekday_ago": _weekday_ago,
    "weekday_ahead": _weekday_ahead,
}
