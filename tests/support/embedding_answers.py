"""Answers of embedding servers in the shapes that they document, for vectors that a test can check."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from endpoints import Answer, Asked

DIMS = 6


def vector_of(text: str, dims: int = DIMS) -> list[float]:
    """Return a vector that depends on the text alone."""
    numbers = np.sin(np.arange(1, dims + 1) * (1 + sum(text.encode("utf-8", "replace")) % 97))
    return [float(number) for number in numbers.astype(np.float32)]


def unit(vector: Sequence[float]) -> np.ndarray:
    given = np.asarray(vector, np.float32)
    return given / np.linalg.norm(given)


def _rows(asked: Asked, dims: int) -> list[list[float]]:
    return [vector_of(text, dims) for text in asked.json["input"]]


def openai(asked: Asked) -> Answer:
    """OpenAI: data in any order by index, usage in tokens."""
    dims = asked.json.get("dimensions", DIMS)
    data = [
        {"object": "embedding", "index": index, "embedding": row}
        for index, row in enumerate(_rows(asked, dims))
    ]
    usage = {"prompt_tokens": 5 * len(data), "total_tokens": 5 * len(data)}
    body = {"object": "list", "data": data, "model": asked.json["model"], "usage": usage}
    return Answer(body)


def ollama(asked: Asked) -> Answer:
    """Ollama's /v1/embeddings."""
    data = [
        {"object": "embedding", "embedding": row, "index": index}
        for index, row in enumerate(_rows(asked, DIMS))
    ]
    usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
    return Answer({"object": "list", "data": data, "model": asked.json["model"], "usage": usage})


def vllm(asked: Asked) -> Answer:
    """vLLM: an id and a time as well, and no tokens of a completion."""
    data = [
        {"index": index, "object": "embedding", "embedding": row}
        for index, row in enumerate(_rows(asked, DIMS))
    ]
    usage = {
        "prompt_tokens": 7,
        "total_tokens": 7,
        "completion_tokens": 0,
        "prompt_tokens_details": None,
    }
    named = {"id": "embd-0a1b", "object": "list", "created": 1_750_000_000, "model": "m"}
    return Answer({**named, "data": data, "usage": usage})


def tei(asked: Asked) -> Answer:
    """TEI's /v1/embeddings, which refuses more than 32 texts."""
    if len(asked.json["input"]) > 32:
        message = "batch size 64 > maximum allowed batch size 32"
        return Answer({"message": message, "code": 413, "type": "Validation"}, 413)
    data = [
        {"object": "embedding", "embedding": row, "index": index}
        for index, row in enumerate(_rows(asked, DIMS))
    ]
    usage = {"prompt_tokens": 9, "total_tokens": 9}
    return Answer({"object": "list", "data": data, "model": "BAAI/bge-m3", "usage": usage})


def lm_studio(asked: Asked) -> Answer:
    """LM Studio: usage is there, and always 0."""
    data = [
        {"object": "embedding", "embedding": row, "index": index}
        for index, row in enumerate(_rows(asked, DIMS))
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return Answer({"object": "list", "data": data, "model": asked.json["model"], "usage": usage})


def in_base64(asked: Asked) -> Answer:
    """A server that always answers in base64, out of order."""
    packed = [
        base64.b64encode(np.asarray(row, "<f4").tobytes()).decode() for row in _rows(asked, DIMS)
    ]
    data = [{"index": index, "embedding": row} for index, row in enumerate(packed)]
    return Answer({"object": "list", "data": data[::-1]})


def gemini(asked: Asked) -> Answer:
    """Gemini's batchEmbedContents: no index, no usage, shorter vectors not normalised."""
    rows = []
    for request in asked.json["requests"]:
        text = request["content"]["parts"][0]["text"]
        rows.append({"values": vector_of(text, request.get("outputDimensionality", DIMS))})
    return Answer({"embeddings": rows})


SERVERS: dict[str, Callable[[Asked], Answer]] = {
    "openai": openai,
    "ollama": ollama,
    "vllm": vllm,
    "tei": tei,
    "lm_studio": lm_studio,
    "base64": in_base64,
}


def data(*rows: Any) -> Answer:
    """Answer with these rows as they are."""
    return Answer({"object": "list", "data": list(rows)})
