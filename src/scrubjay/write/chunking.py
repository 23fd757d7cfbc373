"""A text cut into the parts that get vectors of their own, along its own structure.

Sizes are in tokens as a model would count them, estimated: a word of a spaced script is about one
token for every four letters, a character of an unspaced one is a token. A model that reads fewer
averages what it read; nothing is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scrubjay.config import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS
from scrubjay.documents.outline import outline
from scrubjay.text.markdown import Heading, front_matter
from scrubjay.types import Chunk

_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n")
_WORD = re.compile(r"\s+")
_MOST_HEADING = 200  # every passage repeats its heading, and a line of megabytes may be one
_WIDEST_HALF = "\u0dff"  # what comes after it is a token a character


class Cutting(NamedTuple):
    """How large a chunk may be, and how much of the one before it repeats, in tokens."""

    tokens: int = CHUNK_TOKENS
    overlap: int = CHUNK_OVERLAP_TOKENS

    def __str__(self) -> str:
        return f"{self.tokens}+{self.overlap}"


_USUAL = Cutting()


def split(text: str, format: str = "text", cutting: Cutting = _USUAL) -> list[Chunk]:
    """Return the chunks of a text, in order; a short text is one chunk."""
    lines = _LineCounter(text)
    chunks: list[Chunk] = []
    for heading, start, stop in _sections(text, format):
        for first, last in _pieces(text, start, stop, cutting):
            chunks.append(
                Chunk(len(chunks), first, last, lines.at(first), lines.at(last - 1), heading)
            )
    return chunks or [Chunk(0, 0, len(text), 1, lines.at(max(0, len(text) - 1)))]


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model makes of a text."""
    if text.isascii():
        return -(-len(text) // 4)
    wide = sum(map(_WIDEST_HALF.__lt__, text))
    return wide + -(-(len(text) - wide) // 3)


def _sections(text: str, format: str) -> Iterator[tuple[str, int, int]]:
    """Yield each heading with the stretch that it heads, or each page; front matter heads nothing."""
    if format == "pages":
        yield from _pages(text)
        return
    trail: list[Heading] = []
    start = front_matter(text)[1] if format == "markdown" else 0
    heading = ""
    for one in outline(text, format):
        if text[start : one.start].strip():
            yield heading, start, one.start
        trail = [*(above for above in trail if above.level < one.level), one]
        start, heading = one.start, " › ".join(above.text[:_MOST_HEADING] for above in trail)
    if text[start:].strip():
        yield heading, start, len(text)


def _pages(text: str) -> Iterator[tuple[str, int, int]]:
    start = 0
    for page in text.split("\f"):
        stop = start + len(page)
        if page.strip():
            yield "", start, stop
        start = stop + 1


def _pieces(text: str, start: int, stop: int, cutting: Cutting) -> Iterator[tuple[int, int]]:
    """Yield stretches of at most so many tokens, cut at paragraphs, else sentences, else words."""
    most = cutting.tokens
    begin, end = start, start
    for first, last in _units(text, start, stop, most, (_PARAGRAPH, _SENTENCE, _WORD)):
        if end > begin and not _fits(text, begin, last, most):
            if text[begin:end].strip():
                yield begin, end
            begin = _back(text, begin, first, cutting.overlap)
        end = last
    if text[begin:end].strip():
        yield begin, end


def _units(
    text: str, start: int, stop: int, most: int, cuts: tuple[re.Pattern[str], ...]
) -> Iterator[tuple[int, int]]:
    """Yield the largest natural units that fit: paragraphs, or the sentences of a long one, and so on."""
    at = start
    for cut in [*(m.end() for m in cuts[0].finditer(text, start, stop)), stop]:
        if cut <= at:
            continue
        if _fits(text, at, cut, most):
            yield at, cut
        elif len(cuts) > 1:
            yield from _units(text, at, cut, most, cuts[1:])
        else:  # one endless word
            yield from ((one, min(cut, one + most)) for one in range(at, cut, most))
        at = cut


def _fits(text: str, start: int, stop: int, most: int) -> bool:
    """True when a stretch has at most so many tokens; where its length tells, it is not read for that."""
    length = stop - start
    if length <= most:
        return True  # no character is more than one token
    if length > 4 * most:
        return False  # nor less than a quarter of one
    return estimate_tokens(text[start:stop]) <= most


def _back(text: str, begin: int, first: int, overlap: int) -> int:
    """Return where the next chunk begins so that it repeats the end of the one before, at a word."""
    wanted = first - overlap * 4
    if wanted <= begin:
        return first
    space = text.find(" ", wanted, first)
    return space + 1 if space >= 0 else first


class _LineCounter:
    """Counts lines as positions go forward, so that a long text is read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1

    def at(self, position: int) -> int:
        """Return the line of a position, from 1."""
        if position < self._at:
            self._line -= self._text.count("\n", position, self._at)
        else:
            self._line += self._text.count("\n", self._at, position)
        self._at = position
        return self._line
