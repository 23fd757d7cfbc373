"""A text cut into the parts that get vectors of their own, along its own structure.

Sizes are in tokens as a model would count them, estimated: a word of a spaced script is about one
token for every four letters, a character of an unspaced one is a token. A model that reads fewer
averages what it read; nothing is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scrubjay.types import Chunk
from scrubjay.write.markdown import Heading, headings

CHUNK_TOKENS = 200
OVERLAP_TOKENS = 25

_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n")
_WORD = re.compile(r"\s+")


def split(text: str, *, markdown: bool = False, most_tokens: int = CHUNK_TOKENS) -> list[Chunk]:
    """Return the chunks of a text, in order; a short text is one chunk."""
    lines = _LineCounter(text)
    chunks: list[Chunk] = []
    for heading, start, stop in _sections(text) if markdown else [("", 0, len(text))]:
        for first, last in _pieces(text, start, stop, most_tokens):
            chunks.append(
                Chunk(len(chunks), first, last, lines.at(first), lines.at(last - 1), heading)
            )
    return chunks or [Chunk(0, 0, len(text), 1, lines.at(max(0, len(text) - 1)))]


def embedding_text(title: str, heading: str, context: str, passage: str) -> str:
    """Return what a model reads of a chunk: its title and heading first, unless it begins with them."""
    opening = passage.lstrip("# \t\n")
    front = [
        part
        for part in dict.fromkeys((title, heading, context))
        if part and not opening.startswith(part)
    ]
    return "\n".join([*front, passage])


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model makes of a text."""
    if text.isascii():
        return -(-len(text) // 4)
    wide = sum(1 for letter in text if letter >= "\u0e00")
    return wide + -(-(len(text) - wide) // 3)


def _sections(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each heading of a Markdown text with the stretch that it heads."""
    trail: list[Heading] = []
    start, heading = 0, ""
    for one in headings(text):
        if text[start : one.start].strip():
            yield heading, start, one.start
        trail = [*(above for above in trail if above.level < one.level), one]
        start, heading = one.start, " › ".join(above.text for above in trail)
    if text[start:].strip():
        yield heading, start, len(text)


def _pieces(text: str, start: int, stop: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of at most so many tokens, cut at paragraphs, else sentences, else words."""
    begin, end = start, start
    for first, last in _units(text, start, stop, most, (_PARAGRAPH, _SENTENCE, _WORD)):
        if end > begin and estimate_tokens(text[begin:last]) > most:
            if text[begin:end].strip():
                yield begin, end
            begin = _back(text, begin, first)
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
        if estimate_tokens(text[at:cut]) <= most:
            yield at, cut
        elif len(cuts) > 1:
            yield from _units(text, at, cut, most, cuts[1:])
        else:  # one endless word
            yield from ((one, min(cut, one + most)) for one in range(at, cut, most))
        at = cut


def _back(text: str, begin: int, first: int) -> int:
    """Return where the next chunk begins so that it repeats the end of the one before, at a word."""
    wanted = first - OVERLAP_TOKENS * 4
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
