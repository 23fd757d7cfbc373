"""Writer of the keyword index in Postgres: lines of tokens, and token vectors that are searched.

A memory has one or more pairs of token vectors. `main` holds title, context and text, `ident` the id and
the topics. A position is left out where a field ends, so that no phrase runs on into the next field.
Postgres counts no position beyond 16,383 and no more than 255 of one token: a longer text goes on in the
next part, and the tokens ahead stand at the end of this part as well, so that every phrase is whole in
one of the two. Tokens ahead have their own label, and no phrase that begins there is counted.

The numbers of memories and tokens are stored in the same transaction: counting takes longer than the
search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Clause, Connection, Gathered
from scrubjay.storage.postgres.session import copy_rows
from scrubjay.storage.sql.keyword_index import Growth, forget_size, split_line, split_run
from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sql.words import SqlWords
from scrubjay.types import Term

# The labels of tokens, which tell fields apart.
TITLE, CONTEXT, AHEAD, TEXT = "ABCD"
TOPICS, IDENT = "AD"
COUNTED = TITLE + CONTEXT + TEXT  # of the first token, so that a run of tokens counts once
_OWN = TITLE + AHEAD + TEXT

MAX_POSITIONS = 15_000
MAX_ALIKE = 200  # equal tokens of a part; 55 more may be ahead
MAX_AHEAD = 1_000
_MAX_ALIKE_AHEAD = 255
_MAX_BYTES = 500_000  # a vector has at most a megabyte
_MAX_BYTES_AHEAD = 900_000
_LEAST_COPIED = 8  # COPY waits for what was sent before, and twice more for itself
_MAX_CHARS = 500  # a token has at most 2,046 bytes

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


def holding(term: Term, codec: Codec) -> tuple[Clause, Clause]:
    spared = Term(tuple((token,) for token in term.unless))
    return (
        _holding(tsquery(term, codec), tsquery(spared, codec)),
        _holding(tsquery(term, codec, _OWN), tsquery(spared, codec, _OWN)),
    )


def _holding(wanted: str, spared: str) -> Clause:
    if not spared:
        return Clause(_HOLDS, (wanted, wanted))
    # Not in the tsquery: that matches a part, and another part may contain what is to be spared.
    sparing = f"{_HOLDS} AND memory NOT IN ({_HOLDS})"
    return Clause(sparing, (wanted, wanted, spared, spared))


def tsquery(term: Term, codec: Codec, labels: str = "") -> str:
    """Return the query for a term, in any field or those of some labels; `unless` is not in it."""
    return " | ".join(filter(None, (run_query(run, codec, labels, labels) for run in term.any_of)))


def run_query(run: Sequence[str], codec: Codec, first: str = "", others: str = "") -> str:
    """Return the query for neighbouring tokens, with the labels each may have; a star marks a prefix."""
    tokens, prefix = split_run(run, codec)
    tokens = tuple(token[:_MAX_CHARS] for token in tokens)

    def mark(at: int) -> str:
        star = "*" if prefix and at == len(tokens) else ""
        labels = others if at > 1 else first
        return f":{star}{labels}" if star or labels else ""

    return " <-> ".join(f"{_quoted(token)}{mark(at)}" for at, token in enumerate(tokens, 1))


class Told(Gathered):
    """Memories whose words were written, for the replica of words."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def write(self, db: Connection) -> None:
        db.execute(
            "INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, memories AS m"
            " WHERE p.tier = 'words' AND m.n = ANY(?::bigint[])",
            (self.numbers,),
        )


class PostgresWords(SqlWords):
    """Writes the keyword index of one schema; only inside a write."""

    tables = ("words", "word_parts", "topics", "terms")

    def clear(self) -> None:
        """Drop all words and topics; what is put afterwards is counted."""
        with self._db.write() as db:
            super().clear()
            forget_size(db)

    def put_lines(self, rows: Sequence[Sequence[Any]]) -> None:
        with self._db.write() as db:
            if len(rows) < _LEAST_COPIED:
                for n, *lines in rows:
                    self._insert(db, n, lines)
                return
            made = {n: token_vectors(*lines) for n, *lines in rows}
            columns = ("rowid", *_LINES.split(", "), "length")
            copy_rows(db, "words", columns, ((*row, made[row[0]].length) for row in rows))
            copy_rows(
                db,
                "word_parts",
                ("memory", "part", "main", "ident", "length"),
                (
                    (n, at, *part, vectors.length)
                    for n, vectors in made.items()
                    for at, part in enumerate(vectors.parts)
                ),
            )
            self._grow(len(made), sum(vectors.length for vectors in made.values()))
            self._db.gathering(Told).numbers += made

    def overwrite_deleted(self) -> None:
        """Do nothing: deleted rows in Postgres are for the server to vacuum."""

    def _grow(self, memories: int, tokens: int) -> None:
        growth = self._db.gathering(Growth)
        growth.memories += memories
        growth.tokens += tokens

    def _insert(self, db: Connection, n: int, lines: Sequence[str]) -> None:
        vectors = token_vectors(*lines)
        first, *others = vectors.parts
        # Nearly always there is one part: one statement saves a round trip.
        db.execute(_INSERT, (n, *lines, vectors.length, n, *first, vectors.length))
        if others:
            db.executemany(
                _INSERT_PART.format(part="?"),
                [(n, at, *part, vectors.length) for at, part in enumerate(others, 1)],
            )
        self._grow(1, vectors.length)
        self._db.gathering(Told).numbers.append(n)

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
        for several, part in in_parts(numbers):
            deleted = db.execute(
                f"DELETE FROM words WHERE rowid IN ({several}) RETURNING length", part
            ).fetchall()
            db.execute(f"DELETE FROM word_parts WHERE memory IN ({several})", part)
            self._grow(-len(deleted), -sum(length for (length,) in deleted))


class TokenVectors(NamedTuple):
    """The pairs (main, ident) of token vectors in the syntax of Postgres, and the number of tokens."""

    parts: list[tuple[str, str]]
    length: int


def token_vectors(title: str, text: str, topics: str, context: str, ident: str) -> TokenVectors:
    mains = [(split(title), TITLE), (split(context), CONTEXT), (split(text), TEXT)]
    idents = [(split(topics), TOPICS), (split(ident), IDENT)]
    first, second = list(_vectors(mains)), list(_vectors(idents))
    empty = [""] * abs(len(first) - len(second))
    length = sum(len(tokens) for tokens, _ in (*mains, *idents))
    return TokenVectors(list(zip(first + empty, second + empty, strict=False)), length)


class _Vector:
    """A token vector under construction."""

    def __init__(self) -> None:
        self._positions: dict[str, list[str]] = {}
        self._alike: Counter[str] = Counter()
        self._bytes = 0
        self.last = 0

    def takes(self, token: str, most: int, most_alike: int, most_bytes: int) -> bool:
        return self.last < most and self._alike[token] < most_alike and self._bytes < most_bytes

    def add(self, token: str, label: str) -> None:
        self.last += 1
        self._alike[token] += 1
        self._bytes += 2 if token in self._positions else len(token.encode()) + 8
        mark = f"{self.last}{'' if label == TEXT else label}"
        self._positions.setdefault(token, []).append(mark)

    def __str__(self) -> str:
        return " ".join(
            f"{_quoted(token)}:{','.join(at)}" for token, at in self._positions.items()
        )


def _vectors(fields: Sequence[tuple[list[str], str]]) -> Iterator[str]:
    """Yield vectors that contain the fields; the last field may be split."""
    vector = _Vector()
    for tokens, label in fields:
        for at, token in enumerate(tokens):
            if not vector.takes(token, MAX_POSITIONS, MAX_ALIKE, _MAX_BYTES):
                if label == TEXT:
                    _add_ahead(vector, tokens, at)
                yield str(vector)
                vector = _Vector()
            vector.add(token, label)
        vector.last += 1  # a gap
    yield str(vector)


def _add_ahead(vector: _Vector, tokens: list[str], at: int) -> None:
    most = vector.last + MAX_AHEAD
    for token in tokens[at : at + MAX_AHEAD]:
        if not vector.takes(token, most, _MAX_ALIKE_AHEAD, _MAX_BYTES_AHEAD):
            return
        vector.add(token, AHEAD)


def _quoted(token: str) -> str:
    """Return a token in which no character is read as syntax; it contains no quote."""
    return "'" + token.replace("\\", "\\\\") + "'"


def split(line: str) -> list[str]:
    """Return the tokens of a line as Postgres holds them."""
    return [token[:_MAX_CHARS] for token in split_line(line)]
