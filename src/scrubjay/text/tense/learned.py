"""Learned signs of a question about the past: a logistic regression over the words of a question.

Rules find a quarter of these questions: people also ask "who conducted before Marguerite?" and "early
lead before Zofia". `training/tense.py` fitted the weights.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

MOST_WORDS = 30  # a longer text is no question about one matter
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+")
_NAME, _NUMBER, _YEAR = "N", "#", "#y"  # no word is written so: words are in lower case
_FILE = os.path.join(os.path.dirname(__file__), "weights.tsv")


class Weights(NamedTuple):
    """The weight of each feature, the frequent words that make pairs, and what is added to any sum."""

    of: Mapping[str, float]
    frequent: frozenset[str]
    bias: float


def asks_past(question: str) -> bool:
    """True for a question that more probably asks for an earlier state than not."""
    words = words_of(question)
    if not words or len(words) > MOST_WORDS:
        return False
    weights = _weights()
    found = features(words, weights.frequent)
    return weights.bias + sum(weights.of.get(one, 0.0) for one in found) > 0


def words_of(question: str) -> list[str]:
    """Return the words in lower case; names, German nouns, numbers and years each as one sign."""
    words = []
    text = unicodedata.normalize("NFC", question)
    if text.isupper():
        text = text.lower()
    for place, word in enumerate(_WORD.findall(text)):
        if word[0].isdigit():
            words.append(_YEAR if len(word) == 4 and word[:2] in ("19", "20") else _NUMBER)
        elif place and word[0].isupper() and word != "I":
            words.append(_NAME)
        else:
            words.append(word.lower().replace("’", "'"))
    return words


def features(words: list[str], frequent: Collection[str]) -> set[str]:
    """Return what stands in a question: words, neighbors, ends of words, pairs of frequent words."""
    found = {*words, *(f"{one} {next_}" for one, next_ in pairwise(words))}
    if words:
        found |= {f"^{words[0]}", f"{words[-1]}$", f"^{' '.join(words[:2])}"}
    found |= {f"-{word[-2:]}" for word in words if len(word) > 3 and word.isalpha()}
    known = [word for word in words if word in frequent]
    return found | {f"{one}..{later}" for one, later in combinations(known, 2)}


@cache
def _weights() -> Weights:
    of: dict[str, float] = {}
    frequent: list[str] = []
    bias = 0.0
    with open(_FILE, encoding="utf-8") as lines:
        for line in lines:
            kind, _, value = line.rstrip("\n").partition("\t")
            if kind == "= frequent":
                frequent = value.split()
            elif kind == "= bias":
                bias = float(value)
            elif value:
                of[kind] = float(value)
    return Weights(of, frozenset(frequent), bias)
