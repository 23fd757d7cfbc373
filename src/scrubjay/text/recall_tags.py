"""Text that a search gave to an agent, marked, so that it is not learned again when it comes back.

The mark is a pair of tags. It is recognised as it was written, inside JSON, escaped for HTML or for
Markdown, and in a quotation. What stands between the tags is nobody's words of this moment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.text.day_names import span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrubjay.types import Hit

_NAME = "recalled"
# Other attributes, or none, make no other mark: agents write down what they saw as they remember it.
_TAG = re.compile(
    rf"(?:<|&lt;|&#0*60;|&#x0*3c;|\\u003c)\s{{0,3}}(?P<closing>\\?/\s{{0,3}})?{_NAME}(?![\w-])",
    re.IGNORECASE,
)
_TAG_END = re.compile(r"[^<>\n]{0,40}?(?:>|&gt;|&#0*62;|&#x0*3e;|\\u003e)", re.IGNORECASE)
# An empty line, also one of a quotation, and as JSON writes it.
_GAP = re.compile(r"\n[^\S\n]*(?:>[^\S\n]*)*(?=\n)|\\n\\n")
_LONG_CHARS = 2_000
_LEAST_CUT_CHARS = 20
_ITSELF = "…"  # stands for a message in its context
_BETWEEN_TURNS = " / "


def mark(text: str, id: str, about: Mapping[str, str] = {}, *, keep_lines: bool = False) -> str:
    """Return a text inside a pair of tags, by which it is recognised when it comes back.

    It is on one line, unless it shall keep its own. Whatever looks like a tag inside of it loses its
    bracket, so that no text can end its own mark. The tag has what is said about the text, such as its
    dates, each under what it means.
    """
    from scrubjay.text.tag_lookalikes import without_tags

    said = text if keep_lines else " ".join(text.split())
    inner = without_tags(said, _NAME)
    told = "".join(
        f' {name}="{_attribute(without_tags(value, _NAME))}"' for name, value in about.items()
    )
    return f'<{_NAME} id="{_attribute(id)}"{told}>{inner}</{_NAME}>'


def spans(text: str) -> list[tuple[int, int]]:
    """Return the stretches of a text that are marked, tags included, in order and apart.

    A mark inside another is part of it. One that nobody closed ends with its paragraph; a closing tag
    alone is a stretch by itself.
    """
    found: list[tuple[int, int]] = []
    opened: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        after = _TAG_END.match(text, tag.end())
        end = after.end() if after else tag.end()
        if not tag["closing"]:
            opened.append((tag.start(), tag.end()))
        else:
            found.append((opened.pop()[0] if opened else tag.start(), end))
    if opened:
        from bisect import bisect_left

        gaps = [*(gap.start() for gap in _GAP.finditer(text)), len(text)]
        found += [(start, gaps[bisect_left(gaps, end)]) for start, end in opened]
    return _apart(found)


def without(text: str) -> str:
    """Return a text without what is marked in it."""
    marked = spans(text)
    return _filled(text, marked, lambda _: " ").strip() if marked else text


def heard(text: str) -> str:
    """Return what an index reads of a message: blanks for what is marked.

    It has the same length, so that places in the one are places in the other.
    """
    if _NAME not in text.lower():
        return text
    return _filled(text, spans(text), lambda length: " " * length)


def shown(hits: Iterable[Hit], most_chars: int | None = None) -> str:
    """Return hits as marked lines for a prompt, best first, as many as fit into so many characters."""
    return "\n".join(fitting(hits, most_chars).values())


def fitting(hits: Iterable[Hit], most_chars: int | None = None) -> dict[str, str]:
    """Return the marked lines of the hits that fit, by id, best first.

    A message has its role, and a short one the turns around it. Of a long text it is the part that was
    found. What is marked in a text already is left out. Where not even the first fits, it is cut.
    """
    if most_chars is not None and (type(most_chars) is not int or most_chars < 1):
        raise InvalidInput(f"most_chars is {most_chars!r}; give a whole number of 1 or more")
    lines: dict[str, str] = {}
    left = most_chars
    for hit in hits:
        said = _words_of(hit)
        if not said:  # a message of recalled text alone
            continue
        at = _dates_of(hit)
        line = mark(_with_turns(hit, said), hit.id, at)
        if left is not None and len(line) > left:
            line = mark(said, hit.id, at)
        if left is not None and len(line) > left:
            room = left - len(mark("", hit.id, at)) - 1
            if not lines and room >= _LEAST_CUT_CHARS:
                lines[hit.id] = mark(said[:room].rstrip() + "…", hit.id, at)
            break
        lines[hit.id] = line
        left = None if left is None else left - len(line) - 1
    return lines


def _dates_of(hit: Hit) -> dict[str, str]:
    """Return when a hit was stored, or said, and when what it speaks of happened."""
    moment = hit.created_at or hit.updated_at
    stored = "said" if hit.type == "message" else "stored"
    days = {stored: moment.date().isoformat()} if moment else {}
    return days | ({"event": span(hit.event_time, hit.event_until)} if hit.event_time else {})


def _words_of(hit: Hit) -> str:
    """Return the words of a hit itself: old marks would otherwise grow with each time they are said."""
    said = without(hit.text)
    if len(said) > _LONG_CHARS:
        said = without(hit.snippet) or said[:_LONG_CHARS]
    if hit.type == "message":
        return f"{hit.role}: {said}" if said.strip() and hit.role else said
    return said or hit.text  # a note may be about marks


def _with_turns(hit: Hit, said: str) -> str:
    """Return a message in its place between the turns that were said around it."""
    lines = hit.context.split("\n")
    if hit.type != "message" or _ITSELF not in lines:
        return said
    own = lines.index(_ITSELF)
    turns = [said if at == own else without(line) for at, line in enumerate(lines)]
    # Of a turn that only repeated a search, no more than its role is left.
    return _BETWEEN_TURNS.join(one for one in turns if one.strip() and not one.endswith(":"))


def _filled(text: str, marked: list[tuple[int, int]], blank: Callable[[int], str]) -> str:
    """Return a text with blanks in place of stretches of some length."""
    parts: list[str] = []
    end = 0
    for start, stop in marked:
        parts += (text[end:start], blank(stop - start))
        end = stop
    return "".join((*parts, text[end:]))


def _apart(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches in order, those that overlap or lie in one another as one."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined


def _attribute(value: str) -> str:
    """Return a value as it may stand between the quotes of a tag."""
    for sign, entity in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;")):
        value = value.replace(sign, entity)
    return " ".join(value.split())
