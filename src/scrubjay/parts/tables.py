"""Everything that one database file holds, made in one place: for a store's own file and for each tier."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.search.pipeline import OF_A_FILE, Kit
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
    from scrubjay.storage.sql.words import SqlTermCounts


def _replicas(db: Database, servers: ReplicaAddresses) -> Replicas | None:
    """Return the servers of a store; one without any need not even import them."""
    if servers == NO_REPLICAS:
        return None
    from scrubjay.storage.replicas.replicas import Replicas

    return Replicas(db, servers)


class Tables:
    """The stores of one file, for who asks. A new one is a line here, by the name it has in a Kit."""

    def __init__(
        self, db: Database, person: str | None, servers: ReplicaAddresses = NO_REPLICAS
    ) -> None:
        self.db = db
        self.people = SqlCollections(db)
        self.copies = SqlCopies(db)
        self.records = SqlRecords(db)
        self.replicas = _replicas(db, servers)
        self.graph = (self.replicas and self.replicas.graph) or SqlGraph(db)
        self.keyword = db.keyword
        self.files = SqlFiles(db)
        self.vectors = (self.replicas and self.replicas.vectors) or db.vectors
        self.topics = SqlTopics(db, self.vectors)
        self.windows = SqlValidity(db)
        self._person = person

    @cached_property
    def terms(self) -> SqlTermCounts:
        """How many memories hold each token. Most searches do without, and need not import it."""
        from scrubjay.storage.sql.words import SqlTermCounts

        return SqlTermCounts(self.db)

    @cached_property
    def feedback(self) -> SqlFeedback:
        """What became of results."""
        from scrubjay.storage.sql.feedback import SqlFeedback

        return SqlFeedback(self.db, self._person)

    @cached_property
    def moments(self) -> SqlTimeline:
        """When things were said and when they happened."""
        from scrubjay.storage.sql.messages import SqlTimeline

        return SqlTimeline(self.db)

    @property
    def kit(self) -> Kit:
        """The part of a search's kit that these stores are."""
        return self.light_kit._replace(
            terms=self.terms, feedback=self.feedback, moments=self.moments
        )

    @property
    def light_kit(self) -> Kit:
        """The same for a search that counts neither tokens nor feedback, and does not ask for times."""
        stores = vars(self)
        return Kit(**{name: stores[name] for name in OF_A_FILE if name in stores})

    def index_again(self) -> None:
        """Make every index anew whose rules have changed since the file was written."""
        self.records.index_again()
        self.topics.index_again()

    def is_current(self) -> bool:
        """True when no index was made by other rules than those of this scrubjay."""
        return self.records.is_current() and self.topics.is_current()
