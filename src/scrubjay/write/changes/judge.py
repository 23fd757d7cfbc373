"""Judge of changes: the probability that a later memory updates an earlier one.

A logistic regression over what the reader of notes says of a pair and what can be counted: shared words,
numbers and names that differ, words of change, of passing states and of plans. The reader alone took
"Anna lives in Porto now" for a passing state. `python -m training.judge` fits the weights.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp, log
from typing import NamedTuple

from scrubjay.models import Relation
from scrubjay.text.analysis import STOP_WORDS, tokens, words
from scrubjay.types import Memory

Features = dict[str, float]

# A name inside a sentence.
NAME = re.compile(r"(?<![.!?:\n] )(?<=\S )[^\W\d_][\w'-]+")
_FOLDER = os.path.dirname(__file__)
_SOON_DAYS = 1.0
_LEAST = 0.003  # added to a probability before its logarithm
_ALONE = {"rival_shares": 0.0, "rival_replaces": 0.0, "lacks": 0.0, "has": 0.0}


class Pair(NamedTuple):
    """Two memories to be read."""

    older: Memory
    newer: Memory


class Weights(NamedTuple):
    """Weights of two regressions: for an update of the whole memory, and of any part of it."""

    whole: Mapping[str, float]
    any: Mapping[str, float]


def strengths(pairs: Sequence[Pair], relations: Sequence[Relation]) -> list[float]:
    """Return for each pair the strength of a link `updates`: the probability that the newer memory
    replaces the older one, plus half of the probability that it replaces a part of it. The pairs of one
    newer memory are compared with each other; its nearest older one comes first."""
    weights = _weights()
    return [
        (_probability(weights.whole, one) + _probability(weights.any, one)) / 2
        for one in features(pairs, relations)
    ]


def features(pairs: Sequence[Pair], relations: Sequence[Relation]) -> list[Features]:
    """Return what is known of each pair, by name."""
    found = [_of_pair(*pair, said) for pair, said in zip(pairs, relations, strict=True)]
    shared = [content(pair.older) & content(pair.newer) for pair in pairs]
    for several in _by_newer(pairs):
        for place, at in enumerate(several):
            others = [other for other in several if other != at]
            found[at] |= _beside(at, others, found, shared) if others else _ALONE
            found[at]["second"] = float(place > 0)
    return found


def _by_newer(pairs: Sequence[Pair]) -> list[list[int]]:
    places: dict[str, list[int]] = {}
    for at, pair in enumerate(pairs):
        places.setdefault(pair.newer.id, []).append(at)
    return list(places.values())


def _beside(
    at: int, others: Sequence[int], found: Sequence[Features], shared: Sequence[set[str]]
) -> Features:
    """Return how a pair stands beside the others of the same newer memory: "staging now listens on 5433"
    shares more with the port of staging than with that of checkout."""
    rival = max(others, key=lambda other: found[other]["share_of_new"])
    both = 1 + len(shared[at] | shared[rival])
    replaces = max(exp(found[other]["read_replaces"]) for other in others)
    return {
        "rival_shares": found[rival]["share_of_new"] - found[at]["share_of_new"],
        "rival_replaces": replaces - exp(found[at]["read_replaces"]),
        "lacks": len(shared[rival] - shared[at]) / both,
        "has": len(shared[at] - shared[rival]) / both,
    }


def _of_pair(older: Memory, newer: Memory, relation: Relation) -> Features:
    old, new = content(older), content(newer)
    old_numbers, new_numbers = _numbers(older.text), _numbers(newer.text)
    old_names, new_names = _names(older), _names(newer)
    signs = _signs()
    return {
        **{f"read_{name}": log(chance + _LEAST) for name, chance in relation._asdict().items()},
        **{f"new_is_{name}": float(bool(sign.search(newer.text))) for name, sign in signs.items()},
        "old_is_passing": float(bool(signs["passing"].search(older.text))),
        "old_is_planned": float(bool(signs["planned"].search(older.text))),
        "share_of_old": len(old & new) / (1 + len(old)),
        "share_of_new": len(old & new) / (1 + len(new)),
        "words_of_old": log(1 + len(old)),
        "words_of_new": log(1 + len(new)),
        "same_numbers": float(bool(old_numbers & new_numbers)),
        "other_numbers": float(
            bool(old_numbers - new_numbers) and bool(new_numbers - old_numbers)
        ),
        "more_numbers": float(bool(new_numbers - old_numbers)),
        "same_names": float(min(len(old_names & new_names), 2)),
        "other_names": float(bool(old_names - new_names) and bool(new_names - old_names)),
        "more_names": float(bool(new_names - old_names)),
        "days": log(1 + _days(older, newer)),
        "soon": float(_days(older, newer) < _SOON_DAYS),
    }


def content(memory: Memory) -> set[str]:
    """Return the tokens of the words of a memory that say something."""
    said = (word for word in words(memory.text) if word.lower() not in STOP_WORDS)
    return set(tokens(" ".join(said), memory.language))


def _numbers(text: str) -> set[str]:
    return {word.lower() for word in words(text) if any(map(str.isdigit, word))}


def _names(memory: Memory) -> set[str]:
    return {name.lower() for name in NAME.findall(memory.text) if name[0].isupper()}


def _days(older: Memory, newer: Memory) -> float:
    if older.created_at is None or newer.created_at is None:
        return 0.0
    return max((newer.created_at - older.created_at).total_seconds() / 86_400, 0.0)


def _probability(weights: Mapping[str, float], measured: Features) -> float:
    total = weights["bias"] + sum(
        weights.get(name, 0.0) * value for name, value in measured.items()
    )
    return 1 / (1 + exp(-min(max(total, -30.0), 30.0)))


@cache
def _weights() -> Weights:
    with open(os.path.join(_FOLDER, "judge.json"), encoding="utf-8") as file:
        return Weights(**json.load(file))


@cache
def _signs() -> dict[str, re.Pattern[str]]:
    listed: dict[str, list[str]] = {}
    with open(os.path.join(_FOLDER, "signs.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, expressions = line.rstrip().split(" ", 1)
                listed.setdefault(name, []).append(expressions)
    return {
        name: re.compile(rf"(?<!\w)(?:{'|'.join(those)})(?!\w)", re.IGNORECASE)
        for name, those in listed.items()
    }
