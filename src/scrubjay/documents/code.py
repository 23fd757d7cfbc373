"""Outline of source code: classes, functions and types, found by tree-sitter if it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.text.markdown import Heading, headings

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

# Text that is longer, wider, deeper or more repetitive was generated, or made to choke a parser, which
# takes gigabytes for some repeated nonsense and cannot be stopped: it gets no outline.
_MAX_CHARS = 1_000_000
_MAX_LINE_CHARS = 5_000
_MAX_COMPRESSION = 20  # handwritten code compresses 3 to 8 times
_COMPRESSION_FROM_CHARS = 4_000
_MAX_DEPTH = 200
_BRACKET = re.compile(r"[()\[\]{}]")
_MAX_NAME_CHARS = 100
_MAX_DECLARATOR_DEPTH = 10
_FUNCTION_VALUES = ("arrow_function", "function_expression", "generator_function", "class")
# Without a body these are a mention, not a definition.
_WITH_BODY = frozenset(
    "struct_specifier union_specifier enum_specifier class_specifier mod_item".split()
)


class _Grammar(NamedTuple):
    """A language: the package of its grammar, the function in it, and the nodes that matter.

    `definitions` maps a node to the word before its name. `inside` are definitions that contain others.
    `leading` are comments and attributes, which belong to the definition below them. `around` are nodes
    that wrap a definition and begin before it.
    """

    package: str
    definitions: Mapping[str, str]
    inside: tuple[str, ...] = ()
    leading: tuple[str, ...] = ("comment",)
    around: tuple[str, ...] = ()
    function: str = "language"


@cache
def grammars() -> Mapping[str, _Grammar]:
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), "grammars.toml"), "rb") as file:
        tables = tomllib.load(file)
    return {name: _grammar(table) for name, table in tables.items()}


def _grammar(table: dict[str, Any]) -> _Grammar:
    words = dict(pair.split(":") for pair in table["definitions"].split())
    fields: dict[str, Any] = {**table, "definitions": words}
    for name in {"inside", "leading", "around"} & table.keys():
        fields[name] = tuple(table[name].split())
    return _Grammar(**fields)


def outline(text: str, format: str) -> Iterator[Heading]:
    """Yield the headings of a text, or the definitions of code, in order; none for plain text."""
    if format == "markdown":
        return headings(text)
    if format == "rst":
        from scrubjay.documents.markup import rst_headings

        return rst_headings(text)
    return definitions(text, format)


def has_parser(language: str) -> bool:
    """True when tree-sitter and the grammar of a language are installed."""
    grammar = grammars().get(language)
    return grammar is not None and _is_installed("tree_sitter") and _is_installed(grammar.package)


def definitions(text: str, language: str) -> Iterator[Heading]:
    """Yield the definitions of a code file, nested ones deeper, without those inside a function."""
    grammar = grammars().get(language)
    loaded = _load(language) if grammar and _is_handwritten(text) else None
    if grammar is None or loaded is None:
        return
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    last_row = -1
    for row, level, name in _walk(_Source(text), grammar, *loaded):
        if row > last_row:  # of several on one line, only the first counts
            yield Heading(starts[row], level, name)
            last_row = row


class _Source:
    """A text in bytes, as tree-sitter counts.

    Rows and names are looked up here because tree-sitter 0.26.0 counts the points of a node wrongly and
    then crashes (tree-sitter/py-tree-sitter#466).
    """

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "replace")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.data.split(b"\n"))]

    def row(self, at: int) -> int:
        """Return the line of a byte, from 0."""
        return bisect_right(self._starts, at) - 1

    def span(self, node: Node) -> _Span:
        """Return the lines of a node; a line break at its end does not count."""
        first = self.row(node.start_byte)
        return _Span(first, max(first, self.row(node.end_byte - 1)), node.end_byte)

    def begins_line(self, node: Node) -> bool:
        """True when nothing but space stands before a node on its line."""
        line = self._starts[self.row(node.start_byte)]
        return not self.data[line : node.start_byte].strip()

    def text(self, node: Node | None) -> str:
        """Return the text of a node, as much as a name needs."""
        if node is None:
            return ""
        stop = min(node.end_byte, node.start_byte + 4 * _MAX_NAME_CHARS)
        return self.data[node.start_byte : stop].decode("utf-8", "replace")


class _Span(NamedTuple):
    """The lines of a node, and where it ends in bytes."""

    first_row: int
    last_row: int
    stop: int


def _walk(
    source: _Source, grammar: _Grammar, language: Language, query: Query
) -> Iterator[tuple[int, int, str]]:
    """Yield row, level and name of each definition, in the order of the text."""
    from tree_sitter import Parser, QueryCursor

    tree = Parser(language).parse(source.data)
    found = QueryCursor(query).captures(tree.root_node).get("node", [])
    nodes = sorted(found, key=lambda node: (node.start_byte, -node.end_byte))  # outer ones first
    leading = _Span(0, -2, 0)  # comments and attributes that may belong to the next definition
    around: _Span | None = None
    open_: list[tuple[int, bool]] = []  # the end of each outer definition, and if it has members
    for node in nodes:
        span, kind = source.span(node), node.type
        if kind in grammar.leading:
            if source.begins_line(node):
                joined = span.first_row <= leading.last_row + 1
                first = leading.first_row if joined else span.first_row
                leading = span._replace(first_row=first)
            continue
        first_row = leading.first_row if span.first_row == leading.last_row + 1 else span.first_row
        if kind in grammar.around:
            if around is None or node.start_byte >= around.stop:
                around = span._replace(first_row=first_row)
            if kind not in grammar.definitions:
                continue
        if not _defines(node):
            continue
        while open_ and open_[-1][0] <= node.start_byte:
            open_.pop()
        if open_ and not open_[-1][1]:
            continue
        if around is not None and node.start_byte < around.stop:
            first_row, around = around.first_row, None
        yield first_row, len(open_) + 1, _label(node, grammar, source)
        open_.append((span.stop, kind in grammar.inside))


def _defines(node: Node) -> bool:
    kind = node.type
    if kind == "variable_declarator":
        value = node.child_by_field_name("value")
        return value is not None and value.type in _FUNCTION_VALUES
    if kind == "type_definition":
        named = node.child_by_field_name("type")
        return named is not None and named.child_by_field_name("body") is not None
    return kind not in _WITH_BODY or node.child_by_field_name("body") is not None


def _label(node: Node, grammar: _Grammar, source: _Source) -> str:
    """Return the name of a definition after the word for its kind: `class Store`, `func (s *Store) Add`."""
    word, kind = grammar.definitions[node.type], node.type
    if kind == "impl_item":
        trait, type_ = (source.text(node.child_by_field_name(part)) for part in ("trait", "type"))
        return _short(f"{word} {trait} for {type_}" if trait else f"{word} {type_}")
    if kind == "variable_declarator":
        value = node.child_by_field_name("value")
        word = "class" if value is not None and value.type == "class" else "function"
    receiver = source.text(node.child_by_field_name("receiver"))
    name = source.text(node.child_by_field_name("name") or _declared(node))
    return _short(" ".join(part for part in (word, receiver, name) if part))


def _declared(node: Node) -> Node | None:
    """Return the name inside a C declarator, under its pointers and parameters."""
    inner = None
    below = node.child_by_field_name("declarator")
    for _ in range(_MAX_DECLARATOR_DEPTH):
        if below is None:
            break
        inner = below
        below = inner.child_by_field_name("declarator")
        if below is None and inner.type == "reference_declarator":
            below = inner.named_child(0)  # which has no field for it
    return inner


def _short(name: str) -> str:
    return " ".join(name.split())[:_MAX_NAME_CHARS]


def _is_handwritten(text: str) -> bool:
    if len(text) > _MAX_CHARS or max(map(len, text.split("\n"))) > _MAX_LINE_CHARS:
        return False
    if len(text) > _COMPRESSION_FROM_CHARS:
        raw = text.encode("utf-8", "replace")
        if len(raw) > _MAX_COMPRESSION * len(zlib.compress(raw, 1)):
            return False
    steps = (1 if match[0] in "([{" else -1 for match in _BRACKET.finditer(text))
    depths = list(accumulate(steps, initial=0))
    return max(depths) - min(depths) <= _MAX_DEPTH


@cache
def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


@cache
def _load(language: str) -> tuple[Language, Query] | None:
    """Return the grammar and its query; None if a package is missing or the two do not fit together."""
    if not has_parser(language):
        return None
    from tree_sitter import Language, Query

    grammar = grammars()[language]
    package: Any = importlib.import_module(grammar.package)
    kinds = dict.fromkeys((*grammar.definitions, *grammar.leading, *grammar.around))
    try:
        loaded = Language(getattr(package, grammar.function)())
        return loaded, Query(loaded, f"[{' '.join(f'({kind})' for kind in kinds)}] @node")
    except ValueError:
        return None
