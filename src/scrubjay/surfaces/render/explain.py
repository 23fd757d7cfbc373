"""Explanation of results as text: what each stage did, and the sum behind each score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scrubjay.surfaces.render.layout import indent, table, wrap
from scrubjay.surfaces.render.terminal import Screen, one_line
from scrubjay.types import Found, Hit, Results, Step
from scrubjay.types.reports import OTHER


def stages(results: Results, screen: Screen) -> str:
    steps = list(_walk(results.trace))
    rows = [("      ms", "in → out", "stage")]
    for depth, step in steps:
        flow = f"{step.went_in:,} → {step.came_out:,}"
        rows.append((f"{step.took_ms:8.2f}", flow, _call(step, depth)))
    head, *lines = table(rows)
    column = head.index("stage")
    shown = [screen.bold(head)]
    for line, (depth, step) in zip(lines, steps, strict=True):
        left = column + 2 * (depth + 1)
        # A stage with many numbers continues below itself.
        first, *more = wrap(line[column:], screen.width - left - 2)
        shown.append(line[:column] + "  " * depth + first)
        shown += [" " * (left + 2) + rest for rest in more]
        shown += [screen.dim(indent(one_line(note), screen.width, left)) for note in _notes(step)]
    return "\n".join(shown)


def reasons(hit: Hit, results: Results) -> list[str]:
    """Return where a hit stood in each list, and the sum that leads to its score."""
    explained = results.explain(hit)
    parts = [part for part in explained.parts if part.name != OTHER]
    if len(parts) == len(explained.parts):
        added = " + ".join(f"{part.amount:.6f} {part.name}" for part in parts)
        score = f"{hit.score:.6f} = {added}".replace("+ -", "- ")
    else:  # the parts are steps and not a sum
        steps = ", ".join(f"{part.name} {part.amount:.6f}" for part in parts)
        score = f"{hit.score:.6f} after {steps}"
    places = (f"{name} {_rank(name, at)} (raw {at.score:.6f})" for name, at in hit.found.items())
    lines = [f"found: {' · '.join(places) or 'in no list'}", f"score: {score}"]
    for part in parts:
        if part.working:
            lines += [f"{part.name} {part.amount:.6f} = {part.working[0]}", *part.working[1:]]
    return [*lines, *explained.where]


def _walk(steps: tuple[Step, ...], depth: int = 0) -> Iterator[tuple[int, Step]]:
    for step in steps:
        yield depth, step
        yield from _walk(step.branches, depth + 1)


def _call(step: Step, depth: int) -> str:
    numbers = ", ".join(f"{key}={value_of(value)}" for key, value in step.numbers.items())
    return "  " * depth + one_line(f"{step.stage}({numbers})")


def _notes(step: Step) -> list[str]:
    lost = [f"lost: {step.lost}"] if step.lost else []
    notes = "; ".join(f"{key}: {value_of(value)}" for key, value in step.notes.items())
    return [*lost, notes] if notes else lost


def value_of(value: object) -> str:
    """Show a number, a list or a mapping as short as it stays readable."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(value_of, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {value_of(inner)}" for key, inner in value.items()) + "}"
    return str(value)


def _rank(name: str, place: Found) -> str:
    if place.rank is not None:
        return f"#{place.rank}"
    return "looked up" if name == "vector" else "compared"
