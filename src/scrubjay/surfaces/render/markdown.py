"""Results and memories as Markdown (`--md`), in which stored text is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.entries import breakdown, has_entries, length
from scrubjay.surfaces.render.layout import cut
from scrubjay.surfaces.render.terminal import OPEN, SHUT, clean, one_line, path_line
from scrubjay.text.snippets import highlight
from scrubjay.types import NEAR_DUPLICATE, Hit, Memory, Results

_TITLE_COLUMNS = 72
# Characters that begin emphasis, code, a link, HTML, an entity, a table, mathematics or a heading.
_ANYWHERE = re.compile(r"[\\`*_\[\]<>&~|#$]")
# A bare link: recognized as one, it would keep the backslashes of the rest.
_BARE_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
# A list, a rule or an underline, only at the beginning of a line.
_AT_THE_START = re.compile(r"^[-+=:]|^\d{1,9}(?=[.)])")
_FENCE = re.compile(r"`+")


def results(
    found: Results, *, whole: bool, db: str | None = None, now: datetime | None = None
) -> str:
    now = now or facts.here()
    blocks = [_hit(rank, hit, found, whole, db, now) for rank, hit in enumerate(found.hits, 1)]
    blocks = blocks or [escape(line) for line in render.nothing(found)]
    blocks += [escape(f"note: {one_line(why)}") for why in facts.lacks(found, db)]
    return "\n\n".join(blocks)


def memory(stored: Memory, now: datetime | None = None, tier: str | None = None) -> str:
    now = now or facts.here()
    about = (
        escape(one_line(stored.type)),
        *_words(stored, now),
        facts.validity(stored, now),
        escape(one_line(facts.of_tier(tier))),
        code(path_line(stored.source)) if stored.source else "",
        code(one_line(stored.id)),
        _alike([link.to for link in stored.links if link.kind == NEAR_DUPLICATE]),
    )
    line = " · ".join(fact for fact in about if fact)
    text = f"## {_title(stored.title, stored.text)}\n\n{line}\n\n{quote(clean(stored.text))}"
    return text + _context(stored)


def escape(text: str) -> str:
    safe = _BARE_LINK.sub(r"\\\g<0>", _ANYWHERE.sub(r"\\\g<0>", text))
    begins = _AT_THE_START.match(safe)
    if begins is None:
        return safe
    # A digit cannot be escaped; the point after a number can.
    return f"\\{safe}" if not begins[0].isdigit() else f"{begins[0]}\\{safe[begins.end() :]}"


def quote(text: str) -> str:
    lines = text.strip("\n").split("\n")
    after = (*lines[1:], "")
    return "\n".join(
        _quoted(line, goes_on=bool(below.strip()))
        for line, below in zip(lines, after, strict=True)
    )


def code(text: str) -> str:
    longest = max(map(len, _FENCE.findall(text)), default=0)
    fence = "`" * (longest + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{room}{text}{room}{fence}"


def _hit(rank: int, hit: Hit, found: Results, whole: bool, db: str | None, now: datetime) -> str:
    text = render.excerpt(hit, found, whole=whole)
    path = facts.file_of(hit)
    place = facts.where(hit, facts.relative(path) if path else hit.source)
    entries = has_entries(found)
    window = facts.validity if entries else facts.mark_of
    about = (
        code(path_line(place)) if place else "",
        escape(one_line(facts.section(hit))),
        escape(one_line(hit.type)) if entries else "",
        *_words(hit, now),
        escape(one_line(facts.of_tier(hit.tier))),
        f"score {render.grade(hit).strip()}",
        escape(breakdown(hit, found)),
        length(hit, found),
        code(one_line(hit.id)),
        _alike(hit.near_duplicates),
        escape(facts.replaces(hit)),
        escape(facts.outdated(hit)),
        escape(facts.staleness(hit)),
        window(hit, now),
        f"the whole: {code(to_type(f'get {one_line(hit.id)}', db))}" if text.more else "",
    )
    line = " · ".join(fact for fact in about if fact)
    quoted = quote(highlight(clean(text.text), found.terms, OPEN, SHUT, hit.language))
    block = f"## {rank}. {_title(hit.title, text.text)}\n\n{line}\n\n{quoted}"
    return block + _context(hit) if text.lines or hit.type == "message" else block


def _words(memory: Hit | Memory, now: datetime) -> list[str]:
    topics = ", ".join(memory.topics)
    words = (*facts.spoken(memory, now), topics, *facts.as_entry(memory))
    return [escape(one_line(word)) for word in words]


def _context(memory: Hit | Memory) -> str:
    return f"\n\n{escape(one_line(f'context: {memory.context}'))}" if memory.context else ""


def _alike(ids: Sequence[str]) -> str:
    return f"≈ nearly the same: {', '.join(code(one_line(id_)) for id_ in ids)}" if ids else ""


def _title(title: str, text: str) -> str:
    return escape(cut(facts.headline(title, text), _TITLE_COLUMNS))


def _quoted(line: str, *, goes_on: bool) -> str:
    """Return a line of a quote; two spaces at its end are a line break."""
    bare = line.rstrip()
    body = bare.lstrip()
    if not body:
        return ">"
    # Four spaces would make it code, in which nothing is escaped; no-break spaces do not.
    margin = "\u00a0" * len(bare[: len(bare) - len(body)].expandtabs(4))
    return f"> {margin}{_bold(body)}{'  ' if goes_on else ''}"


def _bold(text: str) -> str:
    """Escape a line and put its marked words in bold; adjacent ones share one pair of stars."""
    return escape(text.replace(SHUT + OPEN, "")).replace(OPEN, "**").replace(SHUT, "**")
