"""Scoring of vault entries: six signals summed by weight, and weights that follow feedback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from scrubjay.errors import InvalidInput, StoreError, Unavailable
from scrubjay.search.pipeline import Kit, Run, checked_by, explained_by, limits, stage
from scrubjay.storage.sql.feedback import SqlFeedback, Tally
from scrubjay.text.analysis import fold_label, valid_unicode
from scrubjay.text.tfidf import Bag, cosine, idfs, merge_counts
from scrubjay.times import system_clock
from scrubjay.types import NOTHING, Memory, Step, Term

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation
    from scrubjay.storage.sql.words import SqlTermCounts

SIGNALS = ("semantic", "vector", "severity", "temporal_decay", "tag_overlap", "domain_match")
TEXT = "semantic"  # the signal whose weight feedback moves; the others are scaled

T = TypeVar("T")
Key = tuple[str | None, str]  # a tier, and an id in it


def check_signals(
    *,
    keyword_only: Mapping[str, float],
    with_vectors: Mapping[str, float],
    severities: Mapping[str, float],
    unsaid: str,
    **_: float,
) -> None:
    """Refuse numbers that make no sense, when the profile is built."""
    for name, weights in (("keyword_only", keyword_only), ("with_vectors", with_vectors)):
        unknown = ", ".join(signal for signal in weights if signal not in SIGNALS)
        total = sum(weights.values())
        wrong = ""
        if unknown:
            wrong = f"weighs {unknown}; the signals are {', '.join(SIGNALS)}"
        elif any(weight < 0 for weight in weights.values()):
            wrong = f"is {dict(weights)}; weights must be 0 or more"
        elif abs(total - 1) > 1e-9:
            wrong = f"sums to {round(total, 9):g}; the weights must sum to 1"
        if wrong:
            raise InvalidInput(f"signals.{name} {wrong}")
    if "vector" in keyword_only:
        raise InvalidInput("signals.keyword_only must have no weight for vector")
    if unsaid not in severities:
        known = ", ".join(severities)
        raise InvalidInput(f"signals.unsaid is {unsaid!r}; it must be one of {known}")


def _explain_signals(explanation: Explanation, step: Step) -> None:
    weights, why = step.notes["weights"], explanation.hit.why
    explanation.made(
        "weight of the signal × the signal, which lies in 0 to 1",
        {name: [f"{weight:g} × {why[name]:.6f}"] for name, weight in weights.items()},
        {name: weight * why[name] for name, weight in weights.items()},
        kept=False,
    )


@stage
@limits(severities="between 0 and 1", half_life_days="above 0", fading="above 0 and at most 1")
@checked_by(check_signals)
@explained_by(_explain_signals)
def signals(
    run: Run,
    *,
    keyword_only: Mapping[str, float],
    with_vectors: Mapping[str, float],
    severities: Mapping[str, float],
    unsaid: str = "suggestion",
    half_life_days: float = 365,
    fading: float = 0.25,
) -> Run:
    """Score by the weighted sum of six signals; `why` has each signal without its weight, in 0..1.
    With a query vector the weights are `with_vectors`; an entry without a vector has 0 for that
    signal. `adaptive` may have moved the weights. `unsaid` is the severity of an entry without
    one. The trace notes the weights."""
    base = keyword_only if run.query.vector is None else with_vectors
    weights = adapted(base, run.query.shift)
    now = run.query.as_of or (run.kit.clock or system_clock)()
    similar, uncounted = word_cosines(run)
    pool = []
    for candidate in run.pool:
        if candidate.memory is None:
            continue
        memory, near = candidate.memory, candidate.found.get("vector")
        why = {
            "semantic": similar.get((candidate.tier, candidate.id), 0.0),
            "vector": min(max(near.score, 0.0), 1.0) if near else 0.0,
            "severity": severities.get(memory.severity or unsaid, severities[unsaid]),
            "temporal_decay": freshness(memory, now, half_life_days, fading),
            "tag_overlap": overlap(run.query.tags, memory.topics),
            "domain_match": _same_domain(run.query.domain, memory),
        }
        score = sum(weight * why[name] for name, weight in weights.items())
        pool.append(candidate._replace(score=score, why=why))
    return run.ranked(pool).noting(weights=weights).warning(*uncounted)


def overlap(asked: Iterable[str], held: Iterable[str]) -> float:
    """Return the Jaccard index of two sets of tags; 0 when none were asked for."""
    mine, theirs = set(asked), set(held)
    return len(mine & theirs) / len(mine | theirs) if mine else 0.0


def _same_domain(asked: str | None, memory: Memory) -> float:
    if asked is None or memory.domain is None:
        return 0.0
    return float(fold_label(asked) == fold_label(memory.domain))


def freshness(memory: Memory, now: datetime, half_life_days: float, fading: float) -> float:
    """Return how fresh a memory is, in 0..1: halved for each half-life since its last change.
    A memory with a validity window is fully fresh until the last share `fading` of that window,
    and then falls to 0 in a straight line."""
    begins, ends = memory.valid_from, memory.valid_until
    if begins is not None and ends is not None:
        left = (ends - now) / (ends - begins)
        return min(max(left / fading, 0.0), 1.0)
    age = max(now - (memory.updated_at or now), timedelta(0))  # the writer's clock may be ahead
    return float(0.5 ** (age / timedelta(days=1) / half_life_days))


def word_cosines(run: Run) -> tuple[dict[Key, float], list[str]]:
    """Return the TF-IDF cosine of each candidate with the query, and which tiers were not counted.
    The counts of all tiers are summed first: the rarity of a word must be the same in all of them,
    or an entry would score differently in a small vault and in a large one. A prefix (`retr*`)
    stands for the entry's own tokens with that prefix, each once."""
    uncounted: dict[str, None] = {}
    text = valid_unicode(run.query.meaning or run.query.text)
    bags: dict[Key, Bag] = {}
    asked: dict[str, Mapping[str, int]] = {}
    tiers = [tier for tier in run.kit.tiers if not tier.lost]  # or else the only database
    indexes: dict[str | None, SqlTermCounts] = {one.name: one.kit.need("terms") for one in tiers}
    indexes = indexes or {None: run.kit.need("terms")}
    for name, index in indexes.items():
        ids = [candidate.id for candidate in run.pool if candidate.tier == name]
        of_tier = _try_tier(name, uncounted, partial(index.bags, ids)) if ids else None
        for id_, bag in (of_tier or {}).items():
            bags[name, id_] = bag
            if bag.language not in asked:
                asked[bag.language] = index.query_tokens(text, bag.language)
    tokens = {token for bag in bags.values() for token in bag.tokens}
    tokens.update(*asked.values())
    counts = [
        _try_tier(name, uncounted, partial(index.counted, tokens, run.query.scope))
        for name, index in indexes.items()
    ]
    rarities = idfs(merge_counts(filter(None, counts)))
    prefixes = _prefixes(run.query.words)
    queries = {
        key: {**_with_prefix(prefixes, bag.tokens), **asked[bag.language]}
        for key, bag in bags.items()
    }
    cosines = {key: cosine(queries[key], bag.tokens, rarities) for key, bag in bags.items()}
    return cosines, list(uncounted)


def _try_tier(tier: str | None, uncounted: dict[str, None], ask: Callable[[], T]) -> T | None:
    """Query one of several tiers; note its error, so that the others still count."""
    try:
        return ask()
    except StoreError as error:
        if tier is None:
            raise
        uncounted[f"tier {tier}: {error}"] = None
        return None


def _prefixes(terms: Iterable[Term]) -> set[str]:
    """Return the tokens of the prefix terms of a query: with a star, and stems of words with it."""
    return {t for term in terms if any(map(_is_prefix, term.tokens)) for t in term.tokens}


def _is_prefix(token: str) -> bool:
    return len(token) > 1 and token.endswith("*")


def _with_prefix(prefixes: set[str], bag: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens of an entry that match the prefixes, each once."""
    first = tuple(token[:-1] for token in prefixes if _is_prefix(token))
    return {token: 1 for token in bag if token.startswith(first) or token in prefixes}


class Gathered(NamedTuple):
    """Feedback of all databases of a search; `lost` has the tiers that could not be counted, and why.
    `frozen` is where the caller has frozen the weights in the own database; None where they
    follow."""

    tally: Tally = Tally()
    frozen: float | None = None
    lost: Mapping[str, str] = NOTHING


def rate(tally: Tally) -> float | None:
    """Return the share of results that were accepted, modified ones as half; None without feedback."""
    given = sum(tally)
    return (tally.accepted + tally.modified / 2) / given if given else None


def shift(tally: Tally, *, after: int = 30, times: float = 0.3, most: float = 0.15) -> float:
    """Return how far the weight of the text moves: (rate - 0.5) x times, within +-most.
    It is 0 while there is less feedback than `after`."""
    accepted = rate(tally)
    if accepted is None or sum(tally) < after:
        return 0.0
    return min(max((accepted - 0.5) * times, -most), most)


def adapted(weights: Mapping[str, float], shift: float) -> dict[str, float]:
    """Return weights with that of the text moved, and the others scaled so that the sum stays 1."""
    before = weights.get(TEXT, 0.0)
    after = min(max(before + shift, 0.0), 1.0)
    if not shift or before >= 1:  # there is no other weight to scale
        return dict(weights)
    times = (1 - after) / (1 - before)
    return {name: after if name == TEXT else weight * times for name, weight in weights.items()}


def gathered(kit: Kit) -> Gathered:
    """Count the caller's feedback in every database of a search that is available."""
    if not kit.tiers:
        alone: SqlFeedback = kit.need("feedback")
        return Gathered(alone.tally(), alone.frozen())
    tallies, frozen = [Tally()], None
    lost: dict[str, str] = {}
    for tier in kit.tiers:
        if tier.lost is not None:
            continue
        try:
            feedback: SqlFeedback = tier.kit.need("feedback")
            tallies.append(feedback.tally())
            frozen = feedback.frozen() if tier.own else frozen
        except (StoreError, Unavailable) as error:  # the others are still counted
            lost[tier.name] = str(error)
    return Gathered(Tally(*map(sum, zip(*tallies, strict=True))), frozen, lost)


@stage
@limits(after="1 or more", times="0 or more", most="between 0 and 1")
def adaptive(run: Run, *, after: int = 30, times: float = 0.3, most: float = 0.15) -> Run:
    """Move the weight of the text by (rate - 0.5) x times, within +-most, from `after` feedbacks on.
    The rate is the share of results that were accepted; modified ones count half. While the
    caller's weights are frozen they stay as they were."""
    feedback = gathered(run.kit)
    moved = feedback.frozen
    if moved is None:
        moved = shift(feedback.tally, after=after, times=times, most=most)
    frozen, accepted = feedback.frozen is not None, rate(feedback.tally)
    run = run._replace(query=run.query._replace(shift=moved))
    run = run.noting(**feedback.tally._asdict(), rate=accepted, shift=moved, frozen=frozen)
    reasons = "; ".join(f"{name}: {reason}" for name, reason in feedback.lost.items())
    return run.warning(f"not all feedback was counted ({reasons})" if reasons else "")
