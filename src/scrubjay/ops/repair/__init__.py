"""`scrubjay verify` and `scrubjay doctor --repair`: find damage in a store, and repair it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a store: which check found it, how often, where, and what repairs it.
    `ids` are the memories that it concerns, as far as they are known."""

    check: str
    count: int
    detail: str
    ids: tuple[str, ...]
    repair: str


class Verified(NamedTuple):
    """The result of `verify`: the number of memories, the checks made, and the problems found."""

    path: str
    memories: int
    checks: tuple[str, ...]
    problems: tuple[Problem, ...]
