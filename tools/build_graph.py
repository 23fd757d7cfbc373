"""Build the ONNX graph of all-MiniLM-L6-v2 that the package ships: the maths without the weights.

The graph holds no numbers of its own but shapes and offsets: every weight is external data that
points into the model's own safetensors file. Run it after a change, and commit what it writes:

    python -m tools.build_graph
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

from scrubjay.models.download.pull import MINILM, pull

LAYERS, HEADS, HIDDEN = 6, 12, 384
EPSILON = 1e-12
OPSET = 20  # the first with Gelu
SHIPPED = Path(__file__).parent.parent / "src" / "scrubjay" / "models" / "embed" / "minilm.onnx"


def read_header(weights: Path) -> tuple[dict[str, Any], int]:
    """Return the table of a safetensors file, and where its numbers begin."""
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length)), 8 + length


class Graph:
    """Collects nodes and weights; every method returns the name of what it computed."""

    def __init__(self, weights: Path) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.weights = weights
        self.tensors, self.start = read_header(weights)

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add one node with one output."""
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, list(inputs), [name], name, domain=domain, **attributes)
        )
        return name

    def weight(self, name: str) -> str:
        """Declare a tensor of the safetensors file."""
        entry = self.tensors[name]
        first, last = entry["data_offsets"]
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=entry["shape"])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=self.weights.name)
        tensor.external_data.add(key="offset", value=str(self.start + first))
        tensor.external_data.add(key="length", value=str(last - first))
        self.constants.append(tensor)
        return name

    def integers(self, name: str, *values: int) -> str:
        """Declare a small list of whole numbers, kept in the graph itself."""
        known = {constant.name for constant in self.constants}
        if name not in known:
            self.constants.append(
                helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
            )
        return name

    def words(self) -> str:
        """Look the words up."""
        return self.op("Gather", self.weight("embeddings.word_embeddings.weight"), "ids")

    def linear(self, rows: str, name: str) -> str:
        """Multiply by a weight as torch stores it, output by input, and add its bias."""
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("Gemm", rows, weight, bias, transB=1)

    def norm(self, rows: str, name: str) -> str:
        """Normalise each row."""
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", rows, weight, bias, epsilon=EPSILON)


def embeddings(graph: Graph) -> str:
    """Add up word, position and segment, and return one row a token, texts one after the other."""
    words = graph.words()
    zero, one = graph.integers("zero", 0), graph.integers("one", 1)
    length = graph.op("Shape", "ids", start=1, end=2)
    table = graph.weight("embeddings.position_embeddings.weight")
    positions = graph.op("Slice", table, zero, length, zero)
    # Sentence pairs are not used: every token is of the first segment.
    types = graph.weight("embeddings.token_type_embeddings.weight")
    segment = graph.op("Slice", types, zero, one, zero)
    total = graph.op("Add", graph.op("Add", words, positions), segment)
    rows = graph.op("Reshape", total, graph.integers("rows", -1, HIDDEN))
    return graph.norm(rows, "embeddings.LayerNorm")


def attention(graph: Graph, rows: str, shape: str, name: str) -> str:
    """Let every token look at the tokens of its own text that `mask` says are real."""
    parts = [
        graph.op("Reshape", graph.linear(rows, f"{name}.self.{part}"), shape)
        for part in ("query", "key", "value")
    ]
    seen = graph.op(
        "MultiHeadAttention", *parts, "", "mask", domain="com.microsoft", num_heads=HEADS
    )
    return graph.op("Reshape", seen, graph.integers("rows", -1, HIDDEN))


def layer(graph: Graph, rows: str, shape: str, name: str) -> str:
    """Attend, then think about each token by itself, each time beside what was there before."""
    seen = attention(graph, rows, shape, f"{name}.attention")
    seen = graph.linear(seen, f"{name}.attention.output.dense")
    rows = graph.norm(graph.op("Add", seen, rows), f"{name}.attention.output.LayerNorm")
    wide = graph.op("Gelu", graph.linear(rows, f"{name}.intermediate.dense"))
    thought = graph.linear(wide, f"{name}.output.dense")
    return graph.norm(graph.op("Add", thought, rows), f"{name}.output.LayerNorm")


def build(graph: Graph) -> onnx.ModelProto:
    """Return the whole model, of the parts that `graph` makes."""
    rows = embeddings(graph)
    batch = graph.op("Shape", "ids", start=0, end=1)
    tail = graph.integers("tail", -1, HIDDEN)
    shape = graph.op("Concat", batch, tail, axis=0)
    for number in range(LAYERS):
        rows = layer(graph, rows, shape, f"encoder.layer.{number}")
    graph.nodes.append(helper.make_node("Reshape", [rows, shape], ["tokens"], "tokens"))
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            MINILM.name,
            [
                helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "length"]),
                helper.make_tensor_value_info("mask", TensorProto.INT32, ["texts", "length"]),
            ],
            [
                helper.make_tensor_value_info(
                    "tokens", TensorProto.FLOAT, ["texts", "length", HIDDEN]
                )
            ],
            graph.constants,
        ),
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("com.microsoft", 1),
        ],
        ir_version=9,
        producer_name="scrubjay",
    )


def main() -> None:
    """Write the graph into the package, or to the path given."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED
    graph = Graph(pull(MINILM) / "model.safetensors")
    target.write_bytes(build(graph).SerializeToString(deterministic=True))
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
