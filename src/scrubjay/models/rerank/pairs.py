"""A query and a text as the one sequence that a cross-encoder reads, in windows where it is long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable
from scrubjay.models.embed.windows import WindowedTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Tokenizer

_CHARS_PER_TOKEN = 8
"""More than the words of any language have on average, so that a stretch fills a window."""
_LONGEST_STEP = 100
"""Characters within which a stretch looks for the start of a word."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What the model is given: token ids, and which of the two texts each belongs to."""

    ids: Sequence[int]
    types: Sequence[int]


class PairTokenizer:
    """A tokenizer that pairs a query with each window of a text, as its own template says.

    Of a text with more windows than `most_windows` that many are read, spread evenly from its
    beginning to its end.
    """

    def __init__(self, path: Path, *, window: int, most_windows: int) -> None:
        self._tokenizer = _load(path)
        self._window = window
        self._most_windows = most_windows
        self._room = window - self._tokenizer.num_special_tokens_to_add(is_pair=True)
        if self._room < 2:  # not one token of each
            raise Unavailable(f"a window of {window} tokens has no room for two texts")

    def pairs(self, query: str, texts: Sequence[str]) -> list[list[Pair]]:
        """Return the pairs of each text; a query keeps at most half of the window."""
        asked = _Windows(self._tokenizer, self._room // 2)
        query = asked.beginning(_readable(query))
        windows = _Windows(self._tokenizer, self._room - asked.count(query))
        return [
            [self._pair(query, part) for part in self._parts(windows, _readable(text))]
            for text in texts
        ]

    def _pair(self, query: str, text: str) -> Pair:
        encoding = self._tokenizer.encode(query, text)
        return Pair(encoding.ids[: self._window], encoding.type_ids[: self._window])

    def _parts(self, windows: _Windows, text: str) -> list[str]:
        """Return the stretches of a text that are read."""
        reach = windows.room * _CHARS_PER_TOKEN
        if len(text) <= reach * self._most_windows:
            found = windows.split(text)
            chosen = (found[at] for at in _evenly(len(found), self._most_windows))
            return [text[window.start : window.end] for window in chosen]
        # A book is not tokenized as a whole for the sake of a few windows.
        starts = [
            _word_start(text, at) for at in _evenly(len(text) - reach + 1, self._most_windows)
        ]
        parts = [windows.beginning(text[at : at + reach]) for at in starts]
        if len(parts) > 1:
            parts[-1] = windows.ending(text[starts[-1] :])
        return parts


class _Windows(WindowedTokenizer):
    """The windows of a text that has only `room` tokens, whatever the model's own window."""

    def __init__(self, tokenizer: Tokenizer, room: int) -> None:
        self._tokenizer = tokenizer
        self.room = room

    def beginning(self, text: str) -> str:
        """Return as much of the beginning as one window takes."""
        text = text[: self.room * _LONGEST_STEP]  # the rest could not be in the first window
        return text[: self.split(text)[0].end]

    def ending(self, text: str) -> str:
        """Return the last window."""
        return text[self.split(text)[-1].start :]


def _evenly(length: int, most: int) -> list[int]:
    """Return positions of 0..length-1: all of them, or `most`, the first and the last included."""
    if length <= most:
        return list(range(length))
    return [round(step * (length - 1) / max(most - 1, 1)) for step in range(most)]


def _word_start(text: str, at: int) -> int:
    """Return where a word starts at or shortly after a place."""
    blank = text.find(" ", at, at + _LONGEST_STEP)
    return at if at == 0 or blank < 0 else blank + 1


def _readable(text: str) -> str:
    """Replace halves of surrogate pairs, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _load(path: Path) -> Tokenizer:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer.from_file(str(path))
    # The file may ask for any length, cut and filled; the window is ours to mind.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # A text that says "[SEP]" or "<s>" says so in letters; it does not start a third text.
    tokenizer.encode_special_tokens = True
    if isinstance(tokenizer.model, models.WordPiece):
        # A longer "word" (a key, Thai without spaces) would become one unknown token.
        longest = tokenizer.model.max_input_chars_per_word
        pieces = pre_tokenizers.Split(Regex(f"[\\s\\S]{{1,{longest}}}"), "isolated")
        own = [tokenizer.pre_tokenizer] if tokenizer.pre_tokenizer is not None else []
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*own, pieces])
    return tokenizer
