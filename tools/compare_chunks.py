"""How long a passage should be: quality on long articles and Markdown, by chunk size and overlap.

    SCRUBJAY_EVAL_DATA=…/eval python -m tools.compare_chunks [TOKENS+OVERLAP …]

Decision 007 quotes its table. Indexes are kept under .cache/chunks; each size embeds everything anew.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import mean

from evals import __main__ as evals
from evals.sets import Part, find

SETS = ("covidqa", "gno_eval", "qmd_eval")
SIZES = ("100+0", "100+25", "150+25", "200+0", "200+25", "200+50", "300+25", "400+25")
PROFILES = ("default:vector", "default")


def main(sizes: list[str]) -> int:
    """Measure each size on each set."""
    root = os.environ.get("SCRUBJAY_EVAL_DATA")
    if not root:
        print("skipped: set SCRUBJAY_EVAL_DATA to a folder of test sets", file=sys.stderr)
        return 0
    heads = [f"{name} {profile}" for name in SETS for profile in PROFILES]
    print(f"| tokens + overlap | passages | {' | '.join(heads)} | passage holds the answer |")
    print("|---|---" + "|---" * len(heads) + "|---|")
    for size in sizes or SIZES:
        os.environ["SCRUBJAY_CHUNK_TOKENS"], _, overlap = size.partition("+")
        os.environ["SCRUBJAY_CHUNK_OVERLAP_TOKENS"] = overlap
        evals.CACHE = Path(".cache/chunks") / size
        sets = find(Path(root), list(SETS))
        figures = [f"{_quality(sets[name], one):.3f}" for name in SETS for one in PROFILES]
        (articles,) = sets["covidqa"]
        row = [str(_passages(articles)), *figures, f"{_answers(articles):.3f}"]
        print(f"| {size} | {' | '.join(row)} |", flush=True)
    return 0


def _quality(parts: list[Part], profile: str) -> float:
    return mean(evals.measure(parts, profile)["nDCG@10"])


def _passages(part: Part) -> int:
    with evals.index(part) as store:
        return store.status().chunks


def _answers(part: Part) -> float:
    """Return how often the passage shown for the right article holds the words of the answer."""
    judged = part.judgements()
    held = []
    with evals.index(part) as store:
        for question in part.questions():
            answer = str(question["metadata"]["answer"]).strip()
            hits = store.search(question["text"], limit=10)
            right = next((hit for hit in hits if hit.id in judged[question["id"]]), None)
            held.append(right is not None and answer in _shown(right.text, right.lines))
    return mean(held)


def _shown(text: str, lines: tuple[int, int] | None) -> str:
    if lines is None:
        return text
    return "".join(text.splitlines(keepends=True)[lines[0] - 1 : lines[1]])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
