"""What a query means before any store is asked: its words, and its vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from scrubjay.errors import InvalidInput, StoreError, Unavailable
from scrubjay.search.pipeline import Run, stage
from scrubjay.text.analysis import has_terms, is_unspaced, valid_unicode
from scrubjay.text.query_syntax import ParsedQuery, parse_query
from scrubjay.types import Term

if TYPE_CHECKING:
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.types import Scope

T = TypeVar("T")
# What still binds when nothing in reach holds it all, and what the answer then says.
_LOOSER = (
    (("beginning",), "no text holds the phrase; its words were searched instead"),
    ((), "no text holds what must be there; its words were searched instead"),
)


@stage
def keywords(run: Run, *, most: int = 64, least_chars: int = 1) -> Run:
    """Split the query into stems of its language, phrases, negations and beginnings; no stop words.

    Phrases, negations and beginnings narrow the scope, so they bind every source. Words of fewer than
    `least_chars` characters are left out, if there are others; in a script without spaces between
    words, one character is a word.
    """
    if most < 1 or least_chars < 1:
        raise InvalidInput(
            f"keywords.most is {most} and least_chars {least_chars}; both must be 1 or more"
        )
    query = run.query
    if query.only_time:  # what happened then is asked for, and no word of it
        return run
    asked, warning = _findable(run, most)
    if not (asked.words or asked.holds):
        warning = "the query has no searchable term: give at least one word"
    elif asked.wanted > most:
        warning = f"only the first {most} of {asked.wanted} terms were searched"
    elif asked.literal:
        warning = "a query of negations only is taken as it stands; add a word to exclude from"
    run = run._replace(
        query=query._replace(
            # What must be there also scores: a phrase said twice is worth more than once.
            words=(*_long_enough(asked.words, least_chars), *asked.holds),
            terms=asked.tokens,
            meaning=asked.meaning,
            language=asked.language,
            scope=query.scope._replace(holds=asked.holds, lacks=asked.lacks),
        )
    )
    run = run.noting(terms=asked.tokens)
    if asked.language:
        run = run.noting(language=asked.language)
    return run.noting(warning=warning) if warning else run


def _long_enough(words: tuple[Term, ...], least_chars: int) -> tuple[Term, ...]:
    """Leave out short words, unless there is nothing else."""
    long = tuple(
        term
        for term in words
        if any(len(token) >= least_chars or is_unspaced(token) for token in term.tokens)
    )
    return long or words


def _findable(run: Run, most: int) -> tuple[ParsedQuery, str]:
    """Ask for the words of a phrase or beginning that stands nowhere, if there are other words: say so."""
    text = valid_unicode(run.query.subject or run.query.text)
    held = tuple(dict.fromkeys(one for some in _each(run, _languages) for one in some))
    asked, warning = parse_query(text, held, most), ""
    if not asked.words or (run.kit.records is None and not run.kit.tiers):
        return asked, ""
    for bind, instead in _LOOSER:
        scope = run.query.scope._replace(holds=asked.holds, lacks=asked.lacks)
        if not asked.holds or any(_each(run, partial(_holds_any, scope=scope))):
            break
        asked, warning = parse_query(text, held, most, bind), instead
    return asked, warning


def _each(run: Run, ask: Callable[[SqlRecords], T]) -> Iterator[T]:
    """Ask the records of every tier, or of the store alone; a tier that fails is told of when searched."""
    if not run.kit.tiers and run.kit.records is not None:
        yield ask(run.kit.records)
    for tier in run.kit.tiers:
        if tier.kit.records is not None:
            try:
                yield ask(tier.kit.records)
            except StoreError:
                continue


def _holds_any(records: SqlRecords, scope: Scope) -> bool:
    return records.holds_any(scope)


def _languages(records: SqlRecords) -> Sequence[str]:
    return records.languages()


@stage
def embed_query(run: Run, *, most_chars: int = 4000) -> Run:
    """Turn the query into a vector of the store's model."""
    if most_chars < 1:
        raise InvalidInput(f"embed_query.most_chars is {most_chars}; it must be 1 or more")
    text = valid_unicode(run.query.meaning or run.query.text)
    if run.query.only_time or not has_terms(text):
        return run  # a vector of punctuation would find something, and mean nothing
    embedder = run.kit.need("embedder")
    tokens = None
    if run.kit.tokens is None:
        vector = embedder.embed([text[:most_chars]], as_query=True)[0]
    else:
        vectors, of_texts = embedder.encode([text[:most_chars]], as_query=True)
        vector, tokens = vectors[0], of_texts[0] if of_texts else None
    if not (abs(float(vector @ vector)) > 0):
        raise Unavailable(f"{embedder.name} gave a vector without direction for this query")
    known = getattr(embedder, "languages", ())
    foreign = bool(known and run.query.language and run.query.language not in known)
    query = run.query._replace(vector=vector, tokens=tokens, foreign=foreign)
    run = run._replace(query=query).noting(model=embedder.name)
    if foreign:
        run = run.noting(foreign=f"{run.query.language} is not among {', '.join(known)}")
    warnings = []
    if len(text) > most_chars:
        warnings.append(f"only the first {most_chars} characters were embedded")
    # Where there are tiers, each says it of itself.
    index = None if run.kit.tiers else run.kit.vectors
    waiting = index.missing(embedder.name, run.query.scope) if index is not None else 0
    if waiting:
        many = f"{waiting} passages still wait for their vector"
        warnings.append("1 passage still waits for its vector" if waiting == 1 else many)
    return run.noting(warning="; ".join(warnings)) if warnings else run
