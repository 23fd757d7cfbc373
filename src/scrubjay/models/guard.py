"""Checks around models: whatever a model raises or returns, callers get a valid answer or Unavailable.
Models come from plug-ins, other machines and callers of the library, so none of them is
trusted."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from scrubjay.errors import InvalidInput, StoreError, Unavailable
from scrubjay.models.breaker import Breaker, Notes
from scrubjay.runtime.worker import call_within
from scrubjay.times import micros

if TYPE_CHECKING:
    from scrubjay.models import (
        Answers,
        Embedder,
        Generator,
        Matrix,
        NoteReader,
        Passage,
        Relation,
        Reranker,
        TokenEmbedder,
    )

T = TypeVar("T")
log = logging.getLogger(__name__)

_SLACK = 1e-6  # a sigmoid in float32 may exceed 1 by that much
_SAMPLE_PAIRS = 8
_SAMPLE = "A plain sentence of ten words that says nothing at all. " * 18  # about 1,000 characters
_SAMPLE_WAIT_S = 30.0
_LONGEST_TIMEOUT_S = 3600.0
_PATIENT_S = 120.0
_PATIENT_TOKENS = 2_000
_GRACE_S = 1.0  # so that a model can report its own time-out


def is_ready(model: object) -> bool:
    """True when a model can answer without downloading anything first."""
    is_here: Callable[[], bool] | None = getattr(model, "is_here", None)
    return is_here is None or is_here()


class GuardedEmbedder:
    """An embedder whose answers are checked: one finite unit vector of the right width a text.
    `dims` is 0 until it is known: of a model that is not downloaded or was never asked, a store or the
    first answer says it."""

    def __init__(self, inner: Embedder) -> None:
        _check_has(inner, "embedder", "name, dims and embed(texts)", "name", "dims", "embed")
        self.inner = inner
        self.name = str(inner.name)
        self.dims = int(inner.dims)
        self.languages = tuple(getattr(inner, "languages", ()))
        _prefixes(inner)
        self.texts_at_once: int | None = getattr(inner, "texts_at_once", None)
        self.has_tokens = callable(getattr(inner, "tokens", None))
        # A model that costs next to nothing makes token vectors when they are needed; none are stored.
        self.is_instant = bool(getattr(inner, "is_instant", False))
        # Without a rotation of its own, a model's token vectors are stored in full width.
        stores_tokens = self.has_tokens and not self.is_instant
        self.token_dims = _token_dims(inner, self.dims) if stores_tokens else 0
        self._rotation: Matrix | None = None
        self._announce: Callable[[int, int], None] | None = None
        self._learns = not self.dims
        if self._learns:
            self._set_width(0, 0)

    def expect(self, dims: int, token_dims: int, announce: Callable[[int, int], None]) -> None:
        """Use the width that a store knows of this model, or 0; `announce` stores what it turns out to be.
        It is called once, before the first vectors are stored."""
        if not self.dims and dims:
            self._set_width(dims, token_dims)
        self._announce = announce if self._learns else None

    @property
    def matryoshka(self) -> tuple[int, ...]:
        """The lengths at which its vectors can be cut; a server's width is known after its first answer."""
        return _prefixes(self.inner)

    @property
    def tokens_sent(self) -> int:
        """How many tokens were sent to a server; 0 for a model on this machine."""
        return int(getattr(self.inner, "tokens_sent", 0))

    def _set_width(self, dims: int, token_dims: int) -> None:
        self.dims, self.token_dims, self.has_tokens = dims, token_dims, token_dims > 0

    def _learn_width(self) -> None:
        """Load a model that does not state its width before it is loaded."""
        load: Callable[[], None] | None = getattr(self.inner, "load", None)
        if not self._learns:
            return
        if load is not None:
            _call(self.name, load)
        if self.inner.dims and self.dims not in (0, self.inner.dims):
            shape = (1, int(self.inner.dims))
            raise Unavailable(
                f"{self.name} gives {shape[1]} dimensions{_why_other_width(shape, self.dims)}"
            )
        if self.inner.dims:
            self._set_width(int(self.inner.dims), int(getattr(self.inner, "token_dims", 0)))
            self._learns = False

    def _announce_width(self) -> None:
        if self._announce is not None and self.dims:
            self._announce(self.dims, self.token_dims)
            self._announce = None

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return unit vectors, or raise Unavailable with the reason."""
        self._learn_width()
        answer = _call(self.name, lambda: self.inner.embed(texts, as_query=as_query))
        vectors = self._unit_vectors(answer, texts)
        if not as_query:
            with suppress(StoreError):  # a search may be reading a store that cannot be written
                self._announce_width()
        return vectors

    def embed_patiently(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return unit vectors in the background, where a server that limits its rate is waited for."""
        embed = getattr(self.inner, "embed_patiently", self.inner.embed)
        answer = _call(self.name, lambda: embed(texts, as_query=as_query))
        return self._unit_vectors(answer, texts)

    def encode(
        self, texts: Sequence[str], *, as_query: bool = False
    ) -> tuple[Matrix, list[Matrix] | None]:
        """Return unit vectors and token vectors as they are stored, from one pass where the model can.
        Vectors are useful without token vectors: a model that fails at those gives None."""
        self._learn_width()
        vectors, tokens = self._encode(texts, as_query)
        self._announce_width()
        return vectors, tokens

    def _encode(self, texts: Sequence[str], as_query: bool) -> tuple[Matrix, list[Matrix] | None]:
        both = getattr(self.inner, "embed_with_tokens", None)
        if both is not None and self.token_dims:
            vectors, tokens = _call(self.name, lambda: _pair(both(texts, as_query=as_query)))
            return self._unit_vectors(vectors, texts), self._tokens_or_none(lambda: tokens, texts)
        vectors = self.embed_patiently(texts, as_query=as_query)
        if not self.has_tokens:
            return vectors, None
        inner: TokenEmbedder = self.inner  # type: ignore[assignment]  # it has tokens
        return vectors, self._tokens_or_none(lambda: inner.tokens(texts, as_query=as_query), texts)

    def _tokens_or_none(
        self, call: Callable[[], object], texts: Sequence[str]
    ) -> list[Matrix] | None:
        try:
            return _call(self.name, lambda: self._token_vectors(call(), texts))
        except Unavailable as failure:
            log.warning("%s", failure)
            return None

    def _token_vectors(self, answer: object, texts: Sequence[str]) -> list[Matrix]:
        """Check a model's token vectors and rotate them as they are stored."""
        import numpy as np

        from scrubjay.text.token_vectors import rotate

        if self._rotation is None and 0 < self.token_dims < self.dims:
            self._rotation = np.asarray(getattr(self.inner, "rotation"), np.float32)  # noqa: B009
        matrices = [np.asarray(matrix, np.float32) for matrix in list(answer)]  # type: ignore[call-overload]
        if len(matrices) != len(texts) or any(
            matrix.ndim != 2 or matrix.shape[1] != self.dims or not np.isfinite(matrix).all()
            for matrix in matrices
        ):
            raise Unavailable(
                f"{self.name} gave token vectors that are not one matrix of width {self.dims} a text"
            )
        if self.is_instant:  # never stored; a query's tokens may have weights
            return matrices
        return [rotate(matrix, self._rotation) for matrix in matrices]

    def _unit_vectors(self, answer: object, texts: Sequence[str]) -> Matrix:
        import numpy as np

        try:
            matrix = np.asarray(answer, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise Unavailable(f"{self.name} gave no array of numbers: {error}") from error
        if not self.dims and matrix.ndim == 2 and matrix.shape[1]:
            self._set_width(matrix.shape[1], int(getattr(self.inner, "token_dims", 0)))
        if matrix.shape != (len(texts), self.dims):
            raise Unavailable(
                f"{self.name} gave an array of shape {matrix.shape} for {len(texts)} texts;"
                f" expected {(len(texts), self.dims)}{_why_other_width(matrix.shape, self.dims)}"
            )
        if not np.isfinite(matrix).all():
            raise Unavailable(f"{self.name} gave a vector with values that are not numbers")
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        units: Matrix = np.divide(matrix, norms, out=np.zeros_like(matrix), where=norms > 0)
        return units


class GuardedReranker:
    """A reranker whose answers are checked: one number in 0..1 a text, in time."""

    def __init__(
        self,
        inner: Reranker,
        notes: Notes,
        clock: Callable[[], datetime],
        *,
        calibrates: bool = False,
    ) -> None:
        _check_has(inner, "reranker", "name and score(query, texts)", "name", "score")
        self._calibrates = calibrates
        self._speed_ms: float | None = None  # not stored if the file was busy
        self.inner = inner
        self.name = str(inner.name)
        self.key = str(getattr(inner, "key", self.name))
        self.languages = tuple(getattr(inner, "languages", ()))
        self._notes = notes
        self._clock = clock
        self._breaker = Breaker(self.name, f"reranker {self.key}", notes, clock)

    def reads(self, language: str) -> bool:
        """True for a language that the model supports, or where that is not known."""
        return not (language and self.languages) or language in self.languages

    def score(self, query: str, texts: Sequence[str], *, within_s: float) -> list[float]:
        """Return one score a text, or raise Unavailable with the reason."""
        return self._breaker.call(lambda: self._score(query, texts, within_s))

    def _score(self, query: str, texts: Sequence[str], within_s: float) -> list[float]:
        # One too many is enough: an endless iterator would fill the memory.
        answer = _call_in_time(
            self.inner,
            within_s,
            lambda: [*islice(self.inner.score(query, list(texts)), len(texts) + 1)],
        )
        try:
            scores = [float(score) for score in answer]
        except Exception as error:  # foreign numbers may raise anything
            raise Unavailable(f"{self.name} gave a score that is not a number: {error}") from error
        if len(scores) > len(texts):
            raise Unavailable(f"{self.name} gave more scores than the {len(texts)} texts")
        if len(scores) < len(texts):
            raise Unavailable(f"{self.name} gave {len(scores)} scores for {len(texts)} texts")
        # NaN is wrong, too.
        wrong = [score for score in scores if not -_SLACK <= score <= 1 + _SLACK]
        if wrong:
            shown = "a score that is not a number" if math.isnan(wrong[0]) else f"{wrong[0]:g}"
            raise Unavailable(f"{self.name} gave {shown}; scores must be between 0 and 1")
        return [min(max(score, 0.0), 1.0) for score in scores]

    def ms_per_1000_chars(self, within_s: float) -> float | None:
        """Return how long it takes to read a thousand characters, as it was once measured.
        None for an object that a caller passed in: it is called for searches only, unless the
        caller asks for a measurement with `calibrate`."""
        stored = self._notes.get("speed", self.key)
        if stored:
            return float(stored)
        if self._speed_ms is None and self._calibrates:
            self._speed_ms = self._breaker.call(lambda: self._measure(within_s))
        return self._speed_ms

    def calibrate(self) -> float:
        """Measure the speed on a fixed sample and store it; the depth of every search follows from it."""
        self._speed_ms = self._measure(_SAMPLE_WAIT_S)
        self._breaker.reset()
        return self._speed_ms

    def _measure(self, within_s: float) -> float:
        from time import perf_counter

        self._score("a warm-up", [_SAMPLE], within_s)  # not counted: it may load the model
        started = perf_counter()
        self._score("what does it say?", [_SAMPLE] * _SAMPLE_PAIRS, within_s)
        took_ms = (perf_counter() - started) * 1000
        speed_ms = took_ms / _SAMPLE_PAIRS / (len(_SAMPLE) / 1000)
        self._notes.put("speed", self.key, f"{speed_ms:.6g}", micros(self._clock()))
        return speed_ms


class GuardedNoteReader:
    """A reader of notes whose answers are checked: as many as asked for, each probabilities."""

    def __init__(self, inner: NoteReader) -> None:
        shape = "name, relations(pairs) and answers(question, asked_at, notes)"
        _check_has(inner, "reader of notes", shape, "name", "relations", "answers")
        self.inner = inner
        self.name = str(inner.name)

    @property
    def is_loaded(self) -> bool:
        return bool(getattr(self.inner, "is_loaded", True))

    def relations(self, pairs: Sequence[tuple[Passage, Passage]]) -> list[Relation]:
        """Return a relation for each pair of an older and a newer note, or raise Unavailable."""
        from scrubjay.models import Relation

        if not pairs:
            return []
        answer = _call(self.name, lambda: [Relation(*row) for row in self.inner.relations(pairs)])
        if len(answer) != len(pairs) or not all(map(_are_shares, answer)):
            raise Unavailable(f"{self.name} must return five probabilities in 0..1 for each pair")
        return answer

    def answers(self, question: str, asked_at: datetime, notes: Sequence[Passage]) -> Answers:
        """Return how likely none of the notes answers a question, and each of them, in their order."""
        from scrubjay.models import Answers

        def ask() -> Answers:
            none, likely = self.inner.answers(question, asked_at, notes)
            return Answers(none, tuple(likely))

        answer = _call(self.name, ask)
        if len(answer.notes) != len(notes) or not _are_shares([answer.none, *answer.notes]):
            raise Unavailable(f"{self.name} must return a probability in 0..1 for each note")
        return answer


def _are_shares(values: Sequence[object]) -> bool:
    """True for probabilities; not for NaN."""
    return all(
        isinstance(value, int | float) and -_SLACK <= value <= 1 + _SLACK for value in values
    )


class GuardedGenerator:
    """A generator that answers in time with a text, or is Unavailable."""

    def __init__(self, inner: Generator, notes: Notes, clock: Callable[[], datetime]) -> None:
        _check_has(inner, "generator", "name and complete(prompt, schema=…)", "name", "complete")
        self.inner = inner
        self.name = str(inner.name)
        self.key = str(getattr(inner, "key", self.name))
        self._breaker = Breaker(self.name, f"generator {self.key}", notes, clock)

    def complete(
        self,
        prompt: str,
        *,
        schema: dict[str, object] | None = None,
        within_s: float,
        read: Callable[[str], T],
    ) -> T:
        """Return what `read` makes of the answer; an answer that cannot be read is a failure too."""

        def ask() -> T:
            answer = _call_in_time(
                self.inner, within_s, lambda: self.inner.complete(prompt, schema=schema)
            )
            if not isinstance(answer, str):
                raise Unavailable(f"{self.name} gave {type(answer).__name__} instead of a text")
            return read(answer)

        return self._breaker.call(ask)

    def patient(self) -> GuardedGenerator:
        """Return the same model for background work, with the same circuit breaker.
        A server is given more time and more tokens than the settings allow for a search."""
        from copy import copy

        from scrubjay.models.generate.remote import RemoteGenerator

        other = copy(self)
        if isinstance(self.inner, RemoteGenerator):
            other.inner = self.inner.patient(_PATIENT_TOKENS, _PATIENT_S)
        return other


def _call(name: str, call: Callable[[], T]) -> T:
    """Call foreign code; whatever it raises is Unavailable."""
    try:
        return call()
    except Unavailable:
        raise
    except Exception as error:
        raise Unavailable(f"{name} failed: {type(error).__name__}: {error}") from error


def _call_in_time(model: Reranker | Generator, within_s: float, call: Callable[[], T]) -> T:
    """Call foreign code with a time limit: the model's own where it has one, as a server does."""
    name, own_s = str(model.name), getattr(model, "timeout_s", None)
    if isinstance(own_s, int | float) and 0 < own_s <= _LONGEST_TIMEOUT_S:
        within_s = own_s + _GRACE_S
    return _call(name, lambda: call_within(within_s, call, name))


def _check_has(model: object, role: str, shape: str, *names: str) -> None:
    for name in names:
        if not hasattr(model, name):
            raise InvalidInput(f"{role} {model!r} has no {name!r}; it needs {shape}")


def _token_dims(model: Embedder, dims: int) -> int:
    given = getattr(model, "token_dims", dims)
    if not dims:
        return 0
    if type(given) is not int or not 0 < given <= dims:
        raise InvalidInput(
            f"token_dims of embedder {model.name} is {given!r}; give a whole number of 1 to {dims}"
        )
    return given


def _why_other_width(shape: tuple[int, ...], dims: int) -> str:
    if len(shape) != 2 or shape[1] == dims:
        return ""
    return (
        f"; another model seems to have its name: stored vectors have {dims} dimensions and are kept;"
        " restore the model, or choose the new one by another name"
    )


def _prefixes(model: Embedder) -> tuple[int, ...]:
    """Return the lengths at which a model's vectors can be cut, as it declares; none for most."""
    stated = getattr(model, "matryoshka", ())
    given = tuple(stated) if isinstance(stated, list | tuple | set | range) else (stated,)
    if any(type(length) is not int or not 0 < length <= model.dims for length in given):
        raise InvalidInput(
            f"matryoshka of embedder {model.name} is {stated!r}; give whole numbers of 1 to"
            f" {model.dims}, such as (256, 128)"
        )
    return given


def _pair(answer: tuple[object, object]) -> tuple[object, object]:
    vectors, tokens = answer
    return vectors, tokens
