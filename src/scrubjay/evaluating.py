"""How well a search finds what should be found: questions asked of a store, and their answers measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.measures import mrr, ndcg, recall
from scrubjay.profiles import get
from scrubjay.progress import silent

if TYPE_CHECKING:
    from typing import Any

    from scrubjay.judged import Question
    from scrubjay.progress import Progress
    from scrubjay.service import Store

LIMIT = 10
_COUNTS = "count_hits"  # a measured search is nobody's: it must not show among those of people


class Asked(NamedTuple):
    """One question: at which place each thing was found that should be, None for not at all."""

    query: str
    places: Mapping[str, int | None]
    ndcg: float
    recall: float
    mrr: float


class Measured(NamedTuple):
    """A profile over all questions: the means, each question, and what searches went without."""

    profile: str
    ndcg: float
    recall: float
    mrr: float
    asked: tuple[Asked, ...]
    degraded: Mapping[str, int]


class Answers:
    """What the names in questions stand for in one store: ids of memories, or files by their paths."""

    def __init__(self, store: Store, questions: Iterable[Question]) -> None:
        names = list(dict.fromkeys(name for one in questions for name in one.grades))
        stored = {one.id for one in store.get_many(names)}
        files = {one.path: one.ids for one in store.coverage(state="indexed")}
        self.missing: list[str] = []
        self._name_of: dict[str, str] = {}
        for name in names:
            ids = (name,) if name in stored else _of_file(name, files)
            if not ids:
                self.missing.append(name)
            self._name_of.update(dict.fromkeys(ids, name))
        if not self._name_of:
            raise InvalidInput(
                f"nothing that should be found is stored: neither {names[0]!r} nor any other is an id"
                " or a file here; `scrubjay ls` lists the ids"
            )

    def ranked(self, ids: Iterable[str]) -> list[str]:
        """Return what was found under the names of the questions; a file counts where it comes first."""
        return list(dict.fromkeys(self._name_of.get(id_, id_) for id_ in ids))


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
    """Ask every question, and measure the first `limit` of what is found."""
    if limit < 1:
        raise InvalidInput(f"limit is {limit}; it must be at least 1")
    answers = answers or Answers(store, questions)
    settings = dict(overrides or {})
    known = get(profile)
    if known.uses(_COUNTS):
        settings[_COUNTS] = False
    if known.uses("graph"):  # links by likeness are made from the first search on
        store.search(questions[0].text, profile=profile, limit=1, overrides=settings)
        store.pending(wait=True)
    asked, without = [], Counter[str]()
    for number, question in enumerate(questions):
        progress(number, len(questions))
        found = store.search(question.text, profile=profile, limit=limit, overrides=settings)
        without.update(found.degraded)
        asked.append(_asked(question, answers.ranked(hit.id for hit in found), limit))
    progress(len(questions), len(questions))
    return Measured(
        profile,
        mean(one.ndcg for one in asked),
        mean(one.recall for one in asked),
        mean(one.mrr for one in asked),
        tuple(asked),
        dict(without),
    )


def against(first: Measured, other: Measured) -> tuple[int, int]:
    """Return on how many questions another profile is better than the first, and on how many worse."""
    pairs = [(b.ndcg - a.ndcg) for a, b in zip(first.asked, other.asked, strict=True)]
    return sum(by > 0 for by in pairs), sum(by < 0 for by in pairs)


def _asked(question: Question, ranked: list[str], limit: int) -> Asked:
    places = {name: place for place, name in enumerate(ranked[:limit], 1)}
    wanted = [name for name, grade in question.grades.items() if grade > 0]
    return Asked(
        question.text,
        {name: places.get(name) for name in wanted},
        ndcg(ranked, question.grades, limit),
        recall(ranked, question.grades, limit),
        mrr(ranked, question.grades, limit),
    )


def _of_file(name: str, files: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the memories of the one file whose path ends so."""
    end = PurePath(name).parts
    like = [path for path in files if PurePath(path).parts[-len(end) :] == end]
    if len(like) > 1:
        raise InvalidInput(f"{name!r} could be {like[0]} or {like[1]}; give more of the path")
    return files[like[0]] if like else ()
