"""How the parts of a score came about that ranks, time and recency give, as a person would write it."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from scrubjay.types import Hit, Step


def of_conversation(name: str, hit: Hit, steps: Mapping[str, Step]) -> str:
    """Write out a part of a conversation's score, or of the time asked for; nothing for any other."""
    blended = steps.get("time_blend")
    if name == "time" and "in_time" in steps:
        return _lost_by_time(hit, steps["in_time"].notes["taken"])
    if name == "temporal" and blended is not None:
        weight = blended.numbers["time"]
        return f"{weight:g} × {hit.why[name] / weight if weight else 0.0:.6f}"
    if name == "recency" and "recency" in steps:
        return _recency(hit.why[name], steps["recency"].numbers)
    if "by_rank" in steps and name in hit.found:
        numbers, rank = steps["by_rank"].numbers, hit.found[name].rank
        share = f"{numbers[name]:g} × ({numbers['k']:g} + 1) / ({numbers['k']:g} + {rank})"
        return f"{blended.numbers['ranks']:g} × {share}" if blended and _timed(hit) else share
    return ""


def _timed(hit: Hit) -> bool:
    return "temporal" in hit.why


def _lost_by_time(hit: Hit, share: float) -> str:
    before = hit.score - hit.why["time"]
    if not hit.why["time"]:
        return "0"
    fits = 1 + hit.why["time"] / (before * share) if before and share else 1.0
    return f"-{share:g} × {before:.6f} × (1 - {fits:.6f})"


def _recency(amount: float, numbers: Mapping[str, float]) -> str:
    weight, constant_s = numbers["weight"], numbers["time_constant_s"]
    if not amount or not weight:
        return f"{weight:g} × 0"  # so long ago that nothing is left
    return f"{weight:g} × e^(-{-log(amount / weight) * constant_s:.1f} s / {constant_s:g} s)"
