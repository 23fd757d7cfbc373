"""Does confidence tell right first hits from wrong ones? The figures of decision 004.

    python -m tools.check_confidence PAIRS.jsonl

PAIRS has a line {"title", "passage", "queries"} each. Half of the passages are stored and all are
asked for, so half of the questions have no answer in the store.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

import scrubjay
from scrubjay.surfaces.mcp.text import HIGH, LOW

STORED, ASKED = 1500, 700


def main(file: str) -> None:
    """Print the area under the curve, how confident right and wrong first hits are, and what is so in
    each of the bands that agents are told of.
    """
    with Path(file).open(encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    chance = random.Random(7)
    chance.shuffle(pairs)
    stored, absent = pairs[:STORED], pairs[STORED : 2 * STORED]
    right: dict[str, list[float]] = {"root of the share": [], "plain share": []}
    wrong: dict[str, list[float]] = {"root of the share": [], "plain share": []}
    asked: dict[str, list[tuple[float, bool]]] = {name: [] for name in right}
    with tempfile.TemporaryDirectory() as folder, scrubjay.open(Path(folder) / "a.db") as store:
        store.add_many(
            {"id": f"p{n}", "title": one["title"], "text": one["passage"]}
            for n, one in enumerate(stored)
        )
        store.pending()
        questions = [
            (f"p{n}", chance.choice(one["queries"])) for n, one in enumerate(stored[:ASKED])
        ]
        questions += [("", chance.choice(one["queries"])) for one in absent[:ASKED]]
        for name, powers in (("root of the share", 0.5), ("plain share", 1.0)):
            overrides = {"weigh.powers": {"keyword": powers, "vector": 1.0}}
            for expected, question in questions:
                found = store.search(question, limit=1, overrides=overrides)
                first = found.hits[0].id if found.hits else None
                side = right if first == expected else wrong
                side[name].append(found.confidence or 0.0)
                asked[name].append((found.confidence or 0.0, bool(expected)))
    for name in right:
        print(f"{name}: area under the curve {area(right[name], wrong[name]):.3f}")
        for what, values in (("right", right[name]), ("wrong", wrong[name])):
            ranked = sorted(values)
            shown = ", ".join(
                f"{ranked[int(at * (len(ranked) - 1))]:.2f}" for at in (0.1, 0.5, 0.9)
            )
            print(f"  {len(ranked)} {what} first hits, confidence at 10, 50, 90 %: {shown}")
        for least, below in ((0.0, LOW), (LOW, HIGH), (HIGH, 2.0)):
            ends = (f"{least:.2f}", f"{min(below, 1.0):.2f}")
            hits = sum(least <= one < below for one in right[name])
            inside = [stored for one, stored in asked[name] if least <= one < below]
            print(
                f"  {' to '.join(ends)}: {len(inside)} questions, {len(inside) - sum(inside)} of them"
                f" without an answer in the store; {hits} first hits are right"
            )


def area(right: list[float], wrong: list[float]) -> float:
    """Return how often a right one is more confident than a wrong one."""
    wins = sum((r > w) + 0.5 * (r == w) for r in right for w in wrong)
    return wins / (len(right) * len(wrong))


if __name__ == "__main__":
    main(sys.argv[1])
