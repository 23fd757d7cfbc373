"""From which words of which messages facts were drawn, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import in_parts


class Span(NamedTuple):
    """By which words of a message a fact is said, and the fact as that message says it."""

    message: str
    start: int
    stop: int
    text: str


class SqlSpans:
    """The spans of one file. They go with the fact, and with the message."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, fact: str, span: Span) -> None:
        """Note that a fact is said by these words of a message."""
        message, start, stop, text = span
        with self._db.write() as db:
            db.execute(
                "INSERT INTO spans (fact, message, start, stop, text) SELECT f.n, m.n, ?, ?, ?"
                " FROM memories AS f, memories AS m WHERE f.id = ? AND m.id = ?"
                " ON CONFLICT (fact, message, start) DO UPDATE SET text = excluded.text, stop ="
                " CASE WHEN spans.stop > excluded.stop THEN spans.stop ELSE excluded.stop END",
                (start, stop, self._db.codec.seal(text), fact, message),
            )

    def of(self, fact: str) -> list[Span]:
        """Return the messages that say a fact, in the order of saying."""
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = db.execute(
                "SELECT m.id, s.start, s.stop, s.text FROM spans AS s"
                " JOIN memories AS f ON f.n = s.fact"
                " JOIN memories AS m ON m.n = s.message WHERE f.id = ?"
                " ORDER BY m.created_us, m.n, s.start",
                (fact,),
            )
            return [Span(id_, start, stop, unseal(text)) for id_, start, stop, text in rows]

    def drop(self, message: str) -> None:
        """Forget what a message says: its text is another now."""
        with self._db.write() as db:
            db.execute(
                "DELETE FROM spans WHERE message = (SELECT n FROM memories WHERE id = ?)",
                (message,),
            )

    def facts_of(self, messages: Sequence[str]) -> list[str]:
        """Return the facts that any of these messages says."""
        found: dict[str, None] = {}
        with self._db.read() as db:
            for several, part in in_parts(messages):
                rows = db.execute(
                    "SELECT f.id FROM memories AS m JOIN spans AS s ON s.message = m.n"
                    f" JOIN memories AS f ON f.n = s.fact WHERE m.id IN ({several}) ORDER BY f.n",
                    part,
                )
                found.update((id_, None) for (id_,) in rows)
        return list(found)
