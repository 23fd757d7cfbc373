"""Holidays: on fixed days, and on days counted from Easter."""

from __future__ import annotations

from datetime import date

from scrubjay.text.dates.seen import Said, Seen, which_year
from scrubjay.text.dates.spans import DAY, Span, days, easter


def holiday(said: Said, seen: Seen) -> Span | None:
    """Return the days of a holiday, in the year that is said or meant."""
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
