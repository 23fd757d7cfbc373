"""Context of a store: its tables, tiers, permissions and models, shared by all of its parts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

from scrubjay.errors import InvalidInput, NotFound, StoreError, Unavailable
from scrubjay.runtime.closing import close_all
from scrubjay.runtime.command_hints import to_type
from scrubjay.search import profiles
from scrubjay.search.pipeline import Kit, Tier
from scrubjay.search.profiles import Profile
from scrubjay.search.tables import Tables
from scrubjay.sharing.permissions import Permissions
from scrubjay.sharing.tiers.files import TierFiles
from scrubjay.sharing.tiers.lookup import TierLookup
from scrubjay.storage.sql.records import project_namespaces
from scrubjay.text.urls import NO_REPLICAS
from scrubjay.times import system_clock
from scrubjay.types import Filters, Scope

if TYPE_CHECKING:
    from scrubjay.config import FileLimits
    from scrubjay.conversations.extraction.facts import Facts
    from scrubjay.conversations.extraction.run import Extraction
    from scrubjay.conversations.extraction.worker import ExtractionWorker
    from scrubjay.insight.hit_counts import HitCounts
    from scrubjay.insight.map.draw import Maps
    from scrubjay.models import Embedder, Generator, NoteReader, Reranker
    from scrubjay.models.guard import GuardedNoteReader
    from scrubjay.models.shared import SharedModels
    from scrubjay.search.models import SearchModels
    from scrubjay.sharing.api_keys import ApiKeys
    from scrubjay.storage.replicas.replicas import Replicas
    from scrubjay.write.context import WriteContext
    from scrubjay.write.embedding import Embedding
    from scrubjay.write.ingest.folders import IngestedFolders

T = TypeVar("T")
# Stages that read more of a database than words, vectors and records.
_READING_MORE = ("tiers", "signals", "adaptive", "over_sessions")
_USING_MODELS = ("late_interaction", "cross_encoder", "rephrase", "borrow_words")
_BUNDLED = "bundled_cross_encoder"


class lazy(Generic[T]):  # noqa: N801 - a decorator, used like `property`
    """A part of the context, made once, when it is first needed. The one lazy mechanism of a store."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, context: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, context: Context, owner: type) -> T: ...
    def __get__(self, context: Context | None, owner: type) -> lazy[T] | T:
        if context is None:
            return self
        # Once it is made, the attribute of the instance is found before this descriptor.
        with context.making:
            made = vars(context)
            if self._name not in made:
                made[self._name] = self._make(context)
            part: T = made[self._name]
            return part


class ChosenModels(NamedTuple):
    """The models of a store as its opener chose them: an object, a name, None or False."""

    embedder: Embedder | str | bool | None
    reranker: Reranker | str | bool | None
    generator: Generator | str | bool | None


class Context:
    """Everything one open store consists of. The verbs are in `Store`."""

    def __init__(
        self,
        tables: Tables,
        tiers: TierFiles,
        user: str | None,
        tenant: str | None,
        profile: str,
        clock: Callable[[], datetime] | None,
        chunk_sizes: tuple[int, int],
        file_limits: FileLimits,
        chosen: ChosenModels,
    ) -> None:
        self.tables, self.tiers, self.tenant, self.profile = tables, tiers, tenant, profile
        self.clock = clock or system_clock
        self.db = self.tables.db
        self.path = self.db.path
        self.permissions = Permissions(user, self.tables.people, self._of_project, self.clock)
        self.sees = self.permissions.sees
        self.lookup = TierLookup(self.tiers, self.tables, self.sees)
        self.shared_models: SharedModels | None = None
        self.making = threading.RLock()
        self._chunk_sizes, self._file_limits, self._chosen = chunk_sizes, file_limits, chosen
        self._kits: dict[bool, Kit] = {}
        self.switches = 0  # how often a model changed while the store was open
        self._reader: GuardedNoteReader | None = None
        if not all(model is None or isinstance(model, bool) for model in chosen[1:]):
            try:  # report a wrong argument now, and not at the first search that needs the model
                _ = self.models
            except BaseException:
                self.close()
                raise

    def scope(self, filters: Filters) -> Scope:
        return self.permissions.narrowed(filters)

    def check_readable(self, id_: str) -> None:
        """Raise an error for a memory that was just found to be damaged."""
        why = self.db.damaged.get(id_)
        if why is not None and self.tables.records.unreadable([id_], self.sees):
            raise StoreError(
                f"the memory {id_!r} is damaged: {why}; repair the store with"
                f" `{to_type('doctor --repair', self.path)}`, or forget the memory"
            )

    def share_models(self, models: SharedModels) -> None:
        self.shared_models = models
        try:
            profile = profiles.get(self.profile)
            if profile.uses("embed_query"):
                self.embedding.warm()
            if profile.uses("cross_encoder"):
                self.models.reranker()
        except (InvalidInput, NotFound, Unavailable):
            return  # a setting is wrong, and the first search reports it

    def _of_project(self, prefix: str) -> Sequence[str]:
        """Return the namespaces that begin with a prefix, in every database that may be searched."""
        databases = [self.db]
        if self.tiers.named:
            databases = [
                tier.tables.db for tier in self.tiers.reached() if tier.tables is not None
            ]
        found = (project_namespaces(db, prefix, self.sees) for db in databases)
        return sorted({name for names in found for name in names})

    # -- parts that are made when first needed ------------------------------------------------

    @lazy
    def api_keys(self) -> ApiKeys:
        from scrubjay.sharing.api_keys import ApiKeys

        return ApiKeys(self.db, self.clock, self.tenant)

    @lazy
    def embedding(self) -> Embedding:
        from scrubjay.write.embedding import Embedding

        embedding = Embedding(
            self.db,
            self.tables.vectors,
            self._chosen.embedder,
            links=self._walks_links,
            models=self.shared_models,
        )
        embedding.on_switch = self._note_switch
        if embedding.embedder is not None and self.detects_changes():
            from scrubjay.write.changes.detection import change_detection

            tables = self.tables
            embedding.changes = change_detection(
                tables.changes,
                tables.records,
                tables.vectors,
                tables.keyword,
                self.clock,
                lambda: "" if embedding.embedder is None else embedding.embedder.name,
                self.shared_models,
            )
        if self.tables.replicas is not None:
            self.tables.replicas.on_caught_up(embedding.go_on)
        return embedding

    @lazy
    def models(self) -> SearchModels:
        from scrubjay.search.models import SearchModels

        return SearchModels(self.db, self.clock, *self._chosen[1:], self.shared_models)

    @lazy
    def hit_counts(self) -> HitCounts:
        from scrubjay.insight.hit_counts import HitCounts

        return HitCounts(self.db, self.clock)

    @lazy
    def folders(self) -> IngestedFolders:
        from scrubjay.write.ingest.folders import IngestedFolders

        return IngestedFolders(self.shelf, self.permissions, self.tables.people)

    @lazy
    def maps(self) -> Maps:
        from scrubjay.insight.map.draw import Maps

        return Maps(self.db)

    @lazy
    def shelf(self) -> WriteContext:
        """What writing needs: the tables, the clock and the chunk sizes."""
        from scrubjay.storage.sql.files import SqlFolders, SqlLinkTargets
        from scrubjay.write.chunking import ChunkSizes
        from scrubjay.write.context import WriteContext

        return WriteContext(
            self.tables.records,
            self.tables.graph,
            self.tables.files,
            SqlFolders(self.db),
            SqlLinkTargets(self.db),
            self.tables.versions,
            self.clock,
            ChunkSizes(*self._chunk_sizes),
            self.path,
            self.permissions.user or "",
            self.permissions.check_place,
            self._file_limits,
            self.embedding.static,
        )

    @lazy
    def facts(self) -> Facts:
        from scrubjay.conversations.extraction.facts import Facts
        from scrubjay.storage.sql.extractions import SqlSpans

        spans, tables = SqlSpans(self.db), self.tables
        return Facts(self.shelf, spans, tables.keyword, tables.copies)

    @lazy
    def extraction_worker(self) -> ExtractionWorker:
        """The worker that extracts facts; Unavailable or InvalidInput without a generator."""
        from scrubjay.conversations.extraction.worker import ExtractionWorker

        return ExtractionWorker(self.extraction(), self.clock)

    def extraction(self) -> Extraction:
        from scrubjay.conversations.extraction.run import Extraction
        from scrubjay.storage.sql.extractions import SqlExtractions

        generator, why_not = self.models.background_generator()
        if generator is None:
            raise Unavailable(
                f"{why_not}; without a generator no facts are extracted, and each message is a memory"
            )
        queue, changes = SqlExtractions(self.db), self.permissions.changes
        return Extraction(queue, self.facts, generator, changes, self.embedding.wake)

    def extract_later(self) -> None:
        """Let a generator read new messages once they settle; a search reports a wrong setting."""
        if self._chosen.generator is False:
            return
        try:
            worker = self.extraction_worker
        except (InvalidInput, Unavailable):
            return
        worker.wake()

    def replicas(self) -> Replicas:
        """Return the replicas of this store; opened without any, it still sees those of others."""
        if self.tables.replicas is not None:
            return self.tables.replicas
        from scrubjay.storage.replicas.replicas import Replicas

        return Replicas(self.db, NO_REPLICAS)

    def use_reader(self, reader: NoteReader) -> None:
        """Let searches ask another model than the bundled one which of the first hits answers."""
        from scrubjay.models.guard import GuardedNoteReader

        self._reader = GuardedNoteReader(reader)
        self.switches += 1

    @property
    def reader(self) -> GuardedNoteReader | None:
        """The model that reads a question with the first hits; None where there is none, or not yet."""
        if self._reader is None and self.embedding.changes is not None:
            return self.embedding.changes.reader_of_searches()
        return self._reader

    def _note_switch(self) -> None:
        self.switches += 1

    def reranks_by_default(self) -> bool:
        """True when the store's own profile uses the bundled reranker where no other is chosen."""
        return self._profile_uses(_BUNDLED)

    def uses_changes(self) -> bool:
        """True when the store's own profile uses what was found to replace what."""
        return self._profile_uses("replaced")

    def detects_changes(self) -> bool:
        from scrubjay.models.bundled import READER, find_bundled

        return self.uses_changes() and find_bundled(READER) is not None

    def why_uncompared(self) -> str:
        """Return why memories are not compared with earlier ones; "" where they are, or need not be."""
        from scrubjay.models.bundled import READER, not_installed

        if self.embedding.embedder is None or not self.uses_changes():
            return ""
        if self.embedding.changes is None:
            return not_installed(READER)
        return self.embedding.changes.outage

    def _walks_links(self) -> bool:
        return self._profile_uses("graph")

    def _profile_uses(self, stage: str) -> bool:
        """True when the store's own profile has a stage; the first search reports a wrong name."""
        try:
            return profiles.get(self.profile).uses(stage)
        except (InvalidInput, NotFound):
            return False

    # -- what a search needs ------------------------------------------------------------------

    def tiers_of(self, profile: Profile) -> tuple[Tier, ...]:
        if not self.tiers.named or not profile.uses("tiers"):
            return ()
        return tuple(reached.tier for reached in self.tiers.reached())

    def kit(self, profile: Profile, tiers: tuple[Tier, ...] = ()) -> Kit:
        """Return the tables and models that a profile has stages for; others are not even loaded."""
        more = any(map(profile.uses, _READING_MORE))
        if more not in self._kits:
            tables = self.tables.kit if more else self.tables.light_kit
            self._kits[more] = tables._replace(clock=self.clock)
        kit = self._kits[more]
        if profile.uses("moment"):
            kit = kit._replace(moments=self.tables.moments)
        if profile.uses("over_sessions"):
            from scrubjay.search.models import has_language_model

            kit = kit._replace(extracts=has_language_model(self._chosen.generator))
        if profile.uses("confidence"):
            kit = kit._replace(terms=self.tables.terms)
        if tiers:
            # Of a database that is lost, or not there yet, nothing is read; of one put back, the new one.
            own = next((tier for tier in tiers if tier.own), self.tiers.own.tier)
            kit = kit.inside(own)._replace(tiers=tiers)
        if profile.uses("embed_query"):
            embedder, why_not = self.embedding.ready()
            static, multilingual = self.embedding.static, self.embedding.multilingual
            kit = kit._replace(
                embedder=embedder,
                static=None if static is None else static.embedder,
                multilingual=None if multilingual is None else multilingual.ready,
                why_not={"embedder": why_not},
            )
        if any(map(profile.uses, _USING_MODELS)):
            kit = self.models.add_to(kit, bundled=profile.uses(_BUNDLED))
        if profile.uses("read_first"):
            kit = kit._replace(reader=self.reader)
        return kit

    def close(self) -> None:
        """Close every part that was made, even if one of them fails."""
        close_all([*self._workers(), self.tiers.close, self.db.close])

    def _workers(self) -> Iterator[Callable[[], None]]:
        """Return how to stop what works in the background, in this order; nothing works on a closed file."""
        made = vars(self)
        if "folders" in made:
            yield self.folders.stop
        if self.db.closed:
            return
        if "extraction_worker" in made:
            yield self.extraction_worker.stop
        if "embedding" in made:
            yield self.embedding.close
        if "hit_counts" in made:
            yield self.hit_counts.stop
        if self.tables.replicas is not None:
            yield self.tables.replicas.close
