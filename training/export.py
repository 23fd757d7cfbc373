"""Write a trained Bert as ONNX in 8 bits: the same arithmetic that it was trained with.

    python -m training.export encoder OUT FOLDER

OUT has the arrays of training; FOLDER gets model.onnx. Needs onnx and numpy, no torch.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.steps import ACTIVATION_STEPS, WEIGHT_STEPS, WORD_STEPS, load

Array = np.ndarray[Any, Any]
EPSILON = 1e-12
OPSET = 20


class Graph:
    """Collects nodes and weights; every method returns the name of what it computes."""

    def __init__(self, state: Mapping[str, Array], heads: int = 12) -> None:
        self.state = {name: np.asarray(array, np.float32) for name, array in state.items()}
        self.heads = heads
        self.hidden = self.state["norm.weight"].shape[0]
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, list(inputs), [name], name, domain=domain, **attributes)
        )
        return name

    def keep(self, name: str, values: Any) -> str:
        array = np.ascontiguousarray(values).reshape(np.shape(values))
        self.constants.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def whole(self, *values: int) -> str:
        return self.keep("whole_" + "_".join(map(str, values)), np.array(values, np.int64))

    def weight(self, name: str) -> str:
        return self.keep(name, self.state[name])

    def words(self, ids: str) -> str:
        """Look words up in a table of 8 bits with a scale a word."""
        table = self.state["words.weight"]
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-9) / WORD_STEPS
        codes = self.keep("words", np.rint(table / scale).astype(np.int8))
        found = self.op("Cast", self.op("Gather", codes, ids), to=TensorProto.FLOAT)
        scales = self.keep("word_scales", scale.astype(np.float32))
        return self.op("Mul", found, self.op("Gather", scales, ids))

    def rounded(self, rows: str, site: str) -> tuple[str, str, str]:
        """Return activations in 8 bits, their scale and their zero point."""
        low, high = float(self.state[f"{site}.low"]), float(self.state[f"{site}.high"])
        smooth = self.state[f"{site}.smooth"]
        scale = np.float32(max((high - low) / ACTIVATION_STEPS, 1e-8))
        if (smooth != 1).any():
            rows = self.op("Mul", rows, self.keep(f"{site}.unsmooth", 1 / smooth))
        zero = np.uint8(np.clip(np.rint(-low / scale), 0, ACTIVATION_STEPS))
        scale_name, zero_name = self.keep(f"{site}.scale", scale), self.keep(f"{site}.zero", zero)
        return self.op("QuantizeLinear", rows, scale_name, zero_name), scale_name, zero_name

    def linear(self, given: tuple[str, str, str], name: str, site: str) -> str:
        """Multiply bytes, scale back and add the bias, in one operator."""
        rows, scale, zero = given
        weight = self.state[f"{name}.weight"] * self.state[f"{site}.smooth"]
        steps = np.maximum(np.abs(weight).max(axis=1), 1e-9) / WEIGHT_STEPS
        codes = np.rint(weight / steps[:, None]).astype(np.int8).T
        return self.op(
            "MatMulIntegerToFloat",
            rows,
            self.keep(f"{name}.codes", codes),
            scale,
            self.keep(f"{name}.steps", steps.astype(np.float32)),
            zero,
            "",
            self.weight(f"{name}.bias"),
            domain="com.microsoft",
        )

    def exact(self, rows: str, name: str) -> str:
        """Multiply in 32 bits: the small layer at the end."""
        return self.op(
            "Gemm", rows, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1
        )

    def norm(self, rows: str, name: str) -> str:
        return self.op(
            "LayerNormalization",
            rows,
            self.weight(f"{name}.weight"),
            self.weight(f"{name}.bias"),
            epsilon=EPSILON,
        )

    def layer(self, rows: str, mask: str, shape: str, name: str) -> str:
        seen = self.rounded(rows, f"{name}.sites.seen")
        parts = [
            self.op("Reshape", self.linear(seen, f"{name}.{part}", f"{name}.sites.seen"), shape)
            for part in ("query", "key", "value")
        ]
        found = self.op(
            "MultiHeadAttention", *parts, "", mask, domain="com.microsoft", num_heads=self.heads
        )
        flat = self.op("Reshape", found, self.whole(-1, self.hidden))
        out = self.linear(
            self.rounded(flat, f"{name}.sites.context"), f"{name}.out", f"{name}.sites.context"
        )
        rows = self.norm(self.op("Add", rows, out), f"{name}.norm")
        wide = self.linear(
            self.rounded(rows, f"{name}.sites.thought"), f"{name}.wide", f"{name}.sites.thought"
        )
        inner = self.rounded(
            self.op("FastGelu", wide, domain="com.microsoft"), f"{name}.sites.inner"
        )
        narrow = self.linear(inner, f"{name}.narrow", f"{name}.sites.inner")
        return self.norm(self.op("Add", rows, narrow), f"{name}.last")

    def bert(self, ids: str, mask: str, types: str = "") -> tuple[str, str]:
        """Return all rows, one a token, and the shape of the texts they belong to."""
        length = self.op("Shape", ids, start=1, end=2)
        places = self.op(
            "Slice", self.weight("places.weight"), self.whole(0), length, self.whole(0)
        )
        table = self.weight("types.weight")
        kinds = (
            self.op("Gather", table, types)
            if types
            else self.op("Slice", table, self.whole(0), self.whole(1), self.whole(0))
        )
        total = self.op("Add", self.op("Add", self.words(ids), places), kinds)
        rows = self.norm(self.op("Reshape", total, self.whole(-1, self.hidden)), "norm")
        batch = self.op("Shape", ids, start=0, end=1)
        shape = self.op("Concat", batch, self.whole(-1, self.hidden), axis=0)
        count = 1 + max(
            int(name.split(".")[1]) for name in self.state if name.startswith("layers.")
        )
        for at in range(count):
            rows = self.layer(rows, mask, shape, f"layers.{at}")
        return rows, shape

    def model(
        self, name: str, inputs: Mapping[str, int], outputs: Mapping[str, list[Any]]
    ) -> onnx.ModelProto:
        """Return the model with these inputs, texts by tokens, and these outputs."""
        return helper.make_model(
            helper.make_graph(
                self.nodes,
                name,
                [
                    helper.make_tensor_value_info(one, kind, ["texts", "length"])
                    for one, kind in inputs.items()
                ],
                [
                    helper.make_tensor_value_info(one, TensorProto.FLOAT, shape)
                    for one, shape in outputs.items()
                ],
                list(self.constants.values()),
            ),
            opset_imports=[
                helper.make_opsetid("", OPSET),
                helper.make_opsetid("com.microsoft", 1),
            ],
            ir_version=9,
            producer_name="scrubjay",
        )


def encoder(state: Mapping[str, Array]) -> onnx.ModelProto:
    """Return the encoder: a row for each token, with the inputs and the output of the graph of MiniLM."""
    graph = Graph(state)
    rows, shape = graph.bert("ids", "mask")
    graph.nodes.append(helper.make_node("Reshape", [rows, shape], ["tokens"], "tokens"))
    inputs = {"ids": TensorProto.INT64, "mask": TensorProto.INT32}
    return graph.model("scrubjay-encoder", inputs, {"tokens": ["texts", "length", graph.hidden]})


def reader(state: Mapping[str, Array]) -> onnx.ModelProto:
    """Return the reader of changes: logits of none, of an answer at each token, and of relations."""
    graph = Graph(state)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.INT32)
    rows, shape = graph.bert("input_ids", mask, "token_type_ids")
    texts = graph.op("Reshape", rows, shape)
    first = graph.op("Slice", texts, graph.whole(0), graph.whole(1), graph.whole(1))
    flat = graph.op("Reshape", first, graph.whole(-1, graph.hidden))
    by_token = graph.op(
        "Concat", graph.op("Shape", "input_ids", start=0, end=1), graph.whole(-1), axis=0
    )
    for name, node in (
        ("none", graph.exact(flat, "none")),
        ("answers", graph.op("Reshape", graph.exact(rows, "answer"), by_token)),
        ("relations", graph.exact(flat, "relation")),
    ):
        graph.nodes.append(helper.make_node("Identity", [node], [name], name))
    names = ("input_ids", "attention_mask", "token_type_ids")
    outputs = {"none": ["texts", 1], "answers": ["texts", "length"], "relations": ["texts", 5]}
    return graph.model("scrubjay-reader", dict.fromkeys(names, TensorProto.INT64), outputs)


def pair_model(state: Mapping[str, Array]) -> onnx.ModelProto:
    """Return the cross-encoder: one logit a pair, from its first token."""
    graph = Graph(state)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.INT32)
    rows, shape = graph.bert("input_ids", mask, "token_type_ids")
    first = graph.op(
        "Slice", graph.op("Reshape", rows, shape), graph.whole(0), graph.whole(1), graph.whole(1)
    )
    flat = graph.op("Reshape", first, graph.whole(-1, graph.hidden))
    thought = graph.op("Tanh", graph.exact(flat, "pooler"))
    last = graph.exact(thought, "head")
    graph.nodes.append(helper.make_node("Identity", [last], ["logits"], "logits"))
    names = ("input_ids", "attention_mask", "token_type_ids")
    return graph.model(
        "scrubjay-ranker", dict.fromkeys(names, TensorProto.INT64), {"logits": ["texts", 1]}
    )


BUILDERS = {"encoder": encoder, "ranker": pair_model, "reader": reader}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=sorted(BUILDERS))
    parser.add_argument("trained", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    content = BUILDERS[args.model](load(args.trained, args.model)).SerializeToString(
        deterministic=True
    )
    (args.folder / "model.onnx").write_bytes(content)
    print(f"{args.folder / 'model.onnx'}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
