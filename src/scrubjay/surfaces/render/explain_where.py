"""What the figures of a working stand for, in words: no number is left to be guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scrubjay.types import Step

_BY = {"keyword": "by its words", "vector": "by its meaning", "moment": "by the time asked for"}
# By the stage that made the parts of a score, what each of them is.
_PARTS = {
    "verdict": "what it added to the score so far, or took from it; the first is the score to begin with",
    "signals": "weight of the signal × the signal, which lies in 0 to 1",
    "weigh": "scale × weight of the list, as a share of all × its score there / the best score there",
    "min_max": "weight of the list × its score there, stretched so that the worst is 0 and the best 1",
    "by_rank": "weight of the list × (k + 1) / (k + its rank there)",
    "similarity": "1 less half the distance of its vector from that of the query",
    "rrf": "weight of the list / (k + its rank there)",
}


def of_parts(steps: Mapping[str, Step], *, scaled: bool, tiered: bool) -> list[str]:
    """Say what a part is made of, by the stage that made it."""
    made = next((said for stage, said in _PARTS.items() if stage in steps), "")
    if not made:
        return []
    times = "scale × " if scaled and not made.startswith("scale") else ""
    tier = "weight of the tier × " if tiered else ""
    return [f"each part: {tier}{times}{made}"]


def of_chance(passages: int) -> str:
    """Say what is taken off the score of a long text before it is compared."""
    return (
        f"√(2 ln {passages}): what the nearest of {passages} passages gains by chance, in spreads"
    )


def of_fusion(scale: float, best: float) -> str:
    """Say what the parts of a fused score were multiplied by."""
    share = scale * best
    why = (
        "1, which the best fused score is made"
        if f"{share:g}" == "1"
        else "the share that ranks have in this score, beside the reranker"
    )
    return f"{scale:.6f} = {share:g} / {best:.6f}: the scale; {why}, over the best fused score"


def of_evidence(notes: Mapping[str, Any]) -> Iterator[str]:
    """Say what the parts were multiplied by, and how strong the evidence is that this follows from."""
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
    lacking = " × ".join(f"(1 - {_powered(**one)})" for one in evidence.values())
    yield (
        f"{strength:.6f} = 1 - {lacking}: that strength; 1 less what each list leaves in doubt, multiplied;"
        " it means the same for every query"
    )
    for name, one in evidence.items():
        yield _share(name, notes[name]["best_possible"], one)


def _powered(share: float, power: float, **_: float) -> str:
    return f"{share:.6f}" if power == 1 else f"{share:.6f}^{power:g}"


def _share(name: str, possible: float, one: Mapping[str, float]) -> str:
    by, share, score = _BY.get(name, f"by {name}"), one["share"], one["score"]
    if f"{possible:.6f}" == "1.000000" and f"{share:.6f}" == f"{score:.6f}":
        return f"{share:.6f}: what the one that leads scores {by}; 1 would be the best possible"
    shown = f"{score:.6f} / {possible:.6f}"
    if abs(score / possible - share) > 1e-6:
        return f"{share:.6f}: the nearest to {shown} within 0 to 1; what the one that leads scores {by}"
    return (
        f"{share:.6f} = {shown}: what the one that leads scores {by}, over the best possible score"
    )
