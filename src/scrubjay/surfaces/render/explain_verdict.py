"""How the parts of a score came about that a verdict, a floor and factors for types give."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from scrubjay.types import Hit, Step

_EQUAL = 1e-6


def of_verdict(name: str, hit: Hit, steps: Mapping[str, Step]) -> str:
    """Write out a part of a score that began with a verdict; nothing for any other."""
    if "verdict" not in steps or name not in hit.why:
        return ""
    if name == "synthetic":
        return _guessed(hit.why[name], steps["verdict"].numbers)
    if name == "keyword_floor":
        return _raised(hit, steps["keyword_floor"])
    return _multiplied(name, hit, steps)


def _guessed(score: float, numbers: Mapping[str, float]) -> str:
    """Write the logistic function; what went into it follows from what came out."""
    low, more = numbers["low"], numbers["high"] - numbers["low"]
    steepness, centre = numbers["steepness"], numbers["centre"]
    if not steepness or not low < score < low + more:
        return ""  # so flat, or so far from the centre, that nothing follows
    x = centre - log(more / (score - low) - 1) / steepness
    return f"{low:g} + {more:g} / (1 + e^(-{steepness:g} × ({x:.6f} - {centre:g})))"


def _raised(hit: Hit, step: Step) -> str:
    terms, floor = len(step.notes["terms"]), step.numbers["floor"]
    before = _before("keyword_floor", hit)
    held = round((before + hit.why["keyword_floor"]) * terms / floor)
    return f"{floor:g} × {held} / {terms} - {before:.6f}"


def _multiplied(name: str, hit: Hit, steps: Mapping[str, Step]) -> str:
    """Write a factor less one, times the score it was for; or up to where a cap let it come."""
    stages = list(steps)
    later = (steps[one].numbers for one in stages[stages.index("verdict") + 1 :])
    before, amount = _before(name, hit), hit.why[name]
    for numbers in later:
        factor = {**(numbers.get("types") or {}), **(numbers.get("suffixes") or {})}.get(name)
        if factor is None:
            continue
        if abs(before * (factor - 1) - amount) < _EQUAL:
            return f"({factor:g} - 1) × {before:.6f}"
        return f"{before + amount:g} - {before:.6f}"
    return ""


def _before(name: str, hit: Hit) -> float:
    """Return what the score was when a part came to it."""
    parts = list(hit.why)
    return sum(hit.why[one] for one in parts[: parts.index(name)])
