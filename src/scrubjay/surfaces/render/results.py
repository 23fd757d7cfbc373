"""Results as text that a person likes to read."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.extent import has_entries, is_brief, shown
from scrubjay.surfaces.render.layout import bar, cut, indent, lines_of, pad, width, wrap
from scrubjay.surfaces.render.terminal import OPEN, SHUT, clean, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrubjay.surfaces.render.extent import Shown
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types import Hit, Results

_BAR_CELLS = 8
_MARGIN = 4  # room for the rank; everything about a hit hangs under its headline
_PASSAGE_LINES = 4
_NO_LISTS = ("returned", "changed_files", "checked_files")  # counts that are not of a list
# Counts that say something only where they are not 0, in words.
_WORDED = {
    "immediate": "{} of this session",
    "moment": "{} of that time",
    "same": "{} that say the same left out",
    "echoes": "{} that only repeat the question left out",
}


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
    now = now or facts.here()
    top = max((hit.score for hit in found.hits), default=0.0)
    blocks = [
        _hit(
            rank,
            hit,
            found,
            screen,
            full=max(top, 1.0),
            explain=explain,
            whole=whole,
            db=db,
            now=now,
        )
        for rank, hit in enumerate(found.hits, start=1)
    ]
    if not blocks:
        blocks.append("\n".join(indent(line, screen.width, 0) for line in nothing(found)))
    if explain:
        from scrubjay.surfaces.render.explain import stages

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
    from scrubjay.search.profiles.gnosis import BANDS, band

    word = "unread" if hit.rerank_score is None else band(hit.score)
    return f"{int(round(100 * hit.score, 4)):>3} {word:<{max(map(len, BANDS))}}"


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
    if noun.endswith("ch"):
        return f"{count:,} {noun}es"
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
    db: str | None,
    now: datetime,
) -> str:
    meter = f"{bar(hit.score / full, _BAR_CELLS)} {grade(hit, found.profile)}"
    room = screen.width - _MARGIN - width(meter) - 2
    text = shown(hit, found, whole=whole)
    head, *body = _wording(hit, found, text, room, screen.width - _MARGIN)
    lines = [f"{rank:>2}  {screen.marked(pad(head, room))}  {meter}".rstrip()]
    lines += [" " * _MARGIN + screen.marked(line) for line in body]

    def below(said: str, paint: Callable[[str], str] = screen.dim) -> None:
        lines.append(paint(indent(said, screen.width, _MARGIN)))

    if text.more:
        below(f"the whole: {to_type(f'get {facts.short_id(hit.id)}', db)}")
    below(one_line(" · ".join(filter(None, _about(hit, found, now)))))
    if hit.type == "message":
        for said in filter(None, hit.context.split("\n")):
            below(f"│ {one_line(said)}")
    elif text.lines and hit.context:
        below(one_line(f"context: {hit.context}"))
    if hit.near_duplicates:
        below(facts.nearly_the_same(hit.near_duplicates))
    if hit.stale:
        below(facts.staleness(hit), screen.yellow)
    if out_of_window := facts.mark_of(hit, now):
        below(out_of_window, screen.yellow)
    if explain:
        from scrubjay.surfaces.render.explain import reasons

        for why in reasons(hit, found):
            below(why)
    return "\n".join(lines)


def _about(hit: Hit, found: Results, now: datetime) -> list[str]:
    """Say what a hit is; of an entry also until when it is valid, of a brief one what it costs to read."""
    window = facts.validity(hit, now) if has_entries(found) else ""
    return [
        *facts.about(hit, now),
        facts.of_tier(hit.tier),
        facts.place(hit),
        facts.where(hit, hit.source),
        facts.section(hit),
        *facts.as_entry(hit),
        "" if facts.mark_of(hit, now) else window,
        f"~{plural(hit.token_estimate, 'token')}" if is_brief(found) else "",
        facts.short_id(hit.id),
    ]


def _wording(hit: Hit, found: Results, text: Shown, room: int, below: int) -> list[str]:
    """Return the lines that say what a hit is: its title and text, or, untitled, its text.

    The first has `room` beside the bar, and without a title the others keep to that column.
    """
    from scrubjay.text.snippets import highlight

    def marked(said: str) -> str:
        return highlight(said, found.terms, OPEN, SHUT, hit.language)

    columns = below if hit.title else room
    if text.lines:
        lines = lines_of(marked(clean(text.text).strip("\n")), columns)
    else:
        lines = _shortened(wrap(marked(one_line(text.text)), columns))
    if hit.title:
        return [marked(cut(one_line(hit.title), room)), *lines]
    return lines or ["(empty)"]


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= _PASSAGE_LINES:
        return lines
    *kept, last = lines[:_PASSAGE_LINES]
    return [*kept, f"{last.removesuffix('…')} …"]


def _summary(found: Results) -> str:
    lists = ", ".join(
        _WORDED[name].format(f"{count:,}") if name in _WORDED else f"{name} {count:,}"
        for name, count in found.counts.items()
        if name not in _NO_LISTS and (count or name not in _WORDED)
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
