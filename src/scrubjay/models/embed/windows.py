"""How much a model reads at once, and where a longer text is cut so that all of it is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Tokenizer

_OVERLAP = 24
"""Tokens that two windows share at most, so that a sentence on the seam is whole in one."""
_LONGEST_WORD = 100
"""Characters after which WordPiece gives a word up as unknown."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_SENTENCE_ENDS = ".!?…。！？؟।"

_IN_A_WORD, _WORD_END, _LINE_END, _SENTENCE_END, _PARAGRAPH_END = range(5)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a text, `text[start:end]`, that the model reads in one piece."""

    start: int
    end: int
    tokens: int


class WindowedTokenizer:
    """A tokenizer that knows the model's window."""

    def __init__(self, path: Path, window: int) -> None:
        self._tokenizer = _load(path)
        self._first, self._last = self._tokenizer.encode("").ids
        self.room = window - 2  # without the two special tokens around every text

    def pieces(self, text: str) -> list[list[int]]:
        """Return what the model is given for each window of a text, special tokens included."""
        ids, _ = self._encode(text)
        if len(ids) <= self.room:
            return [[self._first, *ids, self._last]]
        windows = (text[window.start : window.end] for window in self.split(text))
        return [[self._first, *self._encode(window)[0], self._last] for window in windows]

    def count(self, text: str) -> int:
        """Return how many tokens the text has, special ones not counted."""
        return len(self._encode(text)[0])

    def split(self, text: str) -> list[Window]:
        """Cut a text into windows that fit, at line, sentence or word ends where there are any."""
        ids, spans = self._encode(text)
        if len(ids) <= self.room:
            return [Window(0, len(text), len(ids))]
        windows: list[Window] = []
        begin = 0
        while True:
            end = self._end(text, spans, begin)
            start = spans[begin][0] if windows else 0
            windows.append(Window(start, _limit(text, spans, end), end - begin))
            if end == len(spans):
                return windows
            begin = _restart(text, spans, begin, end)

    def _end(self, text: str, spans: Sequence[tuple[int, int]], begin: int) -> int:
        """Return the token before which the window that starts at `begin` ends."""
        limit = min(begin + self.room, len(spans))
        if limit < len(spans):
            limit = _best_seam(text, spans, begin + self.room // 2, limit)
        # A stretch cut out of the middle of a word can have more tokens than it had there.
        while limit - begin > 1 and self.room < self.count(
            text[spans[begin][0] : _limit(text, spans, limit)]
        ):
            limit -= 1
        return limit

    def _encode(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        # Half of a surrogate pair cannot be encoded; a character for a character keeps offsets.
        encoding = self._tokenizer.encode(_SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        return encoding.ids, encoding.offsets


def _limit(text: str, spans: Sequence[tuple[int, int]], end: int) -> int:
    """Return the character before which a window ends: what no token stands for belongs to it."""
    return spans[end][0] if end < len(spans) else len(text)


def _best_seam(text: str, spans: Sequence[tuple[int, int]], lowest: int, highest: int) -> int:
    """Return the last of the best places to cut before a token of lowest..highest."""
    return max(range(lowest, highest + 1), key=lambda at: (_seam(text, spans, at), at))


def _restart(text: str, spans: Sequence[tuple[int, int]], begin: int, end: int) -> int:
    """Return where the next window starts: a little before the last one ended, cleanly."""
    lowest = max(begin + 1, end - _OVERLAP)
    return max(range(lowest, end + 1), key=lambda at: (_seam(text, spans, at), -at))


def _seam(text: str, spans: Sequence[tuple[int, int]], at: int) -> int:
    """Rate the place between token `at` and the one before it as a place to cut."""
    before = spans[at - 1][1]
    gap, last = text[before : spans[at][0]], text[before - 1 : before]
    if gap.count("\n") > 1:
        return _PARAGRAPH_END
    if last and last in _SENTENCE_ENDS and (gap or not last.isascii()):
        return _SENTENCE_END
    if "\n" in gap:
        return _LINE_END
    return _WORD_END if gap else _IN_A_WORD


def _load(path: Path) -> Tokenizer:
    from tokenizers import Regex, Tokenizer, pre_tokenizers

    tokenizer = Tokenizer.from_file(str(path))
    # The file asks for 128 tokens, cut and filled; the window is ours to mind.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # A "word" longer than WordPiece accepts (a key, Thai without spaces) would become one
    # unknown token, which is a silent cut; in pieces it is read.
    pieces = pre_tokenizers.Split(Regex(f"[\\s\\S]{{1,{_LONGEST_WORD}}}"), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([tokenizer.pre_tokenizer, pieces])
    return tokenizer
