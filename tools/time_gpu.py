"""How long gnosis takes with models on a GPU: standard, deep and the skip path, embedding included.

    python -m tools.time_gpu [--device cpu] [--quick] [--stand-in]

Needs numpy, torch, transformers and tokenizers, and no model hub: both models have the shape of
MiniLM (6 layers of 384) and random weights. The time of a search does not depend on what they say.
`--stand-in` takes models without weights, to see that the rest works. Where simsimd or PyStemmer is
not installed, slower or simpler ones take their place, and the output says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
DIMS = 384
QUERY_WORDS = 10  # with the two marks around them 12 tokens
TYPICAL_TOKENS, WORST_TOKENS = 100, 256
PAIRS = {"standard": 64, "deep": 256}
DOCUMENTED_MS = {"standard": 200, "deep": 350, "skip": 40}
GOAL_MS = {"standard": 40, "deep": 100, "skip": 40}
_FEW = 4
_WARM_UP = 5
_VOCABULARY = 30522
_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")

Vectors = NDArray[np.float32]


class Plan(NamedTuple):
    """How much is measured."""

    memories: int = 20_000
    queries: int = 50


class StandIn:
    """Both models without weights: any text has some vector and some score."""

    name = "stand-in"
    dims = DIMS

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Return a unit vector a text, the same for the same text."""
        seeds = [crc32(text.encode()) for text in texts]
        return _units(np.stack([np.random.default_rng(one).normal(size=DIMS) for one in seeds]))

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a number a pair."""
        return [(crc32(f"{query} {text}".encode()) % 1000) / 1000 for text in texts]


class Models:
    """An embedder and a cross-encoder of MiniLM's shape in torch, in half precision on a GPU."""

    name = "random-minilm"
    dims = DIMS

    def __init__(self, device: str, words: Sequence[str]) -> None:
        import torch
        from transformers import BertConfig, BertForSequenceClassification, BertModel

        self._torch = torch
        self._device = device
        self._tokenizer = _tokenizer(words)
        shape = BertConfig(
            vocab_size=_VOCABULARY,
            hidden_size=DIMS,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=4 * DIMS,
            num_labels=1,
        )
        torch.manual_seed(0)
        number = torch.float16 if device != "cpu" else torch.float32
        self._embedder = BertModel(shape).to(device, number).eval()
        self._reader = BertForSequenceClassification(shape).to(device, number).eval()

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Return one unit vector a text: the mean of its tokens."""
        with self._torch.inference_mode():
            fed = self._fed(list(texts))
            hidden = self._embedder(**fed).last_hidden_state
            mask = fed["attention_mask"].unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * mask).sum(1) / mask.sum(1)
            return _units(mean.float().cpu().numpy())

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score a pair, from one batched call."""
        with self._torch.inference_mode():
            fed = self._fed([(query, text) for text in texts])
            logits = self._reader(**fed).logits[:, 0]
            scores: list[float] = self._torch.sigmoid(logits.float()).cpu().tolist()
            return scores

    def _fed(self, batch: list[Any]) -> dict[str, Any]:
        rows = self._tokenizer.encode_batch(batch)
        columns = {
            "input_ids": [row.ids for row in rows],
            "attention_mask": [row.attention_mask for row in rows],
            "token_type_ids": [row.type_ids for row in rows],
        }
        return {
            name: self._torch.from_numpy(np.array(values, np.int64)).to(self._device)
            for name, values in columns.items()
        }


def _tokenizer(words: Sequence[str]) -> Any:
    """Make a WordPiece tokenizer that knows these words; pairs are cut at 512 tokens."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    known = list(dict.fromkeys([*_MARKS, *words]))[:_VOCABULARY]
    numbers = {word: number for number, word in enumerate(known)}
    made = Tokenizer(WordPiece(numbers, unk_token="[UNK]"))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    made.enable_truncation(512)
    made.enable_padding(pad_id=numbers["[PAD]"], pad_token="[PAD]")
    return made


class Words:
    """Made-up texts of so many words, the common ones oftener than the rare."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(3)
        sounds = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
        drawn = self._rng.integers(0, len(sounds), (8000, 3))
        self.known = list(dict.fromkeys("".join(sounds[at] for at in row) for row in drawn))
        weights = 1.0 / (np.arange(len(self.known)) + 30.0)
        self._shares = np.cumsum(weights) / weights.sum()

    def text(self, words: int) -> str:
        """Return the next text."""
        drawn = np.searchsorted(self._shares, self._rng.random(words))
        return " ".join(self.known[min(at, len(self.known) - 1)] for at in drawn.tolist())


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill two stores, search them, and print the table."""
    options = _parser().parse_args(arguments)
    replaced = _stand_in_for_packages()
    sys.path[:0] = [str(ROOT / "src")] if importlib.util.find_spec("scrubjay") is None else []
    plan = Plan(1_000, 5) if options.quick else Plan(options.memories, options.queries)
    words = Words()
    models: Any = StandIn() if options.stand_in else Models(options.device, words.known)
    lines = ["| measured | p50 | p95 | documented | goal | met |", "|---|---|---|---|---|---|"]
    queries = [words.text(QUERY_WORDS) for _ in range(plan.queries + _WARM_UP)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for tokens in (TYPICAL_TOKENS, WORST_TOKENS):
            path = Path(folder) / f"{tokens}.db"
            memories = plan.memories if tokens == TYPICAL_TOKENS else plan.memories // 4
            memories = max(memories, 2 * PAIRS["deep"])
            _say(f"filling a store with {memories:,} memories of {tokens} tokens")
            _fill(path, words, memories, tokens, models.name)
            _say("searching")
            lines += _searched(path, models, queries, f"{memories:,} memories of {tokens} tokens")
            lines += _alone(models, queries, words, tokens)
    print("\n".join(lines))
    print(f"\n{_machine(options, replaced)}")


def _fill(path: Path, words: Words, memories: int, tokens: int, model: str) -> None:
    """Write memories with topics and random vectors; four more are in a namespace of their own."""
    import scrubjay
    from scrubjay.storage.sql.vectors import SqlEmbeddingQueue
    from scrubjay.storage.sqlite.connection import SqliteDatabase
    from scrubjay.storage.sqlite.vectors import SqliteVector

    with scrubjay.open(str(path), embedder=False) as store:
        for start in range(0, memories, 1000):
            store.add_many(
                {"text": words.text(tokens), "topics": words.text(3).split()}
                for _ in range(min(1000, memories - start))
            )
        store.add_many({"text": words.text(tokens), "namespace": "few"} for _ in range(_FEW))
    rng = np.random.default_rng(tokens)
    with closing(SqliteDatabase(str(path))) as db:
        SqlEmbeddingQueue(db).activate(model, DIMS)
        with db.read() as reader:
            chunks = [n for (n,) in reader.execute("SELECT n FROM chunks ORDER BY n")]
        vectors = _units(rng.normal(size=(len(chunks), DIMS)))
        SqliteVector(db).add(model, list(zip(chunks, vectors, strict=True)))


def _searched(path: Path, models: Any, queries: Sequence[str], what: str) -> list[str]:
    """Time whole searches through the library: embedding, both lookups, reranking, previews."""
    import scrubjay

    lines = []
    with scrubjay.open(str(path), embedder=models, reranker=models, profile="gnosis") as store:
        for mode in ("standard", "deep", "skip"):

            def ask(query: str, mode: str = mode) -> None:
                skip = mode == "skip"
                answer = store.search(
                    query,
                    mode="standard" if skip else mode,
                    namespace="few" if skip else None,
                )
                pairs = answer.counts["reranked"]
                if answer.degraded or pairs != PAIRS.get(mode, 0):
                    raise RuntimeError(f"{mode}: {pairs} pairs; {answer.degraded}")

            shown = f"`gnosis`, {mode}, {PAIRS.get(mode, 0)} pairs, {what}"
            lines.append(_line(shown, _times_ms(ask, queries), mode))
    return lines


def _alone(models: Any, queries: Sequence[str], words: Words, tokens: int) -> list[str]:
    """Time the models alone, tokenising included."""
    lines = [
        _line("the query's embedding alone", _times_ms(lambda one: models.embed([one]), queries))
    ]
    for pairs in PAIRS.values():
        texts = [words.text(tokens) for _ in range(pairs)]
        shown = f"the cross-encoder alone, {pairs} pairs, texts of {tokens} tokens"

        def read(query: str, texts: Sequence[str] = texts) -> object:
            return models.score(query, texts)

        lines.append(_line(shown, _times_ms(read, queries)))
    return lines


def _times_ms(do: Callable[[str], object], queries: Sequence[str]) -> list[float]:
    """Return how long each call took; the first ones warm up and do not count."""
    spent_ms = []
    for number, query in enumerate(queries):
        began = time.perf_counter()
        do(query)
        if number >= _WARM_UP:
            spent_ms.append(1000 * (time.perf_counter() - began))
    return spent_ms


def _line(what: str, spent_ms: Sequence[float], mode: str = "") -> str:
    p50, p95 = np.percentile(spent_ms, (50, 95)).tolist()
    documented, goal, met = "", "", ""
    if mode:
        documented, goal = f"{DOCUMENTED_MS[mode]} ms", f"under {GOAL_MS[mode]} ms"
        met = "yes" if p50 < GOAL_MS[mode] else "**no**"
    return f"| {what} | {p50:.1f} ms | {p95:.1f} ms | {documented} | {goal} | {met} |"


def _units(rows: NDArray[Any]) -> Vectors:
    units: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units


def _stand_in_for_packages() -> list[str]:
    """Put simple ones in the place of packages that this machine has not; return their names."""
    replaced = []
    if importlib.util.find_spec("simsimd") is None:
        module = ModuleType("simsimd")
        module.cdist = (  # type: ignore[attr-defined]
            lambda a, b, metric, out_dtype="f32": a.astype(np.float32) @ b.astype(np.float32).T
        )
        sys.modules["simsimd"] = module
        replaced.append("simsimd")
    if importlib.util.find_spec("Stemmer") is None:
        module = ModuleType("Stemmer")
        module.Stemmer = _Stemmer  # type: ignore[attr-defined]
        sys.modules["Stemmer"] = module
        replaced.append("PyStemmer")
    return replaced


class _Stemmer:
    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm

    def stemWord(self, word: str) -> str:  # noqa: N802 (PyStemmer's name)
        return word


def _machine(options: argparse.Namespace, replaced: Sequence[str]) -> str:
    parts = [
        f"{os.cpu_count()} CPU cores, {platform.system()}, Python {platform.python_version()}"
    ]
    if options.stand_in:
        parts.append("models without weights")
    else:
        import torch
        import transformers

        on_gpu = options.device != "cpu"
        parts.append(torch.cuda.get_device_name() if on_gpu else "models on the CPU")
        parts.append(f"torch {torch.__version__}, transformers {transformers.__version__}")
        parts.append("float16" if on_gpu else "float32")
    if replaced:
        parts.append(f"simple stand-ins for {', '.join(replaced)}")
    return f"Machine: {'; '.join(parts)}."


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.time_gpu", description=__doc__)
    parser.add_argument("--device", default="cuda", help="cuda, or cpu to try it out")
    parser.add_argument("--quick", action="store_true", help="1,000 memories, 5 queries")
    parser.add_argument("--stand-in", action="store_true", help="models without weights")
    parser.add_argument("--memories", type=int, default=Plan().memories)
    parser.add_argument("--queries", type=int, default=Plan().queries)
    return parser


if __name__ == "__main__":
    main()
