"""What training and export share: the steps of rounded numbers, and the files of trained weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Weights stay within -63..63: products of unsigned and signed bytes are added in pairs of 16 bits
# on CPUs without VNNI, and must not overflow.
WEIGHT_STEPS, ACTIVATION_STEPS, WORD_STEPS = 63, 255, 127


def load(folder: Path, name: str) -> dict[str, Array]:
    """Return the arrays of a trained model, which lie in several files of a size that travels."""
    found: dict[str, Array] = {}
    for path in sorted(folder.glob(f"{name}*.npz")):
        with np.load(path) as file:
            found.update({key: file[key] for key in file.files})
    if "words.weight" not in found:
        found["words.weight"] = np.concatenate([found.pop(f"words.weight.{at}") for at in (0, 1)])
    return found
