"""Structure of a Markdown text: front matter, headings, lines outside code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*\r?\n?$")
# The first line of another block cannot be a title above an underline.
_NO_TITLE = re.compile(r"\s*$| {4}|\t|\s*(?:[#>|]|[-*+]\s|\d+[.)]\s|[-*_=]{2,}\s*$)")
_CLOSING = {"---": ("---", "..."), "+++": ("+++",)}


class Heading(NamedTuple):
    """A heading: where its line begins, its level and its text."""

    start: int
    level: int
    text: str


def headings(text: str) -> Iterator[Heading]:
    """Yield the headings of a text, without lines in code blocks or the front matter."""
    above: tuple[int, str] | None = None  # a line that becomes a heading if an underline follows
    alone = True  # the line above was blank or a heading: a paragraph may begin here
    for start, line in lines_outside_code(text):
        underline = _UNDERLINE.match(line) if above else None
        if above and underline:
            yield Heading(above[0], 1 if underline[1][0] == "=" else 2, above[1].strip())
            above, alone = None, True
            continue
        level = len(line) - len(line.lstrip("#"))
        hashed = 1 <= level <= 6 and line[level : level + 1] in (" ", "\t")
        title = _without_closing(line[level:].strip()) if hashed else ""
        if title:
            yield Heading(start, level, title)
        above = (start, line) if alone and not _NO_TITLE.match(line) else None
        alone = bool(title) or not line.strip()


def first_heading(text: str) -> str:
    first = next(headings(text), None)
    return first.text if first else ""


def front_matter(text: str) -> tuple[str, int]:
    """Return the block between two `---` or `+++` lines at the very beginning, and where the body begins."""
    lines = _lines(text, 0)
    closing = _CLOSING.get(next(lines, (0, ""))[1].strip())
    if closing is None:
        return "", 0
    inside = text.find("\n") + 1
    for start, line in lines:
        if line.strip() in closing:
            return text[inside:start], start + len(line)
    return "", 0  # not closed: a horizontal rule


def lines_outside_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of the body with their positions; a code block counts as one blank line."""
    fence = ""
    for start, line in _lines(text, front_matter(text)[1]):
        if fence:
            bare = line.strip()
            if len(bare) >= len(fence) and not bare.strip(fence[0]):
                fence = ""
            continue
        opening = _FENCE.match(line)
        if opening:
            fence = opening[1]
            yield start, "\n"
        else:
            yield start, line


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    for match in _LINE.finditer(text, start):
        if match.group():
            yield match.start(), match.group()


def _without_closing(heading: str) -> str:
    """Drop the hashes that close a heading; those of `C#` belong to the word."""
    bare = heading.rstrip("#")
    closed = bare != heading and (not bare or bare[-1] in " \t")
    return bare.rstrip() if closed else heading
