"""The same model in 8 bits, to measure what that would win and cost; the package does not ship it.

Weights get one scale an output channel, made by numpy; activations are quantised as they come,
either with one scale for all (what onnxruntime calls dynamic) or with one for every token.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tools.build_graph import Graph, build

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

WORDS = "embeddings.word_embeddings.weight"


class Int8Graph(Graph):
    """Keeps the weights in the graph, those of matrices in 8 bits."""

    def __init__(self, weights: Path, *, per_token: bool) -> None:
        super().__init__(weights)
        self._bytes = weights.read_bytes()
        self._per_token = per_token
        self._quantised = cache(self._by_token if per_token else self._by_tensor)

    def array(self, name: str) -> NDArray[np.float32]:
        """Return a tensor of the safetensors file."""
        first, last = self.tensors[name]["data_offsets"]
        flat = np.frombuffer(self._bytes, np.float32, (last - first) // 4, self.start + first)
        return flat.reshape(self.tensors[name]["shape"])

    def constant(self, name: str, values: NDArray[Any] | np.generic) -> str:
        """Keep numbers in the graph, once."""
        if all(known.name != name for known in self.constants):
            array = np.ascontiguousarray(values).reshape(np.shape(values))
            self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, name: str) -> str:
        """Keep a small tensor as it is."""
        return self.constant(name, self.array(name))

    def words(self) -> str:
        """Look words up in a table of 8 bits with a scale for every word."""
        table = self.array(WORDS)
        scale = np.abs(table).max(axis=1, keepdims=True) / np.float32(127)
        scale = np.maximum(scale, np.float32(1e-12))
        whole = self.constant("words", np.rint(table / scale).astype(np.int8))
        found = self.op("Cast", self.op("Gather", whole, "ids"), to=TensorProto.FLOAT)
        return self.op("Mul", found, self.op("Gather", self.constant("scales", scale), "ids"))

    def linear(self, rows: str, name: str) -> str:
        """Multiply whole numbers, then scale back and add the bias."""
        weight = self.array(f"{name}.weight")
        scale = np.abs(weight).max(axis=1) / np.float32(127)
        whole = np.rint(weight / scale[:, None]).astype(np.int8).T
        left, left_scale, zero = self._quantised(rows)
        product = self.op("MatMulInteger", left, self.constant(f"{name}.int8", whole), zero)
        product = self.op("Cast", product, to=TensorProto.FLOAT)
        right_scale = self.constant(f"{name}.scale", scale)
        return self.op(
            "Add", self._scaled(product, left_scale, right_scale), self.weight(f"{name}.bias")
        )

    def _scaled(self, product: str, left: str, right: str) -> str:
        if self._per_token:
            # One scale after the other: a product of scales is a pattern that onnxruntime fuses,
            # and the fused operator knows only one scale for all tokens.
            return self.op("Mul", self.op("Mul", product, left), right)
        return self.op("Mul", product, self.op("Mul", left, right))

    def _by_tensor(self, rows: str) -> tuple[str, str, str]:
        names = (f"{rows}_int8", f"{rows}_scale", f"{rows}_zero")
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [rows], names))
        return names

    def _by_token(self, rows: str) -> tuple[str, str, str]:
        axis = self.constant("last_axis", np.array([1]))
        largest = self.op("ReduceMax", self.op("Abs", rows), axis, keepdims=1)
        scale = self.op("Mul", largest, self.constant("to_127", np.float32(1 / 127)))
        whole = self.op("Round", self.op("Div", rows, scale))
        shifted = self.op("Add", whole, self.constant("shift", np.float32(128)))
        zero = self.constant("zero_point", np.uint8(128))
        return self.op("Cast", shifted, to=TensorProto.UINT8), scale, zero


def int8_model(weights: Path, *, per_token: bool) -> bytes:
    """Return the model as one file of bytes, about a quarter of the size of the original."""
    model: bytes = build(Int8Graph(weights, per_token=per_token)).SerializeToString()
    return model
