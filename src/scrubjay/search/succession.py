"""Succession: which of a few memories replaced which, without circles, and an order among them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from scrubjay.types.changes import Replacement

Pair = tuple[str, str]  # the newer memory and the older one
_FIRST = datetime.min.replace(tzinfo=UTC)


class Succession(NamedTuple):
    """Links between newer and older memories: the direct ones with their strength, and by memory all
    that are newer or older, also over several links. `at` is when each was created."""

    links: Mapping[Pair, float]
    newer: Mapping[str, frozenset[str]]
    older: Mapping[str, frozenset[str]]
    at: Mapping[str, datetime]

    def latest_of(self, ids: Iterable[str]) -> list[str]:
        """Return these memories, the latest first."""
        return sorted(ids, key=lambda id_: (self.at.get(id_, _FIRST), id_), reverse=True)

    def ends(self, id_: str, among: Collection[str]) -> list[str]:
        """Return the memories that replaced this one and are not replaced themselves by another one
        of these, the latest first."""
        reached = self.newer.get(id_, frozenset()) & frozenset(among)
        return self.latest_of(one for one in reached if not self.newer[one] & reached)

    def pairs(self) -> list[Pair]:
        """Return every pair of a newer memory and an older one, also over several links."""
        return sorted((new, old) for old, those in self.newer.items() for new in those)

    def within(self, least: float, without: Collection[Pair] = ()) -> Succession:
        """Return the succession of the links of at least a strength, without some of them."""
        links = {
            pair: strength
            for pair, strength in self.links.items()
            if strength >= least and pair not in without
        }
        return _succession(links, self.at)


def succession(replaced: Iterable[Replacement], least: float) -> Succession:
    """Return the succession of links of at least a strength. A link by hand decides against a
    detected one in the other direction; a circle of links ends at its newest memory."""
    links: dict[Pair, float] = {}
    at: dict[str, datetime] = {}
    replaced = list(replaced)
    by_hand = {(one.new, one.old) for one in replaced if one.by_hand}
    for one in replaced:
        at[one.new], at[one.old] = one.new_at or _FIRST, one.old_at or _FIRST
        refuted = not one.by_hand and (one.old, one.new) in by_hand
        if one.strength >= least and not refuted:
            pair = one.new, one.old
            links[pair] = max(links.get(pair, 0.0), one.strength)
    return _succession(_without_circles(links, at), at)


def _succession(links: Mapping[Pair, float], at: Mapping[str, datetime]) -> Succession:
    ends = {id_ for pair in links for id_ in pair}
    newer = {id_: _reached(id_, ((old, new) for new, old in links)) for id_ in ends}
    older = {id_: frozenset(one for one in ends if id_ in newer[one]) for id_ in ends}
    return Succession(links, newer, older, at)


def _reached(start: str, steps: Iterable[Pair]) -> frozenset[str]:
    following: dict[str, list[str]] = {}
    for here, there in steps:
        following.setdefault(here, []).append(there)
    seen: set[str] = set()
    edge = [start]
    while edge:
        edge = [there for here in edge for there in following.get(here, ()) if there not in seen]
        seen.update(edge)
    return frozenset(seen)


def _without_circles(links: Mapping[Pair, float], at: Mapping[str, datetime]) -> dict[Pair, float]:
    """Replace the links of each circle by a chain of its memories in the order of their creation."""
    ends = {id_ for pair in links for id_ in pair}
    newer = {id_: _reached(id_, ((old, new) for new, old in links)) for id_ in ends}
    circles = {
        frozenset(one for one in newer[id_] if id_ in newer[one])
        for id_ in ends
        if id_ in newer[id_]
    }
    left = dict(links)
    for circle in circles:
        inside = [pair for pair in left if circle.issuperset(pair)]
        strength = max(left.pop(pair) for pair in inside)
        chain = sorted(circle, key=lambda id_: (at[id_], id_))
        left |= {(new, old): strength for old, new in itertools.pairwise(chain)}
    return left


class Order:
    """An order of some ids: each `add` says that one stands above another. What contradicts an
    earlier statement is ignored."""

    def __init__(self) -> None:
        self.below: dict[str, set[str]] = {}
        self.above: dict[str, set[str]] = {}

    def add(self, high: str, low: str) -> None:
        if high == low or high in self.below.get(low, ()):
            return
        highs = {high, *self.above.get(high, ())}
        lows = {low, *self.below.get(low, ())}
        for one in highs:
            self.below.setdefault(one, set()).update(lows)
        for one in lows:
            self.above.setdefault(one, set()).update(highs)

    def placed(self, scores: Mapping[str, float], gap: float) -> dict[str, float]:
        """Return new scores in this order: the better of two places is that of the higher one, and
        the other one stands below it by at least the gap."""
        raised = {
            id_: max([score, *(scores[one] for one in self.below.get(id_, ()) if one in scores)])
            for id_, score in scores.items()
        }
        after: dict[str, float] = {}
        for id_ in sorted(raised, key=lambda one: len(self.above.get(one, ()))):
            highs = [after[one] for one in self.above.get(id_, ()) if one in after]
            after[id_] = min([raised[id_], *(score - gap for score in highs)])
        return after


Prefers = Callable[
    [str, str], bool
]  # of a newer and an older memory, whether the newer comes first


def in_order(line: Succession, newer_first: Prefers, decided: Mapping[Pair, bool]) -> Order:
    """Return the order of all memories of a succession; `decided` says it for single pairs first."""
    order = Order()
    for (new, old), first in decided.items():
        order.add(*((new, old) if first else (old, new)))
    for new, old in line.pairs():
        if (new, old) not in decided:
            order.add(*((new, old) if newer_first(new, old) else (old, new)))
    return order
