"""What a store is made of: its tables at once, models and what needs them when first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from types import NoneType
from typing import TYPE_CHECKING

from scrubjay.caller import Caller, person_named
from scrubjay.config import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS, check_chunk_sizes
from scrubjay.pipeline import Kit
from scrubjay.stores.sqlite import Database
from scrubjay.stores.sqlite_copies import SqliteCopies
from scrubjay.stores.sqlite_feedback import SqliteFeedback
from scrubjay.stores.sqlite_files import SqliteFiles
from scrubjay.stores.sqlite_graph import SqliteGraph
from scrubjay.stores.sqlite_keyword import SqliteKeyword
from scrubjay.stores.sqlite_people import SqlitePeople
from scrubjay.stores.sqlite_records import SqliteRecords
from scrubjay.stores.sqlite_terms import SqliteTerms
from scrubjay.stores.sqlite_topics import SqliteTopics
from scrubjay.stores.sqlite_vector import SqliteVector
from scrubjay.stores.sqlite_windows import SqliteWindows
from scrubjay.times import system_clock

if TYPE_CHECKING:
    from scrubjay.assistants import Assistants
    from scrubjay.embedding import Embedding
    from scrubjay.following import Following
    from scrubjay.models import Embedder, Generator, Reranker
    from scrubjay.profiles import Profile
    from scrubjay.stores.sqlite_history import SqliteHistory
    from scrubjay.write.shelf import Shelf

_ASSISTED = ("late_interaction", "cross_encoder", "rephrase", "borrow_words")


class StoreParts:
    """The parts of a store; its verbs are in `service.Store`."""

    def __init__(
        self,
        path: str,
        *,
        profile: str = "default",
        embedder: Embedder | str | bool | None = None,
        reranker: Reranker | str | bool | None = None,
        generator: Generator | str | bool | None = None,
        clock: Callable[[], datetime] | None = None,
        user: str | None = None,
        chunk_tokens: int = CHUNK_TOKENS,
        chunk_overlap_tokens: int = CHUNK_OVERLAP_TOKENS,
    ) -> None:
        self.path = path
        self.profile = profile
        self._clock = clock or system_clock
        person = None if user is None else person_named(user)
        self._db = Database(path)
        self._people = SqlitePeople(self._db)
        self._copies = SqliteCopies(self._db)
        self._caller = Caller(person, self._people)
        self._mine = self._caller.sees
        self._records = SqliteRecords(self._db)
        self._records.index_again()
        self._graph = SqliteGraph(self._db)
        self._keyword = SqliteKeyword(self._db)
        self._terms = SqliteTerms(self._db)
        self._files = SqliteFiles(self._db)
        self._vectors = SqliteVector(self._db)
        self._topics = SqliteTopics(self._db, self._vectors)
        self._topics.index_again()
        self._windows = SqliteWindows(self._db)
        self._feedback = SqliteFeedback(self._db, person)
        self._chunk_sizes = check_chunk_sizes(chunk_tokens, chunk_overlap_tokens)
        self._following_made: Following | None = None
        self._chosen_assistants = (reranker, generator)
        self._assistants_made: Assistants | None = None
        self._chosen_embedder = embedder
        self._embedding_made: Embedding | None = None
        self._making = threading.Lock()
        if {type(reranker), type(generator)} - {NoneType, bool}:
            self._check_assistants()

    def _check_assistants(self) -> None:
        """Tell a wrong argument at once, not at the first search that wants the model."""
        try:
            _ = self._assistants
        except BaseException:
            self._db.close()
            raise

    @property
    def _embedding(self) -> Embedding:
        with self._making:
            if self._embedding_made is None:
                from scrubjay.embedding import Embedding

                self._embedding_made = Embedding(self._db, self._vectors, self._chosen_embedder)
            return self._embedding_made

    def _shelf(self) -> Shelf:
        from scrubjay.stores.sqlite_folders import SqliteFolders
        from scrubjay.stores.sqlite_targets import SqliteTargets
        from scrubjay.write.chunks import Cutting
        from scrubjay.write.shelf import Shelf, own_files

        return Shelf(
            self._records,
            self._graph,
            self._files,
            SqliteFolders(self._db),
            SqliteTargets(self._db),
            self._clock,
            Cutting(*self._chunk_sizes),
            own_files(self.path),
            self._caller.user or "",
            self._caller.check_place,
        )

    def _history(self) -> SqliteHistory:
        from scrubjay.stores.sqlite_history import SqliteHistory

        return SqliteHistory(self._db)

    @property
    def _following(self) -> Following:
        with self._making:
            if self._following_made is None:
                from scrubjay.following import Following

                self._following_made = Following(self._shelf(), self._caller, self._people)
            return self._following_made

    @property
    def _assistants(self) -> Assistants:
        with self._making:
            if self._assistants_made is None:
                from scrubjay.assistants import Assistants

                self._assistants_made = Assistants(self._db, self._clock, *self._chosen_assistants)
            return self._assistants_made

    def _kit(self, profile: Profile) -> Kit:
        """Return the stores and the models that a profile has stages for: others are not even loaded."""
        kit = Kit(
            records=self._records,
            keyword=self._keyword,
            vectors=self._vectors,
            graph=self._graph,
            files=self._files,
            clock=self._clock,
            topics=self._topics,
            copies=self._copies,
            terms=self._terms,
            feedback=self._feedback,
        )
        if profile.uses("embed_query"):
            embedder, why_not = self._embedding.ready()
            kit = kit._replace(embedder=embedder, why_not={"embedder": why_not})
        if any(map(profile.uses, _ASSISTED)):
            kit = self._assistants.join(kit)
        return kit
