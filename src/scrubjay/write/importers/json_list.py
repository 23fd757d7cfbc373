"""Objects of the lists in a JSON file, read one at a time: an export may be larger than the memory.

Brackets outside of strings are counted; what lies between is parsed alone. So an object that is not
JSON is reported and skipped, and half an export gives the half that is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from scrubjay.write.importers.record import Broken

_PART_BYTES = 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024  # of one object, such as a conversation
_OPENING, _CLOSING = b"{[", b"}]"
_QUOTE, _ESCAPE = ord('"'), ord("\\")
_BRACKET = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
_KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:\s*\Z', re.S)
_MOST_KEY_BYTES = 1000
_HEAD_BYTES = 1000


class Entry(NamedTuple):
    """One object, its place, and the key of its list: "" where the whole file is one list."""

    where: str
    list: str
    value: dict[str, Any]


def entries_in(file: IO[bytes], name: str) -> Iterator[Entry | Broken]:
    """Yield the objects of a list, or of every list that is a value of one object."""
    for part in _parts(file):
        where = f"{name}:{part.line}"
        if part.data is None:
            yield Broken(where, part.reason)
            continue
        try:
            value = json.loads(part.data)
        except RecursionError:
            yield Broken(where, "nested too deeply to be read")
        except ValueError as error:  # UnicodeDecodeError is one
            yield Broken(where, f"not JSON: {error}")
        else:
            yield Entry(where, part.list, value)


class _Part(NamedTuple):
    line: int
    list: str
    data: bytes | None
    reason: str = ""


def _parts(file: IO[bytes]) -> Iterator[_Part]:
    """Yield the text of each object of a list; `place` is where to go on, `begin` where one began."""
    data, place, begin, key, in_string = b"", 0, -1, "", False
    stack: list[int] = []  # open brackets
    line, counted = 1, 0  # the line at a position of the data
    head, is_known = b"", False  # the beginning of the file, and whether anything was found in it
    # As much as is waiting is read again, so that a long object is searched in linear time.
    while more := file.read(max(_PART_BYTES, len(data) if begin >= 0 else 0)):
        keep = begin if begin >= 0 else max(0, min(place, len(data)) - _MOST_KEY_BYTES)
        line += data.count(b"\n", counted, keep) if keep > counted else 0
        head += more[: _HEAD_BYTES - len(head)]
        data, place, counted = data[keep:] + more, place - keep, max(0, counted - keep)
        begin = min(begin, 0)
        while found := (_IN_STRING if in_string else _BRACKET).search(data, place):
            byte, place = data[found.start()], found.end()
            if in_string and byte == _ESCAPE:
                place += 1
            elif byte == _QUOTE:
                in_string = not in_string
            elif byte in _OPENING:
                if byte == _OPENING[1] and len(stack) == 1:
                    key = _key_before(data, found.start())
                if byte == _OPENING[0] and begin < 0 and _is_in_list(stack):
                    begin = found.start()
                    line, counted = line + data.count(b"\n", counted, begin), begin
                stack.append(byte)
            elif _closes(stack, byte, inside=begin >= 0) and begin >= 0 and _is_in_list(stack):
                yield _Part(line, key, data[begin:place])
                begin, is_known = -1, True
        place = max(place, len(data))
        if begin >= 0 and len(data) - begin > _MOST_BYTES:
            most = _MOST_BYTES // 1024**2
            yield _Part(
                line, key, None, f"the object has more than {most} MB; the rest is not read"
            )
            return
    if stack or in_string:
        line += data.count(b"\n", counted) if begin < 0 else 0
        yield _Part(line, key, None, "the file ends in the middle of what begins here")
    elif not is_known and b"[]" not in b"".join(head.split()):
        yield _Part(1, key, None, "the file has no list of objects, as an export has")


def _is_in_list(stack: list[int]) -> bool:
    return stack in ([_OPENING[1]], list(_OPENING))


def _closes(stack: list[int], byte: int, *, inside: bool) -> bool:
    """Close a bracket, with those inside it that were left open; one that was never opened is ignored.
    Inside of an object, the list around it stays open."""
    opening = _OPENING[_CLOSING.index(byte)]
    outside = 0 if not inside else 1 if stack[0] == _OPENING[1] else 2
    if opening not in stack[outside:]:
        return False
    while stack.pop() != opening:
        pass
    return True


def _key_before(data: bytes, place: int) -> str:
    found = _KEY.search(data[max(0, place - _MOST_KEY_BYTES) : place])
    return found[1].decode(errors="replace") if found else ""
