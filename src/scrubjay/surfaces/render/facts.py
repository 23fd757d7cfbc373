"""Short facts in words: counts and sizes; type, age, session, file and validity of a memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay import config
from scrubjay.runtime.command_hints import pending_vectors, to_type
from scrubjay.surfaces.render.terminal import one_line, path_line
from scrubjay.times import clock_in
from scrubjay.types import LIKELY, NOT_STORED, SHARED_PREFIX, UNSURE, Hit, Memory, Results

if TYPE_CHECKING:
    from scrubjay.types.changes import Likely

_STALE = {
    "stale": "stale: changed since it was ingested",
    "missing": "missing: the file does not exist",
}
_VERDICTS = {
    LIKELY: "likely answered",
    UNSURE: "may be answered",
    NOT_STORED: "probably not stored",
}
_MOST_REPLACED = 3
_UNITS = (
    *((31_557_600, "year"), (2_629_800, "month"), (604_800, "week")),
    *((86_400, "day"), (3_600, "hour"), (60, "minute")),
)


def size(count: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def verdict_words(verdict: str) -> str:
    """Return a verdict on results in the words of every interface."""
    return _VERDICTS[verdict]


def points(score: float) -> int:
    """Return a score of 100, cut and not rounded: the band of 29.99 is not that of 30."""
    return int(round(100 * min(max(score, 0.0), 1.0), 4))


def plural(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("ch"):
        return f"{count:,} {noun}es"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def counted(counts: Iterable[tuple[int, str]]) -> str:
    """Return counts in words, such as "3 new, 1 failed", without those that are 0."""
    return ", ".join(f"{count:,} {what}" for count, what in counts if count)


def lacks(found: Results, db: str | None) -> list[str]:
    """Return what the results lack and why, and the command that reads changed files."""
    notes = [_of_this_store(note, db) for note in found.degraded]
    changed = found.counts.get("changed_files", 0)
    if not changed:
        return notes
    since = "since it was indexed" if changed == 1 else "since they were indexed"
    refresh = f"{plural(changed, 'file')} changed {since}: {to_type('ingest', db)}"
    return [*notes, refresh]


def _of_this_store(note: str, db: str | None) -> str:
    """Name the store that was searched in a note whose command is for the default one."""
    default = pending_vectors()
    return note.removesuffix(default) + pending_vectors(db) if note.endswith(default) else note


def headline(title: str, text: str) -> str:
    return one_line(title) or one_line(text[:400]) or "(empty)"


def about(memory: Hit | Memory, now: datetime) -> list[str]:
    moment = memory.updated_at or memory.created_at
    said, *people = spoken(memory, now) or [""]
    parts = (memory.type, ", ".join(memory.topics), said, age(moment, now), *people)
    return [part for part in parts if part]


def spoken(memory: Hit | Memory, now: datetime) -> list[str]:
    if memory.type != "message":
        return []
    role, session = memory.role, memory.session
    where = f"{role or 'said'} in {session}" if session else role or ""
    said = " · ".join(filter(None, (where, stamp(memory.created_at, now))))
    owner = f"of {memory.owner}" if memory.owner else ""
    agent = f"with {memory.agent}" if memory.agent else ""
    return [said, *filter(None, (owner, agent))]


def stamp(moment: datetime | None, now: datetime) -> str:
    """Return a time to the minute, in the time zone of `now`."""
    if moment is None:
        return ""
    with suppress(OverflowError):  # the first and the last representable day
        moment = moment.astimezone(now.tzinfo)
    return f"{moment:%Y-%m-%d %H:%M}"


def here() -> datetime:
    """Return the current time in the time zone of the settings, or of this machine."""
    return clock_in(config.load().timezone)()


def as_entry(memory: Hit | Memory) -> list[str]:
    return [part for part in (memory.severity, memory.domain) if part]


def place(memory: Hit | Memory) -> str:
    return f"in {memory.collection}" if memory.namespace.startswith(SHARED_PREFIX) else ""


def of_tier(name: str | None) -> str:
    return f"tier {name}" if name else ""


def where(hit: Hit, source: str | None) -> str:
    """Return where a passage is: path:first-last, which editors open, or the page."""
    if not source:
        return ""
    if hit.page is not None:
        return f"{source}, page {hit.page}"
    return source if hit.lines is None else f"{source}:{span(hit.lines)}"


def span(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"{first}-{last}" if last > first else f"{first}"


def section(hit: Hit) -> str:
    trail = hit.heading.removeprefix(f"{hit.title} › ")
    return "" if trail == hit.title else trail


def staleness(hit: Hit) -> str:
    return _STALE.get(hit.stale, one_line(hit.stale)) if hit.stale else ""


def near_duplicates(ids: Sequence[str]) -> str:
    return f"≈ nearly the same: {', '.join(map(one_line, ids))}" if ids else ""


def replaces(hit: Hit) -> str:
    """Name the memories that a hit replaced, each with the day on which it was stored."""
    shown = [_dated(hit, id_) for id_ in hit.supersedes[:_MOST_REPLACED]]
    more = len(hit.supersedes) - len(shown)
    tail = f" and {more} earlier" if more else ""
    return f"replaces {', '.join(shown)}{tail}" if shown else ""


def outdated(hit: Hit) -> str:
    """Name the memory that may have replaced a hit, and since when."""
    if hit.superseded_by is None:
        return ""
    since = hit.change_dates.get(hit.superseded_by)
    when = f" since {since:%Y-%m-%d}" if since else ""
    return f"may be outdated{when}, see {one_line(hit.superseded_by)}"


def _dated(hit: Hit, id_: str) -> str:
    stored = hit.change_dates.get(id_)
    return f"{one_line(id_)} ({stored:%Y-%m-%d})" if stored else one_line(id_)


def age(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    if seconds < 0:
        return f"on {moment:%Y-%m-%d}"
    if seconds < 60:
        return "just now"
    unit_s, unit = next(pair for pair in _UNITS if seconds >= pair[0])
    count = int(seconds // unit_s)
    return f"{count} {unit}{'s' if count > 1 else ''} ago"


def validity(memory: Hit | Memory, now: datetime) -> str:
    begins, ends = memory.valid_from, memory.valid_until
    if mark_of(memory, now).startswith("expired"):
        return mark_of(memory, now)
    if begins is not None and (begins > now or ends is None):
        word = "from" if begins > now else "since"
        until = f" until {day(ends, now)}" if ends else ""
        return f"valid {word} {day(begins, now)}{until}"
    return f"valid until {day(ends, now)}" if ends else ""


def end_of(memory: Hit | Memory, now: datetime) -> str:
    if memory.valid_until is None or memory.valid_until <= now:
        return mark_of(memory, now)
    return f"valid until {day(memory.valid_until, now)}"


def mark_of(memory: Hit | Memory, now: datetime) -> str:
    """Mark a memory that is not valid now, which a search leaves out; nothing for a valid one."""
    if memory.valid_until is not None and memory.valid_until <= now:
        return f"expired after {day(memory.valid_until, now)}"
    if memory.valid_from is not None and memory.valid_from > now:
        return f"valid from {day(memory.valid_from, now)}"
    return ""


def day(moment: datetime, now: datetime) -> str:
    near = abs((moment - now).total_seconds()) < 86_400
    return f"{moment:%Y-%m-%d %H:%M} UTC" if near else f"{moment:%Y-%m-%d}"


# --- files ------------------------------------------------------------------------------------


def file_lines(results: Results) -> list[str]:
    """Return each file once, with the lines of its best hit; a hit without a file by its id."""
    lines: dict[str, str] = {}
    for hit in results.hits:
        path = file_of(hit)
        shown = hit.id
        if path is not None:
            # A page is not a line: an editor would open the wrong place.
            at_line = hit.lines is not None and hit.page is None
            shown = f"{relative(path)}:{span(hit.lines)}" if at_line else relative(path)  # type: ignore[arg-type]
        lines.setdefault(path or hit.id, path_line(shown))
    return list(lines.values())


def file_of(hit: Hit) -> str | None:
    """Return the file of a hit: `ingest` stores absolute paths; any other source is a word."""
    return hit.source if hit.source and os.path.isabs(hit.source) else None


def relative(path: str) -> str:
    try:
        here = os.path.join(os.getcwd(), "")
    except FileNotFoundError:  # the current folder was removed
        return path
    return path.removeprefix(here) or path


def likely_change(change: Likely) -> str:
    """Say what a new memory probably updates or repeats."""
    what = "updates" if change.kind == "updates" else "nearly repeats"
    old_at = f" ({change.old_at:%Y-%m-%d})" if change.old_at else ""
    return f"probably {what} {one_line(change.old)}{old_at}"
