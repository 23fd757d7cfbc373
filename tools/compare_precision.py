"""Measure 32-bit against 8-bit embedding: speed, closeness, batch invariance, retrieval quality.

    python -m tools.compare_precision FOLDER...

Each folder has a corpus.jsonl, a queries.jsonl and a qrels.tsv. Speeds are CPU time, taken in
turns in one run: read them as ratios. Documents are cut to the model's window here, because one
vector a document is what is compared.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scrubjay.models.download.pull import MINILM, pull
from scrubjay.models.embed.local import OnnxEmbedder
from tools.int8_graph import int8_model

Matrix = NDArray[np.float32]
LENGTHS = (20, 128, 200)
ROUNDS = 4


class Int8Embedder(OnnxEmbedder):
    """The shipped embedder over an 8-bit graph."""

    def __init__(self, *, per_token: bool) -> None:
        super().__init__()
        self.name = f"{MINILM.name}/int8, scale per {'token' if per_token else 'text'}"
        self._per_token = per_token
        if not per_token:
            # One scale for a whole batch makes a text depend on its neighbours: each runs alone.
            self._batch_tokens = 1

    def _graph(self) -> bytes:
        return int8_model(pull(MINILM) / "model.safetensors", per_token=self._per_token)


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Return the rows of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def read_judgements(path: Path) -> dict[str, dict[str, float]]:
    """Return query id -> document id -> grade."""
    judgements: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        judgements.setdefault(query, {})[document] = float(grade)
    return judgements


def ndcg_at_10(ranked: list[str], grades: dict[str, float]) -> float:
    """Return nDCG@10 with exponential gain."""

    def gain(values: list[float]) -> float:
        return float(sum((2**grade - 1) / np.log2(at + 2) for at, grade in enumerate(values)))

    best = gain(sorted(grades.values(), reverse=True)[:10])
    return gain([grades.get(name, 0.0) for name in ranked[:10]]) / best if best else 0.0


def quality(documents: Matrix, questions: Matrix, folder: Path) -> float:
    """Return the mean nDCG@10 of exact cosine over the judged queries."""
    names = [row["id"] for row in read_jsonl(folder / "corpus.jsonl")]
    judgements = read_judgements(folder / "qrels.tsv")
    scores = []
    for row, vector in zip(read_jsonl(folder / "queries.jsonl"), questions, strict=True):
        if row["id"] in judgements:
            order = np.argsort(-(documents @ vector), kind="stable")[:10]
            scores.append(ndcg_at_10([names[at] for at in order], judgements[row["id"]]))
    return float(np.mean(scores))


def texts_of(folder: Path, reader: OnnxEmbedder) -> tuple[list[str], list[str]]:
    """Return documents, each cut to its first window, and queries."""
    documents = []
    for row in read_jsonl(folder / "corpus.jsonl"):
        title, text = row.get("title", ""), row["text"]
        whole = text if text.startswith(title) else f"{title}\n{text}"
        documents.append(whole[: reader.split(whole)[0].end])
    return documents, [row["text"] for row in read_jsonl(folder / "queries.jsonl")]


def speeds(models: list[OnnxEmbedder], words: list[str]) -> dict[int, list[float]]:
    """Return texts a CPU-second for each length and model, the models taking turns."""
    found = {}
    for length in LENGTHS:
        count = max(8, 1600 // length)
        texts = [" ".join(np.roll(words, -37 * at)[: length - 2]) for at in range(count)]
        spent = [0.0] * len(models)
        for turn in range(ROUNDS + 1):
            for at, model in enumerate(models):
                began = time.process_time()
                model.embed(texts)
                # The first turn warms up.
                spent[at] += (time.process_time() - began) * (turn > 0)
        found[length] = [count * ROUNDS / seconds for seconds in spent]
    return found


def drift(model: OnnxEmbedder, texts: list[str]) -> float:
    """Return how far a vector moves when its text is embedded in a batch instead of alone."""
    alone = np.concatenate([model.embed([text]) for text in texts])
    return float(np.abs(alone - model.embed(texts)).max())


def loading(model: OnnxEmbedder) -> float:
    """Return the CPU-seconds from nothing to the first vector."""
    began = time.process_time()
    model.embed(["one"])
    return time.process_time() - began


def row(title: str, cells: list[str]) -> str:
    """Return a line of the table."""
    return f"| {title} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table."""
    folders = [Path(name) for name in sys.argv[1:]]
    if not folders:
        sys.exit(__doc__)
    models = [OnnxEmbedder(), Int8Embedder(per_token=False), Int8Embedder(per_token=True)]
    OnnxEmbedder().embed(["imports are paid for before the clock runs"])
    seconds = [loading(model) for model in models[:1]]
    for model in models[1:]:
        model.load()
    print(row("", [model.name.removeprefix(f"{MINILM.name}/") for model in models]))
    print("|---" * (len(models) + 1) + "|")
    sets = [texts_of(folder, models[0]) for folder in folders]
    # One-token words, so that a text has the length it should have.
    words = sorted({word for text in sets[0][0][:200] for word in text.split() if word.isalpha()})
    words = [word for word in words if models[0].count_tokens(word) == 1]
    for length, rates in speeds(models, words).items():
        cells = [f"{rate:.0f} ({rate / rates[0]:.2f}x)" for rate in rates]
        print(row(f"texts per CPU-second, {length} tokens", cells))
    vectors = [
        [(model.embed(documents), model.embed(questions)) for documents, questions in sets]
        for model in models
    ]
    for at, folder in enumerate(folders):
        found = [f"{quality(*of_model[at], folder):.4f}" for of_model in vectors]
        print(row(f"nDCG@10, {folder.name}", found))
    exact = np.concatenate([documents for documents, _ in vectors[0]])
    cosines = [
        (np.concatenate([documents for documents, _ in of_model]) * exact).sum(axis=1)
        for of_model in vectors
    ]
    print(row("cosine to fp32, mean", [f"{values.mean():.4f}" for values in cosines]))
    print(row("cosine to fp32, worst", [f"{values.min():.4f}" for values in cosines]))
    sample = sets[0][1][:24]
    print(row("alone against in a batch", [f"{drift(model, sample):.1e}" for model in models]))
    batched = Int8Embedder(per_token=False)
    batched._batch_tokens = models[0]._batch_tokens
    print(
        f"\nint8 with a scale per batch, alone against in a batch: {drift(batched, sample):.1e}."
    )
    print(f"Loading fp32, after imports: {seconds[0]:.2f} CPU-seconds.")


if __name__ == "__main__":
    main()
