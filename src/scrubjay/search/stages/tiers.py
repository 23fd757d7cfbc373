"""Search over several databases (tiers). Of an id in several, the highest tier's version is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter, time_ns
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.config import BUILT_IN_TIERS
from scrubjay.errors import InvalidInput, StoreError
from scrubjay.runtime.command_hints import pending_vectors
from scrubjay.search.pipeline import (
    Run,
    Stage,
    Tier,
    by_score,
    explained_by,
    in_order,
    limits,
    merges_tables,
    stage,
    together,
)
from scrubjay.times import micros
from scrubjay.types import Candidate, RankedList, Scope, Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation

# Default weight of each tier; a connected vault has its priority.
TIER_WEIGHTS: Mapping[str, float] = {"agent": 1.0, "project": 0.8, "team": 0.6}
_AT_ONCE = 512
_MOST_NAMED = 10  # shadowed entries in the trace


class _Visit(NamedTuple):
    """The search of one tier so far; `weight` is the weight of its scores.
    `shadowed` are the ids found there of which a higher tier has its own version."""

    tier: Tier
    weight: float
    run: Run
    steps: tuple[Step, ...] = ()
    took_ms: float = 0.0
    lost: str | None = None
    shadowed: tuple[str, ...] = ()


@stage
@limits(weights="above 0 and at most 1")
@merges_tables("weights")
def tiers(
    run: Run, *, find: tuple[Stage, ...], read: tuple[Stage, ...], weights: Mapping[str, float]
) -> Run:
    """Search every tier, and load each memory from the highest tier that contains it.
    A tier that cannot be searched is reported, and the others are searched. Filters apply to
    the version of the highest tier: where they exclude it, no other version takes its place.
    The weight of a connected vault is its priority. Without tiers both lists of stages run on
    the only database."""
    _check(weights)
    if not run.kit.tiers:
        run, steps = in_order((*find, *read), run)
        return run._replace(branches=steps)
    visits = [
        _Visit(tier, weight_of(tier, weights), _inside(run, tier), lost=tier.lost)
        for tier in sorted(run.kit.tiers, key=lambda tier: rank(tier, weights))
    ]
    visits = _each(lambda visit: _begun(visit, find), visits)
    visits = _owned(visits, run.query.scope)
    visits = _each(lambda visit: _read(visit, read), visits)
    steps = tuple(map(_noted, visits))
    reached = [visit for visit in visits if visit.lost is None]
    if not reached:
        reasons = "; ".join(f"{step.stage}: {step.lost}" for step in steps)
        raise StoreError(f"none of the tiers can be searched: {reasons}")
    run = run.ranked([candidate for visit in reached for candidate in visit.run.pool])
    return run._replace(
        lists=(*run.lists, *_joined(reached)), counts=_counted(run, reached), branches=steps
    )


@stage
def by_tier(run: Run, *, stages: tuple[Stage, ...]) -> Run:
    """Run stages on the candidates of each tier, with the database of that tier; keep the order.
    They may change candidates and drop some. Without tiers they run on the only database."""
    if not run.kit.tiers:
        run, steps = in_order(stages, run)
        return run._replace(branches=steps)
    changed: dict[str, Candidate] = {}
    visits: list[_Visit] = []
    steps = ()
    for tier in run.kit.tiers:
        mine = tuple(candidate for candidate in run.pool if candidate.tier == tier.name)
        if not mine or tier.lost is not None:
            continue
        inside = _inside(run, tier)._replace(pool=mine, pooled=True)
        visit = _begun(_Visit(tier, 1.0, inside), stages)
        # Where the tier fails now, its candidates are shown as they are.
        changed |= {one.id: one for one in (mine if visit.lost else visit.run.pool)}
        visits.append(visit)
        steps += (_step(visit, went_in=len(mine)),)
    pool = tuple(changed[candidate.id] for candidate in run.pool if candidate.id in changed)
    return run._replace(pool=pool, counts=_counted(run, visits), branches=steps)


def _explain_tier_weight(explanation: Explanation, step: Step) -> None:
    weights = step.notes.get("weights", {})
    explanation.multiply(weights.get(explanation.hit.tier, 1.0), "weight of the tier")


@stage
@explained_by(_explain_tier_weight)
def tier_weight(run: Run) -> Run:
    """Multiply every score by the weight of its tier."""
    weights = {one.tier: one.tier_weight for one in run.pool if one.tier is not None}
    run = run.ranked(one._replace(score=one.score * one.tier_weight) for one in run.pool)
    return run.noting(weights=dict(sorted(weights.items()))) if weights else run


def rank(tier: Tier, weights: Mapping[str, float] = TIER_WEIGHTS) -> tuple[float, bool, bool, str]:
    """Return the sort key of tiers, the highest first: weight, own database, built-in tiers, name."""
    return (-weight_of(tier, weights), not tier.own, tier.name not in BUILT_IN_TIERS, tier.name)


def weight_of(tier: Tier, weights: Mapping[str, float] = TIER_WEIGHTS) -> float:
    """Return the weight of a tier's scores: its priority, or the weight of its name."""
    if tier.priority is not None:
        return tier.priority
    if tier.name not in weights:
        shown = ", ".join(f"{name} = {weight:g}" for name, weight in TIER_WEIGHTS.items())
        raise InvalidInput(
            f"tiers.weights has no weight for the tier {tier.name!r}; all of them are {{{shown}}}"
        )
    return weights[tier.name]


def _check(weights: Mapping[str, float]) -> None:
    for name in weights:
        if name not in BUILT_IN_TIERS:
            raise InvalidInput(
                f"tiers.weights names {name!r}; it is for {', '.join(BUILT_IN_TIERS)}, and a connected"
                " vault has a priority: --tier NAME=FILE@PRIORITY"
            )


def _inside(run: Run, tier: Tier) -> Run:
    return Run(run.query, run.kit.inside(tier))


def _begun(visit: _Visit, stages: tuple[Stage, ...]) -> _Visit:
    """Run the first stages in a tier, with the validity windows of its own database."""
    query, windows = visit.run.query, visit.run.kit.windows
    if query.scope.valid_us is not None and windows is not None:
        try:
            valid_us = windows.last_change_us(query.scope.valid_us)
        except StoreError as error:
            return visit._replace(lost=str(error))
        query = query._replace(scope=query.scope._replace(valid_us=valid_us))
    return _advanced(visit._replace(run=visit.run._replace(query=query)), stages)


def _each(change: Callable[[_Visit], _Visit], visits: list[_Visit]) -> list[_Visit]:
    going = [visit for visit in visits if visit.lost is None]
    if len(going) < 2:
        changed = iter([change(visit) for visit in going])
    else:
        from scrubjay.runtime.worker import thread_pool

        changed = iter(together(change, going, thread_pool("tier")))
    return [next(changed) if visit.lost is None else visit for visit in visits]


def _advanced(visit: _Visit, stages: tuple[Stage, ...]) -> _Visit:
    """Run stages in a tier; an error of its database affects this tier only."""
    started = perf_counter()
    try:
        run, steps = in_order(stages, visit.run)
        lost = None
    except StoreError as error:
        run, steps, lost = visit.run, (), str(error)
    took_ms = visit.took_ms + (perf_counter() - started) * 1000
    return visit._replace(run=run, steps=(*visit.steps, *steps), took_ms=took_ms, lost=lost)


def _read(visit: _Visit, stages: tuple[Stage, ...]) -> _Visit:
    after = _advanced(visit, stages)
    pool = tuple(
        candidate._replace(
            tier=visit.tier.name, tier_weight=visit.weight, updated_us=_updated_us(candidate)
        )
        for candidate in after.run.pool
    )
    return after._replace(run=after.run._replace(pool=pool))


def _updated_us(candidate: Candidate) -> int:
    # A version that replaces one of a lower tier was in no list, so no row had its time.
    if candidate.updated_us or candidate.memory is None or candidate.memory.updated_at is None:
        return candidate.updated_us
    return micros(candidate.memory.updated_at)


def _owned(visits: list[_Visit], scope: Scope) -> list[_Visit]:
    """Give each id to the highest tier that contains it for this caller, found there or not."""
    taken: set[str] = set()
    after: list[_Visit] = []
    for place, visit in enumerate(visits):
        if visit.lost is not None:
            after.append(visit)
            continue
        found = {candidate.id: candidate for candidate in visit.run.pool}
        lower = (candidate.id for below in visits[place + 1 :] for candidate in below.run.pool)
        others = [id_ for id_ in dict.fromkeys(lower) if id_ not in found and id_ not in taken]
        started = perf_counter()
        try:
            held = _held(visit, others, scope)
        except StoreError as error:
            after.append(visit._replace(lost=str(error)))
            continue
        pool = (
            *(candidate for candidate in visit.run.pool if candidate.id not in taken),
            *(Candidate(id_) for id_ in held),
        )
        took_ms = visit.took_ms + (perf_counter() - started) * 1000
        run = visit.run._replace(pool=pool, pooled=True)
        shadowed = tuple(id_ for id_ in found if id_ in taken)
        after.append(visit._replace(run=run, took_ms=took_ms, shadowed=shadowed))
        taken |= found.keys() | set(held)
    return after


def _held(visit: _Visit, ids: Sequence[str], scope: Scope) -> list[str]:
    """Return those of these ids that a tier contains, whatever the other filters."""
    records = visit.run.kit.records
    held: list[str] = []
    if records is not None:
        for start in range(0, len(ids), _AT_ONCE):
            some = tuple(ids[start : start + _AT_ONCE])
            held += records.ids(Scope(reader=scope.reader, ids=some))
    return sorted(held)


def _joined(visits: list[_Visit]) -> tuple[RankedList, ...]:
    """Return one list for each name, with one row per memory: that of the tier it is loaded from."""
    joined: dict[str, RankedList] = {}
    for visit in visits:
        mine = {candidate.id for candidate in visit.run.pool}
        for new in visit.run.lists:
            before = joined.get(new.name, RankedList(new.name, searched=False, best=new.best))
            rows = by_score((*before.rows, *(row for row in new.rows if row.id in mine)))
            searched, best = before.searched or new.searched, max(before.best, new.best)
            joined[new.name] = RankedList(new.name, rows, searched, best)
    return tuple(joined.values())


def _counted(run: Run, visits: list[_Visit]) -> Counter[str]:
    counts = Counter(run.counts)
    for visit in visits:
        counts.update(visit.run.counts)
    return counts


def _step(visit: _Visit, went_in: int = 0) -> Step:
    return Step(
        f"tier {visit.tier.name}",
        visit.took_ms,
        went_in=went_in,
        came_out=0 if visit.lost else len(visit.run.pool),
        lost=visit.lost,
        branches=visit.steps,
        at_us=visit.steps[0].at_us if visit.steps else time_ns() // 1000,
    )


def _noted(visit: _Visit) -> Step:
    """Return the step of a tier with its weight, its shadowed entries, and its missing vectors."""
    notes: dict[str, object] = {"weight": visit.weight}
    if visit.shadowed:
        more = len(visit.shadowed) - _MOST_NAMED
        named = list(visit.shadowed[:_MOST_NAMED])
        notes["shadowed"] = [*named, f"{more} more"] if more > 0 else named
    kit, query = visit.run.kit, visit.run.query
    if not visit.lost and query.vector is not None and kit.vectors and kit.embedder:
        try:
            waiting = kit.vectors.without(kit.embedder.name, query.scope)
        except StoreError:  # the search itself worked; only this count is missing
            waiting = 0
        if waiting:
            passages = "1 passage has" if waiting == 1 else f"{waiting} passages have"
            how = pending_vectors(visit.tier.path or None)
            notes["warning"] = f"{passages} no vector of {kit.embedder.name}; {how}"
    return _step(visit)._replace(notes=notes)
