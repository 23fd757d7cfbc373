"""Ways to cut Chinese into index words, side by side: the second table of decision 006.

    pip install --target PACKAGES jieba
    SCRUBJAY_EVAL_DATA=…/eval PYTHONPATH=PACKAGES python -m tools.compare_segmenters [SET …]

Each way makes its own store in memory and answers every question by keyword alone.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any
from unittest.mock import patch

from evals.sets import Part, find

import scrubjay
from scrubjay.ops.eval.run import ndcg
from scrubjay.text import analysis as text

SETS = ["gno_cjk", "xquad/zh"]

Cut = Callable[..., list[str]]
PAIRS: Cut = text._unspaced_tokens


def words() -> Cut:
    """Return jieba's cut for search engines: words, and the shorter words inside long ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it still asks for pkg_resources
        jieba: Any = importlib.import_module("jieba")
    jieba.setLogLevel(logging.WARNING)

    def cut(word: str, *stems: str, singles: bool) -> list[str]:
        found: list[str] = []
        for run in re.split(f"({text._UNSPACED})", word):
            if run and text.is_unspaced(run):
                found.extend(jieba.lcut_for_search(run))
            elif run:
                found.extend(text.word_tokens(run, *stems))
        return found

    return cut


def both(word: Cut) -> Cut:
    """Return pairs and words; what is both counts once."""

    def cut(run: str, *stems: str, singles: bool) -> list[str]:
        pairs = PAIRS(run, *stems, singles=singles)
        return pairs + [one for one in word(run, *stems, singles=singles) if one not in pairs]

    return cut


def measure(parts: list[Part], cut: Cut) -> tuple[float, float]:
    """Return nDCG@10 by keyword, and the seconds for indexing and asking."""
    gains: list[float] = []
    began = time.perf_counter()
    with patch.object(text, "_unspaced", cut):
        text.word_tokens.cache_clear()
        text.query_tokens.cache_clear()
        for part in parts:
            judged = part.judgements()
            with scrubjay.open(":memory:", embedder=False) as store:
                store.add_many({"id": one["id"], "text": one["text"]} for one in part.documents())
                for question in part.questions():
                    hits = store.search(question["text"], profile="default:keyword", limit=10)
                    gains.append(ndcg([hit.id for hit in hits], judged[question["id"]]))
    return mean(gains), time.perf_counter() - began


def main(wanted: list[str]) -> None:
    """Print the table."""
    sets = find(Path(os.environ["SCRUBJAY_EVAL_DATA"]), wanted or SETS)
    jieba = words()
    jieba("预热", "english", singles=True)  # it reads its dictionary at the first call
    print("| cut into | " + " | ".join(sets) + " | time, pairs = 1 |")
    print("|---" * (len(sets) + 2) + "|")
    base = 0.0
    for name, cut in {"pairs": PAIRS, "words": jieba, "pairs and words": both(jieba)}.items():
        measured = [measure(parts, cut) for parts in sets.values()]
        spent = sum(seconds for _, seconds in measured)
        base = base or spent
        cells = " | ".join(f"{gain:.3f}" for gain, _ in measured)
        print(f"| {name} | {cells} | {spent / base:.2f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
