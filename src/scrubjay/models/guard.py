"""The boundary to other people's models: whatever they raise or return, we raise Unavailable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models import Embedder


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

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """Return unit vectors, or raise Unavailable with the reason."""
        import numpy as np

        try:
            answer = self.inner.embed(texts, as_query=as_query)
            matrix = np.asarray(answer, dtype=np.float32)
        except Unavailable:
            raise
        except Exception as error:  # foreign code may raise anything
            raise Unavailable(f"{self.name} failed: {type(error).__name__}: {error}") from error
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
