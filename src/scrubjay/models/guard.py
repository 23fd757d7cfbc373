"""The boundary to other people's models: whatever they raise or return, we raise Unavailable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from scrubjay.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models import Embedder, TokenEmbedder

T = TypeVar("T")
log = logging.getLogger(__name__)


class GuardedEmbedder:
    """An embedder whose answers are checked: one finite unit vector of the right width a text."""

    def __init__(self, inner: Embedder) -> None:
        for need in ("name", "dims", "embed"):
            if not hasattr(inner, need):
                raise InvalidInput(
                    f"embedder {inner!r} has no {need!r}; it needs name, dims and embed(texts)"
                )
        self.inner = inner
        self.name = str(inner.name)
        self.dims = int(inner.dims)
        self.languages = tuple(getattr(inner, "languages", ()))
        self.matryoshka = _prefixes(inner)
        self.texts_at_once: int | None = getattr(inner, "texts_at_once", None)
        # Without a rotation of its own, a model's token vectors are stored in full width.
        has_tokens = callable(getattr(inner, "tokens", None))
        self.token_dims = _whole(inner, "token_dims", self.dims) if has_tokens else 0
        self._rotation: NDArray[np.float32] | None = None

    def is_ready(self) -> bool:
        """True when the model can answer without downloading anything first."""
        is_here: Callable[[], bool] | None = getattr(self.inner, "is_here", None)
        return is_here is None or is_here()

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """Return unit vectors, or raise Unavailable with the reason."""
        return self._vectors(
            self._asked(lambda: self.inner.embed(texts, as_query=as_query)), texts
        )

    def encode(
        self, texts: Sequence[str], *, as_query: bool = False
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]] | None]:
        """Return unit vectors and token vectors as they are stored, from one pass where the model can.

        Vectors are worth having without tokens: a model that fails at those gives None.
        """
        both = getattr(self.inner, "embed_with_tokens", None)
        if both is not None and self.token_dims:
            vectors, tokens = self._asked(lambda: _pair(both(texts, as_query=as_query)))
            return self._vectors(vectors, texts), self._tokens_or_none(lambda: tokens, texts)
        vectors = self.embed(texts, as_query=as_query)
        if not self.token_dims:
            return vectors, None
        inner: TokenEmbedder = self.inner  # type: ignore[assignment]  # it has tokens
        return vectors, self._tokens_or_none(lambda: inner.tokens(texts, as_query=as_query), texts)

    def _tokens_or_none(
        self, ask: Callable[[], object], texts: Sequence[str]
    ) -> list[NDArray[np.float32]] | None:
        """Return what a model gives of tokens, checked; whatever is wrong with it costs those alone."""
        try:
            return self._asked(lambda: self._tokens(ask(), texts))
        except Unavailable as gone:
            log.warning("%s", gone)
            return None

    def _asked(self, call: Callable[[], T]) -> T:
        """Make a call of foreign code; whatever it raises is Unavailable."""
        try:
            return call()
        except Unavailable:
            raise
        except Exception as error:  # foreign code may raise anything
            raise Unavailable(f"{self.name} failed: {type(error).__name__}: {error}") from error

    def _tokens(self, answer: object, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Check a model's token vectors and turn them the way they are stored."""
        import numpy as np

        from scrubjay.text.token_vectors import rotate

        if self._rotation is None and self.token_dims < self.dims:
            self._rotation = np.asarray(getattr(self.inner, "rotation"), np.float32)  # noqa: B009
        matrices = [np.asarray(one, np.float32) for one in list(answer)]  # type: ignore[call-overload]
        if len(matrices) != len(texts) or any(
            one.ndim != 2 or one.shape[1] != self.dims or not np.isfinite(one).all()
            for one in matrices
        ):
            raise Unavailable(
                f"{self.name} gave token vectors that are not one matrix of width {self.dims} a text"
            )
        return [rotate(one, self._rotation) for one in matrices]

    def _vectors(self, answer: object, texts: Sequence[str]) -> NDArray[np.float32]:
        """Check a model's vectors and scale them to length one."""
        import numpy as np

        try:
            matrix = np.asarray(answer, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise Unavailable(f"{self.name} gave no array of numbers: {error}") from error
        if matrix.shape != (len(texts), self.dims):
            raise Unavailable(
                f"{self.name} gave an array of shape {matrix.shape} for {len(texts)} texts;"
                f" it should be {(len(texts), self.dims)}"
            )
        if not np.isfinite(matrix).all():
            raise Unavailable(f"{self.name} gave a vector with values that are not numbers")
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        units: NDArray[np.float32] = np.divide(
            matrix, norms, out=np.zeros_like(matrix), where=norms > 0
        )
        return units


def _whole(model: Embedder, name: str, usual: int) -> int:
    given = getattr(model, name, usual)
    if type(given) is not int or not 0 < given <= usual:
        raise InvalidInput(
            f"{name} of embedder {model.name} is {given!r}; give a whole number of 1 to {usual}"
        )
    return given


def _prefixes(model: Embedder) -> tuple[int, ...]:
    """Return the lengths at which a model's vectors can be cut, as it says itself; none for most."""
    given = tuple(getattr(model, "matryoshka", ()))
    if any(type(one) is not int or not 0 < one <= model.dims for one in given):
        raise InvalidInput(
            f"matryoshka of embedder {model.name} is {given!r}; give whole numbers of 1 to {model.dims}"
        )
    return given


def _pair(answer: tuple[object, object]) -> tuple[object, object]:
    """Return two things, or raise where there are none or more."""
    vectors, tokens = answer
    return vectors, tokens
