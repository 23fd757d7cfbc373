"""Confidence: the probability that the first hit answers the query, from what is known of both."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.search.pipeline import Run, explained_by, limits, stage
from scrubjay.text.analysis import fold, make_tokens, stemmer_for, whole_and_parts, words
from scrubjay.text.query_syntax import folded_stop_words
from scrubjay.text.snippets import TermMatcher
from scrubjay.types import ACROSS, LANGUAGES, Candidate, Scope, Step, Term

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation

Features = dict[str, float]

_FILE = os.path.join(os.path.dirname(__file__), "confidence.json")
_LATE = "late"
_MOST_CHARS = 4000  # of the query
_SHORT_CHARS = 2000  # a text up to this length is read whole
_RIVALS = 10  # candidates after the first that are compared with it
_APART_US = 60 * 60 * 1_000_000  # times that differ by less are those of one sitting
_MOST_READ = 4  # the first candidate, and those whose place it took
_READ = "_read"  # ends the name of the weights for hits that a model has read
_LISTS = ("keyword", "vector", LANGUAGES, ACROSS, _LATE)
# An identifier or a number: E_CACHE_4417, v1.2.3, foo.bar, parseQuery, NASA.
_CODE = re.compile(r"\d|\w_\w|\w[.:@#]\w|[a-z][A-Z]|^--|^[A-Z]{3,}$")
_ASKS_NUMBER = re.compile(
    r"\b(?:when|how (?:many|much|old|long|often|big|far|tall)|what (?:year|time|date|day|number|price)"
    r"|wann|wie ?viele?|wie (?:alt|lange|oft|groß|hoch)|combien|quand|cu[aá]nt[oa]s?|cu[aá]ndo)\b",
    re.IGNORECASE,
)
_ASKS_PERSON = re.compile(r"\b(?:who|whom|whose|wer|wem|wen|qui|qui[eé]n)\b", re.IGNORECASE)
_MONTH_OR_DAY = re.compile(
    r"\d|\b(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|mon|tue|wed|thu|fri|sat|sun"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|twelve|once|twice|never|tomorrow|yesterday)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][a-z]+")


@cache
def weights_of_all() -> Mapping[str, Mapping[str, float]]:
    """Return the weights of each kind of search, as `python -m tools.calibrate` has fitted them."""
    with open(_FILE, encoding="utf-8") as file:
        found: dict[str, dict[str, float]] = json.load(file)
    return found


def _explain_confidence(explanation: Explanation, step: Step) -> None:
    notes = step.notes
    if notes.get("first") != explanation.hit.id:
        return
    explanation.note(
        f"{notes['probability']:.6f} = 1 / (1 + e^({-notes['sum']:.6f})): the probability that this hit"
        f" answers the query; the sum is that of the stage confidence, with its weights for {notes['kind']}"
    )


@stage
@limits(chars="1 or more", least="above 0 and at most 1")
@explained_by(_explain_confidence)
def confidence(run: Run, *, chars: int = 8000, least: float = 0.001) -> Run:
    """Estimate the probability that the first candidate answers the query, by logistic regression over
    features of both; 0 without a candidate. The weights depend on what was compared: words alone,
    vectors, or tokens; they were fitted by `tools.calibrate`. Up to `chars` characters of the first
    candidate's passage are read. With a candidate, the result is between `least` and 1 - `least`."""
    if not run.pool:
        return run._replace(confidence=0.0)
    kind = kind_of(run)
    measured = features(run, chars)
    weights = weights_of_all().get(kind + _READ) if run.reading else None
    if weights is None:
        weights = weights_of_all()[kind]
    else:
        kind += _READ
    total = sum(weights.get(name, 0.0) * value for name, value in measured.items())
    total += weights.get("bias", 0.0)
    probability = min(max(1 / (1 + exp(-min(max(total, -50), 50))), least), 1 - least)
    parts = {
        name: {"value": value, "weight": weights.get(name, 0.0)}
        for name, value in measured.items()
        if value
    }
    run = run.noting(first=run.pool[0].id, kind=kind, sum=total, probability=probability)
    return run.noting(bias=weights.get("bias", 0.0), parts=parts)._replace(confidence=probability)


def kind_of(run: Run) -> str:
    """Return what the candidates were compared by: words, vectors or tokens; by a static model or not."""
    if run.query.vector is None and run.query.across is None:
        return "words"
    is_static = run.kit.embedder is not None and run.kit.embedder.is_instant
    kind = "tokens" if any(_LATE in candidate.found for candidate in run.pool) else "vectors"
    return f"static_{kind}" if is_static else kind


def features(run: Run, chars: int) -> Features:
    """Return the features of a query and its first candidates, each about 0 to 1."""
    first, *others = run.pool
    # A memory that took the place of an older one may have other words: the older one was found.
    found = (first, *(run.folded[id_] for id_ in first.supersedes if id_ in run.folded))
    passage = _passage(run, found[:_MOST_READ], chars)
    words_of = _query_words(run, passage.language)
    return {
        **_nearness(run, found, others),
        **_coverage(run, words_of, passage),
        **_answer_type(run.query.text, passage.text),
        **_rivals(run.pool),
        **_reading(run, first),
        "outdated": float(first.superseded_by is not None),
        "foreign": float(run.query.foreign),
        "passage": log(1 + passage.chars) / 10,
    }


# --- how near the first candidate is ----------------------------------------------------------


def _nearness(run: Run, first: Sequence[Candidate], others: Sequence[Candidate]) -> Features:
    """Return the shares of the best possible score, and how far the others are behind."""
    best = {ranked.name: ranked.best for ranked in run.lists}
    shares = {
        name: max(_share(one, name, best.get(name, 1.0)) for one in first) for name in _LISTS
    }
    shares["keyword"] = sqrt(shares["keyword"])
    found: Features = dict(shares)
    for name in ("vector", _LATE):
        rest = [_share(one, name, best.get(name, 1.0)) for one in others]
        found[f"{name}_lead"] = shares[name] - max(rest, default=0.0) if rest else 0.0
        found[f"{name}_above"] = shares[name] - sum(rest) / len(rest) if rest else 0.0
    score = first[0].score
    found["gap"] = 1 - others[0].score / score if others and score > 0 else 0.0
    found["alone"] = float(not others)
    return found


def _share(candidate: Candidate, name: str, possible: float) -> float:
    if name not in candidate.found or possible <= 0:
        return 0.0
    return min(max(float(candidate.found[name].score) / possible, 0.0), 1.0)


def _rivals(pool: Sequence[Candidate]) -> Features:
    """Return how near the best newer and the best older candidates come to the first: where a newer one
    is as near, the first may be outdated."""
    first, *others = pool
    newer = older = 0.0
    for one in others[:_RIVALS]:
        near = one.score / first.score if first.score > 0 else 0.0
        if one.updated_us > first.updated_us + _APART_US:
            newer = max(newer, near)
        elif one.updated_us < first.updated_us - _APART_US:
            older = max(older, near)
    return {"newer": newer, "older": older}


def _reading(run: Run, first: Candidate) -> Features:
    """Return what a model that read the hits says of the first, and whether none answers."""
    reading = run.reading
    if not reading:
        return {}
    return {
        "read_first": _log_odds(reading.get(first.id, 0.0)),
        "read_none": _log_odds(reading.get("", 0.0)),
        "unread": float(first.id not in reading),
    }


def _log_odds(probability: float) -> float:
    probability = min(max(probability, 0.001), 0.999)
    return log(probability / (1 - probability)) / 7  # about -1 to 1


# --- what of the question the first candidate holds -------------------------------------------


class _Passage(NamedTuple):
    """A passage with what is shown around it; `chars` is the length of the passage alone."""

    text: str
    language: str
    chars: int = 0


class _Word(NamedTuple):
    """A content word of the query: an identifier or number, a name, or neither."""

    term: Term
    kind: str


def _passage(run: Run, found: Sequence[Candidate], chars: int) -> _Passage:
    """Return what the first candidate is shown with, its passage, title, topics and context; and the
    same of those whose place it took."""
    records = run.kit.records
    if records is None:
        return _Passage("", "")
    memories = {one.id: one.memory for one in found if one.memory is not None}
    unread = [one.id for one in found if one.id not in memories]
    memories |= records.get(unread, run.query.shown) if unread else {}
    long = [
        (one.id, one.best_chunk)
        for one in found
        if one.best_chunk is not None
        and one.id in memories
        and len(memories[one.id].text) > _SHORT_CHARS
    ]
    chunks = records.chunks(long) if long else {}
    texts: list[str] = []
    length = 0
    for one in found:
        if (memory := memories.get(one.id)) is None:
            continue
        chunk = chunks.get((one.id, one.best_chunk or 0))
        text = memory.text[chunk.start : chunk.stop] if chunk else memory.text
        length = length or len(text[:chars])
        name = os.path.basename(memory.source or "")
        about = (memory.title, *memory.topics, memory.context, memory.id, name)
        texts.append("\n".join((text[:chars], "\n".join(about)[:chars])))
    language = memories[found[0].id].language if found[0].id in memories else ""
    return _Passage("\n".join(texts), language, length)


def _query_words(run: Run, language: str) -> list[_Word]:
    """Return the content words of the query, each with its kind."""
    text = run.query.subject or run.query.text
    stemmers = {stemmer_for(one) for one in (run.query.language, language, "")}
    stops = folded_stop_words(run.query.language)
    kinds: dict[str, str] = {}
    for place, word in enumerate(words(text[:_MOST_CHARS])):
        if _CODE.search(word):
            kind = "code"
        elif place and word[0].isupper() and run.query.language != "de":
            kind = "name"
        else:
            continue
        if fold(word) not in stops:
            kinds |= dict.fromkeys((whole_and_parts(word, one)[0] for one in stemmers), kind)
    listed = []
    asked_about = _tokens_of_time(run, stemmers)
    for term in run.query.words:
        if asked_about.issuperset(term.tokens):
            continue
        found = (kinds[token] for run_ in term.any_of for token in run_ if token in kinds)
        listed.append(_Word(term, next(found, "word")))
    return listed


def _tokens_of_time(run: Run, stemmers: set[str]) -> set[str]:
    """Return the tokens of the time that the query names: "on 1 February" is answered by what held then,
    and a memory need not say so."""
    said = run.query.window.said if run.query.window is not None else ""
    return {token for word in words(said) for one in stemmers for token in make_tokens(word, one)}


def _coverage(run: Run, listed: Sequence[_Word], passage: _Passage) -> Features:
    """Return which words of the query the passage holds, weighted by how rare they are, and which no
    stored text holds."""
    tokens = {token for word in listed for token in word.term.tokens if not token.endswith("*")}
    counts, held_by = _counts(run, tokens)
    matcher = TermMatcher(tuple(tokens | _prefixes(listed)), passage.language)
    matched = {token for *_, found in matcher.places(passage.text) for token in found}
    total = held = 0.0
    unseen: dict[str, float] = {"code": 0.0, "name": 0.0, "word": 0.0}
    missing = dict(unseen)
    for word in listed:
        often = max(
            (min(held_by.get(token, 0) for token in one) for one in word.term.any_of), default=0
        )
        if any(token.endswith("*") for token in word.term.tokens):
            often = 1
        rarity = log(1 + (counts - often + 0.5) / (often + 0.5)) if counts else 1.0
        share = _held(word.term, matched)
        total += max(rarity, 0.05)
        held += max(rarity, 0.05) * share
        missing[word.kind] += share < 1
        unseen[word.kind] += often == 0 and share < 1
    of = len(listed) or 1
    return {
        "held": held / total if total else 0.0,
        "holds_all": float(total > 0 and held / total > 0.999),
        "code_missing": min(missing["code"], 2.0),
        "code_unseen": min(unseen["code"], 2.0),
        "name_missing": min(missing["name"], 2.0),
        "name_unseen": min(unseen["name"], 2.0),
        "word_unseen": unseen["word"] / of,
        "size": log(1 + counts) / 10,
    }


def _prefixes(listed: Sequence[_Word]) -> set[str]:
    return {token for word in listed for token in word.term.tokens if token.endswith("*")}


def _held(term: Term, matched: set[str]) -> float:
    """Return whether a passage holds a term: 1, or of an identifier half the share of its parts."""
    if any(matched.issuperset(one) for one in term.any_of):
        return 1.0
    if not term.parts:
        return 0.0
    parts = (any(matched.issuperset(one) for one in part) for part in term.parts)
    return 0.5 * sum(parts) / len(term.parts)


def _counts(run: Run, tokens: set[str]) -> tuple[int, Mapping[str, int]]:
    """Return how many memories the caller can see, and how many of them hold each token."""
    if run.kit.terms is None:
        return 0, {}
    return run.kit.terms.held_by(tokens, Scope(reader=run.query.scope.reader))


# --- whether it can be an answer at all -------------------------------------------------------


def _answer_type(query: str, passage: str) -> Features:
    """Return whether the query asks for a number or a person, and the passage has none besides those
    that the query itself names."""
    own = set(words(query))
    number = bool(_ASKS_NUMBER.search(query))
    person = bool(_ASKS_PERSON.search(query))
    numbers = any(_MONTH_OR_DAY.match(word) for word in words(passage) if word not in own)
    names = any(name not in own for name in _NAME.findall(passage))
    return {
        "asks_number": float(number),
        "no_number": float(number and not numbers),
        "asks_person": float(person),
        "no_person": float(person and not names),
    }
