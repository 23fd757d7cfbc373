"""Fit the rotation that puts the variance of MiniLM's token vectors first.

    python -m tools.fit_rotation PASSAGES.jsonl

Each line has a `passage` and its `queries`. The matrix is the first eigenvectors of the token
vectors' second moments: of all projections to so many dimensions, it keeps their products best. It
goes beside the model's graph. Stores hold what it makes: a new one needs another width, or a new
name of the model.

Then it prints what MaxSim is between a question and a passage that has nothing to do with it: the
floor of the default profile.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random

import numpy as np

from scrubjay.models.embed import local
from scrubjay.models.embed.local import OnnxEmbedder
from scrubjay.text.token_vectors import max_sim, pack, rotate, unpack

PASSAGES = 2500
PAIRS = 200
TARGET = Path(local.__file__).with_name("minilm_rotation.npy")


def main(source: str) -> None:
    """Write the matrix, and say how much of the variance is left."""
    with Path(source).open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    questions = {line["passage"]: line["queries"] for line in lines}
    passages = list(questions)
    Random(0).shuffle(passages)
    embedder = OnnxEmbedder()
    moments = np.zeros((embedder.dims, embedder.dims))
    for start in range(0, PASSAGES, 16):
        for tokens in embedder.tokens(passages[start : start + 16]):
            moments += tokens.T.astype(np.float64) @ tokens
    strengths, vectors = np.linalg.eigh(moments)
    order = np.argsort(strengths)[::-1]
    rotation = vectors[:, order[: embedder.token_dims]]
    # The sign of an eigenvector is arbitrary: the largest entry is made positive, on every machine.
    rotation *= np.sign(rotation[np.abs(rotation).argmax(axis=0), range(rotation.shape[1])])
    np.save(TARGET, rotation.astype(np.float16))
    share = strengths[order[: embedder.token_dims]].sum() / strengths.sum()
    print(f"{TARGET.name}: {rotation.shape}, {share:.1%} of the variance")
    print(f"MaxSim of unrelated texts: {unrelated(embedder, passages[PASSAGES:], questions):.3f}")


def unrelated(
    embedder: OnnxEmbedder, passages: list[str], questions: dict[str, list[str]]
) -> float:
    """Return the mean MaxSim of questions with the passages of others."""
    chosen = passages[:PAIRS]
    turned = [rotate(tokens, embedder.rotation) for tokens in embedder.tokens(chosen)]
    codes = [unpack(pack(tokens), embedder.token_dims) for tokens in turned]
    found = []
    for number, passage in enumerate(chosen):
        asked = rotate(embedder.tokens([questions[passage][0]])[0], embedder.rotation)
        found += max_sim(asked, codes[:number] + codes[number + 1 :])
    return float(np.mean(found))


if __name__ == "__main__":
    main(sys.argv[1])
