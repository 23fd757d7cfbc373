"""Remote reranker: a cross-encoder behind one of the usual rerank servers."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.endpoint import (
    Endpoint,
    Refused,
    checked,
    error_message,
    path_of,
    with_path,
    without_query,
)

_SLACK = 1e-6  # a float32 of 1 can arrive as 1.0000001
_NUMBER_BELOW = 1e300
_VERSION = re.compile(r"/v\d+$")


class _Dialect(NamedTuple):
    """The request that one kind of server takes, and what its scores are."""

    path: str = "/v1/rerank"
    texts: str = "documents"
    scores: str = "either"
    """`shares` are promised to be 0..1, `logits` never are, `either` is decided by the answer."""
    extra: tuple[tuple[str, bool], ...] = ()
    how_many: str = "top_n"
    """The field for the number of results; without it some servers send only the best."""
    has_model: bool = True


_NO_TEXTS_BACK = (("return_documents", False),)
_TEI = _Dialect(
    path="/rerank",
    texts="texts",
    extra=(("raw_scores", False), ("truncate", True)),
    how_many="",
    has_model=False,
)
_COMMON = _Dialect(extra=_NO_TEXTS_BACK)
DIALECTS = {
    "jina": _Dialect(scores="shares", extra=_NO_TEXTS_BACK),
    "cohere": _Dialect(path="/v2/rerank", scores="shares"),
    "vllm": _Dialect(),
    "llamacpp": _Dialect(scores="logits"),
    "tei": _TEI._replace(scores="shares"),
    "voyage": _Dialect(scores="shares", extra=_NO_TEXTS_BACK, how_many="top_k"),
}


class RemoteReranker:
    """Scores texts by a model behind HTTP: Jina, Cohere, vLLM, llama.cpp, TEI, Voyage.
    Without a named dialect the common form is tried, then TEI's, and what worked is remembered. An
    answer with any score outside 0..1 is then read as logits, all of it. Logits that all happen to
    lie in 0..1 are not recognized: name the dialect `llamacpp`, and the logistic function is
    always applied. (Leave it unnamed for a model that llama.cpp itself turns into probabilities,
    such as Qwen3-Reranker.)"""

    def __init__(self, at: Endpoint) -> None:
        if at.dialect and at.dialect not in DIALECTS:
            raise InvalidInput(
                f"there is no rerank dialect {at.dialect!r}; known are {', '.join(DIALECTS)},"
                " or leave it out to detect it"
            )
        self.endpoint = checked(at)
        self.name = at.name
        self.key = f"{at.key} {at.dialect}".rstrip()
        self.timeout_s = at.timeout_s
        self._dialects = (DIALECTS[at.dialect],) if at.dialect else (_COMMON, _TEI)

    def __repr__(self) -> str:
        return f"RemoteReranker({self.endpoint!r})"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score in 0..1 a text, or raise Unavailable with what was wrong."""
        if not texts:
            return []
        started = time.monotonic()
        refusals: list[Refused] = []
        dialects = self._dialects  # another thread may find out meanwhile which one works
        for dialect in dialects:
            url = _address(self.endpoint.url, dialect)
            payload = self._payload(query, texts, dialect)
            try:
                answer = self.endpoint.post(url, payload, since=started)
            except Refused as error:
                if error.status not in (400, 404, 405, 422) or len(dialects) == 1:
                    raise
                refusals.append(error)
            else:
                scores = self._scores(answer, len(texts), dialect, url)
                self._dialects = (dialect,)
                return scores
        raise Unavailable("; and in the form of TEI: ".join(map(str, refusals))) from refusals[-1]

    def _payload(self, query: str, texts: Sequence[str], dialect: _Dialect) -> dict[str, Any]:
        payload: dict[str, Any] = {"query": query, dialect.texts: list(texts)}
        if self.endpoint.model and dialect.has_model:
            payload["model"] = self.endpoint.model
        if dialect.how_many:
            payload[dialect.how_many] = len(texts)
        return payload | dict(dialect.extra)

    def _scores(self, answer: Any, count: int, dialect: _Dialect, url: str) -> list[float]:
        """Put the scores back in the order of the texts, and into 0..1."""
        try:
            scores = _in_order(_rows(answer), count)
            inside = all(-_SLACK <= score <= 1 + _SLACK for score in scores)
            if dialect.scores == "shares" and not inside:
                wrong = next(score for score in scores if not 0 <= score <= 1)
                raise _WrongAnswer(
                    f"a score of {wrong:g}, though"
                    f" {self.endpoint.dialect} promises 0..1; name another, such as llamacpp for"
                    " logits, or leave it out"
                )
        except _WrongAnswer as found:
            raise Unavailable(
                f"{self.name} at {without_query(url)} answered with {found}"
            ) from None
        if dialect.scores == "logits" or not inside:
            return [_logistic(score) for score in scores]
        return [min(1.0, max(0.0, score)) for score in scores]


class _WrongAnswer(Exception):
    """What is wrong with an answer."""


def _address(url: str, dialect: _Dialect) -> str:
    """Return the full address for a host, a base such as …/v1, or the full address itself."""
    path = path_of(url)
    if path.rpartition("/")[2] in ("rerank", "reranking"):
        return url
    if dialect.path == _TEI.path:
        path = _VERSION.sub("", path)
    return with_path(url, f"{path}/rerank" if path else dialect.path)


def _rows(answer: Any) -> list[Any]:
    if isinstance(answer, list):
        return answer
    for name in ("results", "data"):
        rows = answer.get(name) if isinstance(answer, dict) else None
        if isinstance(rows, list):
            return rows
    kind = "an error inside" if error_message(answer) else "no list of"
    raise _WrongAnswer(f"{kind} results; check that the address is that of a reranker")


def _in_order(rows: list[Any], count: int) -> list[float]:
    """Return the scores in the order of their indexes; every text has exactly one."""
    if len(rows) != count:
        raise _WrongAnswer(f"{len(rows)} results for {count} texts")
    found: dict[int, float] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, dict) else None
        # A server's text could repeat the key, so only its numbers are shown.
        if not isinstance(index, int) or isinstance(index, bool):
            raise _WrongAnswer("a result without a number as its index")
        if not 0 <= index < count:
            raise _WrongAnswer(f"index {str(index)[:20]} for {count} texts")
        if index in found:
            raise _WrongAnswer(f"index {index} twice")
        found[index] = _number(row.get("relevance_score", row.get("score")), index)
    return [found[index] for index in range(count)]


def _number(value: Any, index: int) -> float:
    if value is None:
        raise _WrongAnswer(f"no score for index {index}")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _WrongAnswer(f"a score for index {index} that is not a number")
    # NaN is below nothing, and an int may be too great for a float.
    if not abs(value) < _NUMBER_BELOW:
        raise _WrongAnswer(f"a score for index {index} that is not a finite number")
    return float(value)


def _logistic(logit: float) -> float:
    """Return 1 / (1 + e^-x), by a form that no logit makes overflow."""
    return 0.5 * (1.0 + math.tanh(logit / 2.0))
