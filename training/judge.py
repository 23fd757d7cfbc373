"""Fit the judge of changes on worlds that the reader of notes did not learn from. Needs no GPU.

    python -m training.judge [--dry-run]

Pairs are those that the product would read: each note with the four most similar earlier ones, and all
pairs that the worlds list. Prints, each fifth of the worlds by the weights of the others, how well the
strength tells updates from other pairs, beside that of the reader alone.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scrubjay.models import Passage, Relation
from scrubjay.models.registry import load_reader
from scrubjay.types import Memory
from scrubjay.write.changes import judge
from training import plain
from training.changes import Similar
from training.reading import is_held_out

DATA = Path(__file__).with_name("data")
OTHER_PLAIN, OTHER_SEED = (
    160,
    11,
)  # plain worlds that the reader has not seen, of templates that it has
NEAREST, READ = 4, 2  # earlier notes of a note that are learned from, that the product reads
WEIGHT_PLAIN, WEIGHT_FAR = 0.6, 0.5
WHOLE, ANY = ("replaces", "corrects", "ends"), ("replaces", "corrects", "ends", "partial")
PENALTY, FOLDS, BATCH = 3.0, 5, 64

Array = np.ndarray[Any, Any]


class Pair(NamedTuple):
    """Two notes of a world, their relation there, and the place of the older one among similar ones."""

    world: str
    older: Memory
    newer: Memory
    relation: str
    place: int


def pairs() -> Iterator[Pair]:
    """Yield the pairs of all worlds from which the reader did not learn."""
    files = sorted((DATA / "worlds").glob("*.jsonl"))
    worlds = [json.loads(line) for file in files for line in file.open(encoding="utf-8")]
    worlds += plain.worlds(DATA / "plain")
    held = [world for number, world in enumerate(worlds) if is_held_out(number)]
    held += plain.worlds(DATA / "plain", OTHER_PLAIN, OTHER_SEED)
    similar = Similar(sorted({note["text"] for world in held for note in world["notes"]}))
    for number, world in enumerate(held):
        yield from pairs_of(f"{number} {world['world']}", world, similar)


def pairs_of(name: str, world: Any, similar: Similar) -> Iterator[Pair]:
    language = world["lang"] if len(world["lang"]) == 2 else ""
    notes = [
        Memory(note["text"], note["id"], created_at=moment(note["at"]), language=language)
        for note in world["notes"]
    ]
    listed = {(new, old): relation for new, old, relation in world["pairs"]}
    by_id = {note.id: note for note in notes}
    near = {}
    for at, newer in enumerate(notes):
        earlier = notes[:at]
        if not earlier:
            continue
        scores = similar.scores(newer.text, [note.text for note in earlier])
        for place, one in enumerate(np.argsort(-scores)[:NEAREST]):
            near[newer.id, earlier[one].id] = place
    for new, old in sorted(near.keys() | listed.keys()):
        relation, place = listed.get((new, old), "other"), near.get((new, old), NEAREST)
        yield Pair(name, by_id[old], by_id[new], relation, place)


def moment(at: str) -> datetime:
    return datetime.fromisoformat(at).replace(tzinfo=UTC)


def fit(rows: Array, right: Array, counts: Array) -> Array:
    """Return the weights of a logistic regression over standardized columns; the last one is the bias."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    scaled = np.column_stack([(rows - mean) / spread, np.ones(len(rows))])
    weights, penalty = np.zeros(scaled.shape[1]), np.full(scaled.shape[1], PENALTY)
    penalty[-1] = 1e-6
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ weights, -30, 30)))
        slope = scaled.T @ (counts * (right - chance)) - penalty * weights
        curve = (scaled * (counts * chance * (1 - chance))[:, None]).T @ scaled
        weights += np.linalg.solve(curve + np.diag(penalty), slope)
    plainly = weights[:-1] / spread
    return np.append(plainly, weights[-1] - plainly @ mean)


def probabilities(rows: Array, weights: Array) -> Array:
    return 1 / (1 + np.exp(-(rows @ weights[:-1] + weights[-1])))


def area(scores: Array, truth: Array) -> float:
    order, positive = np.argsort(np.argsort(scores)) + 1.0, truth.sum()
    others = positive * (len(truth) - positive)
    return float((order[truth].sum() - positive * (positive + 1) / 2) / others)


def report(name: str, strength: Array, whole: Array, part: Array) -> None:
    """Print areas, and of each threshold the share of updates above it and of those that are found."""
    line = f"{name:24} n {len(part):5} area {area(strength, part):.3f}"
    for least in (0.3, 0.5, 0.7, 0.8):
        over = strength >= least
        right = part[over].mean() if over.any() else 0.0
        line += f" | {least}: right {right:.2f}, found {(over & part).sum() / part.sum():.2f}"
    print(f"{line} ({whole[strength >= 0.7].mean() if (strength >= 0.7).any() else 0:.2f} whole)")


def features(found: list[Pair], relations: list[Relation]) -> list[judge.Features]:
    """Return the features of all pairs. A pair that the product would not read stands beside the nearest."""
    measured: dict[int, judge.Features] = {}
    by_newer: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at in sorted(range(len(found)), key=lambda at: found[at].place):
        by_newer[found[at].world, found[at].newer.id].append(at)
    for several in by_newer.values():
        read = [at for at in several if found[at].place < READ]
        measured |= judged(read, found, relations)
        for at in (at for at in several if at not in read):
            measured[at] = judged([*read[:1], at], found, relations)[at]
    return [measured[at] for at in range(len(found))]


def judged(
    several: list[int], found: list[Pair], relations: list[Relation]
) -> dict[int, judge.Features]:
    pairs = [judge.Pair(found[at].older, found[at].newer) for at in several]
    of_each = judge.features(pairs, [relations[at] for at in several])
    return dict(zip(several, of_each, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path(judge.__file__).with_suffix(".json"))
    parser.add_argument("--dry-run", action="store_true")
    args = parser.parse_args()
    found, reader, relations = list(pairs()), load_reader(), []
    for at in range(0, len(found), BATCH):
        relations += reader.relations(
            [
                tuple(Passage(note.text, note.created_at) for note in (one.older, one.newer))
                for one in found[at : at + BATCH]
            ]
        )
    measured = features(found, relations)
    names = sorted(measured[0])
    rows = np.array([[one[name] for name in names] for one in measured])
    listed = np.array([one.relation for one in found])
    goals = {"whole": np.isin(listed, WHOLE), "any": np.isin(listed, ANY)}
    is_plain = np.array(["plain" in one.world for one in found])
    read = np.array([one.place < READ for one in found])
    counts = np.where(is_plain, WEIGHT_PLAIN, 1.0) * np.where(read, 1.0, WEIGHT_FAR)
    fold = np.array([zlib.crc32(one.world.encode()) % FOLDS for one in found])
    crossed = np.zeros(len(found))
    for goal in goals.values():
        for number in range(FOLDS):
            rest = fold != number
            weights = fit(rows[rest], goal[rest].astype(float), counts[rest])
            crossed[~rest] += probabilities(rows[~rest], weights) / len(goals)
    alone = np.array([said.replaces + said.partial / 2 for said in relations])
    for group, chosen in (("written", read & ~is_plain), ("plain", read & is_plain)):
        for name, strength in (("reader alone", alone), ("judge", crossed)):
            report(
                f"{group}, {name}",
                strength[chosen],
                goals["whole"][chosen],
                goals["any"][chosen],
            )
    if args.dry_run:
        return
    fitted = {
        name: {
            key: round(float(value), 4)
            for key, value in zip(
                (*names, "bias"), fit(rows, goal.astype(float), counts), strict=True
            )
        }
        for name, goal in goals.items()
    }
    args.out.write_text(json.dumps(fitted, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
