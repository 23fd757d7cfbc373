"""Fit the weights of the stage `confidence`, and say how well they hold on stores that were not fitted.

    python -m tools.calibrate --worlds FOLDER [--pairs FILE …] [--cache FILE] [--check FOLDER …]

Questions are asked of stores that hold half of the answers. FOLDER has files of small worlds of dated
memories (training/data/worlds); FILE has a line {"title", "passage", "queries"} or {"query", "passage"}
each. With `--read`, only the weights for hits that a model has read are fitted, on worlds that it did not
learn from. `--check` measures sets of the form that `python -m evals` reads, and changes nothing. With
`--cache` searches are not repeated. Run it again after the ranking, a model or a feature has changed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from training.reading import is_held_out

import scrubjay
from scrubjay.models.registry import load_static_embedder
from scrubjay.ops.eval.questions import memories
from scrubjay.search.stages import confidence
from scrubjay.types import Step
from tools.confidence_questions import Asked, World, identifiers, pairs, worlds

MODES = ("default", "fast", "vector", "keyword")
BINS = 10
# A feature for which more can only speak for the first hit, or only against it.
FOR = ("keyword", "vector", "late", "held", "across", "languages", "read_first", "gap")
AGAINST = (
    *("code_missing", "code_unseen", "name_missing", "name_unseen", "word_unseen"),
    *("no_number", "no_person", "read_none", "outdated"),
)
# What says how often a first hit is right that is about the matter.
CONTEXT = (
    *("size", "alone", "asks_number", "asks_person"),
    *("foreign", "across", "gap", "late_lead", "vector_lead", "passage", "newer", "older"),
)
# An identifier that no text holds has the confidence of what is not stored, however rare such questions
# are in the data.
AT_MOST = {"code_unseen": -2.5}
READ, READ_KIND = {"read_first", "read_none"}, "_read"
_KEPT = 300  # examples of each kind for the tests
PENALTY = 1.0  # on the square of each weight, in examples
# Where the answers are in small stores of dated memories, as most of scrubjay's are.
SHARE = {"worlds": 0.65, "tiny": 0.15}


class Example(NamedTuple):
    """One search: where it was made, whether the answer is stored, and whether the first hit is it, or
    at least about the matter (`near`)."""

    group: str
    place: str
    mode: str
    kind: str
    stored: bool
    right: bool
    near: bool
    before: float
    features: Mapping[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print the figures of examples that were not fitted, and write the weights."""
    given = _parser().parse_args(arguments)
    cached = given.cache is not None and given.cache.exists()
    examples = list(
        _read(given.cache)
        if cached
        else read_hits(given.worlds)
        if given.read
        else collected(given.worlds, given.pairs, given.most)
    )
    if given.cache is not None and not cached:
        _write(given.cache, examples)
    fitted = {}
    for kind in sorted({example.kind for example in examples}):
        mine = [example for example in examples if example.kind == kind]
        print(f"\n{kind}, each half by the weights of the other:")
        halves = [[one for one in mine if _half(one.place) == half] for half in (0, 1)]
        crossed = [fit(halves[1]), fit(halves[0])]
        for group in (*sorted({one.group for one in mine}), ""):
            chosen = [one for one in mine if group in ("", one.group)]
            report(group or "all", chosen, [crossed[_half(one.place)] for one in chosen])
        fitted[kind] = fit([one for one in mine if not _is_held_out(one.place)])
    for folder in given.check:
        found = list(checked(folder))
        for kind in sorted({one.kind for one in found} & fitted.keys()):
            chosen = [one for one in found if one.kind == kind]
            report(f"{folder.name}, {kind}", chosen, [fitted[kind]] * len(chosen))
    if not given.dry_run:
        known = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
        text = json.dumps({**known, **fitted}, indent=1, sort_keys=True)
        given.out.write_text(text + "\n", encoding="utf-8")
        if not given.read:
            _write_held_out(given.held_out, examples)
        print(f"\nwrote {given.out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools.calibrate", description=__doc__.split("\n")[0])
    parser.add_argument("--worlds", type=Path, default=Path("training/data/worlds"))
    parser.add_argument("--pairs", type=Path, nargs="*", default=[])
    parser.add_argument("--read", action="store_true", help="only for hits that a model has read")
    parser.add_argument("--most", type=int, default=None, help="maximum number of worlds")
    parser.add_argument("--check", type=Path, nargs="*", default=[])
    parser.add_argument("--cache", type=Path, default=None, help="keep the searches in this file")
    parser.add_argument("--out", type=Path, default=Path(confidence.__file__).with_suffix(".json"))
    parser.add_argument("--held-out", type=Path, default=Path("tests/data/confidence.jsonl"))
    parser.add_argument("--dry-run", action="store_true", help="write no weights")
    return parser


def _half(place: str) -> int:
    return zlib.crc32(place.encode()) % 2


def _is_held_out(place: str) -> bool:
    """True for the quarter of all stores that is never fitted, which the tests check."""
    return zlib.crc32(place.encode()) // 2 % 4 == 0


def _read(file: Path) -> Iterator[Example]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield Example(*json.loads(line))


def _write(file: Path, examples: Iterable[Example]) -> None:
    text = "".join(f"{json.dumps(example)}\n" for example in examples)
    file.write_text(text, encoding="utf-8")


def _write_held_out(file: Path, examples: Sequence[Example]) -> None:
    """Write examples that were not fitted, of each kind of search in the shares of the fit."""
    chance = random.Random(7)
    lines = []
    for kind in ("words", "vectors", "tokens"):
        mine = [one for one in examples if one.kind == kind and _is_held_out(one.place)]
        for one in chance.choices(mine, _counts_of(mine), k=_KEPT):
            features = {name: round(value, 3) for name, value in one.features.items()}
            shape = {"kind": kind, "right": one.right, "features": features}
            lines.append(json.dumps(shape))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


# --- searches ---------------------------------------------------------------------------------


def collected(folder: Path, files: Iterable[Path], most: int | None) -> Iterator[Example]:
    """Ask every question of its store, in each mode; of at most so many worlds."""
    dated = list(worlds(folder))
    every = max(1, -(-len(dated) // (2 * most))) if most else 1
    sources = [world for n, world in enumerate(dated) if n // 2 % every == 0]
    sources += identifiers()
    for file in files:
        sources += pairs(file)
    for number, world in enumerate(sources):
        if number % 20 == 0:
            print(f"{number} of {len(sources)} stores", file=sys.stderr, flush=True)
        yield from searched(world, MODES)
        yield from searched(world, ("default", "fast"), load_static_embedder())


def read_hits(folder: Path) -> Iterator[Example]:
    """Ask the questions of worlds that the reader of notes did not learn from; return what it read."""
    whole = [world for world in worlds(folder) if world.group == "worlds"]
    for number, world in enumerate(whole):
        if is_held_out(number):
            found = searched(world, ("default", "fast", "vector"))
            yield from (one for one in found if one.kind.endswith(READ_KIND))


def searched(world: World, modes: Sequence[str], embedder: Any = None) -> Iterator[Example]:
    """Store one world in memory and ask its questions."""
    now = [datetime.now(UTC)]
    with scrubjay.open(":memory:", clock=lambda: now[0], embedder=embedder) as store:
        store.add_many(world.notes)
        store.pending(wait=True)
        for asked in world.questions:
            if asked.at is not None:
                now[0] = asked.at
            for mode in modes:
                if (found := _example(store, world, asked, mode)) is not None:
                    yield found


def _example(store: scrubjay.Store, world: World, asked: Asked, mode: str) -> Example | None:
    results = store.search(asked.text, mode=mode, limit=3)
    steps = {step.stage: step for step in _steps(results.trace)}
    notes = steps["confidence"].notes
    if "parts" not in notes:  # nothing was found
        return None
    right = notes["first"] in asked.right
    before = float(steps["weigh"].notes.get("strength", 0.0))
    measured = {name: round(float(part["value"]), 6) for name, part in notes["parts"].items()}
    return Example(
        world.group,
        world.name,
        mode,
        notes["kind"].removesuffix(READ_KIND) + (READ_KIND if READ & measured.keys() else ""),
        bool(asked.right),
        right,
        right or notes["first"] in asked.stale,
        before,
        measured,
    )


def _steps(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from _steps(step.branches)


def checked(root: Path) -> Iterator[Example]:
    """Ask the questions of a set on disk, or of each of its parts; none of a grade means not stored."""
    for corpus in sorted(root.rglob("corpus.jsonl")):
        folder = corpus.parent
        graded: dict[str, set[str]] = {}
        for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
            query, id_, grade = line.split("\t")[:3]
            if grade.strip().isdigit() and int(grade) > 0:
                graded.setdefault(query, set()).add(id_)
        questions = []
        for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            at = (one.get("metadata") or {}).get("as_of")
            moment = None if at is None else datetime.fromisoformat(at[:10]).replace(tzinfo=UTC)
            moment = None if moment is None else moment + timedelta(hours=20)
            questions.append(Asked(one["text"], frozenset(graded.get(one["id"], ())), moment))
        chance = random.Random(7)
        chosen = questions if len(questions) <= 200 else chance.sample(questions, 200)
        world = World(root.name, folder.name, list(memories(folder)), chosen)
        yield from searched(world, ("default", "keyword"))


# --- fitting ----------------------------------------------------------------------------------


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights of a logistic regression, in two steps: which first hits are about the matter,
    and then, by that and the rest of what is known of the query, which of those are right."""
    names = sorted({name for example in examples for name in example.features})
    names = [name for name in names if len({one.features.get(name, 0.0) for one in examples}) > 1]
    near = np.array([example.near for example in examples], float)
    right = np.array([example.right for example in examples], float)
    counts = np.array(_counts_of(examples))
    found = _signed(examples, names, near, counts)
    about = [total(found, example.features) for example in examples]
    rest = [name for name in CONTEXT if name in names]
    second = _newton(np.column_stack([about, _rows(examples, rest)]), right, counts)
    weights = {name: float(second[0]) * value for name, value in found.items()}
    for name, value in zip((*rest, "bias"), second[1:], strict=True):
        weights[name] = weights.get(name, 0.0) + float(value)
    for name, most in AT_MOST.items():
        weights[name] = min(weights.get(name, 0.0), most)
    return {name: round(value, 4) for name, value in sorted(weights.items())}


def _signed(
    examples: Sequence[Example], names: list[str], near: Any, counts: Any
) -> dict[str, float]:
    """Return the weights, without those that would have the wrong sign."""
    while True:
        found = _newton(_rows(examples, names), near, counts)
        values = {name: float(value) for name, value in zip(names, found, strict=False)}
        wrong = {name for name in values if name in FOR and values[name] < 0}
        wrong |= {name for name in values if name in AGAINST and values[name] > 0}
        if not wrong:
            return {**values, "bias": float(found[-1])}
        names = [name for name in names if name not in wrong]


def _rows(examples: Sequence[Example], names: Sequence[str]) -> Any:
    """Return a row of features for each example, with a 1 at its end."""
    return np.array([[*(one.features.get(name, 0.0) for name in names), 1.0] for one in examples])


def _counts_of(examples: Sequence[Example]) -> list[float]:
    """Return how much each example counts, so that every group has its share."""
    sizes: dict[str, int] = {}
    for one in examples:
        sizes[one.group] = sizes.get(one.group, 0) + 1
    given = sum(share for name, share in SHARE.items() if name in sizes)
    others = [name for name in sizes if name not in SHARE]
    rest = (1 - given) / len(others) if others else 0.0
    shares = {name: SHARE.get(name, rest) for name in sizes}
    whole = sum(shares.values())
    return [len(examples) * shares[one.group] / whole / sizes[one.group] for one in examples]


def _newton(rows: Any, right: Any, counts: Any) -> Any:
    weights = np.zeros(rows.shape[1])
    penalty = np.full(rows.shape[1], PENALTY)
    penalty[-1] = 1e-6
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (counts * (right - chance)) - penalty * weights
        curve = (rows * (counts * chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights += step
        if float(np.abs(step).max()) < 1e-8:
            break
    return weights


def total(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """Return the sum of features by weight."""
    return weights["bias"] + sum(weights.get(name, 0.0) * v for name, v in features.items())


# --- figures ----------------------------------------------------------------------------------


def report(name: str, examples: Sequence[Example], weights: Sequence[Mapping[str, float]]) -> None:
    """Print ECE, and the area for right against wrong and for stored against not, before and after."""
    if not examples:
        return
    right, stored = [e.right for e in examples], [e.stored for e in examples]
    sums = (total(each, one.features) for one, each in zip(examples, weights, strict=True))
    after = [float(1 / (1 + np.exp(-one))) for one in sums]
    shown = []
    for values in ([example.before for example in examples], after):
        areas = f"{area(values, right):.3f} {area(values, stored):.3f}"
        shown.append(f"ECE {calibration_error(values, right):.3f} areas {areas}")
    mean = sum(right) / len(right)
    print(f"  {name:28} n {len(right):5} right {mean:.2f} | {shown[0]} | {shown[1]}")


def calibration_error(values: Sequence[float], right: Sequence[bool]) -> float:
    """Return the expected calibration error, with ten bins of equal width."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for value, is_right in zip(values, right, strict=True):
        bins.setdefault(min(int(value * BINS), BINS - 1), []).append((value, is_right))
    gaps = (abs(sum(value - is_right for value, is_right in inside)) for inside in bins.values())
    return sum(gaps) / len(values)


def area(values: Sequence[float], is_positive: Sequence[bool]) -> float:
    """Return how often a positive one has a higher value than a negative one."""
    order = np.argsort(values, kind="stable")
    ranked, signs = np.asarray(values)[order], np.asarray(is_positive)[order]
    ranks = (
        np.searchsorted(ranked, ranked, "left") + np.searchsorted(ranked, ranked, "right") + 1
    ) / 2
    many = int(signs.sum())
    if not 0 < many < len(signs):
        return float("nan")
    return float((ranks[signs].sum() - many * (many + 1) / 2) / (many * (len(signs) - many)))


if __name__ == "__main__":
    sys.exit(main())
