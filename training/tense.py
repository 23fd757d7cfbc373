"""Train the signs of a question about the past, on the questions of the small worlds. Needs no GPU.

    python -m training.tense --worlds training/data/worlds --others squad_train.jsonl [--dry-run]

Questions of the kinds `past` and `as_of` ask for an earlier state; those of all other kinds, those of
SQuAD's training part and those in `training/data/present_questions.txt` do not. Questions that name a
time in the past are told by that and left out.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scrubjay.text.dates import window_of
from scrubjay.text.tense import FIRST, PAST, PRESENT, by_rules, learned
from training.reading import is_held_out

FREQUENT = 120  # words that make pairs
LEAST_WORLDS, LEAST_FILES = 5, 3  # in which a feature stands: others are names of a world
OTHERS = 5000
PENALTY, SHARE_PAST, SHARE_PLAIN, SHARE_OTHERS = 1.0, 2.0, 6.0, 0.5
PLAIN = Path(__file__).with_name("data") / "present_questions.txt"
LEAST_WEIGHT = 0.05
STEPS, RATE = 600, 0.05

Array = np.ndarray[Any, Any]


class Question(NamedTuple):
    """A question, where it is from, whether it asks for the past, and how much it counts."""

    words: list[str]
    text: str
    kind: str
    file: str
    world: int
    past: bool
    counts: float


def questions(worlds: Path, others: Path) -> Iterator[Question]:
    """Return the questions of all worlds, and some about other matters, and plain ones."""
    number = 0
    for file in sorted(worlds.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            for one in json.loads(line)["questions"]:
                past, kind = one["kind"] in ("past", "as_of"), one["kind"]
                if not (kind == "as_of" and _names_a_time(one)):
                    words = learned.words_of(one["q"])
                    counts = SHARE_PAST if past else 1.0
                    yield Question(words, one["q"], kind, file.stem, number, past, counts)
            number += 1
    for at, line in enumerate(PLAIN.read_text(encoding="utf-8").splitlines()[1:]):
        words = learned.words_of(line)
        yield Question(words, line, "plain", f"plain {at % 5}", at, False, SHARE_PLAIN)
    lines = others.read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line)["queries"][0] for line in lines]
    asked = [one for one in dict.fromkeys(asked) if by_rules(one) is None]
    for at, text in enumerate(random.Random(3).sample(asked, min(OTHERS, len(asked)))):
        words = learned.words_of(text)
        yield Question(words, text, "other", f"other {at % 5}", at, False, SHARE_OTHERS)


def _names_a_time(one: Any) -> bool:
    asked = datetime.fromisoformat(one["asked"]).replace(tzinfo=UTC)
    window = window_of(one["q"], asked)
    return window is not None and window.ends < asked


def fit(rows: Sequence[list[int]], past: Array, counts: Array, width: int) -> Array:
    """Return the weights of a logistic regression; the last is the bias. Adam over all questions."""
    at = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    feature = np.concatenate([np.array(row, np.int64) for row in rows])
    weights = np.zeros(width + 1)
    moved, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        chance = 1 / (1 + np.exp(-sums(at, feature, weights, len(rows))))
        wrong = counts * (chance - past)
        slope = np.append(np.bincount(feature, wrong[at], width), wrong.sum())
        slope[:-1] += 2 * PENALTY * weights[:-1]
        moved = 0.9 * moved + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        change = moved / (1 - 0.9**step) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-9)
        weights -= RATE * (1 - step / (STEPS + 1)) * change
    return weights


def sums(at: Array, feature: Array, weights: Array, count: int) -> Array:
    """Return the sum of the weights of each question."""
    found: Array = np.bincount(at, weights[feature], count) + weights[-1]
    return found


def report(asked: Sequence[Question]) -> None:
    """Print what the rules find, and what the weights that are in the package add, for each kind."""
    kinds: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for one in asked:
        ruled = by_rules(one.text)
        kinds[one.kind].append(
            (
                ruled in (PAST, FIRST),
                ruled in (PAST, FIRST) or (ruled != PRESENT and learned.asks_past(one.text)),
            )
        )
    for kind, found in sorted(kinds.items()):
        rules, both = np.mean(found, axis=0)
        print(
            f"{kind}: {len(found)} questions, taken for the past by rules {rules:.3f}, in all {both:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=Path, default=Path("training/data/worlds"))
    parser.add_argument("--others", type=Path, required=True)
    parser.add_argument("--dry-run", action="store_true", help="only report, write no weights")
    args = parser.parse_args()
    asked = list(questions(args.worlds, args.others))
    known = [one for one in asked if not is_held_out(one.world)]
    if not args.dry_run:
        write(known)
    report([one for one in asked if is_held_out(one.world)])


def write(known: Sequence[Question]) -> None:
    """Fit the weights and write them beside the rules."""
    often = Counter(word for one in known for word in set(one.words))
    frequent = sorted(word for word, _ in often.most_common(FREQUENT))
    found = [learned.features(one.words, frozenset(frequent)) for one in known]
    worlds, files = defaultdict(set), defaultdict(set)
    for one, those in zip(known, found, strict=True):
        for feature in those:
            worlds[feature].add((one.file, one.world))
            files[feature].add(one.file)
    names = sorted(
        feature
        for feature in worlds
        if len(worlds[feature]) >= LEAST_WORLDS and len(files[feature]) >= LEAST_FILES
    )
    place = {name: at for at, name in enumerate(names)}
    rows = [[place[one] for one in those if one in place] for those in found]
    past = np.array([float(one.past) for one in known])
    weights = fit(rows, past, np.array([one.counts for one in known]), len(names))
    lines = [
        "# Weights of learned.py, fitted by training/tense.py.",
        f"= frequent\t{' '.join(frequent)}",
        f"= bias\t{weights[-1]:.2f}",
        *(
            f"{name}\t{weight:.2f}"
            for name, weight in zip(names, weights[:-1], strict=True)
            if abs(weight) >= LEAST_WEIGHT
        ),
    ]
    file = Path(learned.__file__).with_name("weights.tsv")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} lines, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
