"""Embedders small enough to be computed by hand, and MiniLM laid out as sentence-transformers does."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tiny_models import VOCABULARY, save_config, save_tokenizer

import scrubjay.models.embed
from scrubjay.models.download.pull import MINILM, pull

DIMS = 8
TABLE = np.cos(np.outer(np.arange(len(VOCABULARY)) + 1, np.arange(1, DIMS + 1))).astype(np.float32)
FIRST, SEPARATOR = VOCABULARY["[CLS]"], VOCABULARY["[SEP]"]


def rows(*words: str) -> np.ndarray:
    """Return the token vectors of words with the special tokens around them, by hand."""
    return TABLE[[FIRST, *(VOCABULARY[word] for word in words), SEPARATOR]]


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def make(
    folder: Path,
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    output: str = "last_hidden_state",
    sentence: bool = False,
    quantized: bool = False,
    nan: bool = False,
    graph: str = "model.onnx",
    positions: int = 64,
) -> Path:
    """Write an embedder whose token vectors are rows of TABLE; with `sentence`, `sentence_embedding`
    is the first of them, times -1. Types and positions add their number; padding is not masked."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["looked_up"])]
    found = "looked_up"
    for name in inputs:
        if name in ("token_type_ids", "position_ids"):
            nodes += [
                helper.make_node("Cast", [name], [f"{name}_f"], to=TensorProto.FLOAT),
                helper.make_node("Unsqueeze", [f"{name}_f", "axis"], [f"{name}_u"]),
                helper.make_node("Add", [found, f"{name}_u"], [f"with_{name}"]),
            ]
            found = f"with_{name}"
    if nan:
        nodes.append(helper.make_node("Div", [found, "zero"], ["broken"]))
        nodes.append(helper.make_node("Sub", ["broken", "broken"], ["not_numbers"]))
        found = "not_numbers"
    nodes.append(helper.make_node("Identity", [found], [output]))
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", "length", DIMS])]
    if sentence:
        nodes += [
            helper.make_node("Gather", [found, "first"], ["cls"], axis=1),
            helper.make_node("Neg", ["cls"], ["sentence_embedding"]),
        ]
        shape = ["n", DIMS]
        outputs.append(
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, shape)
        )
    constants = {
        "table": TABLE,
        "axis": np.array([2], np.int64),
        "first": np.array(0, np.int64),
        "zero": np.array(0, np.float32),
    }
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "length"]) for name in inputs
    ]
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "DynamicQuantizeLinear" if quantized else "tiny",
            given,
            outputs,
            [numpy_helper.from_array(value, name) for name, value in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    (folder / graph).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / graph)
    save_tokenizer(folder)
    save_config(folder, max_position_embeddings=positions, pad_token_id=0)
    return folder


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def say_pooling(folder: Path, mode: str, **more: object) -> None:
    write_json(folder / "1_Pooling/config.json", {f"pooling_mode_{mode}": True, **more})


def say_modules(folder: Path, *kinds: str) -> None:
    modules = [
        {"idx": at, "type": f"sentence_transformers.models.{kind}"}
        for at, kind in enumerate(kinds)
    ]
    write_json(folder / "modules.json", modules)


def say_prompts(folder: Path, query: str, document: str, **more: object) -> None:
    prompts = {"query": query, "document": document}
    write_json(folder / "config_sentence_transformers.json", {"prompts": prompts, **more})


def lay_out_minilm(folder: Path) -> Path:
    """Write MiniLM with the names of the model hub: input_ids, attention_mask, last_hidden_state."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = pull(MINILM)
    for name in ("model.safetensors", "tokenizer.json"):
        try:
            os.link(weights / name, folder / name)
        except OSError:
            shutil.copy(weights / name, folder / name)
    shipped = Path(scrubjay.models.embed.__file__).with_name("minilm.onnx")
    model = onnx.load(shipped, load_external_data=False)
    names = {"ids": "input_ids", "mask": "attention_mask", "tokens": "last_hidden_state"}
    for node in model.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in (*model.graph.input, *model.graph.output):
        value.name = names[value.name]
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    write_json(
        folder / "config.json",
        {"hidden_size": 384, "max_position_embeddings": 512, "pad_token_id": 0},
    )
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 256})
    say_pooling(folder, "mean_tokens", word_embedding_dimension=384)
    say_modules(folder, "Transformer", "Pooling", "Normalize")
    return folder
