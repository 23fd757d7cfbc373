"""How sure an answer is, in words: an agent must be told that what it asks for may not be stored.

The bands are those of `docs/decisions/004-scores.md`: about a tenth of wrong first hits has less than the
lower bound, and a tenth more than the upper one. Of English questions, half of them without an answer in a
store of 1,500 passages, `tools.check_confidence` found 129 below it, 123 of those without an answer. Where
most questions have one, in other languages and in small stores a low number says less: it may be stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LOW, HIGH = 0.57, 0.83
_BY_ONE_WAY = ("keyword", "vector")


def sure(confidence: float | None, degraded: Sequence[str] = (), mode: str = "") -> str:
    """Return a confidence with what it means; nothing where a profile has none.

    The bands were measured with words and vectors. Where one of them was not searched, a low number says
    less.
    """
    if confidence is None:
        return ""
    if confidence >= HIGH:
        means = "high"
    elif confidence >= LOW:
        means = "fair, so look whether the hits answer it"
    elif degraded or mode in _BY_ONE_WAY:
        means = "low: it may not be stored, or in other words"
    else:
        means = "low: it may not be stored"
    return f"Confidence {confidence:.2f}: {means}."
