"""The words of memories, written: a row of lines of tokens a memory, its topics, and what is counted.

Every change of the keyword index is made here, so that `terms` counts what the index holds.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.storage.database import NOTE, Connection, Database
from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sql.token_lines import TokenLines
from scrubjay.text.analysis import ANALYZER_VERSION
from scrubjay.types import Memory

if TYPE_CHECKING:
    from scrubjay.storage.sql.terms import Changes

_CURRENT = {"analyzer": ANALYZER_VERSION, "terms": 1, "turns": 1}
FIELDS = ("title", "text", "topics", "context")  # whose tokens are counted
_TOPICS, _CONTEXT = FIELDS.index("topics"), FIELDS.index("context")


class SqlWords(ABC):
    """Writes a keyword index; only inside a write. How the rows are kept is the database's matter."""

    tables: tuple[str, ...] = ("words", "topics", "terms")

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lines = TokenLines(db.codec.token)

    def is_current(self) -> bool:
        """True when all words were made and counted by the rules of this version."""
        return self._noted() == _CURRENT

    def is_of_other_rules(self) -> bool:
        """True when the words were made by other rules of text.py; a new store has none."""
        return self._noted().get("analyzer", ANALYZER_VERSION) != ANALYZER_VERSION

    def _noted(self) -> dict[str, int]:
        with self._db.read() as db:
            rows = db.execute(
                "SELECT key, value FROM meta WHERE key IN ('analyzer', 'terms', 'turns')"
            )
            return dict(rows.fetchall())

    def knows_turns(self) -> bool:
        """True when short turns were indexed with those around them."""
        return "turns" in self._noted()

    def clear(self) -> None:
        """Drop all words and topics, to be put anew; what is put from now on is counted."""
        with self._db.write() as db:
            self._db.write_gathered()
            for table in self.tables:
                db.execute(f"DELETE FROM {table}")
            db.execute(NOTE, ("terms", _CURRENT["terms"]))

    def note_current(self) -> None:
        """Note that all words are those of this version, and count them where nobody has."""
        with self._db.write() as db:
            self._db.write_gathered()
            if "terms" not in self._noted():
                from scrubjay.storage.sql.terms import count_again

                count_again(db)
            db.executemany(NOTE, _CURRENT.items())

    def _changes(self) -> Changes:
        """Return what this write changes in the counts; to search by word, none of it is imported."""
        from scrubjay.storage.sql.terms import Changes

        return self._db.gathering(Changes)

    def put(self, n: int, memory: Memory, was_in: str | None = None) -> None:
        """Index a memory by its number, in place of what it was in some namespace."""
        token = self._db.codec.token
        name = os.path.basename(memory.source or "") if memory.type == "document" else ""
        ident = f"{memory.id} {name}"  # who remembers how a file is called types that
        fields = (memory.title, _said(memory), " ".join(memory.topics), memory.context, ident)
        lines = [self._lines.of(field, memory.language) for field in fields]
        with self._db.write() as db:
            changes = self._changes()
            if was_in is not None:
                for _, _, before in _held(db, [n]):
                    changes.lose(before, was_in)
                self._drop(db, [n])
                db.execute("DELETE FROM topics WHERE memory = ?", (n,))
            self._insert(db, n, lines)
            changes.gain(lines[: len(FIELDS)], memory.namespace)
            db.executemany(
                "INSERT INTO topics (topic, memory) VALUES (?, ?)",
                [(token(topic), n) for topic in memory.topics],
            )

    def put_topics(self, renamed: Iterable[tuple[int, Sequence[str], str]]) -> None:
        """Index other topics of memories, each given by its number, its topics and its language."""
        new = {n: self._lines.of(" ".join(topics), language) for n, topics, language in renamed}
        with self._db.write() as db:
            changes = self._changes()
            for n, namespace, lines in _held(db, list(new)):
                changes.lose(lines, namespace)
                changes.gain((*lines[:_TOPICS], new[n], *lines[_TOPICS + 1 :]), namespace)
            self._replace(db, "topics", new)

    def put_context(self, n: int, context: str, language: str) -> bool:
        """Index another context of a memory; False where its tokens are there already."""
        line = self._lines.of(context, language)
        with self._db.write() as db:
            for _, namespace, lines in _held(db, [n]):
                if lines[_CONTEXT] == line:
                    return False
                changes = self._changes()
                changes.lose(lines, namespace)
                changes.gain((*lines[:_CONTEXT], line, *lines[_CONTEXT + 1 :]), namespace)
            self._replace(db, "context", {n: line})
        return True

    def delete(self, numbers: Sequence[int]) -> None:
        """Drop the words of memories that are about to go; their topics go with them."""
        with self._db.write() as db:
            changes = self._changes()
            for _, namespace, lines in _held(db, numbers):
                changes.lose(lines, namespace)
            self._drop(db, numbers)

    def put_lines(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add lines of tokens as another index has them, each after its number; nothing is counted."""
        with self._db.write() as db:
            for n, *lines in rows:
                self._insert(db, n, lines)

    def drop_lines(self, numbers: Sequence[int]) -> None:
        """Remove the lines of memories; nothing is counted."""
        with self._db.write() as db:
            self._drop(db, numbers)

    @abstractmethod
    def overwrite_deleted(self) -> None:
        """Leave nothing of deleted words behind."""

    @abstractmethod
    def _insert(self, db: Connection, n: int, lines: Sequence[str]) -> None:
        """Add the lines of a memory that has none."""

    @abstractmethod
    def _replace(self, db: Connection, field: str, lines: Mapping[int, str]) -> None:
        """Put another line in one field of each of these memories."""

    def _drop(self, db: Connection, numbers: Sequence[int]) -> None:
        """Remove the lines of memories."""
        for several, part in in_parts(numbers):
            db.execute(f"DELETE FROM words WHERE rowid IN ({several})", part)


def _held(db: Connection, numbers: Sequence[int]) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the number, the namespace and the lines of tokens of memories."""
    for several, part in in_parts(numbers):
        rows = db.execute(
            f"SELECT m.n, m.namespace, {', '.join(f'w.{field}' for field in FIELDS)}"
            f" FROM memories AS m JOIN words AS w ON w.rowid = m.n WHERE m.n IN ({several})",
            part,
        ).fetchall()
        for n, namespace, *lines in rows:
            yield n, namespace, tuple(lines)


def _said(memory: Memory) -> str:
    """Return the words of a memory's text; of front matter only what is in no field of its own.

    `severity` is the name of a field there, and no word of the document. What a message repeats of a
    search is not its own.
    """
    if memory.type == "message":
        from scrubjay.text.recall_tags import heard

        return heard(memory.text)
    if memory.metadata.get("format") != "markdown":
        return memory.text
    from scrubjay.text.front_matter_fields import words_in
    from scrubjay.text.markdown import front_matter

    _, body = front_matter(memory.text)
    front = memory.metadata.get("front_matter")
    if not body or not isinstance(front, dict):
        return memory.text
    return "\n".join((memory.text[body:], *words_in(front)))
