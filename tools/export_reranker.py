"""Write a trained cross-encoder as ONNX, in 32 and in 8 bits, and compare the two on this CPU.

    python -m tools.export_reranker IN OUT INTO [GROUPS]

IN and OUT are the folders of `tools.train_reranker`; INTO gets the models, tokenizer.json and
config.json. Speeds are CPU time, taken in turns: read them as ratios.
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tools.build_graph import HIDDEN, LAYERS, OPSET, Graph, layer
from tools.int8_graph import Int8Graph

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
TIMED = 20  # groups

Array = np.ndarray[Any, Any]


class Fp32Graph(Int8Graph):
    """Keeps the weights in the graph, all of them as they are."""

    words = Graph.words
    linear = Graph.linear


def write_weights(out: Path, target: Path) -> None:
    """Join the parts that the GPU machine wrote into a safetensors file of 32 bits."""
    parts = [np.load(path) for path in sorted(out.glob("weights-*.npy"))]
    flat = np.concatenate(parts).astype(np.float32)
    header: dict[str, Any] = {}
    start = 0
    for name, shape in json.loads((out / "shapes.json").read_text(encoding="utf-8")).items():
        end = start + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
        start = end
    if start != flat.nbytes:
        raise ValueError(f"the shapes need {start:,} bytes, the parts have {flat.nbytes:,}")
    table = json.dumps(header).encode()
    target.write_bytes(len(table).to_bytes(8, "little") + table + flat.tobytes())


def build(graph: Graph) -> onnx.ModelProto:
    """Return the model: pairs in, one number each out."""
    graph.nodes.append(helper.make_node("Identity", ["input_ids"], ["ids"]))
    graph.nodes.append(
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.INT32)
    )
    zero = graph.integers("zero", 0)
    length = graph.op("Shape", "ids", start=1, end=2)
    places = graph.weight("embeddings.position_embeddings.weight")
    segments = graph.weight("embeddings.token_type_embeddings.weight")
    total = graph.op("Add", graph.words(), graph.op("Slice", places, zero, length, zero))
    total = graph.op("Add", total, graph.op("Gather", segments, "token_type_ids"))
    rows = graph.op("Reshape", total, graph.integers("rows", -1, HIDDEN))
    rows = graph.norm(rows, "embeddings.LayerNorm")
    batch = graph.op("Shape", "ids", start=0, end=1)
    shape = graph.op("Concat", batch, graph.integers("tail", -1, HIDDEN), axis=0)
    for number in range(LAYERS):
        rows = layer(graph, rows, shape, f"encoder.layer.{number}")
    first = graph.op(
        "Slice",
        graph.op("Reshape", rows, shape),
        zero,
        graph.integers("one", 1),
        graph.integers("one", 1),
    )
    first = graph.op("Reshape", first, graph.integers("rows", -1, HIDDEN))
    # The head is small: it stays in 32 bits in every version.
    pooled = graph.op("Tanh", Graph.linear(graph, first, "pooler.dense"))
    logits = Graph.linear(graph, pooled, "classifier")
    graph.nodes.append(helper.make_node("Identity", [logits], ["logits"]))
    whole = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["pairs", "length"]) for n in INPUTS
    ]
    number = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", 1])
    return helper.make_model(
        helper.make_graph(graph.nodes, "scrubjay-ce", whole, [number], graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)],
        ir_version=9,
        producer_name="scrubjay",
    )


class HeldOut:
    """Groups of pairs that were not trained on, with what torch said of them."""

    def __init__(self, path: Path, groups: int) -> None:
        data = np.load(path)
        # Spread over the kinds: the file has them one after the other.
        self.chosen = np.linspace(0, len(data["logits"]) - 1, groups).astype(int)
        self.logits = data["logits"][self.chosen]
        self._inputs = {name: data[name] for name in INPUTS}

    def score(self, session: Any, group: int, *, alone: bool) -> Array:
        """Return the logits of a group, its pairs in one batch or each alone."""
        size = self.logits.shape[1]
        first = group * size
        batches = [(at, at + 1) for at in range(first, first + size)]
        found = []
        for start, end in batches if alone else [(first, first + size)]:
            length = int(self._inputs["attention_mask"][start:end].sum(1).max())
            batch = {
                name: array[start:end, :length].astype(np.int64)
                for name, array in self._inputs.items()
            }
            found.append(session.run(["logits"], batch)[0][:, 0])
        return np.concatenate(found)


def compare(models: dict[str, Path], held_out: HeldOut) -> None:
    """Print closeness and accuracy over all groups, and speed over a few, taken in turns."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    ways = {}
    for name, path in models.items():
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        for alone in (False, True):
            title = f"{name}, {'each pair alone' if alone else 'batches of 12'}"
            ways[title] = partial(held_out.score, session, alone=alone)
    cpu_s, wall_s = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    every = np.arange(len(held_out.chosen))
    few = every[:: max(1, len(every) // TIMED)][:TIMED]
    for group in held_out.chosen[few]:
        for title, score in ways.items():
            cpu, wall = time.process_time(), time.perf_counter()
            score(group)
            cpu_s[title] += time.process_time() - cpu
            wall_s[title] += time.perf_counter() - wall
    print(
        f"torch: right {(held_out.logits.argmax(1) == 0).mean():.4f} of {len(every)}", flush=True
    )
    pairs = len(few) * held_out.logits.shape[1]
    slowest = next(iter(ways))
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        for title, score in ways.items():
            # 32 bits say what torch says: a few groups show that.
            rows = few if title.startswith("fp32") else every
            truth = held_out.logits[rows]
            found = np.array(list(pool.map(score, held_out.chosen[rows])))
            print(
                f"{title}: right {(found.argmax(1) == 0).mean():.4f}, same first"
                f" {(found.argmax(1) == truth.argmax(1)).mean():.4f}, off by"
                f" {np.abs(found - truth).mean():.1e}, at most {np.abs(found - truth).max():.1e},"
                f" correlation {np.corrcoef(found.ravel(), truth.ravel())[0, 1]:.5f};"
                f" {pairs / cpu_s[title]:.1f} pairs per CPU-second"
                f" ({cpu_s[slowest] / cpu_s[title]:.2f}x), {pairs / wall_s[title]:.1f} per second"
                f" ({wall_s[slowest] / wall_s[title]:.2f}x)",
                flush=True,
            )


def main() -> None:
    """Build and compare."""
    from tokenizers import Tokenizer

    source, out, into = (Path(name) for name in sys.argv[1:4])
    groups = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    into.mkdir(parents=True, exist_ok=True)
    weights = out / "weights.safetensors"
    write_weights(out, weights)
    graphs = {
        "fp32": (Fp32Graph(weights, per_token=False), "model_fp32.onnx"),
        "int8": (Int8Graph(weights, per_token=False), "model.onnx"),
    }
    models = {}
    for name, (graph, file) in graphs.items():
        model = build(graph)
        onnx.checker.check_model(model)
        models[name] = into / file
        models[name].write_bytes(model.SerializeToString(deterministic=True))
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(into / "tokenizer.json"))
    config = {
        "model_type": "bert",
        "max_position_embeddings": 512,
        "num_labels": 1,
        "trained_length": 256,
    }
    (into / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    compare(models, HeldOut(out / "held_out.npz", groups))


if __name__ == "__main__":
    main()
