"""How well a search finds what should be found: questions asked of a store, and their answers measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.ops.eval.measures import mrr, ndcg, recall
from scrubjay.runtime.progress import silent
from scrubjay.search.profiles import get

if TYPE_CHECKING:
    from typing import Any

    from scrubjay.ops.eval.questions import Question
    from scrubjay.runtime.progress import Progress
    from scrubjay.store import Store

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
        # One that failed to be read anew is still found by what was read before.
        files = {one.path: one.ids for one in store.coverage() if one.ids}
        ends = _by_last_part(files)
        self._ids = {name: (name,) if name in stored else _of_file(name, ends) for name in names}
        self.missing = [name for name, ids in self._ids.items() if not ids]
        if len(self.missing) == len(names):
            some = f"neither {names[0]!r} nor any other is" if names else "no question names"
            raise InvalidInput(
                f"nothing that should be found is stored: {some} an id or a file here; `scrubjay ls`"
                " lists the ids"
            )

    def of(self, question: Question, ids: Iterable[str]) -> tuple[list[str], dict[str, float]]:
        """Return what was found under the names of one question, and the grades of these.

        A file counts where it comes first. What is named twice, as a file and by its id, counts once.
        """
        named: dict[str, str] = {}
        grades: dict[str, float] = {}
        for name, grade in sorted(question.grades.items(), key=lambda one: -one[1]):
            mine = [id_ for id_ in self._ids[name] if id_ not in named]
            if mine or not self._ids[name]:
                grades[name] = grade
            named.update(dict.fromkeys(mine, name))
        return list(dict.fromkeys(named.get(id_, id_) for id_ in ids)), grades


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
    check_limit(limit, profile)
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
        ranked, grades = answers.of(question, [hit.id for hit in found])
        asked.append(_asked(question.text, grades, ranked, limit))
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


def check_limit(limit: int, profile: str) -> None:
    """Refuse to measure more hits than a profile ever returns, or none."""
    most = get(profile).most
    if not 1 <= limit <= most:
        raise InvalidInput(f"limit is {limit}; with profile {profile} it must be 1 to {most}")


def _asked(query: str, grades: Mapping[str, float], ranked: list[str], limit: int) -> Asked:
    places = {name: place for place, name in enumerate(ranked[:limit], 1)}
    return Asked(
        query,
        {name: places.get(name) for name, grade in grades.items() if grade > 0},
        ndcg(ranked, grades, limit),
        recall(ranked, grades, limit),
        mrr(ranked, grades, limit),
    )


Ends = Mapping[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]


def _by_last_part(files: Mapping[str, tuple[str, ...]]) -> Ends:
    """Return the parts of each path with the memories of the file, by the last part."""
    ends: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for path, ids in files.items():
        parts = PurePath(path).parts
        ends.setdefault(parts[-1], []).append((parts, ids))
    return ends


def _of_file(name: str, ends: Ends) -> tuple[str, ...]:
    """Return the memories of the one file whose path ends so."""
    end = PurePath(name).parts
    like = [one for one in ends.get(end[-1], ()) if one[0][-len(end) :] == end] if end else []
    if len(like) > 1:
        first, second = (PurePath(*parts) for parts, _ in like[:2])
        raise InvalidInput(f"{name!r} could be {first} or {second}; give more of the path")
    return like[0][1] if like else ()
