"""Everything that one database file holds, made in one place: for a store's own file and for each tier."""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.pipeline import OF_A_FILE, Kit
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


class Tables(NamedTuple):
    """The stores of one file. A new one is a line here and one in `tables_of`."""

    db: Database
    people: SqlitePeople
    windows: SqliteWindows
    records: SqliteRecords
    keyword: SqliteKeyword
    graph: SqliteGraph
    files: SqliteFiles
    vectors: SqliteVector
    topics: SqliteTopics
    copies: SqliteCopies
    terms: SqliteTerms
    feedback: SqliteFeedback

    @property
    def kit(self) -> Kit:
        """The part of a search's kit that these stores are: each has the name that it has there."""
        stores = self._asdict()
        return Kit(**{name: stores[name] for name in OF_A_FILE if name in stores})


def tables_of(db: Database, person: str | None) -> Tables:
    """Make every store of a file, for who asks."""
    vectors = SqliteVector(db)
    return Tables(
        db=db,
        people=SqlitePeople(db),
        windows=SqliteWindows(db),
        records=SqliteRecords(db),
        keyword=SqliteKeyword(db),
        graph=SqliteGraph(db),
        files=SqliteFiles(db),
        vectors=vectors,
        topics=SqliteTopics(db, vectors),
        copies=SqliteCopies(db),
        terms=SqliteTerms(db),
        feedback=SqliteFeedback(db, person),
    )


def index_again(tables: Tables) -> None:
    """Make every index anew whose rules have changed since the file was written."""
    tables.records.index_again()
    tables.topics.index_again()


def is_current(tables: Tables) -> bool:
    """True when no index of a file was made by other rules than those of this scrubjay."""
    return tables.records.is_current() and tables.topics.is_current()
