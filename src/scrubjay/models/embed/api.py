"""Embedding APIs over HTTP: how OpenAI's and Google's are asked, and how their answers are read."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from scrubjay.models.endpoint import error_message, full_address

if TYPE_CHECKING:
    from scrubjay.models import Matrix

_PATH = "/embeddings"


class WrongAnswer(Exception):
    """What is wrong with an answer."""


class EmbeddingApi(Protocol):
    """The requests and answers of one kind of server."""

    def request(self, texts: Sequence[str], *, as_query: bool) -> tuple[str, dict[str, Any]]:
        """Return the address and the payload that ask for the vectors of texts."""
        ...

    def vectors(self, answer: Any, count: int) -> list[Matrix]:
        """Return one vector a text, in the order of the texts; raises WrongAnswer."""
        ...

    def simplified(self, refusal: str) -> bool:
        """Leave out what a server has just refused; False where that is not the reason."""
        ...


class OpenAiApi:
    """`POST /v1/embeddings`: OpenAI, Ollama, llama.cpp, vLLM, LM Studio, TEI and others."""

    def __init__(self, url: str, model: str, dims: int) -> None:
        self._url = full_address(url, _PATH)
        self._model = model
        self._dims = dims
        self._says_format = True

    def request(self, texts: Sequence[str], *, as_query: bool) -> tuple[str, dict[str, Any]]:
        payload: dict[str, Any] = {"input": list(texts)}
        if self._model:
            payload["model"] = self._model
        if self._says_format:
            payload["encoding_format"] = "float"
        if self._dims:
            payload["dimensions"] = self._dims
        return self._url, payload

    def vectors(self, answer: Any, count: int) -> list[Matrix]:
        rows = answer.get("data") if isinstance(answer, dict) else answer
        if not isinstance(rows, list):
            kind = "an error inside" if error_message(answer) else "no list of vectors"
            raise WrongAnswer(f"{kind}; check that the address is that of an embedder")
        if len(rows) != count:
            raise WrongAnswer(f"{len(rows)} vectors for {count} texts")
        found: dict[int, Matrix] = {}
        for place, row in enumerate(rows):
            index = row.get("index", place) if isinstance(row, dict) else place
            if type(index) is not int or not 0 <= index < count:
                raise WrongAnswer(f"index {str(index)[:20]} for {count} texts")
            if index in found:
                raise WrongAnswer(f"index {index} twice")
            found[index] = _vector(row.get("embedding") if isinstance(row, dict) else row)
        return [found[index] for index in range(count)]

    def simplified(self, refusal: str) -> bool:
        if self._says_format and "encoding_format" in refusal:
            self._says_format = False
            return True
        return False


class GeminiApi:
    """`POST …/models/NAME:batchEmbedContents` of Google's Gemini API."""

    def __init__(self, url: str, model: str, dims: int, *, has_prompts: bool) -> None:
        self._url = f"{url}/models/{model}:batchEmbedContents"
        self._model = f"models/{model}"
        self._dims = dims
        # A model with prompts reads its task in the text, and takes no task type.
        self._has_tasks = not has_prompts

    def request(self, texts: Sequence[str], *, as_query: bool) -> tuple[str, dict[str, Any]]:
        about: dict[str, Any] = {"model": self._model}
        if self._has_tasks:
            about["taskType"] = "RETRIEVAL_QUERY" if as_query else "RETRIEVAL_DOCUMENT"
        if self._dims:
            about["outputDimensionality"] = self._dims
        requests = [{**about, "content": {"parts": [{"text": text}]}} for text in texts]
        return self._url, {"requests": requests}

    def vectors(self, answer: Any, count: int) -> list[Matrix]:
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise WrongAnswer("no list of vectors; check the address and the model's name")
        if len(rows) != count:
            raise WrongAnswer(f"{len(rows)} vectors for {count} texts")
        return [_vector(row.get("values") if isinstance(row, dict) else None) for row in rows]

    def simplified(self, refusal: str) -> bool:
        return False


def tokens_of(answer: Any) -> int | None:
    """Return how many tokens an answer says it has cost; None where it does not say."""
    usage = answer.get("usage", answer.get("usageMetadata")) if isinstance(answer, dict) else None
    for name in ("total_tokens", "prompt_tokens", "totalTokenCount", "promptTokenCount"):
        number = usage.get(name) if isinstance(usage, dict) else None
        if type(number) is int and number > 0:
            return number
    return None


def _vector(given: Any) -> Matrix:
    """Return a vector out of a list of numbers or, as some servers send it, base64."""
    import numpy as np

    try:
        if isinstance(given, str):
            vector: Matrix = np.frombuffer(base64.b64decode(given, validate=True), "<f4")
        else:
            vector = np.asarray(given, np.float32)
    except (TypeError, ValueError, OverflowError, binascii.Error):
        raise WrongAnswer("a vector that is not a list of numbers") from None
    # llama.cpp without pooling sends one row a token.
    if vector.ndim == 2 and len(vector) == 1:
        vector = vector[0]
    if vector.ndim == 2:
        raise WrongAnswer("one vector a token; start the server with pooling")
    if vector.ndim != 1 or not len(vector):
        raise WrongAnswer("a vector that is not a list of numbers")
    return vector
