"""Small talk in a search: "Nice to meet you!" does not outrank what was said after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.search.pipeline import Run, explained_by, limits, stage
from scrubjay.text.small_talk import MAX_CHARS, is_small_talk, quotes
from scrubjay.types import Candidate, Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation


def _explain_small_talk(explanation: Explanation, step: Step) -> None:
    if "small_talk" in explanation.hit.why:
        share, before = step.numbers["share"], explanation.before("small_talk")
        explanation.add("small_talk", f"-{share:g} × {before:.6f}")


@stage
@limits(share="between 0 and 1")
@explained_by(_explain_small_talk)
def small_talk(run: Run, *, share: float = 0.9) -> Run:
    """Take a share of the score from texts of nothing but greetings, thanks and acknowledgements.
    All scores stay if the query is such a text; a text that the query quotes keeps its score."""
    if is_small_talk(run.query.text):
        return run
    records = run.kit.records
    if records is None:
        return run
    texts = records.short_texts([candidate.id for candidate in run.pool], MAX_CHARS)
    talk = {
        id_
        for id_, text in texts.items()
        if is_small_talk(text) and not quotes(run.query.text, text)
    }
    if not talk:
        return run
    run = run.ranked(_less(one, share) if one.id in talk else one for one in run.pool)
    run = run.noting(small_talk=len(talk))
    return run._replace(confidence=run.pool[0].score if run.confidence is not None else None)


def _less(candidate: Candidate, share: float) -> Candidate:
    taken = candidate.score * share
    why = {**candidate.why, "small_talk": -taken}
    return candidate._replace(score=candidate.score - taken, why=why)
