"""Cross-encoders small enough to be computed by hand, as real graphs with a real tokenizer."""

from __future__ import annotations

import json
import string
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

PAD, UNKNOWN, FIRST, SEPARATOR = range(4)
WORDS = "jay oak acorn key pot blue green river stone cloud lamp door tea book rain wind".split()
_LETTERS = string.ascii_lowercase + string.digits
VOCABULARY = {
    token: number
    for number, token in enumerate(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, ".", *_LETTERS, *(f"##{c}" for c in _LETTERS)]
    )
}
# What each token adds to the score where the model has no segments; padding would be noticed.
WEIGHTS = np.cos(np.arange(len(VOCABULARY))).astype(np.float32)


def shared(query: str, text: str) -> int:
    """Count the pairs of equal tokens, one in the query and one in the text."""
    return sum(a == b for a in query.split() for b in text.split())


def shared_logit(query: str, text: str) -> float:
    """The logit of a model with segments, by hand."""
    return 0.5 * shared(query, text) - 1


def weight_logit(query: str, text: str, *, separators: int = 2) -> float:
    """The logit of a model without segments, by hand: what all tokens of the pair weigh."""
    ids = [FIRST, *[SEPARATOR] * separators]
    ids += [VOCABULARY[word] for word in f"{query} {text}".split()]
    return float(WEIGHTS[ids].sum())


def logistic(logit: float) -> float:
    """The number between 0 and 1 that stands for a logit."""
    return float(1 / (1 + np.exp(-logit)))


def save_tokenizer(folder: Path, *, two_separators: bool = False) -> None:
    """Write `tokenizer.json`: word pieces, lower case, `[CLS] query [SEP] text [SEP]`."""
    tokenizer = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    pair = "[CLS] $A [SEP] $B:1 [SEP]:1"
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] [SEP] $B [SEP]" if two_separators else pair,
        special_tokens=[("[CLS]", FIRST), ("[SEP]", SEPARATOR)],
    )
    # As many files of the hub do: these must not cut or fill what is read here.
    tokenizer.enable_truncation(6)
    tokenizer.enable_padding(length=6)
    tokenizer.save(str(folder / "tokenizer.json"))


def save_config(folder: Path, **said: object) -> None:
    """Write `config.json`."""
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")


def make(
    folder: Path,
    *,
    segments: bool = True,
    mask: bool = True,
    labels: int = 1,
    positions: int = 64,
    offset: int = 0,
    integers: int = TensorProto.INT64,
    quantized: bool = False,
    graph: str = "model.onnx",
) -> Path:
    """Write a cross-encoder: graph, tokenizer and configuration. It reads `positions` tokens.

    With segments its logit is `shared_logit`, without it is `weight_logit`. Two labels are
    the numbers 1 and logit. A pair with more tokens than positions is an error, as in real models.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = ["input_ids", *["attention_mask"] * mask, *["token_type_ids"] * segments]
    nodes = [helper.make_node("Cast", [one], [f"{one}_64"], to=TensorProto.INT64) for one in names]
    nodes += _position_nodes()
    nodes.append(_cast("attention_mask_64", "seen") if mask else _same("ones", "seen"))
    nodes += _shared_nodes() if segments else _weight_nodes(quantized)
    # Positions weigh nothing, but there are only so many of them.
    nodes.append(helper.make_node("Add", ["plain", "position_sum"], ["logit"]))
    nodes += {
        1: [_same("logit", "logits")],
        2: [
            helper.make_node("Mul", ["logit", "zero"], ["nothing"]),
            helper.make_node("Add", ["nothing", "one"], ["other"]),
            helper.make_node("Concat", ["other", "logit"], ["logits"], axis=1),
        ],
        3: [helper.make_node("Concat", ["logit"] * 3, ["logits"], axis=1)],
    }[labels]
    constants = {
        "weights": WEIGHTS,
        "position_table": np.zeros(positions, np.float32),
        "offset": np.array(offset, np.int64),
        "int_one": np.array(1, np.int64),
        "last_special": np.array(SEPARATOR, np.int64),
        "axis_1": np.array([1], np.int64),
        "axis_2": np.array([2], np.int64),
        "axes": np.array([1, 2], np.int64),
        "half": np.array(0.5, np.float32),
        "one": np.array(1, np.float32),
        "zero": np.array(0, np.float32),
    }
    inputs = [helper.make_tensor_value_info(one, integers, ["n", "length"]) for one in names]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", labels])]
    _save(folder / graph, nodes, inputs, outputs, constants)
    save_tokenizer(folder, two_separators=offset > 0)
    kind = {"model_type": "xlm-roberta", "pad_token_id": offset - 1} if offset else {}
    save_config(folder, max_position_embeddings=positions, **kind)
    return folder


def make_embedder(folder: Path) -> Path:
    """Write a model that is no cross-encoder: it gives a vector a token."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
    ]
    _save(
        folder / "model.onnx",
        nodes,
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "length"])],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["n", "length", 4]
            )
        ],
        {"table": np.zeros((len(VOCABULARY), 4), np.float32)},
    )
    save_tokenizer(folder)
    return folder


def _same(source, target):
    return helper.make_node("Identity", [source], [target])


def _cast(source, target):
    return helper.make_node("Cast", [source], [target], to=TensorProto.FLOAT)


def _position_nodes():
    """Nodes that look every position up, and so fail where there are too few."""
    return [
        helper.make_node("Equal", ["input_ids_64", "input_ids_64"], ["always"]),
        _cast("always", "ones"),
        # By counting: a range would be turned into a slice, which takes any length.
        helper.make_node("CumSum", ["ones", "int_one"], ["places"], exclusive=1),
        helper.make_node("Cast", ["places"], ["numbers"], to=TensorProto.INT64),
        helper.make_node("Add", ["numbers", "offset"], ["positions"]),
        helper.make_node("Gather", ["position_table", "positions"], ["position_values"]),
        helper.make_node("ReduceSum", ["position_values", "axis_1"], ["position_sum"], keepdims=1),
    ]


def _weight_nodes(quantized):
    named = [
        helper.make_node("Gather", ["weights", "input_ids_64"], ["all_values"]),
        helper.make_node("Mul", ["all_values", "seen"], ["exact"]),
    ]
    coarse = [
        helper.make_node("DynamicQuantizeLinear", ["exact"], ["bytes", "scale", "nought"]),
        helper.make_node("DequantizeLinear", ["bytes", "scale", "nought"], ["values"]),
    ]
    same = [_same("exact", "values")]
    total = [helper.make_node("ReduceSum", ["values", "axis_1"], ["plain"], keepdims=1)]
    return [*named, *(coarse if quantized else same), *total]


def _shared_nodes():
    """Nodes that count equal tokens of the two segments, special ones not counted."""
    return [
        helper.make_node("Greater", ["input_ids_64", "last_special"], ["is_word"]),
        _cast("is_word", "word"),
        helper.make_node("Mul", ["word", "seen"], ["seen_word"]),
        _cast("token_type_ids_64", "segment"),
        helper.make_node("Mul", ["seen_word", "segment"], ["in_text"]),
        helper.make_node("Sub", ["seen_word", "in_text"], ["in_query"]),
        helper.make_node("Unsqueeze", ["input_ids_64", "axis_1"], ["across"]),
        helper.make_node("Unsqueeze", ["input_ids_64", "axis_2"], ["down"]),
        helper.make_node("Equal", ["across", "down"], ["is_equal"]),
        _cast("is_equal", "equal"),
        helper.make_node("Unsqueeze", ["in_text", "axis_1"], ["text_across"]),
        helper.make_node("Unsqueeze", ["in_query", "axis_2"], ["query_down"]),
        helper.make_node("Mul", ["equal", "text_across"], ["equal_in_text"]),
        helper.make_node("Mul", ["equal_in_text", "query_down"], ["both"]),
        helper.make_node("ReduceSum", ["both", "axes"], ["count"], keepdims=0),
        helper.make_node("Unsqueeze", ["count", "axis_1"], ["counts"]),
        helper.make_node("Mul", ["counts", "half"], ["halved"]),
        helper.make_node("Sub", ["halved", "one"], ["plain"]),
    ]


def _save(path, nodes, inputs, outputs, constants):
    wanted = {name for node in nodes for name in node.input}
    held = [numpy_helper.from_array(v, k) for k, v in constants.items() if k in wanted]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, initializer=held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
