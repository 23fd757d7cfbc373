"""What a store is made of: its tables at once, models and what needs them when first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING

from scrubjay.config import (
    CHUNK_OVERLAP_TOKENS,
    CHUNK_TOKENS,
    SHORT_TURN_CHARS,
    check_chunk_sizes,
    check_short_turn,
)
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.sharing.permissions import Caller, person_named
from scrubjay.sharing.tiers.files import Reached, open_own
from scrubjay.text.urls import parse_replica_urls
from scrubjay.times import system_clock

if TYPE_CHECKING:
    from scrubjay.config import TierSetting
    from scrubjay.conversations.extraction.facts import Facts
    from scrubjay.conversations.extraction.run import Extraction
    from scrubjay.conversations.extraction.worker import ExtractionWorker
    from scrubjay.insight.hit_counts import HitCounts
    from scrubjay.models import Embedder, Generator, Reranker
    from scrubjay.models.shared import SharedModels
    from scrubjay.parts.tables import Tables
    from scrubjay.search.models import Assistants
    from scrubjay.search.pipeline import Kit, Tier
    from scrubjay.search.profiles import Profile
    from scrubjay.sharing.api_keys import Access
    from scrubjay.storage.sql.feedback import SqlFeedback
    from scrubjay.storage.sql.records import SqlHistory
    from scrubjay.storage.sql.words import SqlTermCounts
    from scrubjay.types import Results
    from scrubjay.write.context import WriteContext
    from scrubjay.write.embedding import Embedding
    from scrubjay.write.ingest.folders import IngestedFolders

# Stages that ask more of a file than words, vectors and records.
_ASKING_MORE = ("tiers", "signals", "adaptive", "over_sessions")
_ASSISTED = ("late_interaction", "cross_encoder", "rephrase", "borrow_words")


class StoreParts:
    """The parts of a store; its verbs are in `service.Store`."""

    def __init__(
        self,
        path: str | None,
        *,
        tiers: Sequence[TierSetting] = (),
        made_by: str | None = None,
        profile: str = "default",
        embedder: Embedder | str | bool | None = None,
        reranker: Reranker | str | bool | None = None,
        generator: Generator | str | bool | None = None,
        clock: Callable[[], datetime] | None = None,
        user: str | None = None,
        tenant: str | None = None,
        vectors: str | None = None,
        graph: str | None = None,
        chunk_tokens: int = CHUNK_TOKENS,
        chunk_overlap_tokens: int = CHUNK_OVERLAP_TOKENS,
        short_turn_chars: int = SHORT_TURN_CHARS,
    ) -> None:
        self.profile = profile
        self._clock = clock or system_clock
        person = None if user is None else person_named(user)
        self._tables, self._tiers = open_own(
            path,
            tiers,
            person,
            made_by=made_by,
            short_turn_chars=check_short_turn(short_turn_chars),
            tenant=tenant,
            servers=parse_replica_urls(vectors, graph),
        )
        self.tenant = tenant
        self.on_search: Callable[[Results], None] | None = None
        self._db = self._tables.db
        self.path = self._db.path
        self._people = self._tables.people
        self._copies = self._tables.copies
        self._records = self._tables.records
        self._graph = self._tables.graph
        self._keyword = self._tables.keyword
        self._files = self._tables.files
        self._vectors = self._tables.vectors
        self._topics = self._tables.topics
        self._windows = self._tables.windows
        self._caller = Caller(person, self._people, self._of_project)
        self._mine = self._caller.sees
        self._chunk_sizes = check_chunk_sizes(chunk_tokens, chunk_overlap_tokens)
        self._following_made: IngestedFolders | None = None
        self._chosen_assistants = (reranker, generator)
        self._assistants_made: Assistants | None = None
        self._chosen_embedder = embedder
        self._embedding_made: Embedding | None = None
        self._extracting_made: ExtractionWorker | None = None
        self._hit_counts_made: HitCounts | None = None
        self._counts_every_search = False
        self._models: SharedModels | None = None
        self._making = threading.Lock()
        if {type(reranker), type(generator)} - {NoneType, bool}:
            self._check_assistants()

    def share_models(self, models: SharedModels) -> None:
        """Take named models from what several stores share, and begin to load what this one searches with.

        To be called before anything else is. From then on no search waits for a model.
        """
        from scrubjay.search import profiles

        self._models = models
        try:
            profile = profiles.get(self.profile)
            if profile.uses("embed_query"):
                self._embedding.warm()
            if profile.uses("cross_encoder"):
                self._assistants.reranker()
        except (InvalidInput, NotFound, Unavailable):
            return  # a setting is wrong, which the first search says

    def _check_assistants(self) -> None:
        """Tell a wrong argument at once, not at the first search that wants the model."""
        try:
            _ = self._assistants
        except BaseException:
            self._db.close()
            raise

    def _of_project(self, beginning: str) -> Sequence[str]:
        """Return the namespaces that begin so, of every file that may be searched."""
        from scrubjay.storage.sql.records import SqlNamespaces

        files = [self._db]
        if self._tiers.named:
            files = [one.tables.db for one in self._tiers.reached() if one.tables is not None]
        found = (SqlNamespaces(one).of_project(beginning, self._caller.sees) for one in files)
        return sorted({name for some in found for name in some})

    @cached_property
    def _access(self) -> Access:
        """The tokens that are kept here."""
        from scrubjay.sharing.api_keys import Access

        return Access(self._db, self._clock, self.tenant)

    @property
    def _terms(self) -> SqlTermCounts:
        return self._tables.terms

    @property
    def _feedback(self) -> SqlFeedback:
        return self._tables.feedback

    @property
    def _embedding(self) -> Embedding:
        with self._making:
            if self._embedding_made is None:
                from scrubjay.write.embedding import Embedding

                self._embedding_made = Embedding(
                    self._db,
                    self._vectors,
                    self._chosen_embedder,
                    links=self._walks_links,
                    models=self._models,
                )
                if self._tables.replicas is not None:
                    self._tables.replicas.on_caught_up(self._embedding_made.go_on)
            return self._embedding_made

    def _walks_links(self) -> bool:
        """True when this store's own profile walks links; a wrong name is told by the first search."""
        from scrubjay.search import profiles

        try:
            return profiles.get(self.profile).uses("graph")
        except (InvalidInput, NotFound):
            return False

    @property
    def _hit_counts(self) -> HitCounts:
        with self._making:
            if self._hit_counts_made is None:
                from scrubjay.insight.hit_counts import HitCounts

                self._hit_counts_made = HitCounts(self._db, self._clock)
            return self._hit_counts_made

    def _shelf(self) -> WriteContext:
        from scrubjay.storage.sql.files import SqlFolders, SqlLinkTargets
        from scrubjay.write.chunking import ChunkSizes
        from scrubjay.write.context import WriteContext

        return WriteContext(
            self._records,
            self._graph,
            self._files,
            SqlFolders(self._db),
            SqlLinkTargets(self._db),
            self._clock,
            ChunkSizes(*self._chunk_sizes),
            self.path,
            self._caller.user or "",
            self._caller.check_place,
        )

    def _history(self, tables: Tables | None = None) -> SqlHistory:
        from scrubjay.storage.sql.records import SqlHistory

        return SqlHistory((tables or self._tables).db)

    @property
    def _following(self) -> IngestedFolders:
        with self._making:
            if self._following_made is None:
                from scrubjay.write.ingest.folders import IngestedFolders

                self._following_made = IngestedFolders(self._shelf(), self._caller, self._people)
            return self._following_made

    @property
    def _assistants(self) -> Assistants:
        with self._making:
            if self._assistants_made is None:
                from scrubjay.search.models import Assistants

                self._assistants_made = Assistants(
                    self._db, self._clock, *self._chosen_assistants, self._models
                )
            return self._assistants_made

    def _facts(self) -> Facts:
        from scrubjay.conversations.extraction.facts import Facts
        from scrubjay.storage.sql.extractions import SqlSpans

        return Facts(
            self._shelf(),
            SqlSpans(self._db),
            self._history(),
            self._keyword,
            self._copies,
        )

    def _extraction(self) -> Extraction:
        """Return what draws facts from messages; Unavailable where no generator is configured."""
        from scrubjay.conversations.extraction.run import Extraction
        from scrubjay.storage.sql.extractions import SqlExtractions

        generator, why_not = self._assistants.writer()
        if generator is None:
            raise Unavailable(
                f"{why_not}; without one nothing is drawn from messages: each is a memory as it was said"
            )
        return Extraction(
            SqlExtractions(self._db),
            self._facts(),
            generator,
            self._caller.changes,
            self._embedding.wake,
        )

    def _extract_later(self) -> None:
        """Let a configured generator read messages once they have settled.

        A wrong setting is no reason to fail here: the message is stored, and a search says it.
        """
        if self._chosen_assistants[1] is False:
            return
        made = self._extracting_made
        if made is None:
            from scrubjay.conversations.extraction.worker import ExtractionWorker

            try:
                made = self._kept(ExtractionWorker(self._extraction(), self._clock))
            except (InvalidInput, Unavailable):
                return
        made.wake()

    def _kept(self, made: ExtractionWorker) -> ExtractionWorker:
        """Return the one thread of this store that draws facts: another caller may have been faster."""
        with self._making:
            if self._extracting_made is None:
                self._extracting_made = made
            return self._extracting_made

    def _own_reached(self) -> Reached:
        """Return the store's own file as a tier; where it was lost at opening, what stands in for it."""
        tier = self._tiers.own.tier._replace(kit=self._tables.kit)
        return Reached(tier, self.path, self._tables)

    def _tiers_of(self, profile: Profile) -> tuple[Tier, ...]:
        """Return every tier as it is now, where a profile searches them and they have names."""
        if not self._tiers.named or not profile.uses("tiers"):
            return ()
        return tuple(one.tier for one in self._tiers.reached())

    def _kit(self, profile: Profile, tiers: tuple[Tier, ...] = ()) -> Kit:
        """Return the stores and the models that a profile has stages for: others are not even loaded."""
        more = any(map(profile.uses, _ASKING_MORE))
        kit = self._tables.kit if more else self._tables.light_kit
        kit = kit._replace(clock=self._clock, tiers=tiers)
        if profile.uses("moment"):
            kit = kit._replace(moments=self._tables.moments)
        if tiers:
            # Of a file that is lost, or not there yet, nothing is asked; of one put back, the new one.
            own = next((one for one in tiers if one.own), self._tiers.own.tier)
            kit = kit.inside(own)._replace(tiers=tiers)
        if profile.uses("embed_query"):
            embedder, why_not = self._embedding.ready()
            kit = kit._replace(embedder=embedder, why_not={"embedder": why_not})
        if any(map(profile.uses, _ASSISTED)):
            kit = self._assistants.join(kit)
        return kit
