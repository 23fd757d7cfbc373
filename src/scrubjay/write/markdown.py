"""The structure of a Markdown text: its front matter and its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE = re.compile(r"[^\n]*\n?")


class Heading(NamedTuple):
    """A heading, where its line begins, and how deep it is."""

    start: int
    level: int
    text: str


def headings(text: str) -> Iterator[Heading]:
    """Yield the headings of a text; lines inside a code block or the front matter are none."""
    fence = ""
    for start, line in _lines(text, front_matter(text)[1]):
        bare = line.lstrip()
        if bare.startswith(("```", "~~~")):
            if not fence:
                fence = bare[:3]
            elif bare.startswith(fence):
                fence = ""
        level = len(line) - len(line.lstrip("#"))
        if not fence and 1 <= level <= 6 and line[level : level + 1] in (" ", "\t"):
            title = _without_closing(line[level:].strip())
            if title:
                yield Heading(start, level, title)


def title(text: str) -> str:
    """Return the front matter's title, else the first heading, else nothing."""
    for line in front_matter(text)[0].splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() == "title" and value.strip(" \t\"'"):
            return value.strip(" \t\"'")
    first = next(headings(text), None)
    return first.text if first else ""


def front_matter(text: str) -> tuple[str, int]:
    """Return the block between two `---` lines at the very beginning, and where the text goes on."""
    lines = _lines(text, 0)
    if next(lines, (0, ""))[1].strip() != "---":
        return "", 0
    inside = text.find("\n") + 1
    for start, line in lines:
        if line.strip() in ("---", "..."):
            return text[inside:start], start + len(line)
    return "", 0  # never closed: a rule, not front matter


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    for match in _LINE.finditer(text, start):
        if match.group():
            yield match.start(), match.group()


def _without_closing(heading: str) -> str:
    """Drop the hashes that may close a heading; those of `C#` belong to the word."""
    bare = heading.rstrip("#")
    closed = bare != heading and (not bare or bare[-1] in " \t")
    return bare.rstrip() if closed else heading
