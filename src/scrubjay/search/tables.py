"""Tables of one database, and the part of a search kit that they make up."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.search.pipeline import PER_DATABASE, Kit
from scrubjay.storage.changes import SqlChanges
from scrubjay.storage.database import Database
from scrubjay.storage.sql.collections import SqlCollections, SqlCopies
from scrubjay.storage.sql.files import SqlFiles
from scrubjay.storage.sql.graph import SqlGraph
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.storage.sql.scope import SqlValidity
from scrubjay.storage.sql.topics import SqlTopics
from scrubjay.text.urls import NO_REPLICAS, ReplicaAddresses

if TYPE_CHECKING:
    from scrubjay.storage.replicas.replicas import Replicas
    from scrubjay.storage.sql.feedback import SqlFeedback
    from scrubjay.storage.sql.messages import SqlTimeline
    from scrubjay.storage.sql.versions import SqlVersions
    from scrubjay.storage.sql.words import SqlTermCounts


class Tables:
    """The tables of one database, as one user sees them. Fields of a Kit have the Kit's names."""

    def __init__(
        self, db: Database, user: str | None, servers: ReplicaAddresses = NO_REPLICAS
    ) -> None:
        self.db = db
        self.people = SqlCollections(db)
        self.copies = SqlCopies(db)
        self.records = SqlRecords(db)
        self.replicas = _replicas(db, servers)
        self.graph = (self.replicas and self.replicas.graph) or SqlGraph(db)
        self.keyword = (self.replicas and self.replicas.keyword) or db.keyword
        self.files = SqlFiles(db)
        self.vectors = (self.replicas and self.replicas.vectors) or db.vectors
        self.topics = SqlTopics(db, self.vectors)
        self.windows = SqlValidity(db)
        self.changes = SqlChanges(db)
        self._user = user

    # Most searches need none of these, and do not import them.

    @cached_property
    def terms(self) -> SqlTermCounts:
        from scrubjay.storage.sql.words import SqlTermCounts

        return SqlTermCounts(self.db)

    @cached_property
    def feedback(self) -> SqlFeedback:
        from scrubjay.storage.sql.feedback import SqlFeedback

        return SqlFeedback(self.db, self._user)

    @cached_property
    def moments(self) -> SqlTimeline:
        from scrubjay.storage.sql.messages import SqlTimeline

        return SqlTimeline(self.db)

    @cached_property
    def versions(self) -> SqlVersions:
        from scrubjay.storage.sql.versions import SqlVersions

        return SqlVersions(self.db)

    @cached_property
    def kit(self) -> Kit:
        return self.light_kit._replace(
            terms=self.terms,
            feedback=self.feedback,
            moments=self.moments,
            versions=self.versions,
        )

    @cached_property
    def light_kit(self) -> Kit:
        """The same without the four tables that most searches do not need."""
        tables = vars(self)
        return Kit(**{name: tables[name] for name in PER_DATABASE if name in tables})

    def index_again(self) -> None:
        """Rebuild every index whose rules have changed since the file was written."""
        self.records.reindex()
        self.topics.reindex()

    def is_current(self) -> bool:
        return self.records.is_current() and self.topics.is_current()


def _replicas(db: Database, servers: ReplicaAddresses) -> Replicas | None:
    """Return the replicas of a store; without any, their code is not even imported."""
    if servers == NO_REPLICAS:
        return None
    from scrubjay.storage.replicas.replicas import Replicas

    return Replicas(db, servers)
