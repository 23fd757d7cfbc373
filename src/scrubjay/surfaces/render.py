"""Results and memories as text that a person likes to read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrubjay.commands import to_type
from scrubjay.stores.scope_sql import SHARED
from scrubjay.surfaces.layout import bar, cut, indent, pad, width, wrap
from scrubjay.surfaces.terminal import OPEN, SHUT, clean, one_line
from scrubjay.types import NEAR_DUPLICATE, Memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrubjay.surfaces.terminal import Screen
    from scrubjay.types import Hit, Memory, Results
    from scrubjay.write.status import Change

_BAR_CELLS = 8
_MARGIN = 4  # room for the rank; everything about a hit hangs under its headline
_PASSAGE_LINES = 4
_STALE = {"stale": "stale: changed since it was read", "missing": "missing: the file is gone"}
_NO_LISTS = ("returned", "changed_files", "checked_files")  # counts that are not of a list


def results(
    found: Results,
    screen: Screen,
    *,
    explain: bool,
    whole: bool = False,
    db: str | None = None,
    now: datetime | None = None,
) -> str:
    """Show an answer: the hits, what they were found among, and what the answer lacks."""
    now = now or datetime.now(UTC)
    top = max((hit.score for hit in found.hits), default=0.0)
    blocks = [
        _hit(rank, hit, found, screen, full=max(top, 1.0), explain=explain, whole=whole, now=now)
        for rank, hit in enumerate(found.hits, start=1)
    ]
    if not blocks:
        blocks.append("\n".join(indent(line, screen.width, 0) for line in nothing(found)))
    if explain:
        from scrubjay.surfaces.explain import stages

        blocks.append(stages(found, screen))
    notes = [indent(one_line(f"note: {why}"), screen.width, 0) for why in lacks(found, db)]
    blocks.append("\n".join((screen.dim(_summary(found)), *map(screen.yellow, notes))))
    return "\n\n".join(blocks)


def nothing(found: Results) -> list[str]:
    """Say that an answer is empty and, where its profile notes it, what was searched in vain."""
    said = (step.notes.get("nothing_found") for step in found.trace)
    return [
        f"Nothing found for “{cut(one_line(found.query), 60)}”.",
        *(one_line(f"Searched: {searched}.") for searched in said if searched),
    ]


def lacks(found: Results, db: str | None) -> list[str]:
    """Say in words what an answer lacks and why, and what to type where files have changed."""
    changed = found.counts.get("changed_files", 0)
    if not changed:
        return list(found.degraded)
    since = "since it was indexed" if changed == 1 else "since they were indexed"
    refresh = f"{plural(changed, 'file')} changed {since}: {to_type('ingest', db)}"
    return [*found.degraded, refresh]


def memory(
    one: Memory, screen: Screen, now: datetime | None = None, history: Sequence[Change] = ()
) -> str:
    """Show one memory in full, its text as it was given, and what became of it."""
    now = now or datetime.now(UTC)
    head = [screen.bold(one_line(one.title))] if one.title else []
    about = [one_line(part) for part in _about(one.type, one.topics, one.updated_at, now)]
    about += [window] if (window := validity(one, now)) else []
    where = [one_line(part) for part in (one.collection, one.source) if part]
    facts = " · ".join((*about, *where, one_line(one.id)))
    lines = [*head, screen.dim(facts), "", clean(one.text).rstrip()]
    alike = nearly_the_same([link.to for link in one.links if link.kind == NEAR_DUPLICATE])
    if alike:
        lines += ["", screen.dim(indent(alike, screen.width, 0))]
    if links := [link for link in one.links if link.kind != NEAR_DUPLICATE]:
        linked = ", ".join(f"{link.to} ({link.kind} {link.strength:g})" for link in links)
        lines += ["", screen.dim(indent(f"links: {one_line(linked)}", screen.width, 0))]
    for change in history:
        became = one_line(f"{change.before} became {change.after} {age(change.at, now)}")
        lines += ["", screen.dim(indent(became, screen.width, 0))]
    return "\n".join(lines)


def memories(
    many: list[Memory], screen: Screen, now: datetime | None = None, *, ends: bool = False
) -> str:
    """Show memories as a list, one line each; those that are not valid now are marked.

    With `ends`, it is also said until when the others are.
    """
    window = validity if ends else mark_of
    tiers = many.tiers if isinstance(many, Memories) else {}
    now = now or datetime.now(UTC)
    ids = [short_id(one.id) for one in many]
    column = max(map(width, ids), default=0)
    lines = []
    for shown, one in zip(ids, many, strict=True):
        # First: the rest of the line may be cut.
        tier_of = f"tier {tiers[one.id]}" if one.id in tiers else ""
        about = [
            *(window(one, now), tier_of),
            *_about(one.type, one.topics, one.updated_at, now),
            place(one),
        ]
        tail = one_line(" · ".join(filter(None, about)))
        tail = cut(tail, screen.width // (2 if tier_of else 3))
        room = screen.width - column - width(tail) - 4
        text = pad(cut(headline(one.title, one.text), room), room)
        lines.append(f"{screen.dim(pad(shown, column))}  {text}  {screen.dim(tail)}".rstrip())
    return "\n".join(lines)


def short_id(identifier: str) -> str:
    """Return an id as it can be typed; commands take the beginning of one, too."""
    return one_line(identifier)


def headline(title: str, text: str) -> str:
    """Return the title, or else the first words of the text."""
    return one_line(title) or one_line(text[:400]) or "(empty)"


def place(one: Hit | Memory) -> str:
    """Say in which collection a memory is that others see, too; nothing of one's own."""
    return f"in {one.collection}" if one.namespace.startswith(SHARED) else ""


def tier(hit: Hit) -> str:
    """Say which tier a hit is of; nothing where the store is one file."""
    return f"tier {hit.tier}" if hit.tier else ""


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
    """Say since when a memory is valid no longer, from when it will be, or until when it is."""
    if out_of_window := mark_of(one, now):
        return out_of_window
    return f"valid until {day(one.valid_until, now)}" if one.valid_until else ""


def mark_of(one: Hit | Memory, now: datetime) -> str:
    """Mark a memory that is not valid now: a search leaves it out. Nothing about one that is."""
    if one.valid_until is not None and one.valid_until <= now:
        return f"expired since {day(one.valid_until, now)}"
    if one.valid_from is not None and one.valid_from > now:
        return f"valid from {day(one.valid_from, now)}"
    return ""


def day(moment: datetime, now: datetime) -> str:
    """Show a moment as its day, and with its minute where that is near."""
    near = abs((moment - now).total_seconds()) < 86_400
    return f"{moment:%Y-%m-%d %H:%M} UTC" if near else f"{moment:%Y-%m-%d}"


def number(score: float) -> str:
    """Show a score to three places."""
    shown = f"{score:.3f}"
    return "0.000" if float(shown) == 0 else shown


def grade(hit: Hit, profile: str) -> str:
    """Show a score as its profile means it: of 100 and with its band in gnosis, else to three places.

    Points are cut, not rounded: 29.99 is shown as 29, because its band is not that of 30. Bands are of
    scores that a reranker gave; others are a guess between 40 and 70, and say so.
    """
    if profile.partition(":")[0] != "gnosis":
        return number(hit.score)
    from scrubjay.profiles.gnosis import BANDS, band

    word = "unread" if hit.rerank_score is None else band(hit.score)
    return f"{int(round(100 * hit.score, 4)):>3} {word:<{max(map(len, BANDS))}}"


def passage(hit: Hit, profile: str) -> str:
    """Return what is shown of a hit; the beginning of a text says that it goes on.

    Elsewhere a snippet has its own ellipses, where it was cut.
    """
    shown = hit.snippet or hit.text
    begins = profile.partition(":")[0] == "gnosis" or profile.endswith(":scan")
    cut_off = begins and not hit.complete
    return f"{shown} …" if cut_off else shown


def size(count: float) -> str:
    """Show a number of bytes in the unit a person would use."""
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def _hit(
    rank: int,
    hit: Hit,
    found: Results,
    screen: Screen,
    *,
    full: float,
    explain: bool,
    whole: bool,
    now: datetime,
) -> str:
    from scrubjay.passages import mark

    meter = f"{bar(hit.score / full, _BAR_CELLS)} {grade(hit, found.profile)}"
    room = screen.width - _MARGIN - width(meter) - 2
    head, *body = _wording(hit, found, room, screen.width - _MARGIN)
    lines = [f"{rank:>2}  {screen.marked(pad(head, room))}  {meter}".rstrip()]
    lines += [" " * _MARGIN + screen.marked(line) for line in body]
    about = _about(hit.type, hit.topics, hit.updated_at or hit.created_at, now)
    about += [*filter(None, (tier(hit), place(hit), where(hit, hit.source), section(hit)))]
    about += [*_as_entry(hit, brief=found.profile.endswith(":scan")), short_id(hit.id)]
    lines.append(screen.dim(indent(one_line(" · ".join(about)), screen.width, _MARGIN)))
    if hit.near_duplicates:
        alike = nearly_the_same(hit.near_duplicates)
        lines.append(screen.dim(indent(alike, screen.width, _MARGIN)))
    if hit.stale:
        lines.append(" " * _MARGIN + screen.yellow(staleness(hit)))
    if out_of_window := mark_of(hit, now):
        lines.append(" " * _MARGIN + screen.yellow(out_of_window))
    if whole:
        text = mark(clean(hit.text), found.terms, OPEN, SHUT, hit.language)
        lines += ["", *(" " * _MARGIN + screen.marked(line) for line in text.splitlines())]
        if hit.context:
            lines += [
                "",
                screen.dim(indent(f"context: {clean(hit.context)}", screen.width, _MARGIN)),
            ]
    if explain:
        from scrubjay.surfaces.explain import reasons

        lines += [screen.dim(indent(why, screen.width, _MARGIN)) for why in reasons(hit, found)]
    return "\n".join(lines)


def _as_entry(hit: Hit, *, brief: bool) -> list[str]:
    """Say what an entry has beyond a memory; a brief one also what it costs to read."""
    cost = f"~{plural(hit.token_estimate, 'token')}" if brief else None
    return [part for part in (hit.severity, hit.domain, cost) if part]


def _wording(hit: Hit, found: Results, room: int, below: int) -> list[str]:
    """Return the lines that say what a hit is: its title and passage, or, untitled, its passage.

    The first has `room` beside the bar, and without a title the others keep to that column.
    """
    from scrubjay.passages import mark

    shown = one_line(passage(hit, found.profile))
    marked = mark(shown, found.terms, OPEN, SHUT, hit.language)
    if hit.title:
        title = mark(cut(one_line(hit.title), room), found.terms, OPEN, SHUT, hit.language)
        return [title, *_shortened(wrap(marked, below))]
    return _shortened(wrap(marked, room)) or ["(empty)"]


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= _PASSAGE_LINES:
        return lines
    *kept, last = lines[:_PASSAGE_LINES]
    return [*kept, f"{last.removesuffix('…')} …"]


def _about(
    kind: str, topics: tuple[str, ...], moment: datetime | None, now: datetime
) -> list[str]:
    return [part for part in (kind, ", ".join(topics), age(moment, now)) if part]


def _summary(found: Results) -> str:
    lists = ", ".join(
        f"{name} {count:,}" for name, count in found.counts.items() if name not in _NO_LISTS
    )
    parts = [
        plural(len(found), "hit"),
        lists,
        f"profile {found.profile}",
        f"{found.took_ms:.0f} ms",
    ]
    if found.confidence is not None:
        parts.insert(1, f"confidence {found.confidence:.2f}")
    return " · ".join(part for part in parts if part)
