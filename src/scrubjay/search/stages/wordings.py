"""Wordings: show each hit of a search of the past with the text and the title that it had then."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from scrubjay.search.pipeline import Run, Tier, limits, stage
from scrubjay.search.stages.entries import description
from scrubjay.text.analysis import content_hash
from scrubjay.text.snippets import count_matches, preview, snippet
from scrubjay.types import Candidate, Chunk

if TYPE_CHECKING:
    from scrubjay.storage.sql.versions import Wording


@stage
@limits(width_chars="1 or more", passage_chars="1 or more")
def as_worded(run: Run, *, width_chars: int = 240, passage_chars: int = 1000) -> Run:
    """Replace text and title of hits that were changed since the time that is searched by those of that
    time; their snippet and lines are those of the passage with the most words of the query."""
    at = run.query.as_of
    if at is None or not run.pool:
        return run
    worded: dict[tuple[str | None, str], Wording] = {}
    for tier in run.kit.tiers or (Tier("", run.kit),):
        name = tier.name if run.kit.tiers else None
        ids = [one.id for one in run.pool if not run.kit.tiers or one.tier == name]
        if ids and tier.kit.versions is not None:
            found = tier.kit.versions.wordings_at(ids, at, run.query.scope)
            worded |= {(name, id_): wording for id_, wording in found.items()}
    if not worded:
        return run

    def then(candidate: Candidate) -> Candidate:
        name = candidate.tier if run.kit.tiers else None
        wording = worded.get((name, candidate.id))
        if wording is None:
            return candidate
        return _worded(candidate, wording, run.query.terms, width_chars, passage_chars)

    return run.holding(map(then, run.pool)).noting(worded=len(worded))


def _worded(
    candidate: Candidate,
    wording: Wording,
    terms: tuple[str, ...],
    width_chars: int,
    passage_chars: int,
) -> Candidate:
    if candidate.memory is None:
        return candidate
    text, title = wording
    changed = text != candidate.memory.text
    memory = candidate.memory._replace(text=text, title=title, content_hash=content_hash(text))
    if not changed:
        return candidate._replace(memory=memory)
    shown = text if candidate.description is None else description(memory)
    chunk = _passage(text, terms, memory.language, passage_chars)
    passage = text[chunk.start : chunk.stop] if candidate.description is None else shown
    if candidate.brief:
        cut = preview(shown, width_chars)
    else:
        cut = snippet(passage, terms, width_chars, memory.language)
    return candidate._replace(
        memory=memory,
        chunk=chunk,
        snippet=cut,
        complete=cut == shown,
        description=candidate.description and shown,
    )


def _passage(text: str, terms: tuple[str, ...], language: str, most_chars: int) -> Chunk:
    """Return the first of the passages of whole lines with the most words of the query."""
    lines = text.splitlines(keepends=True) or [""]
    ends = list(accumulate(map(len, lines)))
    starts = [0, *ends[:-1]]
    firsts = [0]
    for line in range(1, len(lines)):
        if ends[line] - starts[firsts[-1]] > most_chars:
            firsts.append(line)
    bounds = list(zip(firsts, [*firsts[1:], len(lines)], strict=True))
    passages = [text[starts[first] : ends[last - 1]] for first, last in bounds]
    counts = count_matches(passages, terms, language)
    best = max(range(len(passages)), key=lambda at: (counts[at], -at))
    first, last = bounds[best]
    return Chunk(best, starts[first], ends[last - 1], first + 1, last)
