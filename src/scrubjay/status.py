"""What is in a store, counted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrubjay.stores.schema import SCHEMA_VERSION
from scrubjay.types import Status

if TYPE_CHECKING:
    from scrubjay.embedding import Embedding
    from scrubjay.stores.sqlite import Database
    from scrubjay.stores.sqlite_records import SqliteRecords
    from scrubjay.types import Scope


def status(
    path: str, db: Database, records: SqliteRecords, embedding: Embedding, scope: Scope
) -> Status:
    """Count what a caller may see; sizes are of the whole file."""
    types = records.counts("type", scope)
    model = embedding.embedder.name if embedding.embedder is not None else None
    models, chunks = embedding.queue.models(), records.size("chunks")
    left, failed = embedding.queue.left(model) if model else (0, 0)
    if model and model not in models:  # it has not been used yet: everything wants its vectors
        left = chunks
    return Status(
        path=path,
        schema=SCHEMA_VERSION,
        memories=sum(types.values()),
        documents=types.get("document", 0),
        chunks=chunks,
        links=records.size("edges"),
        feedback=records.size("feedback"),
        namespaces=records.counts("namespace", scope),
        types=types,
        collections=records.counts("collection", scope),
        model=model,
        models=models,
        pending=left - failed,
        failed=failed,
        failures=tuple(embedding.queue.reasons(model)) if model else (),
        size_bytes=_size(path),
    )


def _size(path: str) -> int:
    """Bytes of the file and its write-ahead log."""
    files = (path, f"{path}-wal", f"{path}-shm")
    return sum(os.path.getsize(file) for file in files if os.path.isfile(file))
