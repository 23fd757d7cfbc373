"""How a score came about: the parts that add up to it, and the working of each, as a pencil does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.search.stages.fuse import by_chance, weight_of
from scrubjay.search.stages.min_max import between
from scrubjay.surfaces.render.explain_talk import of_conversation
from scrubjay.surfaces.render.explain_verdict import of_verdict
from scrubjay.surfaces.render.explain_where import of_chance, of_evidence, of_fusion, of_parts

if TYPE_CHECKING:
    from scrubjay.types import Hit, Results, Step

_EQUAL = 1e-6  # the precision at which scores are compared


class Part(NamedTuple):
    """What one thing adds to a score. `working` says how, and below that how its figures came about."""

    name: str
    amount: float
    working: tuple[str, ...] = ()


class Sum(NamedTuple):
    """The parts of a score, which add up to it; `where` says what the figures in them stand for."""

    parts: tuple[Part, ...]
    where: tuple[str, ...] = ()


def sum_of(hit: Hit, found: Results) -> Sum:
    """Take a score apart, whatever the profile makes it of."""
    if weighing := weights_of(hit, found):
        return Sum(_weighed_parts(hit, *weighing), tuple(where(hit, found)))
    parts = [Part(*one, tuple(working(one[0], hit, found))) for one in hit.why.items()]
    if not adds_up(hit):
        parts.append(Part("other", hit.score - sum(hit.why.values())))
    return Sum(tuple(parts), tuple(where(hit, found)))


def adds_up(hit: Hit) -> bool:
    """True when the parts are a sum, and not the steps of something else."""
    return abs(sum(hit.why.values()) - hit.score) <= _EQUAL


def walk(steps: tuple[Step, ...], depth: int = 0) -> Iterator[tuple[int, Step]]:
    """Yield every step with how deep it is in others, in the order they ran."""
    for step in steps:
        yield depth, step
        yield from walk(step.branches, depth + 1)


def weights_of(hit: Hit, found: Results) -> tuple[Mapping[str, float], float] | None:
    """Return what the signals of a hit weigh and what its tier does, where a score is made of those."""
    notes = {step.stage: step.notes for _, step in walk(found.trace)}
    weights = notes.get("signals", {}).get("weights")
    if not isinstance(weights, Mapping):
        return None
    return weights, notes.get("tier_weight", {}).get("weights", {}).get(hit.tier, 1.0)


def _weighed_parts(hit: Hit, weights: Mapping[str, float], times: float) -> tuple[Part, ...]:
    first = "" if times == 1 else f"{times:g} × "
    if "memory" in hit.why:
        return (Part("memory", hit.score, (f"{first}{hit.why['memory']:g} for a memory",)),)
    return tuple(
        Part(name, times * w * hit.why[name], (f"{first}{w:g} × {hit.why[name]:.6f}",))
        for name, w in weights.items()
    )


def working(name: str, hit: Hit, found: Results) -> list[str]:
    """Write out how a part came about, from the numbers in the trace; the first line is the part."""
    return _working(name, hit, found).splitlines()


def _working(name: str, hit: Hit, found: Results) -> str:
    amount = hit.why[name]
    steps = {step.stage: step for _, step in walk(found.trace)}
    if known := of_conversation(name, hit, steps) or of_verdict(name, hit, steps):
        return known
    for step in steps.values():
        share = step.notes.get(name)
        if isinstance(share, Mapping) and {"weight", "of"} <= share.keys():
            return _share(name, hit, share, step.notes["times"])
        if step.stage == "min_max" and name not in hit.found:
            return "0"
        if isinstance(share, Mapping) and {"weight", "worst"} <= share.keys():
            return _between(hit.found[name].score, share)
        if name == "vector" and step.stage == "similarity":
            return f"1 - (1 - {hit.found[name].score:.6f}) / 2"
        if name.startswith(f"{step.stage}_"):
            working, raw = _reciprocal_rank(name, hit, step)
            return _scaled(working, amount / raw) if raw else ""
        if name == "bonus" and step.stage == "rank_bonus":
            scale = _scale(hit, found)
            return _scaled(f"{amount / scale:g}", scale)
        if name == "rerank" and step.stage == "blend" and hit.rerank_score:
            return f"{amount / hit.rerank_score:g} × {hit.rerank_score:.6f}"
    return ""


def _scale(hit: Hit, found: Results) -> float:
    """Return by what the fused parts of a hit were multiplied after fusion."""
    for _, step in walk(found.trace):
        for name, amount in hit.why.items():
            raw = _reciprocal_rank(name, hit, step)[1] if name.startswith(f"{step.stage}_") else 0
            if raw:
                return amount / raw
    return 1.0


def _scaled(working: str, scale: float) -> str:
    return working if abs(scale - 1) < _EQUAL else f"{scale:.6f} × {working}"


def where(hit: Hit, found: Results) -> list[str]:
    """Say what the figures of the workings stand for, and how those came about that no part has."""
    steps = {step.stage: step for _, step in walk(found.trace)}
    scale, weighing = _scale(hit, found), weights_of(hit, found)
    tiered = weighing is not None and weighing[1] != 1
    lines = of_parts(steps, scaled=abs(scale - 1) >= _EQUAL, tiered=tiered)
    bests = [step.notes["best"] for step in steps.values() if "best" in step.notes]
    lines += [of_fusion(scale, best) for best in bests]
    if "weigh" in steps and steps["weigh"].notes.get("times"):
        if hit.passages is not None and hit.passages > 1:
            lines.append(of_chance(hit.passages))
        lines += of_evidence(steps["weigh"].notes)
    return lines


def _between(raw: float, share: Mapping[str, float]) -> str:
    """Write weight × normalised score, and below it how that came about."""
    normalised = between(raw, share["worst"], share["best"])
    first = f"{share['weight']:g} × {normalised:.6f}"
    if round(share["best"], 6) <= round(share["worst"], 6):
        return first
    worst, best = f"{share['worst']:.6f}", f"{share['best']:.6f}"
    return f"{first}\n{normalised:.6f} = ({raw:.6f} - {worst}) / ({best} - {worst}): between worst and best"


def _share(name: str, hit: Hit, share: Mapping[str, float], times: float) -> str:
    place = hit.found.get(name)
    raw = max(place.score, 0.0) if place else 0.0
    spread = share.get("spread", 0.0)
    chance = by_chance(hit.passages, spread)
    if raw <= chance:
        return "0"
    shown = f"({raw:.6f} - {spread:g} × √(2 ln {hit.passages}))" if chance else f"{raw:.6f}"
    return f"{times:.6f} × {share['weight']:g} × {shown} / {share['of']:.6f}"


def _reciprocal_rank(name: str, hit: Hit, step: Step) -> tuple[str, float]:
    """Return weight / (k + rank) as it is written, and what it comes to."""
    listed = name.removeprefix(f"{step.stage}_")
    place = hit.found.get(listed)
    if place is None or place.rank is None or "k" not in step.numbers:
        return "", 0.0
    weight, k = _weight(step, listed), step.numbers["k"]
    return f"{weight:g} / ({k:g} + {place.rank})", weight / (k + place.rank)


def _weight(step: Step, name: str) -> float:
    weights = step.numbers.get("weights")
    return weight_of(name, weights if isinstance(weights, Mapping) else None)
