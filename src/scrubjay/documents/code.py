"""The outline of source code: its classes, functions and types, found by tree-sitter when installed."""

from __future__ import annotations

import importlib
import importlib.util
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.documents.grammars import LANGUAGES, Grammar
from scrubjay.text.markdown import Heading

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

# What is longer, wider, deeper or more of the same was made by a program, or to choke a parser, which
# takes gigabytes for some repeated nonsense and cannot be stopped: it gets no outline.
MOST_CHARS = 1_000_000
_LONGEST_LINE_CHARS = 5_000
_MOST_ALIKE = 20  # how many times smaller it becomes when packed; code written by hand, 3 to 8
_ALIKE_FROM_CHARS = 4_000
_DEEPEST = 200
_BRACKET = re.compile(r"[()\[\]{}]")
_LONGEST_NAME_CHARS = 100
_DEEPEST_DECLARATOR = 10
_FUNCTION_VALUES = ("arrow_function", "function_expression", "generator_function", "class")
# Named without a body they are a mention, not a definition.
_WITH_BODY = frozenset(
    "struct_specifier union_specifier enum_specifier class_specifier mod_item".split()
)


class _Source:
    """A text as tree-sitter counts it, in bytes.

    Rows and names are looked up here, because the points of a node are counted wrongly in tree-sitter
    0.26.0, which then crashes (tree-sitter/py-tree-sitter#466).
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
        """Return the words of a node, as many as make a name."""
        if node is None:
            return ""
        stop = min(node.end_byte, node.start_byte + 4 * _LONGEST_NAME_CHARS)
        return self.data[node.start_byte : stop].decode("utf-8", "replace")


class _Span(NamedTuple):
    """The lines of a node, and where it ends in bytes."""

    first_row: int
    last_row: int
    stop: int


class _Open(NamedTuple):
    """A definition that the next node may stand in."""

    stop: int
    holds_others: bool


def has_parser(language: str) -> bool:
    """True when tree-sitter and the grammar of a language are installed."""
    grammar = LANGUAGES.get(language)
    return grammar is not None and _installed("tree_sitter") and _installed(grammar.package)


def definitions(text: str, language: str) -> Iterator[Heading]:
    """Yield the definitions of a code file, nested ones deeper; those inside a function are left to it."""
    grammar = LANGUAGES.get(language)
    loaded = _load(language) if grammar and _is_by_hand(text) else None
    if grammar is None or loaded is None:
        return
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    last_row = -1
    for row, level, name in _walk(_Source(text), grammar, *loaded):
        if row > last_row:  # of several on one line, the first names it
            yield Heading(starts[row], level, name)
            last_row = row


def _walk(
    source: _Source, grammar: Grammar, language: Language, query: Query
) -> Iterator[tuple[int, int, str]]:
    """Yield row, level and name of each definition, in the order of the text."""
    from tree_sitter import Parser, QueryCursor

    tree = Parser(language).parse(source.data)
    found = QueryCursor(query).captures(tree.root_node).get("node", [])
    nodes = sorted(found, key=lambda node: (node.start_byte, -node.end_byte))  # outer ones first
    leading = _Span(0, -2, 0)  # comments and attributes that may belong to what comes next
    around: _Span | None = None
    open_: list[_Open] = []
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
        while open_ and open_[-1].stop <= node.start_byte:
            open_.pop()
        if open_ and not open_[-1].holds_others:
            continue
        if around is not None and node.start_byte < around.stop:
            first_row, around = around.first_row, None
        yield first_row, len(open_) + 1, _label(node, grammar, source)
        open_.append(_Open(span.stop, kind in grammar.inside))


def _defines(node: Node) -> bool:
    kind = node.type
    if kind == "variable_declarator":
        value = node.child_by_field_name("value")
        return value is not None and value.type in _FUNCTION_VALUES
    if kind == "type_definition":
        named = node.child_by_field_name("type")
        return named is not None and named.child_by_field_name("body") is not None
    return kind not in _WITH_BODY or node.child_by_field_name("body") is not None


def _label(node: Node, grammar: Grammar, source: _Source) -> str:
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
    for _ in range(_DEEPEST_DECLARATOR):
        if below is None:
            break
        inner = below
        below = inner.child_by_field_name("declarator")
        if below is None and inner.type == "reference_declarator":
            below = inner.named_child(0)  # that one has no field for it
    return inner


def _short(name: str) -> str:
    return " ".join(name.split())[:_LONGEST_NAME_CHARS]


def _is_by_hand(text: str) -> bool:
    if len(text) > MOST_CHARS or max(map(len, text.split("\n"))) > _LONGEST_LINE_CHARS:
        return False
    if len(text) > _ALIKE_FROM_CHARS:
        raw = text.encode("utf-8", "replace")
        if len(raw) > _MOST_ALIKE * len(zlib.compress(raw, 1)):
            return False
    steps = (1 if match[0] in "([{" else -1 for match in _BRACKET.finditer(text))
    depths = list(accumulate(steps, initial=0))
    return max(depths) - min(depths) <= _DEEPEST


@cache
def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


@cache
def _load(language: str) -> tuple[Language, Query] | None:
    """Return the grammar and its query; None when a package is missing or too old for the other."""
    if not has_parser(language):
        return None
    from tree_sitter import Language, Query

    grammar = LANGUAGES[language]
    package: Any = importlib.import_module(grammar.package)
    kinds = dict.fromkeys((*grammar.definitions, *grammar.leading, *grammar.around))
    try:
        loaded = Language(getattr(package, grammar.function)())
        return loaded, Query(loaded, f"[{' '.join(f'({kind})' for kind in kinds)}] @node")
    except ValueError:
        return None
