"""How many memories hold a term, in Postgres, kept until anybody commits.

To count them takes longer than to rank: Postgres looks at each. The counts of table `terms` are of
other tokens: it takes `don't` as one, and the words of an id as none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.storage.database import Clause, Connection, Database
from scrubjay.storage.postgres.words import Indexed, indexed_at
from scrubjay.storage.sql.scope import EVERYTHING, where
from scrubjay.types import Scope, Term

_MOST_KNOWN = 10_000
_Known = dict[tuple[str | None, Term | None], int]


class Counting(NamedTuple):
    """What is known at one commit, and how the rest is counted."""

    db: Connection
    of: Database
    indexed: Indexed
    known: _Known

    def held(self, terms: Sequence[Term], reader: str | None = None) -> list[int]:
        """Count the memories that hold each term, of all or of those that a person may see."""
        missing = [term for term in dict.fromkeys(terms) if (reader, term) not in self.known]
        seen = narrowing(Scope(reader=reader), self.of)
        counting: list[str] = []
        given: list[object] = []
        for term in missing:
            held, _ = self.of.holding(term)
            counting.append(
                f"(SELECT count(DISTINCT w.memory) FROM ({held.sql}) AS w WHERE TRUE{seen.sql})"
            )
            given += (*held.arguments, *seen.arguments)
        if missing:
            row = self.db.execute(f"SELECT {', '.join(counting)}", given).fetchone()
            self.known.update(
                ((reader, term), count) for term, count in zip(missing, row, strict=True)
            )
        return [self.known[reader, term] for term in terms]

    def seen(self, reader: str) -> int:
        """Count what a person may see."""
        if (reader, None) not in self.known:
            condition, arguments = where(Scope(reader=reader), self.of)
            counting = f"SELECT count(*) FROM memories AS m WHERE {condition}"
            self.known[reader, None] = int(self.db.execute(counting, arguments).fetchone()[0])
        return self.known[reader, None]


class PostgresCounts:
    """The counts of one schema."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._commit = -1
        self._known: _Known = {}

    def at(self, db: Connection) -> Counting:
        """Return what is known now; inside a write nothing is, and nothing is kept."""
        indexed, commit = indexed_at(db)
        if self._db.in_write:
            return Counting(db, self._db, indexed, {})
        if commit != self._commit or len(self._known) > _MOST_KNOWN:
            # Another thread may still fill the old one: what it counts belongs there.
            self._known, self._commit = {}, commit
        return Counting(db, self._db, indexed, self._known)


def narrowing(scope: Scope, db: Database) -> Clause:
    """Return what narrows `w.memory` to a scope."""
    condition, arguments = where(scope, db)
    if condition == EVERYTHING:
        return Clause("", ())
    seen = f" AND EXISTS (SELECT 1 FROM memories AS m WHERE m.n = w.memory AND {condition})"
    return Clause(seen, tuple(arguments))
