"""Edit JSON with comments in place: set or remove one member, and leave every other character as it is.

Parsing and writing the file again would lose comments, trailing commas, the order and the layout that its
owner chose. So the text is scanned for the places of its members, and only the member is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput

_GAP = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[^\S\n]|/\*[^\n]*?\*/)*(?://[^\n\r]*)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MOST_DEPTH = 200
_UNIT = "  "


class Node(NamedTuple):
    """A value with its place in the text. `members` are those of an object, by key; `value` is the whole."""

    value: Any
    start: int
    stop: int
    members: dict[str, Member]


class Member(NamedTuple):
    """A member of an object: where its key begins, its value, and where the comma after it ends, if any."""

    start: int
    node: Node
    after_comma: int | None


def parse(text: str) -> Node:
    """Return the value of a text; InvalidInput names the line where it is not JSON."""
    node = _value(text, 0, 0)
    if (at := _skip(text, node.stop)) != len(text):
        raise _wrong(text, at, "there is more after the end of the value")
    return node


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text in which the member at a path of keys has a value; missing objects are made."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not text.strip():
        for key in reversed(path):
            value = {key: value}
        return _rendered(value, "", newline, _UNIT) + newline
    *above, last = path
    node = parse(text)
    for depth, key in enumerate(above):
        _check_object(node, path[:depth])
        if key not in node.members:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _insert(text, node, key, value, newline)
        node = node.members[key].node
    _check_object(node, above)
    if last not in node.members:
        return _insert(text, node, last, value, newline)
    old, unit = node.members[last].node, _unit(text) if _is_tall(text, node) else None
    rendered = _rendered(value, _indent_at(text, node.members[last].start), newline, unit)
    return text[: old.start] + rendered + text[old.stop :]


def remove_member(text: str, path: Sequence[str]) -> str:
    """Return a text without the member at a path of keys."""
    node = parse(text)
    for key in path[:-1]:
        node = node.members[key].node
    members = sorted(node.members.values())
    member = node.members[path[-1]]
    at = members.index(member)
    line = text.rfind("\n", 0, member.start) + 1
    is_alone = not text[line : member.start].strip()
    if member.after_comma is not None and (at + 1 < len(members) or at == 0):
        stop = member.after_comma
        if is_alone and (rest := _REST_OF_LINE.match(text, stop)) and _ends_line(text, rest.end()):
            return text[: _line_end(text, line - 1)] + text[rest.end() :]
        blank = re.compile(r"[^\S\n]*").match(text, stop)
        return text[: member.start] + text[blank.end() if blank else stop :]
    # The last one: what is before it loses its comma, if there is none after it.
    begin = _line_end(text, line - 1) if is_alone and line else member.start
    stop = member.node.stop if member.after_comma is None else member.after_comma
    if at and member.after_comma is None:
        comma = members[at - 1].after_comma
        assert comma is not None  # there is a member behind it
        between = text[comma:begin]
        return text[: comma - 1] + (between if is_alone else between.rstrip()) + text[stop:]
    return text[:begin] + text[stop:]


def _line_end(text: str, newline: int) -> int:
    """Return where the line break at a place begins: Windows has two characters."""
    return newline - 1 if newline > 0 and text[newline - 1] == "\r" else max(newline, 0)


def _ends_line(text: str, at: int) -> bool:
    return at >= len(text) or text[at] in "\r\n"


def _insert(text: str, node: Node, key: str, value: Any, newline: str) -> str:
    """Insert a member at the end of an object."""
    is_tall = _is_tall(text, node)
    last = max(node.members.values(), default=None)
    base = _indent_at(text, node.start)
    inner = _indent_at(text, last.start) if last and is_tall else base + _unit(text)
    name = json.dumps(key)
    if not is_tall:
        member = f"{name}: {_rendered(value, '', newline, None)}"
        if last is None:
            return text[: node.start + 1] + member + text[node.start + 1 :]
        if last.after_comma is not None:
            return f"{text[: last.after_comma]} {member},{text[last.after_comma :]}"
        return f"{text[: last.node.stop]}, {member}{text[last.node.stop :]}"
    member = newline + inner + f"{name}: {_rendered(value, inner, newline, _unit(text))}"
    if last is None:
        place = _rest(text, node.start + 1)
        rest = text[place : node.stop]
        closing = "" if "\n" in rest else newline + base
        return text[:place] + member + closing + text[place:]
    if last.after_comma is not None:
        place = _rest(text, last.after_comma)
        return text[:place] + member + "," + text[place:]
    stop = last.node.stop
    place = _rest(text, stop)
    return text[:stop] + "," + text[stop:place].rstrip() + member + text[place:]


def _rest(text: str, at: int) -> int:
    """Return the end of a comment on the same line, if nothing else follows there; else the place itself."""
    match = _REST_OF_LINE.match(text, at)
    end = match.end() if match else at
    return at + len(text[at:end].rstrip()) if _ends_line(text, end) else at


def _is_tall(text: str, node: Node) -> bool:
    """True where members are on lines of their own: always, unless the object or the file is in one line."""
    if node.members:
        first = min(node.members.values())
        return "\n" in text[node.start : first.start]
    return "\n" in text.strip() or text.strip() == "{}" or "\n" in text[node.start : node.stop]


def _indent_at(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    space = re.compile(r"[ \t]*").match(text, line)
    return space[0] if space else ""


def _unit(text: str) -> str:
    """Return what the file indents by: the space before its first indented line."""
    found = re.search(r"\n([ \t]+)[^\s/*]", text)
    return found[1] if found else _UNIT


def _rendered(value: Any, indent: str, newline: str, unit: str | None) -> str:
    """Return a value as JSON; objects have a line for each member, unless there is no `unit`."""
    if unit is None or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + unit
    lines = (
        f"{inner}{json.dumps(key)}: {_rendered(one, inner, newline, unit)}"
        for key, one in value.items()
    )
    return f"{{{newline}{f',{newline}'.join(lines)}{newline}{indent}}}"


def _check_object(node: Node, path: Sequence[str]) -> None:
    if not isinstance(node.value, dict):
        where = ".".join(path) or "the whole file"
        raise InvalidInput(f"{where} is not an object")


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    at = gap.end() if gap else at
    if text.startswith("/*", at):
        raise _wrong(text, at, "a comment does not end")
    return at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _MOST_DEPTH:
        raise _wrong(text, at, "it is nested too deeply")
    at = _skip(text, at)
    if text.startswith("{", at):
        return _object(text, at, depth)
    if text.startswith("[", at):
        return _list(text, at, depth)
    found = _STRING.match(text, at) or _WORD.match(text, at)
    if found is None:
        raise _wrong(text, at, "a value is missing")
    return Node(_read(text, found), at, found.end(), {})


def _read(text: str, found: re.Match[str]) -> Any:
    """Return a text, a number or a word; Python refuses numbers of thousands of digits."""
    try:
        return json.loads(found[0])
    except ValueError as error:
        raise _wrong(text, found.start(), "a value cannot be read") from error


def _object(text: str, start: int, depth: int) -> Node:
    members: dict[str, Member] = {}
    at = _skip(text, start + 1)
    while not text.startswith("}", at):
        key = _STRING.match(text, at)
        if key is None:
            raise _wrong(text, at, "a key in double quotes, or }, is missing")
        colon = _skip(text, key.end())
        if not text.startswith(":", colon):
            raise _wrong(text, colon, "a colon is missing")
        node = _value(text, colon + 1, depth + 1)
        comma = _skip(text, node.stop)
        has_comma = text.startswith(",", comma)
        members[_read(text, key)] = Member(at, node, comma + 1 if has_comma else None)
        at = _skip(text, comma + 1) if has_comma else comma
        if not has_comma and not text.startswith("}", at):
            raise _wrong(text, at, "a comma or } is missing")
    return Node({key: one.node.value for key, one in members.items()}, start, at + 1, members)


def _list(text: str, start: int, depth: int) -> Node:
    values = []
    at = _skip(text, start + 1)
    while not text.startswith("]", at):
        node = _value(text, at, depth + 1)
        values.append(node.value)
        comma = _skip(text, node.stop)
        has_comma = text.startswith(",", comma)
        at = _skip(text, comma + 1) if has_comma else comma
        if not has_comma and not text.startswith("]", at):
            raise _wrong(text, at, "a comma or ] is missing")
    return Node(values, start, at + 1, {})


def _wrong(text: str, at: int, why: str) -> InvalidInput:
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return InvalidInput(f"line {line}, column {column}: {why}")
