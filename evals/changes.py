"""Worlds of facts that change: what comes first when the present, a past state or nothing is asked for.

    SCRUBJAY_EVAL_DATA=…/eval python -m evals changes [--profiles default,gno] [--write]

Each world is a store of its own, with its notes stored at their times, and asked on the day that the
question names. Questions about a time are also asked with `as_of`, the end of the time that the question
names, where it names one in the past.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from functools import partial
from math import log2
from pathlib import Path
from statistics import mean
from typing import Any

import scrubjay
from scrubjay.text.dates import window_of

NOT_STORED = "not_stored"
KINDS = ("current", "unchanged", "identifier", "past", "as_of")
GAINS = {2: 3.0, 1: 1.0}
BINS = 10


@dataclass(frozen=True)
class Question:
    """One question of a world, with the grades of its notes."""

    text: str
    kind: str
    across: bool
    asked: datetime
    grades: Mapping[str, int]
    stale: frozenset[str]
    tempting: frozenset[str]


@dataclass(frozen=True)
class World:
    """The notes of a small store, and questions about them."""

    name: str
    notes: Sequence[Mapping[str, Any]]
    questions: Sequence[Question]


@dataclass
class Figures:
    """What was found for the questions of one profile."""

    first_right: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    gains: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    stale_first: list[bool] = field(default_factory=list)
    tempting_first: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    sure: list[tuple[float, bool, bool]] = field(default_factory=list)
    """Confidence, whether the first hit answers, and whether an answer is stored."""


def read_worlds(root: Path) -> list[World]:
    """Return the worlds in a folder, by name."""
    return [_world(folder) for folder in sorted(root.iterdir()) if folder.is_dir()]


def _world(folder: Path) -> World:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, note, grade = line.split("\t")
        grades[question][note] = int(grade)
    questions = []
    for row in _lines(folder / "queries.jsonl"):
        about = row["metadata"]
        kind, _, across = about["category"].partition(":")
        day = datetime.fromisoformat(about["as_of"])
        questions.append(
            Question(
                row["text"],
                kind,
                bool(across),
                datetime.combine(day.date(), time(23, 59), UTC),
                grades[row["id"]],
                frozenset(about["stale"] or ()),
                frozenset(about["tempting"] or ()),
            )
        )
    return World(folder.name, _lines(folder / "corpus.jsonl"), questions)


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(worlds: Iterable[World], profile: str) -> Figures:
    """Ask every question of every world."""
    figures = Figures()
    for world in worlds:
        now = [datetime.fromisoformat(world.notes[-1]["metadata"]["date"]).replace(tzinfo=UTC)]
        with scrubjay.open(
            ":memory:", profile=profile, clock=partial(now.__getitem__, 0)
        ) as store:
            store.add_many(map(_memory, world.notes))
            store.pending()
            for question in world.questions:
                now[0] = question.asked
                _note(figures, question, store.search(question.text, limit=10))
                if (moment := named_moment(question)) is not None:
                    found = store.search(question.text, limit=10, as_of=moment)
                    _note_first(figures, question, found, f"{_kind(question)}, with as_of")
    return figures


def named_moment(question: Question) -> datetime | None:
    """Return the end of the time in the past whose state a question asks for, if it names it."""
    window = window_of(question.text, question.asked) if question.kind == "as_of" else None
    return window.ends if window is not None and window.ends < question.asked else None


def _memory(note: Mapping[str, Any]) -> dict[str, Any]:
    about = note["metadata"]
    return {
        "id": note["id"],
        "text": note["text"],
        "type": about["type"] or "fact",
        "role": about["role"],
        "session": about["session"],
        "created_at": datetime.fromisoformat(about["date"]).replace(tzinfo=UTC),
    }


def _note(figures: Figures, question: Question, found: scrubjay.Results) -> None:
    first = found[0].id if found else ""
    kind = _kind(question)
    if question.kind != NOT_STORED:
        _note_first(figures, question, found, kind)
    if question.stale:
        figures.stale_first.append(first in question.stale)
    if question.tempting and question.kind != NOT_STORED:
        figures.tempting_first[kind].append(first in question.tempting)
    if not question.across:
        # A note that supports the same answer answers the question, too.
        answers = first in question.grades
        figures.sure.append((found.confidence or 0.0, answers, question.kind != NOT_STORED))


def _kind(question: Question) -> str:
    return f"{question.kind}, across languages" if question.across else question.kind


def _note_first(figures: Figures, question: Question, found: scrubjay.Results, kind: str) -> None:
    ids = [hit.id for hit in found]
    figures.first_right[kind].append(bool(ids) and question.grades.get(ids[0], 0) == 2)
    figures.gains[kind].append(_ndcg(ids, question.grades))


def _ndcg(ids: Sequence[str], grades: Mapping[str, int]) -> float:
    def total(values: Iterable[int]) -> float:
        return sum(GAINS.get(grade, 0.0) / log2(2 + at) for at, grade in enumerate(values))

    best = total(sorted(grades.values(), reverse=True)[:10])
    return total(grades.get(id_, 0) for id_ in ids[:10]) / best if best else 0.0


def area(scores: Sequence[tuple[float, bool]]) -> float:
    """Return how often one that is true has the higher score than one that is not; ties count half."""
    true = [score for score, is_true in scores if is_true]
    false = [score for score, is_true in scores if not is_true]
    won = sum((one > other) + 0.5 * (one == other) for one in true for other in false)
    return won / max(1, len(true) * len(false))


def calibration_error(sure: Sequence[tuple[float, bool]]) -> float:
    """Return how far confidence is from the share that is right, over ten bins of equal width."""
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for confidence, right in sure:
        bins[min(int(confidence * BINS), BINS - 1)].append((confidence, right))
    return sum(
        abs(sum(confidence for confidence, _ in some) - sum(right for _, right in some))
        for some in bins.values()
    ) / max(1, len(sure))


def table(found: Mapping[str, Figures]) -> str:
    """Return the figures as a Markdown table, a column for each profile."""
    kinds = list(dict.fromkeys(kind for one in found.values() for kind in one.first_right))
    kinds.sort(key=lambda kind: (", across" in kind, KINDS.index(kind.partition(",")[0])))
    head = ["", "questions", *found]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]

    def row(name: str, count: int, values: Iterable[float]) -> None:
        shown = " | ".join(f"{value:.3f}" for value in values)
        lines.append(f"| {name} | {count} | {shown} |")

    every = [*found.values()]
    for kind in kinds:
        right = [one.first_right[kind] for one in every]
        row(f"{kind}: right first", len(right[0]), map(mean, right))
    if stale := len(every[0].stale_first):
        row("an outdated one first", stale, (mean(one.stale_first) for one in every))
    for kind in kinds:
        gains = [one.gains[kind] for one in every]
        row(f"{kind}: nDCG@10", len(gains[0]), map(mean, gains))
    for kind in (kind for kind in KINDS if every[0].tempting_first[kind]):
        tempting = [one.tempting_first[kind] for one in every]
        row(f"{kind}: a tempting one first", len(tempting[0]), map(mean, tempting))
    sure, count = [one.sure for one in every], len(every[0].sure)
    stored = (area([(chance, is_stored) for chance, _, is_stored in one]) for one in sure)
    row("stored against not stored, area under the curve", count, stored)
    answers = (area([(chance, right) for chance, right, _ in one]) for one in sure)
    row("first hit answers, area under the curve", count, answers)
    errors = (calibration_error([(chance, right) for chance, right, _ in one]) for one in sure)
    row("expected calibration error", count, errors)
    return "\n".join(lines)
