"""An answer taken apart: what each stage did, and the sum behind each score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scrubjay.surfaces.render.explain_sum import adds_up, walk, weights_of, where, working
from scrubjay.surfaces.render.layout import indent, table, wrap
from scrubjay.surfaces.render.terminal import one_line

if TYPE_CHECKING:
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types import Found, Hit, Results, Step


def stages(found: Results, screen: Screen) -> str:
    """Show the stages in the order they ran: numbers, time, how many in and out, notes, losses."""
    steps = list(walk(found.trace))
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
        return [*lines, *where(hit, found)]
    for name, amount in hit.why.items():
        if worked := working(name, hit, found):
            lines += [f"{name} {amount:.6f} = {worked[0]}", *worked[1:]]
    return [*lines, *where(hit, found)]


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
    if not adds_up(hit):
        steps = ", ".join(f"{name} {amount:.6f}" for name, amount in hit.why.items())
        return f"{hit.score:.6f} after {steps}"
    parts = " + ".join(f"{amount:.6f} {name}" for name, amount in hit.why.items())
    return f"{hit.score:.6f} = {parts}".replace("+ -", "- ")


def _weighed(hit: Hit, found: Results) -> str:
    """Write out a weighted sum of signals, or the score that stands in its place; else nothing."""
    if not (weighing := weights_of(hit, found)):
        return ""
    weights, times = weighing
    if "memory" in hit.why:
        inner = f"{hit.why['memory']:g} for a memory"
    else:
        inner = " + ".join(f"{w:g} × {hit.why[name]:.6f} {name}" for name, w in weights.items())
    return f"{hit.score:.6f} = " + (inner if times == 1 else f"{times:g} × ({inner})")
