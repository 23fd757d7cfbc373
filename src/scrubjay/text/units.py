"""Where a text may be cut: at the end of a paragraph, a sentence, a line or a word, in this order."""

from __future__ import annotations

import re

_BLANK = re.compile(r"\n\s*\n")
# The end of a sentence, and a line before an item of a list, a heading, a row of a table or a quotation.
_SENTENCE_END = re.compile(
    r"[.!?…][\"'”’»)\]*_`]*(?=\s|$)|[。！？][」』）]*|\n(?=[^\S\n]*(?:\n|[-*+#|>]|\d+[.)]\s))"
)
_LINE_END = re.compile(r"\n")
_CONTENT = re.compile(r"\S")
_WORD_END = re.compile(r"\s(?=\S)")
_SPACE = re.compile(r"\s*\n|[^\S\n]*")  # up to the beginning of a line, whose indentation stays
_REACH_CHARS = 600  # a sentence that is longer may be cut
_LONG_CHARS = 800  # a longer paragraph is taken in parts
_SHORT_CHARS = 160  # a shorter one, such as a heading, is taken with its neighbour


def sentence_start(text: str, at: int) -> int:
    """Return where the sentence at this position begins, or the position if that is too far away."""
    low = max(0, at - _REACH_CHARS)
    if not text[low:at].strip():
        return at if low else 0
    if (before := _last_end(_SENTENCE_END, text, low, at)) is not None:
        return min(_after_space(text, before), at)
    if (before := _last_end(_LINE_END, text, low, at)) is not None:
        return before
    return at if low else 0


def sentence_stop(text: str, at: int) -> int:
    """Return where the sentence that ends at or after this position ends."""
    at = _content_end(text, at)
    return next(
        (
            match.end()
            for match in _SENTENCE_END.finditer(text, max(0, at - 3), at + _REACH_CHARS)
            if match.end() >= at
        ),
        len(text) if len(text) <= at + _REACH_CHARS else _line_stop(text, at),
    )


def last_stop(text: str, start: int, most: int) -> int:
    """Return where to cut a text that begins at `start` to at most `most` characters."""
    high = min(len(text), start + most)
    if high == len(text):
        return high
    for cut in (_SENTENCE_END, _LINE_END, _WORD_END):
        least = start if cut is _SENTENCE_END else start + most // 2
        if (end := _last_end(cut, text, least, high)) is not None:
            return end
    return high


def next_stop(text: str, stop: int) -> int:
    """Return the end of the paragraph after this position, or of its first sentences."""
    content = _CONTENT.search(text, stop)
    if content is None:
        return stop
    begin = end = content.start()
    while end < len(text) and end - begin < _SHORT_CHARS:
        blank = _BLANK.search(text, end + 1)
        end = blank.start() if blank else len(text)
    if end - begin <= _LONG_CHARS:
        return end
    return last_stop(text, begin, _LONG_CHARS)


def next_start(text: str, start: int) -> int:
    """Return the beginning of the paragraph before this position, or of its last sentences."""
    end = _content_end(text, start)
    if end == 0:
        return start
    low = max(0, end - _LONG_CHARS)
    breaks = [match.end() for match in _BLANK.finditer(text, low, end)]
    for begin in reversed(breaks):
        if end - begin >= _SHORT_CHARS:
            return begin
    if low == 0:
        return 0
    if breaks:  # short paragraphs after a long one
        return breaks[0]
    for cut in (_SENTENCE_END, _LINE_END, _WORD_END):
        begins = (_after_space(text, match.end()) for match in cut.finditer(text, low, end))
        if (first := next((begin for begin in begins if begin < end), None)) is not None:
            return first
    return low


def trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return a range without the blank lines at its beginning and the blanks at its end."""
    stop = max(_content_end(text, stop), start)
    space = _SPACE.match(text, start, stop)
    return (space.end() if space else start), stop


def _content_end(text: str, at: int) -> int:
    """Return the end of the last word before a position."""
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return at


def _line_stop(text: str, at: int) -> int:
    """Return the end of the line, or the position where that is too far away."""
    end = text.find("\n", at, at + _REACH_CHARS)
    return at if end < 0 else end


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _last_end(cut: re.Pattern[str], text: str, low: int, high: int) -> int | None:
    """Return the last end of a match in a range, above `low`."""
    ends = [match.end() for match in cut.finditer(text, low, min(len(text), high + 1))]
    return next((end for end in reversed(ends) if low < end <= high), None)
