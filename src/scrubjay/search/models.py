"""One store's reranker and generator: which they are, whether they are here, and why not."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from scrubjay.config import Access, load, offline
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models.breaker import MemoryNotes
from scrubjay.models.guard import GuardedGenerator, GuardedReranker
from scrubjay.models.registry import CORPUS, LATE, NONE, is_ready, load_generator, load_reranker
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


class Assistants:
    """The models that help a search but are not needed for one."""

    def __init__(
        self,
        db: Database,
        clock: Callable[[], datetime],
        reranker: Reranker | str | bool | None,
        generator: Generator | str | bool | None,
        models: SharedModels | None = None,
    ) -> None:
        notes = self._notes = SqlAnswerCache(db)
        self._tokens = SqlTokenVectors(db)
        self._reranker: GuardedReranker | None = None
        self._warming: ModelLoader[Reranker] | None = None
        self._generator: GuardedGenerator | None = None
        self._no_reranker = _why_not("reranker", reranker)
        self._no_generator = _why_not("generator", generator)
        self._absent: tuple[str, ...] = ()
        chosen = _chosen("reranker", reranker)
        # Late interaction needs no model of its own: it stands in where no other is named.
        self.late = chosen is not None
        if isinstance(chosen, Access) and chosen.spec != LATE:
            try:
                if models is None:
                    made = _known(load_reranker, chosen)
                else:
                    self._warming = _known(models.reranker, chosen)
                    made = self._warming.model
                self._reranker = GuardedReranker(made, notes, clock, calibrates=True)
            except Unavailable as gone:  # a plug-in that does not load
                self._no_reranker, self._absent = str(gone), ("reranker",)
        elif chosen is not None and not isinstance(chosen, Access):
            # What a caller brings along is the caller's: its failures concern no other process.
            self._reranker = GuardedReranker(chosen, MemoryNotes(), clock)
        writer = _chosen("generator", generator)
        self._corpus = isinstance(writer, Access) and writer.spec == CORPUS
        if isinstance(writer, Access) and not self._corpus:
            try:
                self._generator = GuardedGenerator(_known(load_generator, writer), notes, clock)
            except Unavailable as gone:
                self._no_generator = str(gone)
                self._absent = (*self._absent, "generator")
        elif writer is not None and not isinstance(writer, Access):
            self._generator = GuardedGenerator(writer, MemoryNotes(), clock)

    def names(self, by_tokens: bool) -> tuple[str | None, str | None]:
        """Return what reranks and what writes, whether or not it is here; late interaction needs tokens."""
        late = LATE if self.late and by_tokens else None
        corpus = CORPUS if self._corpus else None
        return (
            late if self._reranker is None else self._reranker.name,
            corpus if self._generator is None else self._generator.name,
        )

    def reranker(self) -> tuple[GuardedReranker | None, str]:
        """Return the reranker, or the reason why there is none; a search never fetches one."""
        made, warming = self._reranker, self._warming
        if made is None:
            return None, self._no_reranker
        fetch = f"; fetch it with: {to_fetch(model=made.name)}" if "/" in made.name else ""
        if warming is not None:
            warming.begin()
        if is_ready(made.inner) if warming is None else warming.ready():
            return made, self._no_reranker
        loading = warming and warming.why_not(fetch=fetch, instead="ranked without it")
        if loading:
            return None, loading
        if offline():
            return (
                None,
                f"{made.name} is not here, and SCRUBJAY_OFFLINE forbids fetching it{fetch}",
            )
        return None, f"{made.name} is not on this machine yet{fetch}"

    def writer(self) -> tuple[GuardedGenerator | None, str]:
        """Return the language model for work that nobody waits for, or the reason why there is none."""
        if self._corpus:
            return (
                None,
                f"generator {CORPUS!r} is no language model; {_why_not('generator', None)}",
            )
        made = self._generator
        return (made.patient() if made is not None else None), self._no_generator

    def join(self, kit: Kit) -> Kit:
        """Return a kit with what helps a search, and the reasons for what is not there."""
        reranker, no_reranker = self.reranker()
        why_not = {**kit.why_not, "reranker": no_reranker, "generator": self._no_generator}
        if not self.late:
            no_tokens = no_reranker
        elif kit.embedder is None:
            no_tokens = why_not.get("embedder") or "there is no embedder"
        elif not kit.embedder.token_dims:
            no_tokens = f"{no_reranker}; and {kit.embedder.name} gives no token vectors"
        else:
            no_tokens = ""
        return kit._replace(
            tokens=None if no_tokens else self._tokens,
            notes=self._notes,
            reranker=reranker,
            generator=self._generator,
            corpus=self._corpus or None,
            absent=self._absent
            if reranker is not None or self._reranker is None
            else (*self._absent, "reranker"),
            why_not={**why_not, "tokens": no_tokens},
        )


def _chosen(role: str, given: T | str | bool | None) -> T | Access | None:
    """Return the object that was given, or how the named or configured model is reached; None for none."""
    if given is False:
        return None
    if given is not None and not isinstance(given, bool | str):
        return given
    settings = load()
    access = settings.reranker if role == "reranker" else settings.generator
    if isinstance(given, str) and given != access.spec:
        # The key of the settings is for the place that the settings name.
        key = os.environ.get(f"SCRUBJAY_{role.upper()}_API_KEY", "")
        access = Access(given, api_key=key, timeout_s=access.timeout_s)
    return None if access.spec == NONE else access


def _known(load_it: Callable[[Access], T], access: Access) -> T:
    try:
        return load_it(access)
    except NotFound as unknown:  # a setting or an argument is wrong, not a memory missing
        raise InvalidInput(str(unknown)) from unknown


def _why_not(role: str, given: object) -> str:
    if given is False:
        return f"there is no {role}: the store was opened with {role}=False"
    return f"no {role} is configured; set {role} in scrubjay.toml or SCRUBJAY_{role.upper()}"
