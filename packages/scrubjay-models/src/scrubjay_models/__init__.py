"""Folders of the models; each has a model.onnx, and all of them share one tokenizer.json beside it."""

from pathlib import Path

__version__ = "0.1.0"

_HERE = Path(__file__).parent
ENCODER = _HERE / "encoder"
RANKER = _HERE / "ranker"
READER = _HERE / "reader"
