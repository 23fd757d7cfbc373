"""Fusion: make one pool of candidates out of several ranked lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log, prod, sqrt
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, explained_by, limits, stage, summed
from scrubjay.types import ACROSS, LANGUAGES, Candidate, Found, Hit, RankedList, Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation


def gather(
    lists: tuple[RankedList, ...], *, k: float = 60, weights: Mapping[str, float] | None = None
) -> list[Candidate]:
    """Return one candidate per memory, with its rank and raw score in every list that has it.
    Its best chunk has the highest sum of weight / (k + rank) over the lists that chose that
    chunk."""
    found: dict[str, dict[str, Found]] = {}
    chunks: dict[str, dict[int, float]] = {}
    ages: dict[str, int] = {}
    for ranked in lists:
        weight = weight_of(ranked.name, weights)
        for rank, row in enumerate(ranked.rows, start=1):
            found.setdefault(row.id, {})[ranked.name] = Found(rank, row.score)
            ages[row.id] = row.updated_us
            if row.chunk is not None:
                sums = chunks.setdefault(row.id, {})
                sums[row.chunk] = sums.get(row.chunk, 0.0) + weight / (k + rank)
    return [
        Candidate(id_, updated_us=ages[id_], best_chunk=_best_chunk(chunks.get(id_)), found=places)
        for id_, places in found.items()
    ]


def _best_chunk(sums: Mapping[int, float] | None) -> int | None:
    return min(sums, key=lambda chunk: (-sums[chunk], chunk)) if sums else None


def weight_of(name: str, weights: Mapping[str, float] | None) -> float:
    """Return the weight of a list, or of its kind (`lexical` for `lexical:2`), or 1."""
    if not weights:
        return 1.0
    return weights.get(name, weights.get(name.partition(":")[0], 1.0))


def _explain_rrf(explanation: Explanation, step: Step) -> None:
    k, weights = step.numbers["k"], step.numbers["weights"]
    fractions = {
        f"rrf_{name}": (weight_of(name, weights), k + place.rank, place.rank)
        for name, place in explanation.hit.found.items()
        if place.rank is not None
    }
    explanation.made(
        "weight of the list / (k + its rank there)",
        {name: [f"{over:g} / ({k:g} + {rank})"] for name, (over, _, rank) in fractions.items()},
        {name: over / under for name, (over, under, _) in fractions.items()},
    )


@stage
@limits(k="0 or more", weights="0 or more")
@explained_by(_explain_rrf)
def rrf(run: Run, *, k: float = 60, weights: Mapping[str, float] | None = None) -> Run:
    """Sum weight / (k + rank) over every list that contains a memory; other lists give 0."""
    by_list = {ranked.name: weight_of(ranked.name, weights) for ranked in run.lists}
    pool = []
    for candidate in gather(run.lists, k=k, weights=by_list):
        parts = {
            f"rrf_{name}": by_list[name] / (k + place.rank)
            for name, place in candidate.found.items()
            if place.rank is not None
        }
        # A new object is faster than _replace, and this runs for every candidate of every search.
        id_, _, updated_us, best_chunk, found = candidate[:5]
        score = sum(parts.values())
        pool.append(Candidate(id_, score, updated_us, best_chunk, found, parts))
    return run.ranked(pool)


@stage
def union(run: Run) -> Run:
    """Make one pool of every list, newest first; later stages give the scores."""
    return run.ranked(gather(run.lists))


_OWN_LISTS = ("keyword", "vector")
NORMALIZE = "normalize"  # the name of `over_best` where it divides blended scores


def _explain_rank_bonus(explanation: Explanation, _: Step) -> None:
    scale, bonus = explanation.scale, explanation.hit.why.get("bonus", 0.0)
    scaled = f"{scale:.6f} × " if abs(scale - 1) >= 1e-6 else ""
    explanation.add("bonus", f"{scaled}{bonus / scale:g}")


@stage
@limits(first="0 or more", next="0 or more")
@explained_by(_explain_rank_bonus)
def rank_bonus(run: Run, *, first: float = 0.05, next: float = 0.02) -> Run:
    """Add to the score of what is first in a list of the query itself, and less to second and third.
    These are the lists by word and by meaning; lists of variants do not count."""

    def with_bonus(candidate: Candidate) -> Candidate:
        found = (candidate.found.get(name) for name in _OWN_LISTS)
        best = min((place.rank for place in found if place and place.rank), default=0)
        bonus = first if best == 1 else next if best in (2, 3) else 0.0
        if not best or best > 3:
            return candidate
        why = {**candidate.why, "bonus": bonus}
        return candidate._replace(score=candidate.score + bonus, why=why)

    return run.ranked(map(with_bonus, run.pool))


def blended_best(explanation: Explanation) -> float:
    """Return the best blended score, by which a later stage divides; 1 where none does."""
    later = (step.notes for step in explanation.later if step.stage == NORMALIZE)
    return float(next((notes["best"] for notes in later if "best" in notes), 1.0))


def over(best: float) -> str:
    """Show a division by the best score in a working; nothing where it is 1."""
    return f" / {best:.6f}" if abs(best - 1) >= 1e-9 else ""


def _explain_over_best(explanation: Explanation, step: Step) -> None:
    best = step.notes.get("best")
    if best and step.stage == NORMALIZE:
        if over(best):
            explanation.note(f"{best:.6f}: the best blended score, by which every part is divided")
    elif best:
        scale, blended = explanation.scale, blended_best(explanation)
        share = f"{scale * best * blended:g}"
        reason = "the share that ranks have in this score, beside the reranker"
        if share == "1":
            reason = "1, which the best fused score is made"
        names = "the best fused score" + (" and the best blended one" if over(blended) else "")
        explanation.note(
            f"{scale:.6f} = {share} / {best:.6f}{over(blended)}: the scale; {reason}, over {names}"
        )


@stage
@explained_by(_explain_over_best)
def over_best(run: Run) -> Run:
    """Divide every score by the highest, so that the first has 1."""
    best = max((candidate.score for candidate in run.pool), default=0.0)
    if best <= 0:
        return run
    shares = ({name: part / best for name, part in one.why.items()} for one in run.pool)
    # Sorted again: scores that were equal to six places may differ now.
    return run.noting(best=best).ranked(
        candidate._replace(score=candidate.score / best, why=why)
        for candidate, why in zip(run.pool, shares, strict=True)
    )


def _explain_similarity(explanation: Explanation, _: Step) -> None:
    near = explanation.hit.found.get("vector")
    explanation.made(
        "1 less half the distance of its vector from that of the query",
        {"vector": [f"1 - (1 - {near.score:.6f}) / 2" if near else "0"]},
    )


@stage
@explained_by(_explain_similarity)
def similarity(run: Run) -> Run:
    """Score by 1 - distance / 2, with the cosine distance of the best chunk: 1 is the same direction."""
    nearest = ((one, one.found.get("vector")) for one in gather(run.lists))
    return run.ranked(
        summed(candidate, {"vector": 1 - (1 - place.score) / 2 if place else 0.0})
        for candidate, place in nearest
    )


def _explain_weigh(explanation: Explanation, step: Step) -> None:
    hit, notes = explanation.hit, step.notes
    shares = {n: of for n, of in notes.items() if isinstance(of, Mapping) and "of" in of}
    explanation.made(
        "scale × weight of the list, as a share of all × its score there / the best score there",
        {name: [_share_formula(name, hit, of, notes["times"])] for name, of in shares.items()},
    )
    if not notes.get("times"):
        return
    if (count := hit.passages or 0) > 1:
        explanation.note(
            f"√(2 ln {count}): what the nearest of {count} passages gains by chance, in spreads"
        )
    explanation.note(*_strength_lines(notes))


def _share_formula(name: str, hit: Hit, share: Mapping[str, float], times: float) -> str:
    raw = max(hit.found[name].score, 0.0) if name in hit.found else 0.0
    spread = share.get("spread", 0.0)
    chance = by_chance(hit.passages, spread)
    if raw <= chance:
        return "0"
    shown = f"({raw:.6f} - {spread:g} × √(2 ln {hit.passages}))" if chance else f"{raw:.6f}"
    return f"{times:.6f} × {share['weight']:g} × {shown} / {share['of']:.6f}"


def _strength_lines(notes: Mapping[str, Any]) -> Iterator[str]:
    times, strength, evidence = notes["times"], notes["strength"], notes["evidence"]
    leads = "the strength of the evidence for the candidate that leads"
    scaled = (
        "before they are scaled; so it scores its strength, and all others stand in proportion"
    )
    if f"{strength / times:.6f}" == "1.000000":
        yield f"{times:.6f}: the scale; {leads}, whose own parts add up to 1 {scaled}"
    else:
        shown = f"{times:.6f} = {strength:.6f} / {strength / times:.6f}"
        yield f"{shown}: the scale; {leads}, over the sum of its own parts {scaled}"
    powers = ("" if proof["power"] == 1 else f"^{proof['power']:g}" for proof in evidence.values())
    shares = (f"{proof['share']:.6f}" for proof in evidence.values())
    doubts = " × ".join(f"(1 - {''.join(both)})" for both in zip(shares, powers, strict=True))
    yield (
        f"{strength:.6f} = 1 - {doubts}: that strength; 1 less what each list leaves in doubt, multiplied;"
        " it means the same for every query"
    )
    for name, proof in evidence.items():
        yield _evidence_line(name, notes[name]["best_possible"], proof["share"], proof["score"])


_BY = {
    "keyword": "by its words",
    "vector": "by its meaning",
    "across": "across languages",
    "moment": "by the time asked for",
}


def _evidence_line(name: str, possible: float, share: float, score: float) -> str:
    leads = f"what the one that leads scores {_BY.get(name, f'by {name}')}"
    if f"{possible:.6f}" == "1.000000" and f"{share:.6f}" == f"{score:.6f}":
        return f"{share:.6f}: {leads}; 1 would be the best possible"
    shown = f"{score:.6f} / {possible:.6f}"
    if abs(score / possible - share) > 1e-6:
        return f"{share:.6f}: the nearest to {shown} within 0 to 1; {leads}"
    return f"{share:.6f} = {shown}: {leads}, over the best possible score"


@stage
@explained_by(_explain_weigh)
def weigh(
    run: Run,
    *,
    weights: Mapping[str, float],
    least: Mapping[str, float] | None = None,
    powers: Mapping[str, float] | None = None,
    foreign: Mapping[str, float] | None = None,
    languages: Mapping[str, float] | None = None,
    across: float = 1.0,
    spread: Mapping[str, float] | None = None,
) -> Run:
    """Score by how near a candidate comes to the best of each list; the first by its own strength.

    In each list a candidate has its score over the best score of that list. A best score below
    `least`, as a share of the best possible, is not raised to 1. These are averaged by weight over the
    lists with results and the rerankers that scored. Then all are scaled so that the first has the
    score 1 - (1 - a)(1 - b)…, where a, b … are its own shares of the best possible score in each
    list, to their `powers`: a number that means the same for every query. `foreign` are the weights
    for a query in a language that the model does not support, `languages` those where a multilingual
    model supports it. A text in another language than the query has the score of that model alone,
    times `across`.

    The more passages a text has, the nearer the best of them is by chance: about s √(2 ln n) for n
    passages, where s is the `spread` of the list. That is subtracted before candidates are compared.
    """
    if run.query.foreign:
        weights = (languages if run.query.across is not None else foreign) or weights
    if any(weight < 0 for weight in weights.values()) or not any(weights.values()):
        raise InvalidInput(
            f"weigh.weights is {dict(weights)}; weights must be 0 or more, and one above 0"
        )
    lists = [ranked for ranked in run.lists if ranked.rows and weights.get(ranked.name, 0) > 0]
    possible = {ranked.name: ranked.best for ranked in lists}
    possible |= dict.fromkeys(_rerankers(run, weights), 1.0)
    shares = {name: weights[name] / sum(weights[one] for one in possible) for name in possible}
    if any(ACROSS in candidate.found for candidate in run.pool):
        possible[ACROSS], shares[ACROSS] = 1.0, across
    notes: dict[str, Any] = {}
    for name, best in possible.items():
        chance = (spread or {}).get(name, 0.0)
        nearest = max((_score(candidate, name, chance) for candidate in run.pool), default=0.0)
        if name == ACROSS:  # one model gave both
            others = (_score(candidate, LANGUAGES, chance) for candidate in run.pool)
            nearest = max(nearest, *others)
        notes[name] = {
            "weight": shares[name],
            "of": max(nearest, (least or {}).get(name, 0.0) * best, 1e-9),
            "best_possible": best,
            "spread": chance,
        }
    parts = {candidate.id: _parts(candidate, notes) for candidate in run.pool}
    first = min(
        run.pool,
        key=lambda candidate: (-sum(parts[candidate.id].values()), *candidate.order),
        default=None,
    )
    if first is None:
        return run
    evidence = _evidence(first, lists, powers or {})
    relative, strength = sum(parts[first.id].values()), _strength(evidence)
    times = strength / relative if relative > 0 else 0.0
    run = run.ranked(
        summed(one, {name: amount * times for name, amount in parts[one.id].items()})
        for one in run.pool
    )
    return run.noting(**notes, times=times, strength=strength, evidence=evidence)


def _rerankers(run: Run, weights: Mapping[str, float]) -> list[str]:
    lists = {ranked.name for ranked in run.lists}
    scored = {name for candidate in run.pool for name in candidate.found} - lists
    return [name for name, weight in weights.items() if name in scored and weight > 0]


def _score(candidate: Candidate, name: str, spread: float) -> float:
    """Return the score of a candidate in a list, less what many passages gain by chance."""
    if name not in candidate.found:
        return 0.0
    return max(candidate.found[name].score - by_chance(candidate.passages, spread), 0.0)


def by_chance(passages: int | None, spread: float) -> float:
    """Return how much nearer the best of several passages is than a single one, by chance."""
    # A damaged passage may have a negative number.
    return spread * sqrt(2 * log(passages)) if passages and passages > 1 and spread else 0.0


def _parts(candidate: Candidate, lists: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {
        name: numbers["weight"] * _score(candidate, name, numbers["spread"]) / numbers["of"]
        for name, numbers in lists.items()
        if name in candidate.found
    }


def _evidence(
    candidate: Candidate, lists: list[RankedList], powers: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Return a candidate's share of the best possible score in each list, and the power it is taken to."""
    best = {ranked.name: ranked.best for ranked in lists} | {ACROSS: 1.0}
    return {
        name: {
            "score": candidate.found[name].score,
            "share": min(max(candidate.found[name].score / of, 0.0), 1.0),
            "power": powers.get(name, 1.0),
        }
        for name, of in best.items()
        if name in candidate.found and of > 0
    }


def _strength(evidence: Mapping[str, Mapping[str, float]]) -> float:
    doubts = (1 - proof["share"] ** proof["power"] for proof in evidence.values())
    return 1 - prod(doubts, start=1.0)
