"""Measure a profile: ask questions with known answers, and compute nDCG, recall and MRR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log2
from pathlib import PurePath
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.runtime.progress import Progress, silent
from scrubjay.search.profiles import get

if TYPE_CHECKING:
    from scrubjay.ops.eval.questions import Question
    from scrubjay.store import Store

LIMIT = 10
_COUNTS = "count_hits"  # the stage that counts hits: measured searches must not be counted

Grades = Mapping[str, float]
Ids = tuple[str, ...]
_PathEnds = Mapping[str, list[tuple[tuple[str, ...], Ids]]]


def ndcg(ranked: Sequence[str], grades: Grades, at: int = 10) -> float:
    """Return the gain of a ranking over the gain of the best possible one; grades count linearly."""
    gains = [max(grades.get(id_, 0.0), 0.0) for id_ in ranked[:at]]
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:at]
    ideal = _discounted(best)
    return _discounted(gains) / ideal if ideal else 0.0


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def recall(ranked: Sequence[str], grades: Grades, at: int = 10) -> float:
    relevant = {id_ for id_, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:at])) / len(relevant) if relevant else 0.0


def mrr(ranked: Sequence[str], grades: Grades, at: int = 10) -> float:
    ranks = (rank for rank, id_ in enumerate(ranked[:at], 1) if grades.get(id_, 0.0) > 0)
    return 1.0 / next(ranks, float("inf"))


class Asked(NamedTuple):
    """One question: the rank of each expected answer, None where it was not found, and the measures."""

    query: str
    places: Mapping[str, int | None]
    ndcg: float
    recall: float
    mrr: float


class Measured(NamedTuple):
    """A profile over all questions: means, each question, and how often something was degraded."""

    profile: str
    ndcg: float
    recall: float
    mrr: float
    asked: tuple[Asked, ...]
    degraded: Mapping[str, int]


class Answers:
    """Maps the expected answers of questions to memories of one store: by id, or by the path of a file."""

    def __init__(self, store: Store, questions: Iterable[Question]) -> None:
        names = list(dict.fromkeys(name for question in questions for name in question.grades))
        stored = {memory.id for memory in store.get_many(names)}
        # A file that cannot be read any more is still found by its memories.
        files = {file.path: file.ids for file in store.coverage() if file.ids}
        ends = _by_file_name(files)
        self._ids = {name: (name,) if name in stored else _ids_of(name, ends) for name in names}
        self.missing = [name for name, ids in self._ids.items() if not ids]
        if len(self.missing) == len(names):
            what = f"neither {names[0]!r} nor any other is" if names else "no question names"
            raise InvalidInput(
                f"no expected answer is stored: {what} an id or a file here; `scrubjay ls` lists"
                " the ids"
            )

    def of(self, question: Question, ids: Iterable[str]) -> tuple[list[str], dict[str, float]]:
        """Return a ranking by the names of a question, and the grades of the names.
        A file counts at its best rank. A memory that is expected both as a file and by id counts
        once."""
        names: dict[str, str] = {}
        grades: dict[str, float] = {}
        for name, grade in sorted(question.grades.items(), key=lambda pair: -pair[1]):
            new = [id_ for id_ in self._ids[name] if id_ not in names]
            if new or not self._ids[name]:
                grades[name] = grade
            names.update(dict.fromkeys(new, name))
        return list(dict.fromkeys(names.get(id_, id_) for id_ in ids)), grades


def evaluate(
    store: Store,
    questions: Sequence[Question],
    profile: str,
    *,
    answers: Answers | None = None,
    limit: int = LIMIT,
    overrides: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> Measured:
    check_limit(limit, profile)
    answers = answers or Answers(store, questions)
    settings = dict(overrides or {})
    loaded = get(profile)
    if loaded.uses(_COUNTS):
        settings[_COUNTS] = False
    if loaded.uses("graph"):  # links by similarity are made from the first search on
        store.search(questions[0].text, profile=profile, limit=1, overrides=settings)
        store.pending(wait=True)
    asked: list[Asked] = []
    degraded = Counter[str]()
    for number, question in enumerate(questions):
        progress(number, len(questions))
        results = store.search(question.text, profile=profile, limit=limit, overrides=settings)
        degraded.update(results.degraded)
        ranked, grades = answers.of(question, [hit.id for hit in results])
        asked.append(_measure(question.text, grades, ranked, limit))
    progress(len(questions), len(questions))
    return Measured(
        profile,
        mean(one.ndcg for one in asked),
        mean(one.recall for one in asked),
        mean(one.mrr for one in asked),
        tuple(asked),
        dict(degraded),
    )


def against(first: Measured, other: Measured) -> tuple[int, int]:
    """Return on how many questions another profile is better than the first, and on how many worse."""
    differences = [b.ndcg - a.ndcg for a, b in zip(first.asked, other.asked, strict=True)]
    return sum(by > 0 for by in differences), sum(by < 0 for by in differences)


def check_limit(limit: int, profile: str) -> None:
    """Refuse a limit that is more than a profile ever returns, or less than 1."""
    most = get(profile).most
    if not 1 <= limit <= most:
        raise InvalidInput(f"limit is {limit}; with profile {profile} it must be 1 to {most}")


def _measure(query: str, grades: Grades, ranked: list[str], limit: int) -> Asked:
    ranks = {name: rank for rank, name in enumerate(ranked[:limit], 1)}
    places = {name: ranks.get(name) for name, grade in grades.items() if grade > 0}
    return Asked(query, places, *(of(ranked, grades, limit) for of in (ndcg, recall, mrr)))


def _by_file_name(files: Mapping[str, Ids]) -> _PathEnds:
    ends: dict[str, list[tuple[tuple[str, ...], Ids]]] = {}
    for path, ids in files.items():
        parts = PurePath(path).parts
        ends.setdefault(parts[-1], []).append((parts, ids))
    return ends


def _ids_of(name: str, ends: _PathEnds) -> Ids:
    """Return the memories of the one file whose path ends with a name."""
    end = PurePath(name).parts
    files = [file for file in ends.get(end[-1], ()) if file[0][-len(end) :] == end] if end else []
    if len(files) > 1:
        first, second = (PurePath(*parts) for parts, _ in files[:2])
        raise InvalidInput(f"{name!r} could be {first} or {second}; give more of the path")
    return files[0][1] if files else ()
