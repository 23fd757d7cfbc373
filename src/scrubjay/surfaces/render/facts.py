"""What is said about a memory or a hit beside its text, in words, the same in every form of an answer."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from scrubjay.surfaces.render.terminal import one_line
from scrubjay.types import SHARED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from scrubjay.types import Hit, Memory

_STALE = {"stale": "stale: changed since it was read", "missing": "missing: the file is gone"}


def short_id(identifier: str) -> str:
    """Return an id as it can be typed; commands take the beginning of one, too."""
    return one_line(identifier)


def headline(title: str, text: str) -> str:
    """Return the title, or else the first words of the text."""
    return one_line(title) or one_line(text[:400]) or "(empty)"


def about(one: Hit | Memory, now: datetime) -> list[str]:
    """Say of what type a memory is, its topics, and how old it is; of a message also who said it when."""
    moment = one.updated_at or one.created_at
    said, *whose = spoken(one, now) or [""]
    parts = (one.type, ", ".join(one.topics), said, age(moment, now), *whose)
    return [part for part in parts if part]


def spoken(one: Hit | Memory, now: datetime) -> list[str]:
    """Say who said a message, in which session and when; whose it is; nothing of what is no message."""
    if one.type != "message":
        return []
    there = f"{one.role or 'said'} in {one.session}" if one.session else one.role or ""
    said = " · ".join(filter(None, (there, stamp(one.created_at, now))))
    whose = (f"of {one.owner}" if one.owner else "", f"with {one.agent}" if one.agent else "")
    return [said, *filter(None, whose)]


def stamp(moment: datetime | None, now: datetime) -> str:
    """Show a moment to its minute, in the time zone of the reader's clock."""
    if moment is None:
        return ""
    with suppress(OverflowError):  # the first and the last day there are
        moment = moment.astimezone(now.tzinfo)
    return f"{moment:%Y-%m-%d %H:%M}"


def here() -> datetime:
    """Return the present moment in the time zone of the settings, or of this machine."""
    from scrubjay.config import load
    from scrubjay.times import clock_in

    return clock_in(load().timezone)()


def as_entry(one: Hit | Memory) -> list[str]:
    """Say what an entry has beyond a memory: its severity and its domain."""
    return [part for part in (one.severity, one.domain) if part]


def place(one: Hit | Memory) -> str:
    """Say in which collection a memory is that others see, too; nothing of one's own."""
    return f"in {one.collection}" if one.namespace.startswith(SHARED_PREFIX) else ""


def of_tier(name: str | None) -> str:
    """Say of which tier something is; nothing where the store is one file."""
    return f"tier {name}" if name else ""


def where(hit: Hit, source: str | None) -> str:
    """Say where a passage is, in the form that editors open, path:first-last, or by its page."""
    if not source:
        return ""
    if hit.page is not None:
        return f"{source}, page {hit.page}"
    return source if hit.lines is None else f"{source}:{span(hit.lines)}"


def span(lines: tuple[int, int]) -> str:
    """Return the lines of a passage: first-last, or the only one."""
    first, last = lines
    return f"{first}-{last}" if last > first else f"{first}"


def section(hit: Hit) -> str:
    """Return the headings above a passage, without the title that is shown anyway."""
    trail = hit.heading.removeprefix(f"{hit.title} › ")
    return "" if trail == hit.title else trail


def staleness(hit: Hit) -> str:
    """Say in words that the file is no longer what was read."""
    return _STALE.get(hit.stale, one_line(hit.stale)) if hit.stale else ""


def nearly_the_same(ids: Sequence[str]) -> str:
    """Say which memories say nearly the same, nearest first; nothing where there are none."""
    return f"≈ nearly the same: {', '.join(map(short_id, ids))}" if ids else ""


def age(moment: datetime | None, now: datetime) -> str:
    """Say how long ago something was, in the unit a person would use."""
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    if seconds < 0:
        return f"on {moment:%Y-%m-%d}"
    if seconds < 60:
        return "just now"
    for size, unit in ((31_557_600, "year"), (2_629_800, "month"), (604_800, "week"),
                       (86_400, "day"), (3_600, "hour"), (60, "minute")):  # fmt: skip
        count = int(seconds // size)
        if count:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return ""


def validity(one: Hit | Memory, now: datetime) -> str:
    """Say when a memory is valid, or after when it is no longer; nothing where it always is."""
    begins, ends = one.valid_from, one.valid_until
    if mark_of(one, now).startswith("expired"):
        return mark_of(one, now)
    if begins is not None and (begins > now or ends is None):
        word = "from" if begins > now else "since"
        until = f" until {day(ends, now)}" if ends else ""
        return f"valid {word} {day(begins, now)}{until}"
    return f"valid until {day(ends, now)}" if ends else ""


def end_of(one: Hit | Memory, now: datetime) -> str:
    """Say until when a memory is valid, or was, whether or not it has begun."""
    if one.valid_until is None or one.valid_until <= now:
        return mark_of(one, now)
    return f"valid until {day(one.valid_until, now)}"


def mark_of(one: Hit | Memory, now: datetime) -> str:
    """Mark a memory that is not valid now: a search leaves it out. Nothing about one that is."""
    if one.valid_until is not None and one.valid_until <= now:
        return f"expired after {day(one.valid_until, now)}"
    if one.valid_from is not None and one.valid_from > now:
        return f"valid from {day(one.valid_from, now)}"
    return ""


def day(moment: datetime, now: datetime) -> str:
    """Show a moment as its day, and with its minute where that is near."""
    near = abs((moment - now).total_seconds()) < 86_400
    return f"{moment:%Y-%m-%d %H:%M} UTC" if near else f"{moment:%Y-%m-%d}"
