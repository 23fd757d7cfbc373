"""Score adjustments: reranker verdicts, a floor for literal words, factors for types of memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from math import log, tanh
from typing import TYPE_CHECKING
from unicodedata import category

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, explained_by, limits, stage
from scrubjay.text.analysis import fold, is_unspaced, query_tokens, without_stop_words, words
from scrubjay.text.query_syntax import folded_stop_words, operators_in
from scrubjay.types import DONE_SUFFIX, Candidate, Query, Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation


def base_type(type_: str) -> str:
    """Return the type without the suffix of finished tasks: a done task is still a task."""
    return type_.removesuffix(DONE_SUFFIX) or type_


def _explain_multiply(explanation: Explanation, step: Step) -> None:
    factors = {**step.numbers["types"], **(step.numbers["suffixes"] or {})}
    for name, amount in explanation.hit.why.items():
        if name in factors:
            before = explanation.before(name)
            working = f"({factors[name]:g} - 1) × {before:.6f}"
            if abs(before * (factors[name] - 1) - amount) >= 1e-6:  # the cap has stopped it
                working = f"{before + amount:g} - {before:.6f}"
            explanation.add(name, working)


@stage
@limits(types="0 or more", suffixes="0 or more")
@explained_by(_explain_multiply)
def multiply(
    run: Run,
    *,
    types: Mapping[str, float],
    suffixes: Mapping[str, float] | None = None,
    cap: float | None = None,
    unread_cap: float | None = None,
) -> Run:
    """Multiply the scores of some types of memory; a done task counts as its base type.
    `suffixes` also multiply every type with that suffix. A factor above 1 raises a score up to
    `cap`, or up to `unread_cap` where no reranker has read the text; a higher score stays as it
    is."""
    pool = []
    for candidate in run.pool:
        limit = cap if candidate.rerank_score is not None or unread_cap is None else unread_cap
        for name, factor in _factors(candidate, types, suffixes or {}).items():
            score = candidate.score * factor
            if limit is not None and factor > 1:
                score = min(score, max(limit, candidate.score))
            candidate = _scored(candidate, score, name)
        pool.append(candidate)
    return run.ranked(pool)


def _factors(
    candidate: Candidate, types: Mapping[str, float], suffixes: Mapping[str, float]
) -> dict[str, float]:
    """Return the factors of a candidate by name: of its base type, and of the suffixes of its type."""
    if candidate.memory is None:
        return {}
    type_, base = candidate.memory.type, base_type(candidate.memory.type)
    factors = {base: types[base]} if base in types else {}
    return factors | {end: factor for end, factor in suffixes.items() if type_.endswith(end)}


@stage
def needs_keywords(run: Run, *, least: int = 2) -> Run:
    """Refuse a query with fewer keywords: one broad word would match too much."""
    keywords = keywords_of(run.query)
    if len(keywords) < least:
        has = f"only {', '.join(map(repr, keywords))}" if keywords else "none"
        raise InvalidInput(
            f"this search needs {least} or more keywords, and the query has {has} (words such as"
            " 'the' do not count); add another word, or use mode standard (without --deep)"
        )
    return run.noting(keywords=keywords)


def _explain_keyword_floor(explanation: Explanation, step: Step) -> None:
    if raised := explanation.hit.why.get("keyword_floor"):
        terms, floor = len(step.notes["terms"]), step.numbers["floor"]
        before = explanation.before("keyword_floor")
        held = round((before + raised) * terms / floor)
        explanation.add("keyword_floor", f"{floor:g} × {held} / {terms} - {before:.6f}")


@stage
@limits(floor="between 0 and 1", most="1 or more")
@explained_by(_explain_keyword_floor)
def keyword_floor(run: Run, *, floor: float = 0.30, most: int = 64) -> Run:
    """Raise a score to the floor times the share of the query's words that title or text contains.
    It never lifts a higher score. A reranker cannot judge names and would bury texts that
    contain them. Words are compared whole, without case and accents; prefix* by its prefix. The
    first `most` count."""
    terms = literal_terms(run.query)[:most]
    if not terms:
        return run
    pool = []
    for candidate in run.pool:
        memory = candidate.memory
        text = fold(f"{memory.title}\n{memory.text}") if memory else ""
        held = sum(stands_in(term, text) for term in terms)
        least = floor * held / len(terms)
        pool.append(_scored(candidate, max(candidate.score, least), "keyword_floor"))
    return run.ranked(pool).noting(terms=terms)


def keywords_of(query: Query) -> tuple[str, ...]:
    stop_words = folded_stop_words(query.language)
    return _terms(query, [word for word in _words_of(query) if word not in stop_words])


def literal_terms(query: Query) -> tuple[str, ...]:
    """Return the words to match literally: the keywords, or all words if there are only stop words."""
    return _terms(query, without_stop_words(_words_of(query), folded_stop_words(query.language)))


def _words_of(query: Query) -> list[str]:
    folded = (fold(word) for word in words(query.meaning or query.text) if word.strip("_"))
    return [word.removesuffix("'s") for word in folded]


def _terms(query: Query, query_words: list[str]) -> tuple[str, ...]:
    """Mark prefixes with *, and split runs of characters without spaces into pairs."""
    begun = {fold(sign["prefix"]) for sign in operators_in(query.text) if sign["prefix"]}
    marked = ((word, f"{word}*" if word in begun else word) for word in query_words)
    found = (query_tokens(word) if is_unspaced(word) else (term,) for word, term in marked)
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def stands_in(term: str, text: str) -> bool:
    """True when a folded text contains a term between word boundaries: "how" is not in "show".
    A hyphen, a dot or an apostrophe is a boundary, an underscore is not. Scripts without spaces
    have no boundaries inside; another script beside them has."""
    bare, loose = term.removesuffix("*"), is_unspaced(term)
    at = text.find(bare)
    while at >= 0:
        stop = at + len(bare)
        begins = loose or not _goes_on(text[at - 1 : at])
        ends = loose or term.endswith("*") or not _goes_on(text[stop : stop + 1])
        if begins and ends:
            return True
        at = text.find(bare, at + 1)
    return False


def _goes_on(character: str) -> bool:
    """True for a character of a word, including accents and vowel signs."""
    return bool(character) and (
        (character.isalnum() or character == "_" or category(character).startswith("M"))
        and not is_unspaced(character)
    )


def _explain_verdict(explanation: Explanation, step: Step) -> None:
    workings, score = {}, explanation.hit.why.get("synthetic")
    low, more = step.numbers["low"], step.numbers["high"] - step.numbers["low"]
    steepness, centre = step.numbers["steepness"], step.numbers["centre"]
    # Outside of this the curve is too flat to find x again.
    if score is not None and steepness and low < score < low + more:
        x = centre - log(more / (score - low) - 1) / steepness
        curve = f"{low:g} + {more:g} / (1 + e^(-{steepness:g} × ({x:.6f} - {centre:g})))"
        workings["synthetic"] = [curve]
    explanation.made(
        "what it added to the score so far, or took from it; the first is the score to begin with",
        workings,
    )


@stage
@limits(k="0 or more", boost="above 0")
@explained_by(_explain_verdict)
def verdict(
    run: Run,
    *,
    k: float = 60,
    boost: float = 1.4,
    centre: float = 0.4,
    steepness: float = 10,
    low: float = 0.40,
    high: float = 0.70,
) -> Run:
    """Score by the reranker; a text that it has not read gets a score from fusion and cosine.
    That score is low + (high - low) / (1 + e^(-steepness (x - centre))), where x is the fused
    score over the highest possible, boost / (k + 1) for each list, multiplied by (0.5 + 0.5
    cosine) for what vectors found. It never exceeds `high`: probably relevant, not confirmed."""
    if not 0 <= low <= high <= 1:
        raise InvalidInput(
            f"verdict.low is {low} and high {high}; they must be in 0..1, low first"
        )
    best = max(len(run.lists), 1) / (k + 1) * boost
    pool = []
    for candidate in run.pool:
        if (read := candidate.rerank_score) is not None:
            pool.append(candidate._replace(score=read, why={"rerank": read}))
            continue
        x = candidate.score / best
        if "vector" in candidate.found:
            x *= 0.5 + 0.5 * candidate.found["vector"].score
        # The logistic function as a tanh, which cannot overflow.
        score = low + (high - low) * (1 + tanh(steepness * (x - centre) / 2)) / 2
        pool.append(candidate._replace(score=score, why={"synthetic": score}))
    count = sum(candidate.rerank_score is not None for candidate in pool)
    run = run.counting(reranked=count).ranked(pool).noting(best_possible=best, reranked=count)
    reason = next(_left_out(run.trace), None) if not count else None
    return run.warning(f"no reranker has read the texts: {reason}" if reason else "")


def _left_out(steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield the reasons for which earlier stages skipped the candidates."""
    for step in steps:
        if "left_out" in step.notes:
            yield step.notes["left_out"]
        yield from _left_out(step.branches)


@stage
def fewer_than(run: Run, *, candidates: int) -> bool:
    """True when there are fewer candidates than `candidates`."""
    return len(run.pool) < candidates


def _scored(candidate: Candidate, score: float, name: str) -> Candidate:
    """Give a candidate its new score, and add the difference to the part of that name."""
    if score == candidate.score:
        return candidate
    part = candidate.why.get(name, 0.0) + score - candidate.score
    return candidate._replace(score=score, why={**candidate.why, name: part})
