"""Estimate of how many tokens a text has, without the tokenizer of any model.

About four letters of English are one token, three of another spaced script, and each character of an
unspaced script is one.
"""

from __future__ import annotations

from typing import NamedTuple

_LAST_NARROW = "\u0dff"  # each character after this one counts as a token


class Size(NamedTuple):
    """What the estimate of a text needs to know; sizes of parts add up to that of the whole.

    `others` is the number of parts with characters outside of ASCII, and `wide` of characters that count
    as a token each.
    """

    chars: int = 0
    others: int = 0
    wide: int = 0

    @property
    def tokens(self) -> int:
        if not self.others:
            return -(-self.chars // 4)
        return self.wide + -(-(self.chars - self.wide) // 3)

    def plus(self, other: Size) -> Size:
        return Size(self.chars + other.chars, self.others + other.others, self.wide + other.wide)

    def minus(self, other: Size) -> Size:
        return Size(self.chars - other.chars, self.others - other.others, self.wide - other.wide)


def size_of(text: str) -> Size:
    if text.isascii():
        return Size(len(text))
    return Size(len(text), 1, sum(map(_LAST_NARROW.__lt__, text)))


def estimate_tokens(text: str) -> int:
    return size_of(text).tokens
