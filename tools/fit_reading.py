"""Fit the weights by which `order_read` orders memories, on worlds that the reader did not learn from.

    python -m tools.fit_reading [--worlds training/data/worlds] [--most 100]

Prints the weights of each tense, and how often a right memory is first: each half of the worlds by the
weights of the other, by those that the default profile has, and by the score of the search alone.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from training.reading import is_held_out

import scrubjay
from scrubjay.search.profiles import default
from scrubjay.search.stages.reading import PARTS
from scrubjay.types import Step
from tools.confidence_questions import World, worlds

PENALTY = 2.0  # on the square of each weight, in questions
IN_FORCE = {"present": default.READ_NOW, "then": default.READ_THEN, "past": default.READ_PAST}
GROUPS = {"present": "present", "then": "then", "past": "past", "first": "past"}


class Question(NamedTuple):
    """One question whose first hits were read: the parts of each, and which of them are right."""

    place: str
    tense: str
    parts: Any
    right: Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, fit, and print."""
    parser = argparse.ArgumentParser(prog="tools.fit_reading")
    parser.add_argument("--worlds", type=Path, default=Path("training/data/worlds"))
    parser.add_argument("--most", type=int, default=None, help="maximum number of worlds")
    given = parser.parse_args(arguments)
    whole = [world for world in worlds(given.worlds) if world.group == "worlds"]
    held = [world for at, world in enumerate(whole) if is_held_out(at)][: given.most]
    asked = [question for world in held for question in read(world)]
    print(f"{len(held)} worlds, {len(asked)} questions whose first hits were read")
    for tense in IN_FORCE:
        report(tense, [question for question in asked if question.tense == tense])
    return 0


def read(world: World) -> Iterator[Question]:
    """Store a world, and ask those of its questions that have an answer there."""
    now = [datetime.now(UTC)]
    with scrubjay.open(":memory:", clock=lambda: now[0]) as store:
        store.add_many(world.notes)
        store.pending(wait=True)
        for one in world.questions:
            if not one.right or one.at is None:
                continue
            now[0] = one.at
            steps = {step.stage: step for step in _steps(store.search(one.text).trace)}
            parts = steps["order_read"].notes.get("parts") if "order_read" in steps else None
            if parts is None or not (one.right - one.stale) & parts.keys():
                continue
            rows = np.array([[of[part] for part in PARTS] for of in parts.values()])
            right = np.array([id_ in one.right for id_ in parts])
            tense = GROUPS.get(steps["tense"].notes["tense"], "present")
            yield Question(world.name, tense, rows, right)


def _steps(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from _steps(step.branches)


def report(tense: str, asked: Sequence[Question]) -> None:
    """Print the weights of one tense, and the share of questions with a right memory first."""
    if not asked:
        return
    halves = [[one for one in asked if zlib.crc32(one.place.encode()) % 2 == at] for at in (0, 1)]
    crossed = [right_first(halves[at], fit(halves[1 - at])) for at in (0, 1) if halves[at]]
    in_force = np.array([IN_FORCE[tense].get(part, 0.0) for part in PARTS])
    by_score = np.array([float(part == "score") for part in PARTS])
    found = dict(zip(PARTS, fit(asked).round(2).tolist(), strict=True))
    print(
        f"{tense}: {len(asked)} questions, right first"
        f" {sum(crossed) / len(asked):.3f} by the weights of the other half,"
        f" {right_first(asked, in_force) / len(asked):.3f} by those in force,"
        f" {right_first(asked, by_score) / len(asked):.3f} by score; {found}"
    )


def right_first(asked: Sequence[Question], weights: Any) -> int:
    """Return in how many questions the highest sum is that of a right memory."""
    return sum(bool(one.right[int((one.parts @ weights).argmax())]) for one in asked)


def fit(asked: Sequence[Question], steps: int = 800, rate: float = 0.05) -> Any:
    """Return the weights that give right memories the largest share of a softmax over those read."""
    weights = np.zeros(len(PARTS))
    moved, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):
        slope = -PENALTY * weights
        for one in asked:
            powers = np.exp(one.parts @ weights - (one.parts @ weights).max())
            chances = powers / powers.sum()
            of_right = np.where(one.right, chances, 0.0)
            slope += (of_right / max(of_right.sum(), 1e-9) - chances) @ one.parts
        # Adam: the parts have different scales.
        moved = 0.9 * moved + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope**2
        weights += rate * (moved / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-9)
    return weights


if __name__ == "__main__":
    sys.exit(main())
