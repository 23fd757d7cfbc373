"""Results of a search as text for a person."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.entries import (
    breakdown,
    has_entries,
    is_brief,
    is_whole,
    length,
)
from scrubjay.surfaces.render.layout import bar, cut, indent, lines_of, pad, width, wrap
from scrubjay.surfaces.render.terminal import OPEN, SHUT, Screen, clean, one_line
from scrubjay.text.snippets import highlight
from scrubjay.types import Hit, Results

_BAR_CELLS = 8
_BAND_CELLS = len("excellent")
_MARGIN = 4  # room for the rank; all lines of a hit are indented below its headline
_PASSAGE_LINES = 4
_MAX_ENTRY_CHARS = 2000  # of an entry that is shown whole
_MAX_WORD_CHARS = 40
_NO_LISTS = ("returned", "changed_files", "checked_files")  # counts that are not of a list
# Counts that are shown only if they are not 0, in words.
_WORDED = {
    "languages": "languages {}",
    "superseded": "{} superseded",
    "immediate": "{} of this session",
    "moment": "{} of that time",
    "same": "{} near-duplicates left out",
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
    now = now or facts.here()
    full = max((1.0, *(hit.score for hit in found.hits)))
    show = _Hits(found, screen, full, explain, whole, db, now)
    blocks = [show(rank, hit) for rank, hit in enumerate(found.hits, start=1)]
    if not blocks:
        blocks.append("\n".join(indent(line, screen.width, 0) for line in nothing(found)))
    if explain:
        from scrubjay.surfaces.render.explain import stages

        blocks.append(stages(found, screen))
    notes = [indent(one_line(f"note: {why}"), screen.width, 0) for why in facts.lacks(found, db)]
    blocks.append("\n".join((screen.dim(_summary(found)), *map(screen.yellow, notes))))
    return "\n\n".join(blocks)


def nothing(found: Results) -> list[str]:
    head = f"Nothing found for “{cut(one_line(found.query), 60)}”."
    return [head, *([one_line(f"Searched: {found.searched}.")] if found.searched else [])]


def number(score: float) -> str:
    shown = f"{score:.3f}"
    return "0.000" if float(shown) == 0 else shown


def grade(hit: Hit) -> str:
    """Return a score as its profile means it: of 100 where it has a band, else with three places."""
    if hit.band is None:
        return number(hit.score)
    return f"{facts.points(hit.score):>3} {one_line(hit.band):<{_BAND_CELLS}}"


class _Hits(NamedTuple):
    """Text of single hits, with what all hits of one answer share; `full` is the score of a full bar."""

    found: Results
    screen: Screen
    full: float
    explain: bool
    whole: bool
    db: str | None
    now: datetime

    def __call__(self, rank: int, hit: Hit) -> str:
        screen, found = self.screen, self.found
        meter = f"{bar(hit.score / self.full, _BAR_CELLS)} {grade(hit)}"
        room = screen.width - _MARGIN - width(meter) - 2
        text = excerpt(hit, found, whole=self.whole)
        head, *body = _wording(hit, found, text, room, screen.width - _MARGIN)
        lines = [f"{rank:>2}  {screen.marked(pad(head, room))}  {meter}".rstrip()]
        lines += [" " * _MARGIN + screen.marked(line) for line in body]

        def below(line: str, paint: Callable[[str], str] = screen.dim) -> None:
            lines.append(paint(indent(line, screen.width, _MARGIN)))

        if text.more:
            below(f"the whole: {to_type(f'get {one_line(hit.id)}', self.db)}")
        below(one_line(" · ".join(filter(None, self._about(hit)))))
        if hit.type == "message":
            for message in filter(None, hit.context.split("\n")):
                below(f"│ {one_line(message)}")
        elif text.lines and hit.context:
            below(one_line(f"context: {hit.context}"))
        if hit.near_duplicates:
            below(facts.near_duplicates(hit.near_duplicates))
        if replaced := facts.replaces(hit):
            below(replaced)
        if outdated := facts.outdated(hit):
            below(outdated, screen.yellow)
        if hit.stale:
            below(facts.staleness(hit), screen.yellow)
        if not_valid := facts.mark_of(hit, self.now):
            below(not_valid, screen.yellow)
        if not self.explain and (signals := breakdown(hit, found)):
            below(signals)
        if self.explain:
            from scrubjay.surfaces.render.explain import reasons

            for why in reasons(hit, found):
                below(why)
        return "\n".join(lines)

    def _about(self, hit: Hit) -> list[str]:
        """Return facts about a hit; of an entry its validity, of a brief one its length in tokens."""
        found, now = self.found, self.now
        validity = facts.validity(hit, now) if has_entries(found) else ""
        return [
            *facts.about(hit, now),
            facts.of_tier(hit.tier),
            facts.place(hit),
            facts.where(hit, hit.source),
            facts.section(hit),
            *facts.as_entry(hit),
            "" if facts.mark_of(hit, now) else validity,
            length(hit, found),
            one_line(hit.id),
        ]


def _wording(hit: Hit, found: Results, text: Excerpt, room: int, below: int) -> list[str]:
    """Return the lines of a hit: its title and text or, untitled, its text.

    The first has `room` beside the bar, and without a title the others keep to that column.
    """

    def marked(line: str) -> str:
        return highlight(line, found.terms, OPEN, SHUT, hit.language)

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
    parts = (facts.plural(len(found), "hit"), _sure(found), lists, f"profile {found.profile}")
    return " · ".join(part for part in (*parts, f"{found.took_ms:.0f} ms") if part)


def _sure(found: Results) -> str:
    """Return whether the first hit answers the query, '' where the profile does not say."""
    if found.verdict is None:
        return ""
    return f"{facts.verdict_words(found.verdict)} (confidence {found.confidence:.2f})"


# --- how much of a hit is shown ---------------------------------------------------------------


class Excerpt(NamedTuple):
    """The text that is shown of a hit; with `lines` its line breaks are kept, with `more` it goes on."""

    text: str
    lines: bool = False
    more: bool = False


def excerpt(hit: Hit, found: Results, *, whole: bool) -> Excerpt:
    """Return the text to show: a passage, an entry up to a limit, or with `whole` everything."""
    if whole or is_whole(found):
        return Excerpt(hit.text, lines=True)
    if not has_entries(found) or is_brief(found):
        return Excerpt(_passage(hit, found))
    text = _without_front_matter(hit)
    if len(text) <= _MAX_ENTRY_CHARS:
        return Excerpt(text, lines=True)
    if hit.type == "document":
        return Excerpt(_passage(hit, found), more=True)
    first = text[:_MAX_ENTRY_CHARS]
    space = first.rfind(" ", _MAX_ENTRY_CHARS - _MAX_WORD_CHARS)
    return Excerpt(f"{first[:space] if space > 0 else first} …", lines=True, more=True)


def _passage(hit: Hit, found: Results) -> str:
    """Return the passage of a hit; of a longer text with an ellipsis. Snippets have theirs."""
    cut_off = (hit.band is not None or is_brief(found)) and not hit.complete
    return f"{hit.snippet or hit.text} …" if cut_off else hit.snippet or hit.text


def _without_front_matter(hit: Hit) -> str:
    if facts.file_of(hit) is None or not hit.text.startswith("---"):
        return hit.text
    from scrubjay.text.markdown import front_matter

    return hit.text[front_matter(hit.text)[1] :].lstrip()
