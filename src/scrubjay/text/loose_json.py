"""JSON as language models write it: almost right, wrapped in prose, or cut off in the middle.

One pass without going back, so that a megabyte of nonsense costs little. Whatever is valid JSON is read
as that; commas may be missing or too many, quotes single or not escaped, keys bare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_DEEPEST = 12
_GAP = re.compile(r"(?:[\s,;]++|//[^\n]*+|/\*[^*]*+\*/)*+")
_KEY = re.compile(r"\w[\w \-]{0,40}+(?=\s*[:=])")
_COLON = re.compile(r"\s*[:=]\s*")
_BARE = re.compile(r"[^\s,;\]}\n][^,;\]}\n]*+")
_WHOLE = re.compile(r"\d{1,9}")
_NO_TEXT = re.compile(r"(?i)null|none|true|false|[-+]?[\d.]+(?:e[-+]?\d+)?")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))",
    re.DOTALL,
)
_HALF_ESCAPE = re.compile(
    r"(?<!\\)((?:\\\\)*+)(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z"
)
_PLAIN_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    **{c: c for c in "\"'\\/"},
}
_ENDS = {
    '"': re.compile(r'["\\]'),
    "'": re.compile(r"['\\]"),
    "“": re.compile(r"[”“\\]"),
}
# A quote ends a string where JSON would go on after it. Elsewhere it was meant to be escaped:
# models write "the "force" flag", and 'don't'.
_GOES_ON = re.compile(
    r"""\s*+(?:\Z|[\]}:]|//|,\s*+(?:\Z|["'“\[{\]}/\d-]|null|true|false|\w{1,40}+\s*+:))|\s++["'“]"""
)


class Cut(str):
    """A string whose end is missing, because the answer ends first."""

    __slots__ = ()


class _Broken(Exception):
    """This is no JSON, not even nearly; or the text ended. What was read until then is kept."""


def without_thoughts(answer: str) -> Iterator[str]:
    """Yield what comes after a model's thoughts; then all, if a tag was only part of the text."""
    start = answer.lstrip()
    if start.startswith(("{", "[", "```")):
        yield start
        return
    _, tag, after = start.rpartition("</think>")
    if tag:
        yield after
    elif not start.startswith("<think>"):  # cut off while thinking: a draft is no answer
        yield start
        return
    if not start.startswith("<think>"):
        yield start


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield each object in a text, also half of one at its end; objects within others are not repeated."""
    reader, start, spent = _Reader(text), text.find("{"), 0
    while start >= 0 and spent <= 2 * len(text):
        reader.at, reader.ended = start, False
        found = reader.value()
        spent += reader.at - start
        if isinstance(found, dict) and found:
            yield found
        if reader.ended:
            return
        # Where it was no JSON, a quote may have swallowed the object that was meant.
        start = text.find("{", start + 1 if reader.broken else reader.at)


def value(text: str) -> Any:
    """Return the string, list or object that a text begins with, or None."""
    return _Reader(text).value()


class _Reader:
    """A place in a text. Containers are filled as they are read, so that half of one can be kept."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.ended = False
        self.broken = False

    def value(self) -> Any:
        """Return the value at this place as far as it can be read."""
        self.broken = False
        holder: list[Any] = []
        try:
            self._value_into(holder, 0)
        except _Broken:
            self.broken = not self.ended
        return holder[0] if holder else None

    def _next(self) -> str:
        """Return the next character that means something; the end of the text breaks everything off."""
        gap = _GAP.match(self.text, self.at)
        self.at = gap.end() if gap else self.at
        if self.at >= len(self.text):
            self.ended = True
            raise _Broken
        return self.text[self.at]

    def _value_into(self, holder: list[Any], depth: int) -> None:
        first = self._next()
        if depth > _DEEPEST:
            raise _Broken
        if first in _ENDS:
            holder.append(self._string(first))
        elif first == "{":
            holder.append({})
            self._object(holder[-1], depth)
        elif first == "[":
            holder.append([])
            self._list(holder[-1], depth)
        else:
            self._bare_into(holder)

    def _object(self, into: dict[str, Any], depth: int) -> None:
        self.at += 1
        while (first := self._next()) != "}":
            if first in _ENDS:
                key = self._string(first)
            elif bare := _KEY.match(self.text, self.at):
                key, self.at = bare.group(), bare.end()
            else:
                raise _Broken
            colon = _COLON.match(self.text, self.at)
            if not colon:
                self.ended = isinstance(key, Cut) or self.at >= len(self.text)
                raise _Broken
            if "{" in key or "\n" in key:  # a stray quote has swallowed what was meant
                raise _Broken
            self.at = colon.end()
            held: list[Any] = []
            try:
                self._value_into(held, depth + 1)
            finally:
                if held:
                    into[key] = held[0]
        self.at += 1

    def _list(self, into: list[Any], depth: int) -> None:
        self.at += 1
        while (first := self._next()) not in "]}":
            if first == ":":
                raise _Broken
            self._value_into(into, depth + 1)
        if first == "]":  # else the bracket was forgotten, and the object ends here
            self.at += 1

    def _string(self, quote: str) -> str:
        """Return the string at this place; one without an end is Cut."""
        start = self.at + 1
        end = start
        while mark := _ENDS[quote].search(self.text, end):
            if mark.group() == "\\":
                end = mark.end() + 1
            elif _GOES_ON.match(self.text, mark.end()):
                self.at = mark.end()
                return unescaped(self.text[start : mark.start()])
            else:
                end = mark.end()
        self.at, self.ended = len(self.text), True
        return Cut(unescaped(_HALF_ESCAPE.sub(r"\1", self.text[start:])))

    def _bare_into(self, holder: list[Any]) -> None:
        """Read what has no quotes; of numbers only whole ones mean something, and a word may be cut off."""
        bare = _BARE.match(self.text, self.at)
        if not bare:
            raise _Broken
        self.at = bare.end()
        if self.at >= len(self.text):
            self.ended = True
            raise _Broken
        word = bare.group().strip()
        if _WHOLE.fullmatch(word):
            holder.append(int(word))
        else:
            holder.append(None if _NO_TEXT.fullmatch(word) else word)


def unescaped(raw: str) -> str:
    """Return the text that a JSON string stands for; an escape that JSON does not know stays."""
    return _ESCAPE.sub(_character, raw) if "\\" in raw else raw


def _character(escape: re.Match[str]) -> str:
    high, low, single, plain = escape.groups()
    if plain is not None:
        return _PLAIN_ESCAPES.get(plain, escape.group())
    if single is not None:
        return chr(int(single, 16))
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
