"""An answer taken apart: what each stage did, and the sum behind each score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scrubjay.stages.fuse import by_chance, weight_of
from scrubjay.stages.min_max import between
from scrubjay.surfaces.explain_talk import of_conversation
from scrubjay.surfaces.layout import indent, table, wrap
from scrubjay.surfaces.terminal import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.surfaces.terminal import Screen
    from scrubjay.types import Found, Hit, Results, Step

_EQUAL = 1e-6  # the precision at which scores are compared


def stages(found: Results, screen: Screen) -> str:
    """Show the stages in the order they ran: numbers, time, how many in and out, notes, losses."""
    steps = list(_walk(found.trace, 0))
    rows = [("      ms", "in → out", "stage")]
    rows += [(f"{step.took_ms:8.2f}", _flow(step), _call(step, depth)) for depth, step in steps]
    head, *lines = table(rows)
    column = head.index("stage")
    shown = [screen.bold(head)]
    for line, (depth, step) in zip(lines, steps, strict=True):
        left = column + 2 * (depth + 1)
        # A stage with many numbers goes on below itself.
        first, *more = wrap(line[column:], screen.width - left - 2)
        shown.append(line[:column] + "  " * depth + first)
        shown += [" " * (left + 2) + one for one in more]
        shown += [screen.dim(indent(one_line(say), screen.width, left)) for say in _remarks(step)]
    return "\n".join(shown)


def reasons(hit: Hit, found: Results) -> list[str]:
    """Say where a hit stood in each list, and the sum that leads to its score."""
    weighed = _weighed(hit, found)
    lines = [f"found: {_places(hit.found)}", f"score: {weighed or _sum(hit)}"]
    if weighed:
        return lines
    for name, amount in hit.why.items():
        if working := _working(name, hit, found):
            lines += f"{name} {amount:.6f} = {working}".split("\n")
    return [*lines, *_scaling(hit, found)]


def _walk(steps: tuple[Step, ...], depth: int) -> Iterator[tuple[int, Step]]:
    for step in steps:
        yield depth, step
        yield from _walk(step.branches, depth + 1)


def _flow(step: Step) -> str:
    return f"{step.went_in:,} → {step.came_out:,}"


def _call(step: Step, depth: int) -> str:
    numbers = ", ".join(f"{key}={value_of(value)}" for key, value in step.numbers.items())
    return "  " * depth + one_line(f"{step.stage}({numbers})")


def _remarks(step: Step) -> list[str]:
    lost = [f"lost: {step.lost}"] if step.lost else []
    said = "; ".join(f"{key}: {value_of(value)}" for key, value in step.notes.items())
    return [*lost, said] if said else lost


def value_of(value: object) -> str:
    """Show a number, a list or a mapping as short as it stays readable."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_of(one) for one in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {value_of(one)}" for key, one in value.items()) + "}"
    return str(value)


def _places(lists: Mapping[str, Found]) -> str:
    places = [
        f"{name} {_place(name, place)} (raw {place.score:.6f})" for name, place in lists.items()
    ]
    return " · ".join(places) or "in no list"


def _place(name: str, place: Found) -> str:
    if place.rank is not None:
        return f"#{place.rank}"
    return "looked up" if name == "vector" else "compared"


def _sum(hit: Hit) -> str:
    """Show the parts as a sum where they are one; otherwise as the steps they were."""
    if abs(sum(hit.why.values()) - hit.score) > _EQUAL:
        steps = ", ".join(f"{name} {amount:.6f}" for name, amount in hit.why.items())
        return f"{hit.score:.6f} after {steps}"
    parts = " + ".join(f"{amount:.6f} {name}" for name, amount in hit.why.items())
    return f"{hit.score:.6f} = {parts}".replace("+ -", "- ")


def _weighed(hit: Hit, found: Results) -> str:
    """Write out a weighted sum of signals, or the score that stands in its place; else nothing."""
    notes = {step.stage: step.notes for _, step in _walk(found.trace, 0)}
    weights = notes.get("signals", {}).get("weights")
    if not isinstance(weights, Mapping):
        return ""
    times = notes.get("tier_weight", {}).get("weights", {}).get(hit.tier, 1.0)
    if "memory" in hit.why:
        working = f"{hit.why['memory']:g} for a memory"
    else:
        working = " + ".join(f"{w:g} × {hit.why[name]:.6f} {name}" for name, w in weights.items())
    return f"{hit.score:.6f} = " + (working if times == 1 else f"{times:g} × ({working})")


def _working(name: str, hit: Hit, found: Results) -> str:
    """Write out how a part came about, from the numbers in the trace."""
    amount = hit.why[name]
    steps = {step.stage: step for _, step in _walk(found.trace, 0)}
    if working := of_conversation(name, hit, steps):
        return working
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
    for _, step in _walk(found.trace, 0):
        for name, amount in hit.why.items():
            raw = _reciprocal_rank(name, hit, step)[1] if name.startswith(f"{step.stage}_") else 0
            if raw:
                return amount / raw
    return 1.0


def _scaled(working: str, scale: float) -> str:
    return working if abs(scale - 1) < _EQUAL else f"{scale:.6f} × {working}"


def _scaling(hit: Hit, found: Results) -> list[str]:
    """Say what fused parts were multiplied by: the share of fusion, over the best fused score."""
    scale = _scale(hit, found)
    bests = [step.notes["best"] for _, step in _walk(found.trace, 0) if "best" in step.notes]
    lines = [f"{scale:.6f} = {scale * best:g} / {best:.6f}" for best in bests]
    for _, step in _walk(found.trace, 0):
        if step.stage == "weigh" and step.notes.get("times"):
            times, strength = step.notes["times"], step.notes["strength"]
            lines.append(f"{times:.6f} = {strength:.6f} / {strength / times:.6f}")
    return lines


def _between(raw: float, share: Mapping[str, float]) -> str:
    """Write weight × normalised score, and below it how that came about."""
    normalised = between(raw, share["worst"], share["best"])
    first = f"{share['weight']:g} × {normalised:.6f}"
    if round(share["best"], 6) <= round(share["worst"], 6):
        return first
    worst, best = f"{share['worst']:.6f}", f"{share['best']:.6f}"
    return f"{first}\n{normalised:.6f} = ({raw:.6f} - {worst}) / ({best} - {worst})"


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
