"""The structure of a reStructuredText: headings by their adornment, topics, and links to documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scrubjay.documents import Document, Target
from scrubjay.documents.prose import path_target
from scrubjay.text.front_matter import split_topics
from scrubjay.text.markdown import Heading

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t\r]*$")
_SHORTEST_LOOSE = 4  # docutils forgives an underline that is too short from this length on
_FIELD = re.compile(
    r"^[ \t]*:(?:tags|tag|keywords|topics|categories):[ \t]*(\S[^\n]*)$", re.M | re.I
)
_DOC = re.compile(r":doc:`([^`<>\n]*)(?:<([^`<>\n]*)>)?`")
_EMBEDDED = re.compile(r"`[^`<>]*<([^`<>\s]+)>`__?")
_TARGET = re.compile(r"^\.\. _[^:\n]+:[ \t]+(\S+)[ \t\r]*$", re.M)


class _Line(NamedTuple):
    start: int
    text: str

    @property
    def adornment(self) -> str:
        """The line when it is one repeated mark, else nothing."""
        bare = self.text.rstrip()
        return bare if bare and _ADORNMENT.match(self.text) else ""


def read_rst(text: str) -> Document:
    """Return the document of a reStructuredText, its text as it is."""
    first = next(rst_headings(text), None)
    topics = dict.fromkeys(
        one for match in _FIELD.finditer(text) for one in split_topics(match[1])
    )
    return Document(
        text,
        title=first.text if first else "",
        format="rst",
        topics=tuple(topics),
        targets=tuple(dict.fromkeys(_targets(text))),
    )


def rst_headings(text: str) -> Iterator[Heading]:
    """Yield the headings; a level is the order in which its adornment first appeared."""
    levels: dict[tuple[str, bool], int] = {}
    above = title = _Line(0, "")
    for line in _lines(text):
        under = line.adornment
        if under and _is_title(title, under, above):
            lined_over = above.adornment == under
            level = levels.setdefault((under[0], lined_over), len(levels) + 1)
            yield Heading(above.start if lined_over else title.start, level, title.text.strip())
            line = _Line(line.start, "")  # an underline is no overline of what follows
        above, title = title, line


def _is_title(title: _Line, under: str, above: _Line) -> bool:
    """True when a line is a heading, given its underline and what stands above it."""
    words = title.text.strip()
    long_enough = len(under) >= min(len(words), _SHORTEST_LOOSE)
    if not words or title.adornment or not long_enough:
        return False
    if above.adornment:
        return above.adornment == under
    return not above.text.strip() and not title.text[0].isspace()


def _targets(text: str) -> Iterator[Target]:
    found: list[tuple[int, Target | None]] = []
    for match in _DOC.finditer(text):
        page = (match[2] or match[1]).strip()
        named = page if page.endswith((".rst", ".md", ".txt")) else f"{page}.rst"
        found.append((match.start(), Target("path", named) if page else None))
    for pattern in (_EMBEDDED, _TARGET):
        found.extend((match.start(), _simple_path(match[1])) for match in pattern.finditer(text))
    yield from (target for _, target in sorted(found, key=lambda one: one[0]) if target)


def _simple_path(written: str) -> Target | None:
    """Return the file that a hyperlink names; one that ends with `_` names another target."""
    return None if written.endswith("_") else path_target(written)


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, line)
        start += len(line) + 1
