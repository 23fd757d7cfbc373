"""Rerankers and generators of others, behind checks: a lie, a failure or a long wait is Unavailable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.patience import Breaker, Notes
from scrubjay.runtime.worker import call_within
from scrubjay.times import micros

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.models import Generator, Reranker

T = TypeVar("T")

_SLACK = 1e-6  # a sigmoid in float32 may step over 1 by that much
_SAMPLE_PAIRS = 8
_SAMPLE = "A plain sentence of ten words that says nothing at all. " * 18  # about 1,000 characters
_SAMPLE_WAIT_S = 30.0
_LONGEST_OWN_S = 3600.0
_PATIENT_S = 120.0
_PATIENT_TOKENS = 2_000
_OWN_WORDS_S = 1.0  # so that a model can say itself that its time is up


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
        _need(inner, "reranker", "score", "score(query, texts)")
        self._calibrates = calibrates
        self._speed_ms: float | None = None  # where it could not be kept, since the file was busy
        self.inner = inner
        self.name = str(inner.name)
        self.key = str(getattr(inner, "key", self.name))
        self._notes = notes
        self._clock = clock
        self._breaker = Breaker(self.name, f"reranker {self.key}", notes, clock)

    def score(self, query: str, texts: Sequence[str], *, within_s: float) -> list[float]:
        """Return one score a text, or raise Unavailable with the reason."""
        return self._breaker.through(lambda: self._checked(query, texts, within_s))

    def _checked(self, query: str, texts: Sequence[str], within_s: float) -> list[float]:
        # One too many tells enough: a row that never ends would fill the memory.
        answer = _asked(
            self.inner,
            within_s,
            lambda: [*islice(self.inner.score(query, list(texts)), len(texts) + 1)],
        )
        try:
            scores = [float(one) for one in answer]
        except Exception as error:  # foreign numbers may raise anything
            raise Unavailable(f"{self.name} gave a score that is not a number: {error}") from error
        if len(scores) > len(texts):
            raise Unavailable(f"{self.name} gave more scores than the {len(texts)} texts")
        if len(scores) < len(texts):
            raise Unavailable(f"{self.name} gave {len(scores)} scores for {len(texts)} texts")
        wrong = [one for one in scores if not -_SLACK <= one <= 1 + _SLACK]  # NaN is wrong too
        if wrong:
            said = "a score that is not a number" if math.isnan(wrong[0]) else f"{wrong[0]:g}"
            raise Unavailable(f"{self.name} gave {said}; scores must be between 0 and 1")
        return [min(max(one, 0.0), 1.0) for one in scores]

    def ms_per_1000_chars(self, within_s: float) -> float | None:
        """Return how long it takes to read a thousand characters, as it was once measured.

        None for an object that a caller brought along: it is called for searches only, unless the
        caller asks for a measurement with `calibrate`.
        """
        kept = self._notes.get("speed", self.key)
        if kept:
            return float(kept)
        if self._speed_ms is None and self._calibrates:
            self._speed_ms = self._breaker.through(lambda: self._measured(within_s))
        return self._speed_ms

    def calibrate(self) -> float:
        """Measure that on a fixed sample and keep it; the depth of every search follows from it."""
        self._speed_ms = self._measured(_SAMPLE_WAIT_S)
        self._breaker.reset()
        return self._speed_ms

    def _measured(self, within_s: float) -> float:
        """Read the sample; the first pair is not counted, since it may load the model."""
        from time import perf_counter

        self._checked("a warm-up", [_SAMPLE], within_s)
        started = perf_counter()
        self._checked("what does it say?", [_SAMPLE] * _SAMPLE_PAIRS, within_s)
        took_ms = (perf_counter() - started) * 1000
        speed_ms = took_ms / _SAMPLE_PAIRS / (len(_SAMPLE) / 1000)
        self._notes.put("speed", self.key, f"{speed_ms:.6g}", micros(self._clock()))
        return speed_ms


class GuardedGenerator:
    """A generator that answers in time with a text, or is Unavailable."""

    def __init__(self, inner: Generator, notes: Notes, clock: Callable[[], datetime]) -> None:
        _need(inner, "generator", "complete", "complete(prompt, schema=…)")
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
            answer = _asked(
                self.inner, within_s, lambda: self.inner.complete(prompt, schema=schema)
            )
            if not isinstance(answer, str):
                raise Unavailable(f"{self.name} gave {type(answer).__name__} instead of a text")
            return read(answer)

        return self._breaker.through(ask)

    def patient(self) -> GuardedGenerator:
        """Return the same model for work that nobody waits for; it rests when this one does.

        A server is given more time and more tokens than the settings allow for a search.
        """
        from copy import copy

        from scrubjay.models.generate.remote import RemoteGenerator

        other = copy(self)
        if isinstance(self.inner, RemoteGenerator):
            other.inner = self.inner.patient(_PATIENT_TOKENS, _PATIENT_S)
        return other


def _asked(model: Reranker | Generator, within_s: float, call: Callable[[], T]) -> T:
    """Make a call of foreign code, in time; whatever it raises is Unavailable.

    A model with a time limit of its own, as the settings give to a server, keeps to that one.
    """
    name, own_s = str(model.name), getattr(model, "timeout_s", None)
    try:
        if isinstance(own_s, int | float) and 0 < own_s <= _LONGEST_OWN_S:
            within_s = own_s + _OWN_WORDS_S
        return call_within(within_s, call, name)
    except Unavailable:
        raise
    except Exception as error:  # foreign code may raise anything
        raise Unavailable(f"{name} failed: {type(error).__name__}: {error}") from error


def _need(inner: object, what: str, verb: str, shape: str) -> None:
    for need in ("name", verb):
        if not hasattr(inner, need):
            raise InvalidInput(f"{what} {inner!r} has no {need!r}; it needs name and {shape}")
