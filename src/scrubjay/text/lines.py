"""Lines of a text: the line of a position, and the lines of a range such as 10-40. They count from 1."""

from __future__ import annotations

import re
from typing import NamedTuple

from scrubjay.errors import InvalidInput

_RANGE = re.compile(r"([0-9]{1,9})(?:\s*(-)\s*([0-9]{1,9})?)?")
_AT_END = re.compile(r"(.+):([0-9]{1,9}(?:-[0-9]{0,9})?)", re.DOTALL)


class Lines(NamedTuple):
    """Some lines of a memory: `text` is from line `first` to `last` of `total`."""

    id: str
    text: str
    first: int
    last: int
    total: int


class LineCounter:
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


def parse_range(given: str) -> tuple[int, int | None]:
    """Return the first and the last line of `10-40`, `10` or `10-`; None is the last of the text."""
    match = _RANGE.fullmatch(given.strip())
    if match is None:
        raise InvalidInput(f"lines is {given[:40]!r}; give a range such as 10-40, 10 or 10-")
    first, dash, last = match.groups()
    if not dash:
        return int(first), int(first)
    return int(first), int(last) if last else None


def split_id(given: str) -> tuple[str, str]:
    """Return the id and the range of `ID:10-40`; an id without one has the range ""."""
    match = _AT_END.fullmatch(given)
    return (match[1], match[2]) if match else (given, "")


def cut_lines(id: str, text: str, first: int = 1, last: int | None = None) -> Lines:
    """Return these lines of a text, up to its end; InvalidInput where none of them exists."""
    lines = text.removesuffix("\n").split("\n")
    total = len(lines)
    for name, value in (("first", first), ("last", total if last is None else last)):
        if type(value) is not int or value < 1:
            raise InvalidInput(f"{name} is {value!r}; lines count from 1")
    last = total if last is None else last
    if first > total:
        has = "1 line" if total == 1 else f"{total:,} lines"
        raise InvalidInput(f"{id} has {has}, so there is no line {first:,}; give 1 to {total}")
    if last < first:
        raise InvalidInput(
            f"lines {first}-{last} is an empty range; give the smaller number first"
        )
    last = min(last, total)
    return Lines(id, "\n".join(lines[first - 1 : last]), first, last, total)
