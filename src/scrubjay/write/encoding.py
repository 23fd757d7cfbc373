"""Encode queued chunks: what a model reads of each, and the vectors that are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.text.snippets import embedding_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.storage.sql.vectors import QueuedChunk

    Made = tuple[int, NDArray[np.float32]]  # of a chunk


def encode(
    embedder: GuardedEmbedder, wanted: Sequence[QueuedChunk]
) -> tuple[list[Made], list[Made]]:
    """Return the vectors of a few chunks, and their token vectors where the model has any to store.

    A short message is read twice, alone and with the messages around it, and its vector lies
    between the two: alone it says too little, and with them "noted" would get the vector of what it
    answers. Its token vectors are of its own text.
    """
    texts = [_text_of(chunk) for chunk in wanted]
    if embedder.is_instant:  # no token vectors of it are stored
        vectors, tokens = embedder.embed(texts), None
    else:
        vectors, tokens = embedder.encode(texts)
    if short := [place for place, chunk in enumerate(wanted) if chunk.around]:
        with_context = [_text_of(wanted[place], around=True) for place in short]
        vectors[short] = _between(vectors[short], embedder.embed_patiently(with_context))
    chunks = [chunk.chunk for chunk in wanted]
    token_rows = [] if tokens is None else list(zip(chunks, tokens, strict=True))
    return list(zip(chunks, vectors, strict=True)), token_rows


def _text_of(chunk: QueuedChunk, *, around: bool = False) -> str:
    context = "\n".join(filter(None, (chunk.context, chunk.around if around else "")))
    return embedding_text(chunk.title, chunk.heading, context, chunk.passage)


def _between(some: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the directions half-way between pairs of vectors; of opposite ones, the first."""
    import numpy as np

    sums = some + others
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 1e-6, sums / np.maximum(lengths, 1e-6), some).astype(np.float32)
