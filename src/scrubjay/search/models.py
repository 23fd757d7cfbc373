"""The reranker and the generator of one store: which models they are, and why one is missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from scrubjay.config import Access, load
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models.breaker import MemoryNotes
from scrubjay.models.guard import GuardedGenerator, GuardedReranker, is_ready
from scrubjay.models.registry import (
    CORPUS,
    LATE,
    NONE,
    load_bundled_reranker,
    load_generator,
    load_reranker,
    why_not_here,
)
from scrubjay.runtime.command_hints import to_fetch
from scrubjay.storage.sql.feedback import SqlAnswerCache
from scrubjay.storage.sql.vectors import SqlTokenVectors

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.models import Generator, Reranker
    from scrubjay.models.shared import ModelLoader, SharedModels
    from scrubjay.search.pipeline import Kit
    from scrubjay.storage.database import Database

T = TypeVar("T")


class SearchModels:
    """The optional models of a search."""

    def __init__(
        self,
        db: Database,
        clock: Callable[[], datetime],
        reranker: Reranker | str | bool | None,
        generator: Generator | str | bool | None,
        models: SharedModels | None = None,
    ) -> None:
        self._notes = SqlAnswerCache(db)
        self._tokens = SqlTokenVectors(db)
        self._clock = clock
        self._reranker: GuardedReranker | None = None
        self._loader: ModelLoader[Reranker] | None = None
        self._generator: GuardedGenerator | None = None
        self._no_reranker = _why_none("reranker", reranker)
        self._no_generator = _why_none("generator", generator)
        self._absent: tuple[str, ...] = ()
        self._bundled: GuardedReranker | None = None
        self._is_named = not (reranker is None or reranker is True) or load().reranker_named
        self._choose_reranker(_chosen("reranker", reranker), models)
        self._choose_generator(_chosen("generator", generator))

    def _choose_reranker(
        self, chosen: Reranker | Access | None, models: SharedModels | None
    ) -> None:
        # Late interaction needs no further model: it is used where no other reranker is named.
        self.late = chosen is not None
        if chosen is None:
            return
        if not isinstance(chosen, Access):
            # A failure of a caller's own object concerns no other process.
            self._reranker = GuardedReranker(chosen, MemoryNotes(), self._clock)
        elif chosen.spec != LATE:
            try:
                self._loader = None if models is None else _load(models.reranker, chosen)
                model = self._loader.model if self._loader else _load(load_reranker, chosen)
                self._reranker = GuardedReranker(model, self._notes, self._clock, calibrates=True)
            except Unavailable as failure:  # a plug-in that does not load
                self._no_reranker, self._absent = str(failure), ("reranker",)

    def _choose_generator(self, chosen: Generator | Access | None) -> None:
        self._corpus = isinstance(chosen, Access) and chosen.spec == CORPUS
        if chosen is None or self._corpus:
            return
        if not isinstance(chosen, Access):
            self._generator = GuardedGenerator(chosen, MemoryNotes(), self._clock)
        else:
            try:
                model = _load(load_generator, chosen)
                self._generator = GuardedGenerator(model, self._notes, self._clock)
            except Unavailable as failure:
                self._no_generator = str(failure)
                self._absent = (*self._absent, "generator")

    def names(self, by_tokens: bool, *, bundled: bool) -> tuple[str | None, str | None]:
        """Return the names of the reranker and the generator, ready or not.

        `by_tokens` is True when the embedder gives token vectors, which late interaction needs;
        `bundled` for a profile that uses the bundled reranker.
        """
        unnamed = self.bundled_reranker() if bundled else None
        late = LATE if self.late and by_tokens else None
        corpus = CORPUS if self._corpus else None
        chosen = self._reranker or unnamed
        reranker = chosen.name if chosen else late
        return reranker, self._generator.name if self._generator else corpus

    def reranker(self) -> tuple[GuardedReranker | None, str]:
        """Return the reranker, or the reason why there is none; a search never downloads one."""
        reranker, loader = self._reranker, self._loader
        if reranker is None:
            return None, self._no_reranker
        if loader is not None:
            loader.begin()
        if loader.ready() if loader is not None else is_ready(reranker.inner):
            return reranker, self._no_reranker
        fetch = to_fetch(model=reranker.name) if "/" in reranker.name else ""
        loading = loader and loader.why_not(fetch=fetch, instead="ranked without it")
        return None, loading or why_not_here(reranker.name, fetch)

    def bundled_reranker(self) -> GuardedReranker | None:
        """Return the reranker of scrubjay-models, where it is installed and no other one is chosen."""
        if self._bundled is None and not self._is_named:
            try:
                model = load_bundled_reranker()
            except Unavailable:  # it is not installed, and no setting names it
                return None
            self._bundled = GuardedReranker(model, self._notes, self._clock, calibrates=True)
        return self._bundled

    def background_generator(self) -> tuple[GuardedGenerator | None, str]:
        """Return the language model for background work, or the reason why there is none."""
        if self._corpus:
            needed = _why_none("generator", None)
            return None, f"generator {CORPUS!r} is not a language model; {needed}"
        return self._generator and self._generator.patient(), self._no_generator

    def add_to(self, kit: Kit, *, bundled: bool = False) -> Kit:
        """Return the kit with these models, and the reasons for those that are missing; with `bundled`,
        also with the bundled reranker."""
        reranker, no_reranker = self.reranker()
        if not self.late:
            no_tokens = no_reranker
        elif kit.embedder is None:
            no_tokens = kit.why_not.get("embedder") or "there is no embedder"
        elif not kit.embedder.has_tokens:
            no_tokens = f"{no_reranker}; and {kit.embedder.name} gives no token vectors"
        else:
            no_tokens = ""
        waits = self._reranker is not None and reranker is None
        missing = {"reranker": no_reranker, "generator": self._no_generator, "tokens": no_tokens}
        return kit._replace(
            tokens=None if no_tokens else self._tokens,
            notes=self._notes,
            reranker=reranker,
            bundled_reranker=self.bundled_reranker() if bundled else None,
            generator=self._generator,
            corpus=self._corpus or None,
            absent=(*self._absent, "reranker") if waits else self._absent,
            why_not={**kit.why_not, **missing},
        )


def has_language_model(generator: Generator | str | bool | None) -> bool:
    """True where a language model is chosen, which then reads messages; it is not loaded for that."""
    chosen = _chosen("generator", generator)
    return chosen is not None and not (isinstance(chosen, Access) and chosen.spec == CORPUS)


def _chosen(role: str, given: T | str | bool | None) -> T | Access | None:
    """Return the given object, or the access to the named or configured model; None for none."""
    if given is False:
        return None
    if given is not None and not isinstance(given, bool | str):
        return given
    settings = load()
    access = settings.reranker if role == "reranker" else settings.generator
    if isinstance(given, str) and given != access.spec:
        # The key of the settings is for the address in the settings.
        key = os.environ.get(f"SCRUBJAY_{role.upper()}_API_KEY", "")
        access = Access(given, api_key=key, timeout_s=access.timeout_s)
    return None if access.spec == NONE else access


def _load(load_model: Callable[[Access], T], access: Access) -> T:
    try:
        return load_model(access)
    except NotFound as unknown:  # a setting or an argument is wrong; no memory is missing
        raise InvalidInput(str(unknown)) from unknown


def _why_none(role: str, given: object) -> str:
    if given is False:
        return f"there is no {role}: the store was opened with {role}=False"
    return f"no {role} is configured; set {role} in scrubjay.toml or SCRUBJAY_{role.upper()}"
