"""Everything that one database file holds, made in one place: for a store's own file and for each tier."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.pipeline import OF_A_FILE, Kit
from scrubjay.stores.sqlite import Database
from scrubjay.stores.sqlite_copies import SqliteCopies
from scrubjay.stores.sqlite_files import SqliteFiles
from scrubjay.stores.sqlite_graph import SqliteGraph
from scrubjay.stores.sqlite_keyword import SqliteKeyword
from scrubjay.stores.sqlite_people import SqlitePeople
from scrubjay.stores.sqlite_records import SqliteRecords
from scrubjay.stores.sqlite_topics import SqliteTopics
from scrubjay.stores.sqlite_vector import SqliteVector
from scrubjay.stores.sqlite_windows import SqliteWindows

if TYPE_CHECKING:
    from scrubjay.stores.sqlite_feedback import SqliteFeedback
    from scrubjay.stores.sqlite_moments import SqliteMoments
    from scrubjay.stores.sqlite_terms import SqliteTerms


class Tables:
    """The stores of one file, for who asks. A new one is a line here, by the name it has in a Kit."""

    def __init__(self, db: Database, person: str | None) -> None:
        self.db = db
        self.people = SqlitePeople(db)
        self.copies = SqliteCopies(db)
        self.records = SqliteRecords(db)
        self.graph = SqliteGraph(db)
        self.keyword = SqliteKeyword(db)
        self.files = SqliteFiles(db)
        self.vectors = SqliteVector(db)
        self.topics = SqliteTopics(db, self.vectors)
        self.windows = SqliteWindows(db)
        self._person = person

    @cached_property
    def terms(self) -> SqliteTerms:
        """How many memories hold each token. Most searches do without, and need not import it."""
        from scrubjay.stores.sqlite_terms import SqliteTerms

        return SqliteTerms(self.db)

    @cached_property
    def feedback(self) -> SqliteFeedback:
        """What became of results."""
        from scrubjay.stores.sqlite_feedback import SqliteFeedback

        return SqliteFeedback(self.db, self._person)

    @cached_property
    def moments(self) -> SqliteMoments:
        """When things were said and when they happened."""
        from scrubjay.stores.sqlite_moments import SqliteMoments

        return SqliteMoments(self.db)

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
