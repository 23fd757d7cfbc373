"""One search over several databases: each found in by itself, the highest tier's version of an id kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter, time_ns
from typing import NamedTuple

from scrubjay.config import BUILT_IN_TIERS
from scrubjay.errors import InvalidInput, StoreError
from scrubjay.runtime.command_hints import to_type
from scrubjay.search.pipeline import Run, Stage, Tier, in_order, keeps_the_rest_of, stage, together
from scrubjay.times import micros
from scrubjay.types import Candidate, RankedList, Scope, Step

# What each tier counts by itself; a connected vault counts what its priority says.
TIER_WEIGHTS: Mapping[str, float] = {"agent": 1.0, "project": 0.8, "team": 0.6}
_AT_ONCE = 512
_MOST_NAMED = 10  # of the entries that a higher tier's version hides


class _Visit(NamedTuple):
    """What came of asking one tier so far; `weight` is what its scores count.

    `shadowed` are the ids found there of which a higher tier has the version that holds.
    """

    tier: Tier
    weight: float
    run: Run
    steps: tuple[Step, ...] = ()
    took_ms: float = 0.0
    lost: str | None = None
    shadowed: tuple[str, ...] = ()


@stage
@keeps_the_rest_of("weights")
def tiers(
    run: Run, *, find: tuple[Stage, ...], read: tuple[Stage, ...], weights: Mapping[str, float]
) -> Run:
    """Find in every tier, and read what was found in the highest tier that holds it.

    A tier that cannot be asked is named in the answer, and the others answer. Filters bind the version
    of the highest tier: where they leave that out, no other version takes its place. A connected
    vault's weight is its priority. A store alone runs both lists of stages on itself.
    """
    _check(weights)
    if not run.kit.tiers:
        run, steps = in_order((*find, *read), run)
        return run._replace(branches=steps)
    visits = [
        _Visit(one, weight_of(one, weights), _inside(run, one), lost=one.lost)
        for one in sorted(run.kit.tiers, key=lambda one: rank(one, weights))
    ]
    visits = _each(lambda visit: _begun(visit, find), visits)
    visits = _owned(visits, run.query.scope)
    visits = _each(lambda visit: _read(visit, read), visits)
    steps = tuple(map(_noted, visits))
    reached = [visit for visit in visits if visit.lost is None]
    if not reached:
        reasons = "; ".join(f"{step.stage}: {step.lost}" for step in steps)
        raise StoreError(f"none of the tiers can be searched: {reasons}")
    pool = sorted((one for visit in reached for one in visit.run.pool), key=lambda one: one.order)
    return run._replace(
        pool=tuple(pool),
        lists=(*run.lists, *_joined(reached)),
        counts=_counted(run, reached),
        branches=steps,
    )


@stage
def by_tier(run: Run, *, stages: tuple[Stage, ...]) -> Run:
    """Run stages that look into a database on each candidate's own; the order stays.

    They may change candidates, and drop some. A store alone runs them on itself.
    """
    if not run.kit.tiers:
        run, steps = in_order(stages, run)
        return run._replace(branches=steps)
    changed: dict[str, Candidate] = {}
    visits: list[_Visit] = []
    steps = ()
    for tier in run.kit.tiers:
        mine = tuple(one for one in run.pool if one.tier == tier.name)
        if not mine or tier.lost is not None:
            continue
        visit = _begun(
            _Visit(tier, 1.0, _inside(run, tier)._replace(pool=mine, pooled=True)), stages
        )
        # What cannot be looked up now was found before, and is shown as it is.
        changed |= {one.id: one for one in (mine if visit.lost else visit.run.pool)}
        visits.append(visit)
        steps += (_step(visit, went_in=len(mine)),)
    pool = tuple(changed[one.id] for one in run.pool if one.id in changed)
    return run._replace(pool=pool, counts=_counted(run, visits), branches=steps)


@stage
def tier_weight(run: Run) -> Run:
    """Multiply every score by the weight of the tier that it comes from."""
    pool = [one._replace(score=one.score * one.tier_weight) for one in run.pool]
    pool.sort(key=lambda one: one.order)
    weights = {one.tier: one.tier_weight for one in run.pool if one.tier is not None}
    run = run._replace(pool=tuple(pool))
    return run.noting(weights=dict(sorted(weights.items()))) if weights else run


def rank(tier: Tier, weights: Mapping[str, float] = TIER_WEIGHTS) -> tuple[float, bool, bool, str]:
    """Return what sorts tiers, the highest first: weight, the own one, built-in ones, name."""
    return (-weight_of(tier, weights), not tier.own, tier.name not in BUILT_IN_TIERS, tier.name)


def weight_of(tier: Tier, weights: Mapping[str, float] = TIER_WEIGHTS) -> float:
    """Return what the scores of a tier count: its priority, or the weight of its name."""
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
    if any(not 0 < weight <= 1 for weight in weights.values()):
        raise InvalidInput(
            f"tiers.weights is {dict(weights)}; each must be above 0, and at most 1"
        )


def _inside(run: Run, tier: Tier) -> Run:
    """Return a run of the same query in one tier."""
    return Run(run.query, run.kit.inside(tier))


def _begun(visit: _Visit, stages: tuple[Stage, ...]) -> _Visit:
    """Run the first stages in a tier, with the validity of its database: each has windows of its own."""
    query, windows = visit.run.query, visit.run.kit.windows
    if query.scope.valid_us is not None and windows is not None:
        try:
            valid_us = windows.state_us(query.scope.valid_us)
        except StoreError as gone:
            return visit._replace(lost=str(gone))
        query = query._replace(scope=query.scope._replace(valid_us=valid_us))
    return _advanced(visit._replace(run=visit.run._replace(query=query)), stages)


def _each(change: Callable[[_Visit], _Visit], visits: list[_Visit]) -> list[_Visit]:
    """Change every visit that is not lost, all at the same time."""
    going = [visit for visit in visits if visit.lost is None]
    if len(going) < 2:
        return [change(visit) if visit.lost is None else visit for visit in visits]
    from scrubjay.runtime.worker import tier_pool

    changed = iter(together(change, going, tier_pool()))
    return [next(changed) if visit.lost is None else visit for visit in visits]


def _advanced(visit: _Visit, stages: tuple[Stage, ...]) -> _Visit:
    """Run stages in a tier; an error of its database loses this tier only."""
    started = perf_counter()
    try:
        run, steps = in_order(stages, visit.run)
        lost = None
    except StoreError as gone:
        run, steps, lost = visit.run, (), str(gone)
    took_ms = visit.took_ms + (perf_counter() - started) * 1000
    return visit._replace(run=run, steps=(*visit.steps, *steps), took_ms=took_ms, lost=lost)


def _read(visit: _Visit, stages: tuple[Stage, ...]) -> _Visit:
    """Read the candidates of a tier, and mark them as its own."""
    after = _advanced(visit, stages)
    pool = tuple(
        one._replace(
            tier=visit.tier.name,
            tier_weight=visit.weight,
            updated_us=_age(one),
        )
        for one in after.run.pool
    )
    return after._replace(run=after.run._replace(pool=pool))


def _age(one: Candidate) -> int:
    # What was not found but stands for what was has no row that says how old it is.
    if one.updated_us or one.memory is None or one.memory.updated_at is None:
        return one.updated_us
    return micros(one.memory.updated_at)


def _owned(visits: list[_Visit], scope: Scope) -> list[_Visit]:
    """Give each id to the highest tier that holds it in the caller's sight, found there or not."""
    taken: set[str] = set()
    after: list[_Visit] = []
    for place, visit in enumerate(visits):
        if visit.lost is not None:
            after.append(visit)
            continue
        found = {one.id: one for one in visit.run.pool}
        lower = (one.id for below in visits[place + 1 :] for one in below.run.pool)
        others = [id_ for id_ in dict.fromkeys(lower) if id_ not in found and id_ not in taken]
        started = perf_counter()
        try:
            held = _held(visit, others, scope)
        except StoreError as gone:
            after.append(visit._replace(lost=str(gone)))
            continue
        pool = (
            *(one for one in visit.run.pool if one.id not in taken),
            *(Candidate(id_) for id_ in held),
        )
        took_ms = visit.took_ms + (perf_counter() - started) * 1000
        run = visit.run._replace(pool=pool, pooled=True)
        shadowed = tuple(id_ for id_ in found if id_ in taken)
        after.append(visit._replace(run=run, took_ms=took_ms, shadowed=shadowed))
        taken |= found.keys() | set(held)
    return after


def _held(visit: _Visit, ids: Sequence[str], scope: Scope) -> list[str]:
    """Return those of these ids that a tier holds, whatever else the query asks for."""
    records = visit.run.kit.records
    held: list[str] = []
    for start in range(0, len(ids) if records is not None else 0, _AT_ONCE):
        some = Scope(reader=scope.reader, ids=tuple(ids[start : start + _AT_ONCE]))
        held += records.ids(some) if records is not None else ()
    return sorted(held)


def _joined(visits: list[_Visit]) -> tuple[RankedList, ...]:
    """Return one list for each name, with a row a memory: that of the tier which holds it."""
    joined: dict[str, RankedList] = {}
    for visit in visits:
        mine = {one.id for one in visit.run.pool}
        for one in visit.run.lists:
            before = joined.get(one.name, RankedList(one.name, searched=False, best=one.best))
            rows = (*before.rows, *(row for row in one.rows if row.id in mine))
            joined[one.name] = RankedList(
                one.name,
                tuple(
                    sorted(rows, key=lambda row: (-round(row.score, 6), -row.updated_us, row.id))
                ),
                before.searched or one.searched,
                max(before.best, one.best),
            )
    return tuple(joined.values())


def _counted(run: Run, visits: list[_Visit]) -> dict[str, int]:
    """Return the counts of a run with those of its visits."""
    counts = dict(run.counts)
    for visit in visits:
        for name, count in visit.run.counts.items():
            counts[name] = counts.get(name, 0) + count
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
    """Return the step of a tier with its weight, what it has no say in, and what its vectors lack."""
    notes: dict[str, object] = {"weight": visit.weight}
    if visit.shadowed:
        more = len(visit.shadowed) - _MOST_NAMED
        named = list(visit.shadowed[:_MOST_NAMED])
        notes["shadowed"] = [*named, f"{more} more"] if more > 0 else named
    kit, query = visit.run.kit, visit.run.query
    if not visit.lost and query.vector is not None and kit.vectors and kit.embedder:
        try:
            waiting = kit.vectors.without(kit.embedder.name, query.scope)
        except StoreError:  # it has answered before; only this count is lost
            waiting = 0
        if waiting:
            passages = "1 passage has" if waiting == 1 else f"{waiting} passages have"
            make = to_type("models pull", visit.tier.path or None)
            notes["warning"] = f"{passages} no vector of {kit.embedder.name}; makes them: {make}"
    return _step(visit)._replace(notes=notes)
