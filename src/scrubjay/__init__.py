"""scrubjay: memory and search for AI agents and the people who work with them.

>>> import scrubjay
>>> memory = scrubjay.open(":memory:", embedder=False)
>>> kept = memory.add("Prefers Python for back ends", type="preference")
>>> memory.search("python")[0].id == kept.id
True
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay._version import __version__
from scrubjay.errors import (
    InvalidInput,
    Locked,
    MissingExtra,
    NotFound,
    ScrubjayError,
    StoreError,
    Unavailable,
)
from scrubjay.service import Store
from scrubjay.types import Hit, Link, Memory, Neighbor, Results

if TYPE_CHECKING:
    from scrubjay.models import Embedder, Generator, Reranker

__all__ = [
    "Hit",
    "InvalidInput",
    "Link",
    "Locked",
    "Memory",
    "MissingExtra",
    "Neighbor",
    "NotFound",
    "Results",
    "ScrubjayError",
    "Store",
    "StoreError",
    "Unavailable",
    "__version__",
    "open",
]


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    profile: str | None = None,
    embedder: Embedder | str | bool | None = None,
    reranker: Reranker | str | bool | None = None,
    generator: Generator | str | bool | None = None,
    clock: Callable[[], datetime] | None = None,
    user: str | None = None,
    tenant: str | None = None,
    key: str | bytes | os.PathLike[str] | None = None,
    tiers: Mapping[str, str] | None = None,
    vectors: str | None = None,
    graph: str | None = None,
) -> Store:
    """Open a store: a file, ":memory:", or without a path the user's own.

    `embedder`, `reranker` and `generator` take an object, a name or an address, `None` for the
    configured one, or `False` for none.
    `clock` is called for the present moment. With `user`, only that user's namespace is seen.
    `tenant`, `key`, `tiers`, `vectors` and `graph` are reserved: this version refuses them.
    """
    from scrubjay.config import load

    later = {"tenant": tenant, "key": key, "tiers": tiers, "vectors": vectors, "graph": graph}
    for name, given in later.items():
        if given is not None:
            raise InvalidInput(f"{name}= is not there in scrubjay {__version__}; leave it out")
    settings = load(db=None if path is None else os.fspath(path), profile=profile)
    if "://" in settings.db:
        raise InvalidInput(f"{settings.db} is a server; this version keeps memories in a file")
    if path is None:
        _make_folder(os.path.dirname(os.path.abspath(settings.db)))
    return Store(
        settings.db,
        profile=settings.profile,
        embedder=embedder,
        reranker=reranker,
        generator=generator,
        clock=clock,
        user=user,
        chunk_tokens=settings.chunk_tokens,
        chunk_overlap_tokens=settings.chunk_overlap_tokens,
    )


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made ({error.strerror}); name a store elsewhere,"
            " or set SCRUBJAY_HOME"
        ) from error
