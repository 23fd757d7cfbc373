"""Split a text into chunks along its structure: headings, pages, paragraphs, sentences, words.

Sizes are estimated tokens: about four letters of a spaced script are one token, and each character of
an unspaced script is one. A model that reads fewer tokens averages over parts of the chunk; nothing is
cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scrubjay.config import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS
from scrubjay.text.lines import LineCounter
from scrubjay.text.markdown import Heading, front_matter
from scrubjay.text.tokens import estimate_tokens
from scrubjay.types import Chunk

_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n")
_WORD = re.compile(r"\s+")
_MOST_HEADING_CHARS = 200  # each chunk repeats its heading, and a line of megabytes may be one


class ChunkSizes(NamedTuple):
    """How large a chunk may be, and how much of the previous one it repeats, in tokens."""

    tokens: int = CHUNK_TOKENS
    overlap: int = CHUNK_OVERLAP_TOKENS

    def __str__(self) -> str:  # stored with each file that was read
        return f"{self.tokens}+{self.overlap}"


_DEFAULT_SIZES = ChunkSizes()


def split(text: str, format: str = "text", sizes: ChunkSizes = _DEFAULT_SIZES) -> list[Chunk]:
    """Return the chunks of a text, in order; a short text is one chunk."""
    lines = LineCounter(text)
    chunks: list[Chunk] = []
    if format == "text" and _fits(text, 0, len(text), sizes.tokens):
        return [_whole(text, lines)]
    for heading, start, stop in _sections(text, format):
        for first, last in _pieces(text, start, stop, sizes):
            place = (first, last, lines.at(first), lines.at(last - 1))
            chunks.append(Chunk(len(chunks), *place, heading))
    return chunks or [_whole(text, lines)]


def _whole(text: str, lines: LineCounter) -> Chunk:
    return Chunk(0, 0, len(text), 1, lines.at(max(0, len(text) - 1)))


def _sections(text: str, format: str) -> Iterator[tuple[str, int, int]]:
    """Yield each heading with the start and end of its section, or each page without a heading."""
    if format == "pages":
        start = 0
        for page in text.split("\f"):
            yield "", start, start + len(page)
            start += len(page) + 1
        return
    start, heading = 0, ""
    if format != "text":  # plain text has no headings
        from scrubjay.documents.code import outline

        start = front_matter(text)[1] if format == "markdown" else 0
        trail: list[Heading] = []
        for one in outline(text, format):
            yield heading, start, one.start
            trail = [*(above for above in trail if above.level < one.level), one]
            start = one.start
            heading = " › ".join(above.text[:_MOST_HEADING_CHARS] for above in trail)
    yield heading, start, len(text)


def _pieces(text: str, start: int, stop: int, sizes: ChunkSizes) -> Iterator[tuple[int, int]]:
    """Yield parts of up to `sizes.tokens` that are not blank, cut at paragraphs, sentences or words."""
    most = sizes.tokens
    begin, end = start, start
    for first, last in _units(text, start, stop, most, (_PARAGRAPH, _SENTENCE, _WORD)):
        if end > begin and not _fits(text, begin, last, most):
            if text[begin:end].strip():
                yield begin, end
            begin = _overlap_start(text, begin, first, sizes.overlap)
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
            yield from ((part, min(cut, part + most)) for part in range(at, cut, most))
        at = cut


def _fits(text: str, start: int, stop: int, most: int) -> bool:
    length = stop - start
    if length <= most:
        return True  # a character is at most one token
    if length > 4 * most:
        return False  # and at least a quarter of one
    return estimate_tokens(text[start:stop]) <= most


def _overlap_start(text: str, begin: int, first: int, overlap: int) -> int:
    """Return the start of a word from which the next chunk repeats the end of the previous one."""
    earliest = first - overlap * 4
    if earliest <= begin:
        return first
    space = text.find(" ", earliest, first)
    return space + 1 if space >= 0 else first
