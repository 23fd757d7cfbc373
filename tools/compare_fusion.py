"""Ways to fuse BM25 and cosine, side by side: the table of decision 004.

    SCRUBJAY_EVAL_DATA=…/eval python -m tools.compare_fusion [SET …]

Uses the indexes that `python -m evals` made, and the first 300 questions of each set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean, pstdev

from evals.__main__ import index
from evals.sets import find

from scrubjay.ops.eval.run import ndcg
from scrubjay.search import profiles
from scrubjay.text.analysis import terms
from scrubjay.types import Scope

DEPTH, POOL, QUESTIONS = 64, 64, 300
WEIGHTS = {"title": 1.0, "topics": 1.0, "context": 1.0, "ident": 1.0}

Scores = dict[str, float]
# Keyword scores, cosines of all memories, and the best possible keyword score.
Way = Callable[[Scores, Scores, float], Scores]


def best_of(scores: Scores, most: int) -> list[str]:
    """Return the ids of the highest scores."""
    return sorted(scores, key=lambda id_: (-scores[id_], id_))[:most]


def rrf(words: Scores, meaning: Scores, possible: float) -> Scores:
    """Reciprocal ranks, k = 60."""
    fused: Scores = {}
    for scores in (words, meaning):
        for rank, id_ in enumerate(best_of(scores, DEPTH), 1):
            fused[id_] = fused.get(id_, 0.0) + 1 / (60 + rank)
    return fused


def pairs(words: Scores, meaning: Scores) -> dict[str, tuple[float, float]]:
    """Return both scores of the pool: words as far as the list was read, meaning looked up."""
    read = {id_: words[id_] for id_ in best_of(words, DEPTH)}
    pool = best_of(rrf(words, meaning, 0.0), POOL)
    return {id_: (read.get(id_, 0.0), max(meaning.get(id_, 0.0), 0.0)) for id_ in pool}


def min_max(words: Scores, meaning: Scores, possible: float) -> Scores:
    """Each list stretched to 0..1, absent is 0."""
    fused: Scores = {}
    for scores in (words, meaning):
        read = {id_: scores[id_] for id_ in best_of(scores, DEPTH)}
        low, high = min(read.values(), default=0.0), max(read.values(), default=0.0)
        for id_, score in read.items():
            fused[id_] = fused.get(id_, 0.0) + (
                (score - low) / (high - low) if high > low else 1.0
            )
    return fused


def as_listed(words: Scores, meaning: Scores, possible: float) -> Scores:
    """The same without looking anything up: what a list did not bring counts as its lowest."""
    lists = [{id_: of[id_] for id_ in best_of(of, DEPTH)} for of in (words, meaning)]
    low_words, low_meaning = (min(of.values(), default=0.0) for of in lists)
    return _standard(
        {
            id_: (lists[0].get(id_, low_words), lists[1].get(id_, low_meaning))
            for id_ in best_of(rrf(words, meaning, 0.0), POOL)
        }
    )


def standard(words: Scores, meaning: Scores, possible: float) -> Scores:
    """Standard deviations above the pool's mean, added."""
    return _standard(pairs(words, meaning))


def _standard(both: dict[str, tuple[float, float]]) -> Scores:
    if not both:
        return {}
    columns = [[pair[side] for pair in both.values()] for side in (0, 1)]
    spread = [(mean(column), pstdev(column) or 1.0) for column in columns]
    return {
        id_: sum((value - at) / by for value, (at, by) in zip(pair, spread, strict=True))
        for id_, pair in both.items()
    }


def absolute(words: Scores, meaning: Scores, possible: float) -> Scores:
    """.65 of the best possible BM25 plus .35 of the cosine."""
    both = pairs(words, meaning)
    return {id_: 0.65 * w / (possible or 1.0) + 0.35 * v for id_, (w, v) in both.items()}


def over_best(least_words: float, least_meaning: float) -> Way:
    """Return: each over the best found, or over the least if that is more; equal weights."""

    def fuse(words: Scores, meaning: Scores, possible: float) -> Scores:
        both = pairs(words, meaning)
        of_words = max([least_words * possible, 1e-9, *(w for w, _ in both.values())])
        of_meaning = max([least_meaning, 1e-9, *(v for _, v in both.values())])
        return {id_: w / of_words + v / of_meaning for id_, (w, v) in both.items()}

    return fuse


WAYS: dict[str, Way] = {
    "BM25 alone": lambda words, meaning, possible: words,
    "cosine alone": lambda words, meaning, possible: meaning,
    "RRF, k = 60": rrf,
    "min-max, added": min_max,
    "standard scores, nothing looked up": as_listed,
    "standard scores, added": standard,
    "share of the best possible x .65 + cosine x .35": absolute,
    "score over the best found, equal": over_best(0.0, 0.0),
    "the same, not below .2 and .3 of the best possible": over_best(0.2, 0.3),
}


def main(wanted: list[str]) -> None:
    """Print the table."""
    measured: dict[str, dict[str, float]] = {way: {} for way in WAYS}
    for name, parts in find(Path(os.environ["SCRUBJAY_EVAL_DATA"]), wanted).items():
        gains: dict[str, list[float]] = {way: [] for way in WAYS}
        for part in parts:
            judged = part.judgements()
            with index(part) as store:
                kit = store._context.kit(profiles.get("default"))
                for question in part.questions()[:QUESTIONS]:
                    asked = terms(question["text"])[:64]
                    vector = kit.need("embedder").embed([question["text"]], as_query=True)[0]
                    words = kit.need("keyword").search(asked, Scope(), 2000, WEIGHTS)
                    near = kit.need("vectors").search(
                        vector, kit.need("embedder").name, Scope(), 2000
                    )
                    of_words = {row.id: row.score for row in words.rows}
                    of_meaning = {row.id: row.score for row in near.rows}
                    for way, fuse in WAYS.items():
                        fused = fuse(of_words, of_meaning, words.best)
                        gains[way].append(ndcg(best_of(fused, 10), judged[question["id"]]))
        for way in WAYS:
            measured[way][name] = mean(gains[way])
        print(name, file=sys.stderr)
    names = list(next(iter(measured.values())))
    print("| way to fuse | average | " + " | ".join(names) + " |")
    print("|---|---" + "|---" * len(names) + "|")
    for way, of in measured.items():
        cells = " | ".join(f"{of[name]:.3f}" for name in names)
        print(f"| {way} | {mean(of.values()):.3f} | {cells} |")


if __name__ == "__main__":
    main(sys.argv[1:])
