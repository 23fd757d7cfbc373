"""Pooling: one vector of the token vectors of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.models import Matrix


def pool(rows: Matrix, modes: Sequence[str]) -> Matrix:
    """Return one vector of token vectors; those of several modes are put side by side."""
    import numpy as np

    return np.concatenate([_one(rows, mode) for mode in modes])


def _one(rows: Matrix, mode: str) -> Matrix:
    import numpy as np

    pooled: Matrix
    match mode:
        case "cls":
            pooled = rows[0]
        case "lasttoken":
            pooled = rows[-1]
        case "max":
            pooled = rows.max(axis=0)
        case "mean_sqrt_len":
            pooled = rows.sum(axis=0) / np.sqrt(len(rows))
        case "weightedmean":
            weights = np.arange(1, len(rows) + 1, dtype=np.float32)
            pooled = weights @ rows / weights.sum()
        case _:
            pooled = rows.mean(axis=0)
    return pooled
