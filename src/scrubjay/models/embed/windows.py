"""Windows of a text: the pieces in which a model reads it, with special tokens and a prompt around each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from scrubjay.models import Matrix

_OVERLAP = 24  # tokens that two windows share at most: a sentence on the seam is whole in one
_SURROGATE = re.compile("[\ud800-\udfff]")
_SENTENCE_ENDS = ".!?…。！？؟।"

# How good a place to cut a text is.
_IN_A_WORD, _WORD_END, _LINE_END, _SENTENCE_END, _PARAGRAPH_END = range(5)


class Window(NamedTuple):
    """A stretch of a text, `text[start:end]`, that the model reads in one piece."""

    start: int
    end: int
    tokens: int


class WindowedTokenizer:
    """A tokenizer that cuts texts into windows a model can read."""

    def __init__(self, tokenizer: Tokenizer, window: int) -> None:
        self._tokenizer = tokenizer
        self._first, self._last = tokenizer.encode("").ids
        self.room = window - 2  # without the two special tokens around every text

    def pieces(self, text: str) -> list[list[int]]:
        """Return the token ids of each window of a text, special tokens included."""
        ids, _ = self._encode(text)
        if len(ids) <= self.room:
            return [[self._first, *ids, self._last]]
        windows = (text[window.start : window.end] for window in self.split(text))
        return [[self._first, *self._encode(window)[0], self._last] for window in windows]

    def count(self, text: str) -> int:
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
            # The next window starts a little before the last one ended, at the best place there.
            lowest = max(begin + 1, end - _OVERLAP)
            begin = max(range(lowest, end + 1), key=lambda at: (_seam(text, spans, at), -at))

    def _end(self, text: str, spans: Sequence[tuple[int, int]], begin: int) -> int:
        """Return the token before which the window that starts at `begin` ends."""
        limit = min(begin + self.room, len(spans))
        if limit < len(spans):
            # The last of the best places to cut in the second half of the window.
            lowest = begin + self.room // 2
            limit = max(range(lowest, limit + 1), key=lambda at: (_seam(text, spans, at), at))
        # A stretch cut out of the middle of a word can have more tokens than it had there.
        while limit - begin > 1 and self.room < self.count(
            text[spans[begin][0] : _limit(text, spans, limit)]
        ):
            limit -= 1
        return limit

    def _encode(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        # Half of a surrogate pair cannot be encoded; replacing it by one character keeps offsets.
        encoding = self._tokenizer.encode(_SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        return encoding.ids, encoding.offsets


class Piece(NamedTuple):
    """The token ids of one window with what stands around it; `ids[start:stop]` are of the text."""

    ids: list[int]
    start: int
    stop: int
    has_prompt: bool


class PromptedTokenizer(WindowedTokenizer):
    """Windows of any model: its own special tokens around each, and a prompt in front of the text.
    Special tokens that a text spells out, such as "</s>", are read as plain characters."""

    def __init__(self, tokenizer: Tokenizer, window: int, prompt: str = "") -> None:
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._prompt = prompt
        self._before, self._after = _special_tokens(tokenizer)
        self._most = window - len(self._before) - len(self._after)
        self.room = self._most - self.count(prompt)
        if self.room < 1:
            raise Unavailable(
                f"a window of {window} tokens has no room for a text after the prompt {prompt!r}"
            )

    def prompted(self, text: str) -> list[Piece]:
        """Return the windows of a text, each with the prompt and the special tokens."""
        return [self._piece(text[window.start : window.end]) for window in self.split(text)]

    def _piece(self, text: str) -> Piece:
        ids, spans = self._encode(self._prompt + text)
        ids = ids[: self._most]
        # A tokenizer may join the blank at the end of the prompt with the first word.
        in_prompt = sum(end <= len(self._prompt) for _, end in spans) if self._prompt else 0
        start = len(self._before) + min(in_prompt, len(ids))
        whole = [*self._before, *ids, *self._after]
        return Piece(whole, start, len(whole) - len(self._after), bool(self._prompt))


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Return the tokens that a tokenizer puts before and after every text."""
    encoding = tokenizer.encode("a")
    marks = encoding.special_tokens_mask
    if all(marks):  # it has no token for the letter
        return encoding.ids[:1], encoding.ids[1:]
    first, last = marks.index(0), len(marks) - marks[::-1].index(0)
    return encoding.ids[:first], encoding.ids[last:]


def _limit(text: str, spans: Sequence[tuple[int, int]], end: int) -> int:
    """Return the character before which a window ends; it includes characters without a token."""
    return spans[end][0] if end < len(spans) else len(text)


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


def unit(rows: Matrix) -> Matrix:
    """Scale to length one; a row of zeros stays one."""
    import numpy as np

    norm = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Matrix = (rows / np.maximum(norm, 1e-12)).astype(np.float32, copy=False)
    return scaled


def join_windows(
    pooled: Matrix, tokens: Sequence[Matrix], owners: Sequence[int], count: int
) -> tuple[Matrix, list[Matrix]]:
    """Return the vector and the token vectors of each of `count` texts from those of its windows.
    `pooled` has vectors as long as their windows; `owners` numbers the text of each window."""
    import numpy as np

    # The windows of one text lie side by side: add up the vectors, join the tokens.
    starts: NDArray[np.intp] = np.searchsorted(owners, range(count + 1))
    return (
        unit(np.add.reduceat(pooled, starts[:-1])) if len(pooled) else pooled,
        [np.concatenate(tokens[a:b]) for a, b in itertools.pairwise(starts)],
    )


def load_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer that neither truncates nor pads, and reads words of any length.
    WordPiece turns a "word" longer than it accepts (a key, Thai without spaces) into one unknown
    token, which silently drops text; in pieces it is read."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer.from_file(str(path))
    # The file may ask for any length; the windows take care of it.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if isinstance(tokenizer.model, models.WordPiece):
        longest = tokenizer.model.max_input_chars_per_word
        pieces = pre_tokenizers.Split(Regex(f"[\\s\\S]{{1,{longest}}}"), "isolated")
        own = [tokenizer.pre_tokenizer] if tokenizer.pre_tokenizer is not None else []
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*own, pieces])
    return tokenizer
