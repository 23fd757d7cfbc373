"""The words of memories in Postgres: the lines of tokens, and vectors of them that are searched.

How many memories there are and how many tokens they have together is noted in the same transaction:
to count them takes longer than the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.storage.database import Clause, Connection, Gathered
from scrubjay.storage.postgres.token_vectors import asked, asked_of_itself, vectors
from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sql.words import SqlWords
from scrubjay.types import Term

if TYPE_CHECKING:
    from scrubjay.storage.codec import Codec

_LINES = "title, text, topics, context, ident"
_HOLDS = "SELECT memory FROM word_parts WHERE (main @@ ?::tsquery OR ident @@ ?::tsquery)"
_INSERT_PART = (
    "INSERT INTO word_parts (memory, part, main, ident, length)"
    " VALUES (?, {part}, ?::tsvector, ?::tsvector, ?)"
)
_INSERT = (
    f"WITH lines AS (INSERT INTO words (rowid, {_LINES}, length) VALUES (?, ?, ?, ?, ?, ?, ?))"
    f" {_INSERT_PART.format(part=0)}"
)
_MEMORIES, _TOKENS = "indexed_memories", "indexed_tokens"
_ADD = (
    "INSERT INTO meta (key, value) VALUES (?, ?)"
    " ON CONFLICT (key) DO UPDATE SET value = meta.value + excluded.value"
)


class Indexed(NamedTuple):
    """How much the keyword index holds."""

    memories: int
    tokens: int


def indexed(db: Connection) -> Indexed:
    """Return how much the keyword index holds."""
    rows = db.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", (_MEMORIES, _TOKENS))
    noted = dict(rows.fetchall())
    return Indexed(noted.get(_MEMORIES, 0), noted.get(_TOKENS, 0))


def indexed_at(db: Connection) -> tuple[Indexed, int]:
    """Return how much the keyword index holds, and a number that changes whenever anybody has committed."""
    rows = db.execute(
        "SELECT key, value FROM meta WHERE key IN (?, ?, 'commits')", (_MEMORIES, _TOKENS)
    )
    noted = dict(rows.fetchall())
    return Indexed(noted.get(_MEMORIES, 0), noted.get(_TOKENS, 0)), noted.get("commits", 0)


def holding(term: Term, codec: Codec) -> tuple[Clause, Clause]:
    """Return how to select the memories that hold a term: in any field, and in their own fields."""
    spared = Term(tuple((token,) for token in term.unless))
    anywhere = _holding(asked(term, codec), asked(spared, codec))
    itself = _holding(asked_of_itself(term, codec), asked_of_itself(spared, codec))
    return anywhere, itself


def _holding(wanted: str, spared: str) -> Clause:
    if not spared:
        return Clause(_HOLDS, (wanted, wanted))
    # Not in the query itself: that is asked of a part, and another may hold what is to be spared.
    sparing = f"{_HOLDS} AND memory NOT IN ({_HOLDS})"
    return Clause(sparing, (wanted, wanted, spared, spared))


class Growth(Gathered):
    """How much more the keyword index holds than is noted."""

    def __init__(self) -> None:
        self.memories = 0
        self.tokens = 0

    def write(self, db: Connection) -> None:
        """Bring the notes up to date."""
        db.executemany(_ADD, [(_MEMORIES, self.memories), (_TOKENS, self.tokens)])


class PostgresWords(SqlWords):
    """Writes the keyword index of one schema; only inside a write."""

    tables = ("words", "word_parts", "topics", "terms")

    def clear(self) -> None:
        """Drop all words and topics, to be put anew; what is put from now on is counted."""
        with self._db.write() as db:
            super().clear()
            db.execute("DELETE FROM meta WHERE key IN (?, ?)", (_MEMORIES, _TOKENS))

    def put_lines(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add lines of tokens as another index has them, by COPY."""
        from scrubjay.storage.postgres.mirror import copy_rows

        made = {n: vectors(*lines) for n, *lines in rows}
        with self._db.write() as db:
            columns = ("rowid", *_LINES.split(", "), "length")
            copy_rows(db, "words", columns, ((*row, made[row[0]].length) for row in rows))
            copy_rows(
                db,
                "word_parts",
                ("memory", "part", "main", "ident", "length"),
                (
                    (n, at, *part, one.length)
                    for n, one in made.items()
                    for at, part in enumerate(one.parts)
                ),
            )
            growth = self._db.gathering(Growth)
            growth.memories += len(made)
            growth.tokens += sum(one.length for one in made.values())

    def overwrite_deleted(self) -> None:
        """Nothing to do: what Postgres keeps of deleted rows is its owner's to vacuum."""

    def _insert(self, db: Connection, n: int, lines: Sequence[str]) -> None:
        made = vectors(*lines)
        first, *others = made.parts
        # Nearly always there is one part: one statement is one journey less.
        db.execute(_INSERT, (n, *lines, made.length, n, *first, made.length))
        if others:
            db.executemany(
                _INSERT_PART.format(part="?"),
                [(n, at, *part, made.length) for at, part in enumerate(others, 1)],
            )
        growth = self._db.gathering(Growth)
        growth.memories += 1
        growth.tokens += made.length

    def _replace(self, db: Connection, field: str, lines: Mapping[int, str]) -> None:
        at = _LINES.split(", ").index(field)
        for several, part in in_parts(list(lines)):
            rows = db.execute(
                f"SELECT rowid, {_LINES} FROM words WHERE rowid IN ({several})", part
            ).fetchall()
            self._drop(db, part)
            for n, *before in rows:
                self._insert(db, n, [*before[:at], lines[n], *before[at + 1 :]])

    def _drop(self, db: Connection, numbers: Sequence[int]) -> None:
        growth = self._db.gathering(Growth)
        for several, part in in_parts(numbers):
            gone = db.execute(
                f"DELETE FROM words WHERE rowid IN ({several}) RETURNING length", part
            ).fetchall()
            db.execute(f"DELETE FROM word_parts WHERE memory IN ({several})", part)
            growth.memories -= len(gone)
            growth.tokens -= sum(length for (length,) in gone)
