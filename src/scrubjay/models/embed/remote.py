"""Remote embedder: a model behind HTTP, asked in batches, with rate limits and a count of tokens."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrubjay.config import EmbedderAccess
from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.embed.api import EmbeddingApi, GeminiApi, OpenAiApi, WrongAnswer, tokens_of
from scrubjay.models.embed.families import family_of
from scrubjay.models.embed.index_name import index_name
from scrubjay.models.endpoint import Endpoint, Refused, endpoint, without_query
from scrubjay.runtime.backoff import Backoff

if TYPE_CHECKING:
    from scrubjay.models import Matrix

GEMINI = "gemini"
_GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
_MAX_TEXTS = 32  # TEI refuses more by default
_MAX_CHARS = 60_000  # in one request
_CHARS_PER_TOKEN = 4
_CHARS_PER_WINDOW_TOKEN = 3  # less than most words have, so that a window is not exceeded
_SHORTEST = 64  # characters; a text is not cut into shorter parts
_PATIENT_S = 120.0  # for one request in the background
_WAIT_S = 60.0  # for a server in the background that asks to wait
_SLOW_S = 1.0  # a failure that comes sooner costs nothing, and is tried again at once
_PAUSE_S = 30.0  # after a slow one
_FIRST_S, _LONGEST_S = 1.0, 600.0
_BUSY = (429, 503)
_TOO_LARGE = re.compile(
    r"too (?:long|large|many)|exceed|at most|maximum (?:context|input|allowed|batch)|context "
    r"(?:length|size)|batch size|max(?:imum)?[ _](?:input[ _])?tokens",
    re.IGNORECASE,
)
_DELAY = re.compile(r'"retryDelay":\s*"(\d+(?:\.\d+)?)s"')


class _Limits(NamedTuple):
    """How long a call may take: each request, and waiting for a busy server.
    The requests of a query share one limit, which runs from `since`; others have one each."""

    request_s: float
    wait_until: float  # by time.monotonic
    since: float | None = None


class RemoteEmbedder:
    """Embeds texts by a model behind HTTP. Its key is in no text made from it.
    `dims` is 0 until the settings or the first answer say it. A text that the server refuses as too long
    is sent in halves, and its vector is their average. `tokens_sent` counts what was sent;
    `is_estimated` is True where the server does not say how much that was."""

    texts_at_once = _MAX_TEXTS

    def __init__(self, access: EmbedderAccess) -> None:
        self.access = access
        self.endpoint, key_variable = _endpoint_of(access)
        self._key_variable = "" if self.endpoint.api_key else key_variable
        family = family_of(self.endpoint.model)
        given = (access.query_prompt, access.text_prompt)
        usual = (family.query_prompt, family.text_prompt)
        self.query_prompt, self.text_prompt = (
            known if setting is None else setting
            for setting, known in zip(given, usual, strict=True)
        )
        self._api = self._api_of(access)
        self.name = index_name(_model_key(access, self.endpoint), access)
        self.timeout_s = access.timeout_s
        self.dims = access.dims
        self._lengths = family.matryoshka
        self.tokens_sent = 0
        self.is_estimated = False
        self._max_chars = access.window * _CHARS_PER_WINDOW_TOKEN
        self._backoff = Backoff(_FIRST_S, _LONGEST_S)
        self._failure = ""
        self._counting = threading.Lock()

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self.endpoint!r})"

    @property
    def matryoshka(self) -> tuple[int, ...]:
        """The lengths to which its vectors can be cut; none while `dims` is 0."""
        return tuple(length for length in self._lengths if length <= self.dims)

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return one vector a text within the time limit of the settings."""
        now = time.monotonic()
        limits = _Limits(self.timeout_s, now + self.timeout_s, now)
        return self._embed(texts, as_query, limits)

    def embed_patiently(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return one vector a text, in the background: with time, and waiting for a busy server."""
        until = time.monotonic() + _WAIT_S
        return self._embed(texts, as_query, _Limits(max(self.timeout_s, _PATIENT_S), until))

    def _api_of(self, access: EmbedderAccess) -> EmbeddingApi:
        url, model = self.endpoint.url, self.endpoint.model
        if _is_gemini(access.spec):
            has_prompts = bool(self.query_prompt or self.text_prompt)
            return GeminiApi(url, model, access.dims, has_prompts=has_prompts)
        return OpenAiApi(url, model, access.dims)

    def _embed(self, texts: Sequence[str], as_query: bool, limits: _Limits) -> Matrix:
        import numpy as np

        if self._key_variable:
            raise Unavailable(
                f"{self.name} needs an API key; set {self._key_variable} or SCRUBJAY_EMBEDDER_API_KEY"
            )
        parts = [_parts(text, self._max_chars) for text in texts]
        flat = [part for several in parts for part in several]
        rows: list[Matrix] = []
        for batch in _batches(flat):
            rows += self._ask(batch, as_query, limits)
        vectors, start = [], 0
        for several in parts:
            own = rows[start : start + len(several)]
            start += len(several)
            vectors.append(own[0] if len(own) == 1 else _average(own, several))
        return self._in_width(vectors) if vectors else np.zeros((0, self.dims), np.float32)

    def _ask(self, texts: Sequence[str], as_query: bool, limits: _Limits) -> list[Matrix]:
        """Return the vectors of texts; what is too large for the server is halved."""
        try:
            return self._ask_once(texts, as_query, limits)
        except Refused as refusal:
            if not _is_too_large(refusal):
                raise
            if len(texts) > 1:
                middle = len(texts) // 2
                halves = (texts[:middle], texts[middle:])
                return [row for half in halves for row in self._ask(half, as_query, limits)]
            parts = _parts(texts[0], max(len(texts[0]) * 2 // 3, 1))
            if len(texts[0]) < 2 * _SHORTEST or len(parts) < 2:
                raise
            rows = [self._ask([part], as_query, limits)[0] for part in parts]
            return [_average(rows, parts)]

    def _ask_once(self, texts: Sequence[str], as_query: bool, limits: _Limits) -> list[Matrix]:
        prompt = self.query_prompt if as_query else self.text_prompt
        prompted = [prompt + (text if text.strip() else ".") for text in texts]
        while True:
            self._wait_while_paused(limits)
            url, payload = self._api.request(prompted, as_query=as_query)
            try:
                answer = self._post(url, payload, limits)
            except Refused as refusal:
                if _is_busy(refusal):
                    continue  # the pause was noted; it is waited for, or reported
                if refusal.status in (400, 422) and self._api.simplified(refusal.body):
                    continue
                raise
            try:
                vectors = self._api.vectors(answer, len(texts))
            except WrongAnswer as found:
                raise Unavailable(f"{without_query(url)} answered with {found}") from None
            self._count(answer, prompted)
            return vectors

    def _post(self, url: str, payload: dict[str, Any], limits: _Limits) -> Any:
        at, started = self.endpoint._replace(timeout_s=limits.request_s), time.monotonic()
        try:
            answer = at.post(url, payload, since=limits.since)
        except Unavailable as failure:
            is_busy, took_s = _is_busy(failure), time.monotonic() - started
            is_slow = took_s > _SLOW_S and not isinstance(failure, Refused)
            if is_busy or is_slow:
                self._failure = str(failure)
                self._backoff.failed(_asked_to_wait(failure) if is_busy else _PAUSE_S)
            raise
        self._backoff.succeeded()
        return answer

    def _wait_while_paused(self, limits: _Limits) -> None:
        """Wait until a server that failed may be asked again, if that is soon enough."""
        left_s = self._backoff.left_s
        if not left_s:
            return
        if time.monotonic() + left_s > limits.wait_until:
            raise Unavailable(
                f"{self.endpoint.name} is not asked for another {left_s:.0f} s: {self._failure}"
            )
        time.sleep(left_s)

    def _count(self, answer: Any, texts: Sequence[str]) -> None:
        tokens = tokens_of(answer)
        with self._counting:
            self.is_estimated = self.is_estimated or tokens is None
            estimate = sum(map(len, texts)) // _CHARS_PER_TOKEN + len(texts)
            self.tokens_sent += estimate if tokens is None else tokens

    def _in_width(self, vectors: Sequence[Matrix]) -> Matrix:
        """Return the vectors as one array, cut to the width of the settings."""
        import numpy as np

        widths = sorted({len(vector) for vector in vectors})
        if len(widths) > 1:
            raise Unavailable(
                f"{self.name} gave vectors of {widths[0]} and of {widths[-1]} dimensions"
            )
        if self.access.dims > widths[0]:
            raise Unavailable(
                f"embedder_dims is {self.access.dims}, but {self.name} gives {widths[0]}"
            )
        self.dims = self.dims or widths[0]
        return np.stack(vectors)[:, : self.access.dims or None]


def _is_gemini(spec: str) -> bool:
    return spec.partition("#")[0].split("+")[0] == GEMINI


def _endpoint_of(access: EmbedderAccess) -> tuple[Endpoint, str]:
    """Return the address of a model, and the variable whose key it needs; "" where it may need none."""
    import os

    spec, key, variable = access.spec, access.api_key, ""
    if _is_gemini(spec):
        place, _, model = spec.partition("#")
        url = place.partition("+")[2] or _GEMINI_URL
        if not re.fullmatch(r"[\w.-]+", model):
            raise InvalidInput(f"{spec!r} names no model; write gemini#gemini-embedding-001")
        names = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
        key = key or next(filter(None, map(os.environ.get, names)), "")
        at = endpoint(f"{url}#{model}", key, access.timeout_s)._replace(
            key_header="x-goog-api-key"
        )
        return at, names[0] if url == _GEMINI_URL else ""
    at = endpoint(spec, key, access.timeout_s)
    parts = urlsplit(at.url)
    if (parts.scheme, parts.hostname) == ("https", "api.openai.com"):
        variable = "OPENAI_API_KEY"
        at = endpoint(spec, key or os.environ.get(variable, ""), access.timeout_s)
    return at, variable


def _model_key(access: EmbedderAccess, at: Endpoint) -> str:
    """Return the model's name with its address, the same for every form of the address."""
    if access.spec.startswith(f"{GEMINI}#"):
        return f"{GEMINI}#{at.model}"
    url = without_query(at.url).removesuffix("/embeddings")
    url = url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/v1"
    prefix = f"{GEMINI}+" if _is_gemini(access.spec) else ""
    return f"{prefix}{url}#{at.model}" if at.model else f"{prefix}{url}"


def _is_busy(failure: Unavailable) -> bool:
    """True when a server asks to be called less often; not where an account has no money left."""
    is_limit = isinstance(failure, Refused) and failure.status in _BUSY
    return is_limit and "insufficient_quota" not in getattr(failure, "body", "")


def _is_too_large(refusal: Refused) -> bool:
    if refusal.status == 413:
        return True
    return refusal.status in (400, 422, 500) and bool(_TOO_LARGE.search(refusal.body))


def _asked_to_wait(failure: Unavailable) -> float:
    """Return how long a server asks to wait: in a header, or in the body as Google does."""
    if not isinstance(failure, Refused):
        return 0.0
    stated = _DELAY.search(failure.body)
    return failure.retry_s or (float(stated[1]) if stated else 0.0)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts in groups that fit one request."""
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) == _MAX_TEXTS or chars + len(text) > _MAX_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


def _parts(text: str, max_chars: int) -> list[str]:
    """Cut a text into halves until each fits, between words where there are any."""
    if not max_chars or len(text) <= max(max_chars, _SHORTEST):
        return [text]
    middle = len(text) // 2
    blank = text.rfind(" ", middle - middle // 2, middle)
    cut = middle if blank < 0 else blank + 1
    return [*_parts(text[:cut], max_chars), *_parts(text[cut:], max_chars)]


def _average(vectors: Sequence[Matrix], parts: Sequence[str]) -> Matrix:
    """Return the average of the unit vectors of a text's parts by their lengths."""
    import numpy as np

    from scrubjay.models.embed.windows import unit

    if len({len(vector) for vector in vectors}) > 1:
        raise Unavailable("the parts of one text have vectors of different dimensions")
    weights = np.array([max(len(part), 1) for part in parts], np.float32)
    averaged: Matrix = weights @ unit(np.stack(vectors)) / weights.sum()
    return averaged.astype(np.float32)
