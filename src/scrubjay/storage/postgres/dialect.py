"""Statements as SQLite reads them, turned into those of Postgres.

The tables and nearly all statements are the same. What differs in spelling is listed here; what
differs in kind, such as the keyword index, has code of its own for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

# Each is read outside of quoted texts only.
_SPELLED = (
    (re.compile(r"\bIS (\?\d*|coalesce\()"), r"IS NOT DISTINCT FROM \1"),
    (re.compile(r"\bNOT INDEXED\b|\bINDEXED BY \w+"), ""),
    # A plus before a column keeps SQLite from using an index.
    (re.compile(r"(?<=[\s(])\+(?=[a-z_])"), ""),
    (re.compile(r"\bLIMIT -1\b"), "LIMIT ALL"),
    # Of an empty list, Postgres wants to hear what it comes to.
    (re.compile(r"[\w.]+ NOT IN \(\)"), "TRUE"),
    (re.compile(r"[\w.]+ IN \(\)"), "FALSE"),
    # In SQLite a cross join may have a condition; it says in which order tables are read.
    (re.compile(r"\bCROSS JOIN (\w+ AS \w+) ON\b"), r"JOIN \1 ON"),
    (re.compile(r"\bgroup_concat\(([\w.]+)\)"), r"string_agg(\1::text, ',')"),
    (re.compile(r"\bjson_group_array\(([^)]*)\)"), r"json_agg(\1)::text"),
    (re.compile(r"\bjson_each\((\?)\)"), r"json_array_elements_text(\1::json) AS value"),
)
_IGNORE = re.compile(r"\bINSERT OR IGNORE INTO\b")
_QUOTED = re.compile(r"('(?:[^']|'')*')")
_MARK = re.compile(r"\?(\d*)")


class Spoken(NamedTuple):
    """A statement for Postgres, and which argument stands at each of its places."""

    sql: str
    order: tuple[int, ...] | None

    def arguments(self, given: Sequence[Any]) -> Sequence[Any]:
        """Return arguments in the order of the statement."""
        return given if self.order is None else [given[place] for place in self.order]


@lru_cache(maxsize=2048)
def postgres(statement: str) -> Spoken:
    """Return a statement as Postgres reads it. `?` and `?1` must not be mixed in one."""
    ignoring = _IGNORE.search(statement) is not None
    order: list[int] = []

    def place(mark: re.Match[str]) -> str:
        if mark[1]:
            order.append(int(mark[1]) - 1)
        return "%s"

    parts = _QUOTED.split(_IGNORE.sub("INSERT INTO", statement))
    for at, part in enumerate(parts):
        doubled = part.replace("%", "%%")
        if at % 2 == 0:
            for pattern, spelled in _SPELLED:
                doubled = pattern.sub(spelled, doubled)
            doubled = _MARK.sub(place, doubled)
        parts[at] = doubled
    sql = "".join(parts)
    if ignoring:
        sql += " ON CONFLICT DO NOTHING"
    return Spoken(sql, tuple(order) or None)
