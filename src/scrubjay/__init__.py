"""scrubjay: memory and search for AI agents and the people who work with them.

>>> import scrubjay
>>> memory = scrubjay.open(":memory:", embedder=False)
>>> kept = memory.add("Prefers Python for back ends", type="preference")
>>> memory.search("python")[0].id == kept.id
True
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

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
from scrubjay.runtime import old_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from scrubjay.models import Embedder, Generator, Reranker
    from scrubjay.store import Store
    from scrubjay.types import Hit, Link, Memory, Neighbor, Results

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


old_names.install()
# Imported when first used: `scrubjay --help` opens no store.
_LATE = {
    "Store": "scrubjay.store",
    **dict.fromkeys(("Hit", "Link", "Memory", "Neighbor", "Results"), "scrubjay.types"),
}
_MODULES = frozenset("config runtime search sharing storage store text times types".split())


def __getattr__(name: str) -> Any:
    """Import a public name, or a module that `import scrubjay` once brought along."""
    if name in _MODULES:
        return import_module(f"scrubjay.{name}")
    if name not in _LATE:
        raise AttributeError(f"module 'scrubjay' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATE[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE, *_MODULES})


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
    tiers: Mapping[str, str | os.PathLike[str]] | None = None,
    vectors: str | None = None,
    graph: str | None = None,
) -> Store:
    """Open a store: a file, ":memory:", a server's URL, or without a path the user's own.

    `embedder`, `reranker` and `generator` take an object, a name or an address, `None` for the
    configured one, or `False` for none. A model that the store has chosen (`Store.use_model`) comes
    before the configured embedder.
    `clock` is called for the present moment; days begin at midnight in its time zone.
    With `user`, only that user's namespace is seen.
    `tiers` names other files to search: agent, project, team. Without a path the highest of them is
    the one that is written to, and made if it is not there. Any other vault is added by `connect`.
    `tenant` has a store of its own there, which no other tenant sees. `vectors` and `graph` are URLs
    of servers that hold these tiers: qdrant://host:6333/collection, falkordb://host:6379/graph;
    "none" is no server, where the settings name one.
    `key` is reserved: this version refuses it.
    """
    from scrubjay.config import load, make_folder, own_path, tiers_given
    from scrubjay.store import Store
    from scrubjay.text.urls import is_server_url
    from scrubjay.times import clock_in

    if key is not None:
        raise InvalidInput(f"key= is not there in scrubjay {__version__}; leave it out")
    settings = load(
        db=None if path is None else os.fspath(path),
        profile=profile,
        vectors=vectors,
        graph=graph,
        tenant=tenant,
    )
    joined = () if tiers is None else tiers_given(tiers)
    if path is None and tiers is None:
        joined = settings.tiers
    own = own_path(
        settings, None if path is None else settings.db, joined, named_here=tiers is not None
    )
    if (
        path is None
        and (own is not None or tiers is None)
        and not is_server_url(own or settings.db)
    ):
        make_folder(os.path.dirname(os.path.abspath(own or settings.db)))
    return Store(
        own,
        tiers=joined,
        profile=settings.profile,
        embedder=embedder,
        reranker=reranker,
        generator=generator,
        clock=clock or clock_in(settings.timezone),
        user=user,
        tenant=settings.tenant,
        vectors=settings.vectors,
        graph=settings.graph,
        chunk_tokens=settings.chunk_tokens,
        chunk_overlap_tokens=settings.chunk_overlap_tokens,
        short_turn_chars=settings.short_turn_chars,
        file_timeout_s=settings.file_timeout_s,
        file_memory_mb=settings.file_memory_mb,
    )
