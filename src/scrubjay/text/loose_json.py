"""Lenient JSON: the objects in a language model's answer, with prose around them, errors or a missing end.

Valid JSON, and valid JSON that was cut off, is read here. `json_repair` reads the rest.
See docs/decisions/022-loose-json.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# The work is bounded: json_repair needs quadratic time for some nonsense.
_MAX_REPAIRED_CHARS = 6_000
_MAX_OBJECTS = 200
_MAX_DEPTH = 12
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(?P<end>")|\\?\Z)|[{}\[\],]', re.DOTALL)
# Half of an escape at the end of a string that was cut off, or the first half of a surrogate pair.
_HALF_ESCAPE = re.compile(
    r"(?<!\\)((?:\\\\)*+)(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z"
)
_CUT = "\ufdd0"  # appended where an answer was cut off; not a character, so no answer contains it
# json_repair does not tell an apostrophe from the end of a string in single quotes.
_SINGLE_QUOTED = re.compile(r"\{\s*'")
_SINGLE_QUOTE = re.compile(r"(?<=[\[{,:])\s*'|(?<!\\)'(?=\s*[\]},:]|\s')|(?<='\s)'")


class Cut(str):
    """A string whose end is missing because the answer was cut off."""

    __slots__ = ()


def without_thoughts(answer: str) -> Iterator[str]:
    """Yield what follows a model's thoughts; then all of it, if the tag was only part of the text."""
    start = answer.lstrip()
    _, tag, after = start.rpartition("</think>")
    if tag and not start.startswith(("{", "[", "```")):
        yield after
    if not start.startswith("<think>"):  # cut off while thinking: a draft is no answer
        yield start


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in a text, also an incomplete one at its end, but not those inside others."""
    start = text.find("{")
    budget = _MAX_REPAIRED_CHARS
    for _ in range(_MAX_OBJECTS):
        if start < 0:
            return
        end, candidates = _extent(text, start)
        found = next(filter(None, map(_loads, candidates)), None)
        if found is None and end > start and budget > 0:
            broken = text[start : min(end, start + budget)]
            budget -= len(broken)
            found = _repaired(broken)
        for one in found if isinstance(found, list) else [found]:
            if one and isinstance(one, dict):
                yield one
        # Where nothing was read, a stray quote may have hidden the object that was meant.
        start = text.find("{", start + 1 if found is None else end)


def value(text: str) -> Any:
    """Return the string or list that a line begins with, or None."""
    return _repaired(text[:_MAX_REPAIRED_CHARS])


def _extent(text: str, start: int) -> tuple[int, list[str]]:
    """Return where the object at `start` ends, and its JSON, completed if cut; none if nested too deeply."""
    closers = ""
    complete = (start, "")  # where the last complete value ends, and what closes it there
    is_open = False  # inside a string
    for token in _TOKEN.finditer(text, start):
        sign = token[0][0]
        is_open = sign == '"' and token["end"] is None
        if sign in "{[":
            closers = ("}" if sign == "{" else "]") + closers
            if len(closers) > _MAX_DEPTH:
                return start, []
            complete = (token.end(), closers)
        elif sign == ",":
            complete = (token.start(), closers)
        elif sign in "}]":
            if sign != closers[0]:
                return len(text), []
            closers = closers[1:]
            if not closers:
                return token.end(), [text[start : token.end()]]
    ways = [text[start : complete[0]] + complete[1]]
    if is_open:
        ways.insert(0, _HALF_ESCAPE.sub(r"\1", text[start:]) + f'{_CUT}"{closers}')
    elif text.rstrip().endswith(('"', "]", "}")):  # a number or a word may lack its end
        ways.insert(0, text[start:] + closers)
    return len(text), ways


def _loads(text: str) -> Any:
    try:
        return _with_cuts(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def _repaired(text: str) -> Any:
    import json_repair

    if _SINGLE_QUOTED.match(text):
        text = _SINGLE_QUOTE.sub('"', text).replace(r"\'", "'")
    try:
        return _with_cuts(json_repair.loads(text + _CUT, skip_json_loads=True))
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError):
        # json_repair raises more than ValueError for nonsense, such as a failed assertion.
        return None


def _with_cuts(found: Any) -> Any:
    """Return a value with Cut for the string that was cut off; raise ValueError for nonsense."""
    if isinstance(found, list):
        return [read for one in found if (read := _with_cuts(one)) is not None]
    if isinstance(found, dict):
        if any("{" in key or "\n" in key for key in found):  # a stray quote swallowed an object
            raise ValueError("a key holds an object")
        read_by_key = {key: _with_cuts(one) for key, one in found.items() if _CUT not in key}
        return {key: read for key, read in read_by_key.items() if read is not None}
    if isinstance(found, str) and _CUT in found:
        return Cut(found.partition(_CUT)[0])
    return found
