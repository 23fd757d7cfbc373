"""A file into a memory: its bytes, and what of a document the memory is made from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrubjay.documents import Document, Unreadable
from scrubjay.documents.kinds import is_binary_name
from scrubjay.errors import InvalidInput
from scrubjay.write.remember import draft, topics_of

if TYPE_CHECKING:
    from scrubjay.documents.walk import FoundFile
    from scrubjay.types import Memory

MOST_BYTES = 10_000_000
_MOST_TITLE = 500  # characters; it stands in front of every passage that a model reads


def memory_of(
    file: FoundFile, id_: str, document: Document, namespace: str, collection: str
) -> Memory:
    """Return the memory of a document; what the document does not say, its file says."""
    changed = datetime.fromtimestamp(file.mtime_ns / 1e9, UTC)
    stem = os.path.splitext(os.path.basename(file.path))[0]
    return draft(
        {
            "id": id_,
            "text": document.text,
            "title": document.title[:_MOST_TITLE].strip() or stem,
            "type": "document",
            "topics": _topics(document.topics),
            "namespace": namespace,
            "collection": collection,
            "source": file.path,
            "created_at": document.created_at or changed,
            "updated_at": document.updated_at or changed,
            "metadata": {**document.metadata, "format": document.format},
            **document.fields,
        }
    )


def bytes_of(file: FoundFile) -> bytes:
    """Return what is in a file; refuse what is binary or too large."""
    if is_binary_name(file.path):
        raise Unreadable("binary, not text", failed=False)
    if file.size > MOST_BYTES:
        raise Unreadable(f"larger than {MOST_BYTES // 1_000_000} MB", failed=False)
    with open(file.path, "rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:  # it grew since it was found
        raise Unreadable(f"larger than {MOST_BYTES // 1_000_000} MB", failed=False)
    return data


def _topics(given: Iterable[str]) -> list[str]:
    """Return the topics that can be kept: one that cannot be is no reason to leave a document out."""
    kept: list[str] = []
    for one in given:
        with suppress(InvalidInput):
            kept.extend(topics_of([one]))
    return kept
