"""One copy of each model in a process, however many stores are open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from scrubjay.models.registry import load_embedder, load_reranker
from scrubjay.models.warm import Warming

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scrubjay.config import Access
    from scrubjay.models import Embedder, Reranker

K = TypeVar("K", bound="Hashable")
W = TypeVar("W")


class SharedModels:
    """The models of a server: each is made when first asked for, and loaded in the background."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._embedders: dict[str, Warming[Embedder]] = {}
        self._rerankers: dict[Access, Warming[Reranker]] = {}

    def embedder(self, name: str) -> Warming[Embedder]:
        """Return the embedder of that name; raises as `load_embedder` does."""
        return self._one(
            self._embedders,
            name,
            lambda: Warming(lambda progress: load_embedder(name, progress=progress)),
        )

    def reranker(self, access: Access) -> Warming[Reranker]:
        """Return the reranker that is reached so; raises as `load_reranker` does."""
        return self._one(
            self._rerankers,
            access,
            lambda: Warming(lambda progress: load_reranker(access, progress=progress)),
        )

    def lost(self) -> list[str]:
        """Return which kinds of models cannot come: embedder, reranker."""
        with self._lock:
            embedders, rerankers = [*self._embedders.values()], [*self._rerankers.values()]
        lost = {"embedder": any(one.lost() for one in embedders)}
        lost["reranker"] = any(one.lost() for one in rerankers)
        return [kind for kind, is_lost in lost.items() if is_lost]

    def _one(self, made: dict[K, W], key: K, make: Callable[[], W]) -> W:
        with self._lock:
            if key not in made:
                made[key] = make()
            return made[key]
