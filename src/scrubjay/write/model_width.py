"""Width of a model that states none before it answers: read from the store, stored with its vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.storage.model_widths import SqlModelWidths

if TYPE_CHECKING:
    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.storage.database import Database
    from scrubjay.storage.sql.vectors import SqlEmbeddingQueue


def remember_width(db: Database, queue: SqlEmbeddingQueue, embedder: GuardedEmbedder) -> None:
    """Give an embedder of unknown width the one that the store has, and store what it turns out to be.
    So opening a store neither loads a model nor asks a server."""
    if embedder.dims:
        return

    def store(dims: int, token_dims: int) -> None:
        try:
            queue.activate(embedder.name, dims, token_dims)
        except InvalidInput as error:  # another process has stored vectors of another width
            raise Unavailable(str(error)) from error

    embedder.expect(*SqlModelWidths(db).of(embedder.name), store)
