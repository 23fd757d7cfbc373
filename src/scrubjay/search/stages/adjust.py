"""What a score is worth: a reranker's word or a careful guess, a floor for names, a factor for types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import tanh
from unicodedata import category

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, stage
from scrubjay.text.analysis import fold, is_unspaced, query_tokens, without_stop_words, words
from scrubjay.text.query_syntax import folded_stop_words, operators_in
from scrubjay.types import DONE_SUFFIX, Candidate, Query, Step


def base_type(type_: str) -> str:
    """Return the type without the mark of what is done: a done task is still a task."""
    return type_.removesuffix(DONE_SUFFIX) or type_


@stage
def multiply(
    run: Run,
    *,
    types: Mapping[str, float],
    suffixes: Mapping[str, float] | None = None,
    cap: float | None = None,
    unread_cap: float | None = None,
) -> Run:
    """Multiply the scores of some types of memory; what is done counts as its base type.

    `suffixes` multiply besides whatever type ends so. A factor above 1 lifts a score up to `cap`,
    and up to `unread_cap` where no reranker has read the text; a score above it stays as it is.
    """
    for factor in (*types.values(), *(suffixes or {}).values()):
        if factor < 0:
            raise InvalidInput(f"a factor of multiply is {factor}; it must be 0 or more")
    pool = []
    for one in run.pool:
        limit = cap if one.rerank_score is not None or unread_cap is None else unread_cap
        for name, factor in _factors(one, types, suffixes or {}).items():
            score = one.score * factor
            if limit is not None and factor > 1:
                score = min(score, max(limit, one.score))
            one = _scored(one, score, name)
        pool.append(one)
    return run.ranked(pool)


def _factors(
    one: Candidate, types: Mapping[str, float], suffixes: Mapping[str, float]
) -> dict[str, float]:
    """Return what multiplies a candidate, by name: its base type, and the ends of its type."""
    if one.memory is None:
        return {}
    of_type, base = one.memory.type, base_type(one.memory.type)
    factors = {base: types[base]} if base in types else {}
    return factors | {end: more for end, more in suffixes.items() if of_type.endswith(end)}


@stage
def needs_keywords(run: Run, *, least: int = 2) -> Run:
    """Refuse a query of fewer keywords than that: one broad word would fill the whole answer."""
    found = keywords_of(run.query)
    if len(found) < least:
        there = f"only {', '.join(map(repr, found))}" if found else "none"
        raise InvalidInput(
            f"this search needs {least} or more keywords, and the query has {there} (words such as"
            " 'the' do not count); add another word, or use the mode standard, at the shell without --deep"
        )
    return run.noting(keywords=found)


@stage
def keyword_floor(run: Run, *, floor: float = 0.30, most: int = 64) -> Run:
    """Raise a score to the floor times the share of the query's words that the text holds literally.

    A floor, never a boost: to a reranker a name means nothing, and it would bury who bears it. Words
    are compared whole, without case and accents; a beginning* by its beginning. The first `most` count.
    """
    if not 0 <= floor <= 1:
        raise InvalidInput(f"keyword_floor.floor is {floor}; it must be between 0 and 1")
    if most < 1:
        raise InvalidInput(f"keyword_floor.most is {most}; it must be 1 or more")
    terms = literal_terms(run.query)[:most]
    if not terms:
        return run
    pool = []
    for one in run.pool:
        text = fold(one.memory.text) if one.memory else ""
        held = sum(stands_in(term, text) for term in terms)
        least = floor * held / len(terms)
        pool.append(_scored(one, max(one.score, least), "keyword_floor"))
    return run.ranked(pool).noting(terms=terms)


def keywords_of(query: Query) -> tuple[str, ...]:
    """Return the words of a query that are no stop words, folded, each once."""
    stop_words = folded_stop_words(query.language)
    return _terms(query, [word for word in _said(query) if word not in stop_words])


def literal_terms(query: Query) -> tuple[str, ...]:
    """Return the words to look for literally: the keywords, or all words if there are no others."""
    return _terms(query, without_stop_words(_said(query), folded_stop_words(query.language)))


def _said(query: Query) -> list[str]:
    """Return what is asked for word by word, folded; negations are not in a query's meaning."""
    said = (fold(word) for word in words(query.meaning or query.text) if word.strip("_"))
    return [word.removesuffix("'s") for word in said]


def _terms(query: Query, said: list[str]) -> tuple[str, ...]:
    """Mark beginnings with *, and take runs of characters without spaces pair by pair."""
    begun = {fold(sign["beginning"]) for sign in operators_in(query.text) if sign["beginning"]}
    found: list[str] = []
    for word in said:
        if is_unspaced(word):
            found.extend(query_tokens(word))
        else:
            found.append(f"{word}*" if word in begun else word)
    return tuple(dict.fromkeys(found))


def stands_in(term: str, text: str) -> bool:
    """True when a folded text holds a term between the edges of words: "how" is not in "show".

    A hyphen, a dot or an apostrophe is an edge, an underscore is not. Scripts without spaces have
    no edges; another script beside them has.
    """
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
    """True for what a word is made of, accents and vowel signs too."""
    return bool(character) and (
        (character.isalnum() or character == "_" or category(character).startswith("M"))
        and not is_unspaced(character)
    )


@stage
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
    """Score by what the reranker said; what it has not read gets a score made of fusion and cosine.

    Such a score is low + (high - low) / (1 + e^(-steepness (x - centre))), where x is the fused score
    over the highest possible, boost / (k + 1) for each list, and for what vectors found that times
    (0.5 + 0.5 cosine). It never exceeds `high`: probably relevant, not confirmed.
    """
    if k < 0 or not boost > 0:
        raise InvalidInput(f"verdict.k is {k} and boost {boost}; at least 0 and above 0 are right")
    if not 0 <= low <= high <= 1:
        raise InvalidInput(f"verdict.low is {low} and high {high}; both are in 0..1, low first")
    best = max(len(run.lists), 1) / (k + 1) * boost
    pool = []
    for one in run.pool:
        if one.rerank_score is not None:
            pool.append(one._replace(score=one.rerank_score, why={"rerank": one.rerank_score}))
            continue
        x = one.score / best
        if "vector" in one.found:
            x *= 0.5 + 0.5 * one.found["vector"].score
        # The logistic function as a tanh, which no number overflows.
        score = low + (high - low) * (1 + tanh(steepness * (x - centre) / 2)) / 2
        pool.append(one._replace(score=score, why={"synthetic": score}))
    read = sum(one.rerank_score is not None for one in pool)
    run = run._replace(counts={**run.counts, "reranked": read})
    run = run.ranked(pool).noting(best_possible=best, reranked=read)
    why = next(_left_out(run.trace), None) if not read else None
    return run.noting(warning=f"no reranker has read the texts: {why}") if why else run


def _left_out(steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield why a stage before this one left the candidates as they were."""
    for step in steps:
        if "left_out" in step.notes:
            yield step.notes["left_out"]
        yield from _left_out(step.branches)


@stage
def fewer_than(run: Run, *, candidates: int) -> bool:
    """True when there are fewer candidates than that."""
    return len(run.pool) < candidates


def _scored(one: Candidate, score: float, name: str) -> Candidate:
    """Give a candidate its new score, and add what changed to the part of that name."""
    if score == one.score:
        return one
    return one._replace(
        score=score, why={**one.why, name: one.why.get(name, 0.0) + score - one.score}
    )
