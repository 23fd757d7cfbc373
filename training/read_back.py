"""Weights of an exported model, read back from its ONNX file: training can go on from what is shipped.

The rounding loses nothing that matters: the weights were trained on the same steps.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from training.steps import ACTIVATION_STEPS, Array

_SITES = {"query": "seen", "key": "seen", "value": "seen"}
_SITES |= {"out": "context", "wide": "thought", "narrow": "inner"}


def read_back(path: Path) -> dict[str, Array]:
    """Return the arrays of a model that `training.export` wrote, by the names of training."""
    graph = onnx.load(path).graph
    kept = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    found = {
        name: array
        for name, array in kept.items()
        if name.endswith((".weight", ".bias")) and array.dtype == np.float32
    }
    found["words.weight"] = kept["words"] * kept["word_scales"]
    for name in (one.removesuffix(".codes") for one in kept if one.endswith(".codes")):
        layer, _, part = name.rpartition(".")
        site = f"{layer}.sites.{_SITES[part]}"
        weight = kept[f"{name}.codes"].T * kept[f"{name}.steps"][:, None]
        unsmooth = kept.get(f"{site}.unsmooth", np.ones(weight.shape[1], np.float32))
        found[f"{name}.weight"] = weight * unsmooth
        found[f"{site}.smooth"] = 1 / unsmooth
        scale, zero = kept[f"{site}.scale"], kept[f"{site}.zero"]
        found[f"{site}.low"] = -np.float32(zero) * scale
        found[f"{site}.high"] = found[f"{site}.low"] + ACTIVATION_STEPS * scale
    return found
