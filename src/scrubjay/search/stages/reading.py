"""Reading: a model reads a question and the first hits together, and says which of them answers it now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from math import log
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, checked_by, explained_by, limits, stage
from scrubjay.search.stages.holds import BELOW, asked_moment, present_of
from scrubjay.search.succession import Pair
from scrubjay.times import micros
from scrubjay.types import Candidate, Memory, Step
from scrubjay.types.changes import Replacement
from scrubjay.types.files import NOT_NOTES

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation

NO_ANSWER = ""  # stands for the answer that none of the memories answers
_CERTAIN = 0.001  # added to a probability before its logarithm
PARTS = ("read", "score", "replaces_first", "replaced_by_first", "replaces", "newest")

Links = Mapping[Pair, float]
"""How strongly a newer memory replaces an older one, by both ids."""


@stage
@limits(link="between 0 and 1", most="1 or more", chars="1 or more")
def read_first(run: Run, *, link: float = 0.3, most: int = 8, chars: int = 400) -> Run:
    """Let a model read the question with the first `most` candidates, and with what replaced the first.

    It reads only where one of them may have been replaced: other questions cost nothing. A question
    about a time is read without its words for that time, as if it were asked then: what was stored later
    is not read.
    """
    first = run.pool[:most]
    links = _links(run, {candidate.id for candidate in first}, link)
    if not links:
        return run
    reader = run.kit.need("reader")
    ids = [candidate.id for candidate in first]
    joining = [new for new, old in links if old == ids[0] and new not in ids]
    wanted = [*ids[: most - len(joining[:2])], *joining[:2]]
    records = run.kit.need("records").get(wanted, run.query.shown)
    moment = asked_moment(run)
    read = [id_ for id_ in wanted if id_ in records and not _later(records[id_], moment)]
    if not read:
        return run
    from scrubjay.models import Passage

    passages = [
        Passage(_excerpt(run, records[id_], chars), records[id_].created_at) for id_ in read
    ]
    none, chances = reader.answers(_question(run), moment or present_of(run), passages)
    said = dict(zip(read, chances, strict=True))
    oldest_first = sorted(read, key=lambda id_: (_stored_us(records[id_]), id_))
    reading = {NO_ANSWER: none, **{id_: said[id_] for id_ in oldest_first}}
    return run._replace(reading=reading).noting(read=len(read), none=none, reader=reader.name)


def _question(run: Run) -> str:
    """Return the query, without the words of a time that is over: the reader knows when it is asked."""
    window = run.query.window
    if window is None or window.ends > present_of(run):
        return run.query.text
    from scrubjay.text.dates import without

    return without(run.query.text, window) or run.query.text


def _later(memory: Memory, moment: datetime | None) -> bool:
    stored = memory.created_at
    return moment is not None and stored is not None and stored > moment


def _stored_us(memory: Memory) -> int:
    return micros(memory.created_at) if memory.created_at is not None else 0


def _excerpt(run: Run, memory: Memory, chars: int) -> str:
    """Return the beginning of a memory, or of the passage by which a long one was found."""
    if len(memory.text) <= chars:
        return memory.text
    chunk = next((one.chunk for one in run.pool if one.id == memory.id), None)
    start = chunk.start if chunk is not None else 0
    return memory.text[start : start + chars]


def _links(run: Run, near: set[str], least: float) -> dict[Pair, float]:
    """Return the links of at least a strength that touch one of these memories."""
    links: dict[Pair, float] = {}
    for one in run.replaced:
        if one.strength >= least and (one.new in near or one.old in near):
            pair = one.new, one.old
            links[pair] = max(links.get(pair, 0.0), one.strength)
    return links


def check_weights(**numbers: object) -> None:
    """Refuse a table with other names than those of the parts."""
    for name, weights in numbers.items():
        if isinstance(weights, Mapping) and (wrong := set(weights) - set(PARTS)):
            raise InvalidInput(
                f"order_read.{name} has {', '.join(sorted(wrong))}; its parts are {', '.join(PARTS)}"
            )


def _explain_order(explanation: Explanation, step: Step) -> None:
    id_, order = explanation.hit.id, list(step.notes.get("sums", {}))
    why = "just below what was read: it was stored after the time asked about"
    if id_ in order:
        chance = step.notes["chances"][id_]
        why = (
            f"the score of place {order.index(id_) + 1} of the {len(order)} that were read; this one"
            f" answers with a probability of {chance:.2f}"
        )
    explanation.moved("read", why)


@stage
@checked_by(check_weights)
@explained_by(_explain_order)
def order_read(
    run: Run,
    *,
    present: Mapping[str, float],
    past: Mapping[str, float],
    then: Mapping[str, float],
) -> Run:
    """Order the memories that were read by a sum of weighted parts, and give them each other's scores.

    The parts: `read`, the logarithm of the probability that it answers; `score`, the share of the best
    score; `replaces_first` and `replaced_by_first`, how strongly it replaces the first candidate, or is
    replaced by it; `replaces`, how strongly it replaces any other; `newest`, its place among them by date,
    from 0 to 1. A link by hand is never overruled.
    For a question about a time, what was stored later stands below what was read.
    """
    if not run.reading:
        return run
    tense = run.query.tense
    weights = then if tense == "then" else past if tense in ("past", "first") else present
    read = [candidate for candidate in run.pool if candidate.id in run.reading]
    read += _joined(run, {candidate.id for candidate in read})
    if not read:  # all of them were forgotten meanwhile
        return run
    scores = {candidate.id: candidate.score for candidate in read}
    links = _links(run, set(scores), 0.0)
    best = max(scores, key=lambda id_: scores[id_])
    parts = _parts(run, scores, links, best)
    sums = {
        id_: sum(weights.get(part, 0.0) * amount for part, amount in amounts.items())
        for id_, amounts in parts.items()
    }
    order = sorted(sums, key=lambda id_: (-sums[id_], -scores[id_], id_))
    places = dict(zip(order, sorted(scores.values(), reverse=True), strict=True))
    moved = [_placed(candidate, places[candidate.id]) for candidate in read]
    least = min(places.values())
    later = _stored_later(run, places)
    others = [
        _placed(one, min(one.score, least - BELOW)) if one.id in later else one
        for one in run.pool
        if one.id not in places
    ]
    run = run._replace(readings=_overruled(run.replaced, order)).ranked([*moved, *others])
    sums = {id_: round(sums[id_], 3) for id_ in order}
    return run.noting(chances=dict(run.reading), parts=parts, sums=sums)


def _joined(run: Run, there: set[str]) -> list[Candidate]:
    """Return what was read and no list had found, with the score 0."""
    ids = [id_ for id_ in run.reading if id_ != NO_ANSWER and id_ not in there]
    records = run.kit.need("records").get(ids, run.query.shown) if ids else {}
    return [
        Candidate(id_, updated_us=micros(memory.updated_at) if memory.updated_at else 0)
        for id_, memory in records.items()
    ]


def _stored_later(run: Run, read: Collection[str]) -> set[str]:
    """Return which candidates that were not read were stored after the time that the query asks about.
    The date of a document is not that of its contents."""
    moment = asked_moment(run)
    if moment is None:
        return set()
    ids = [candidate.id for candidate in run.pool if candidate.id not in read]
    memories = run.kit.need("records").get(ids, run.query.shown).values()
    return {one.id for one in memories if one.type not in NOT_NOTES and _later(one, moment)}


def _parts(
    run: Run, scores: Mapping[str, float], links: Links, best: str
) -> dict[str, dict[str, float]]:
    top = scores[best] or 1.0
    by_date = [id_ for id_ in run.reading if id_ in scores]
    newest = {id_: at / max(1, len(by_date) - 1) for at, id_ in enumerate(by_date)}
    return {
        id_: {
            "read": log(run.reading[id_] + _CERTAIN),
            "score": scores[id_] / top,
            "replaces_first": links.get((id_, best), 0.0),
            "replaced_by_first": links.get((best, id_), 0.0),
            "replaces": max(
                (strength for (new, _), strength in links.items() if new == id_), default=0.0
            ),
            "newest": newest[id_],
        }
        for id_ in scores
    }


def _placed(candidate: Candidate, score: float) -> Candidate:
    if score == candidate.score:
        return candidate
    why = {**candidate.why, "read": score - candidate.score}
    return candidate._replace(score=score, why=why)


def _overruled(replaced: tuple[Replacement, ...], order: list[str]) -> dict[Pair, bool]:
    """Return for each detected pair that was read whether the newer one comes first."""
    place = {id_: at for at, id_ in enumerate(order)}
    by_hand = {frozenset((one.new, one.old)) for one in replaced if one.by_hand}
    return {
        (one.new, one.old): place[one.new] < place[one.old]
        for one in replaced
        if place.keys() >= {one.new, one.old} and {one.new, one.old} not in by_hand
    }
