"""Keyword index, written: token lines and topics of each memory, and how many memories hold each token.

Every change of the index is made here, so the counts in `terms` are never off: they are written in the same
transactions. `terms` has a count for each token and namespace, and one for the token "", which counts the
memories themselves. The tokens of a memory are read from the index, not stored twice.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from scrubjay.storage.database import NOTE, Connection, Database, Gathered
from scrubjay.storage.sql.readable import texts
from scrubjay.storage.sql.scope import TOPIC, SqlTable, in_parts, namespace_condition
from scrubjay.text.analysis import (
    ANALYZER_VERSION,
    MAX_CACHED_WORDS,
    MAX_TOKEN_CHARS,
    make_tokens,
    stemmer_for,
    words,
)
from scrubjay.text.tfidf import Bag, TokenCounts
from scrubjay.types import Memory, Scope

_CURRENT = {"analyzer": ANALYZER_VERSION, "terms": 1, "turns": 1}
FIELDS = ("title", "text", "topics", "context")  # whose tokens are counted
_FIELD_COLUMNS = ", ".join(f"w.{field}" for field in FIELDS)
MEMORIES = ""  # counts the memories themselves: no token is empty
_MAX_CACHED = 100_000  # token counts, cached until the next commit: most are needed again
_COUNT_BATCH = 500
_MAX_GATHERED = 200_000  # tokens; a large store has millions, which need not be in memory at once


class TokenLines:
    """Turns texts into lines of tokens, each token encoded by `encode`."""

    def __init__(self, encode: Callable[[str], str]) -> None:
        self._encode = encode
        self._cached: dict[str, _RunCache] = {}

    def of(self, text: str, language: str = "") -> str:
        """Return the tokens of a text in a language, in order, separated by spaces."""
        if not text:
            return ""
        stems = stemmer_for(language)
        if stems not in self._cached:
            self._cached[stems] = _RunCache(stems, self._encode)
        # No word has a space in it.
        return " ".join(filter(None, map(self._cached[stems].__getitem__, text.split())))

    def of_name(self, name: str, language: str) -> str:
        """Return the same of a text whose words do not come again, such as an id."""
        return _line(name, stemmer_for(language), self._encode)


def _line(text: str, stems: str, encode: Callable[[str], str]) -> str:
    found = words(text) if not (text.isascii() and text.isalnum()) else [text]
    return " ".join([encode(token) for word in found for token in make_tokens(word, stems)])


class _RunCache(dict[str, str]):
    """The tokens of runs without a space that were seen before: texts use the same words again and again."""

    def __init__(self, stems: str, encode: Callable[[str], str]) -> None:
        self._stems = stems
        self._encode = encode

    def __missing__(self, run: str) -> str:
        line = _line(run, self._stems, self._encode)
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        if len(run) <= MAX_TOKEN_CHARS:  # a blob of a megabyte does not come again
            self[run] = line
        return line


class SqlWords(SqlTable, ABC):
    """Writes the keyword index, one row of token lines a memory; only inside a write. What is
    searched is made of these rows by SqliteWords and PostgresWords."""

    tables: tuple[str, ...] = ("words", "topics", "terms")

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._lines = TokenLines(db.codec.token)

    def is_current(self) -> bool:
        return self._noted() == _CURRENT

    def has_other_rules(self) -> bool:
        """True when the words were indexed by other rules of `text.analysis`."""
        return self._noted().get("analyzer", ANALYZER_VERSION) != ANALYZER_VERSION

    def has_neighbors(self) -> bool:
        """True when short messages were indexed with their neighbors."""
        return "turns" in self._noted()

    def _noted(self) -> dict[str, int]:
        return dict(
            self._rows("SELECT key, value FROM meta WHERE key IN ('analyzer', 'terms', 'turns')")
        )

    def clear(self) -> None:
        """Delete all words and topics, to be written again; those are counted."""
        with self._db.write() as db:
            self._db.write_gathered()
            for table in self.tables:
                db.execute(f"DELETE FROM {table}")
            db.execute(NOTE, ("terms", _CURRENT["terms"]))

    def note_current(self) -> None:
        """Record that all words are of this version, and count them if they were never counted."""
        with self._db.write() as db:
            self._db.write_gathered()
            if "terms" not in self._noted():
                count_terms(db)
            db.executemany(NOTE, _CURRENT.items())

    def insert(self, numbered: Sequence[tuple[int, Memory]]) -> None:
        """Index memories that are not indexed yet, each after its number."""
        lines = [self.lines_of(memory) for _, memory in numbered]
        with self._db.write() as db:
            self.put_lines([(n, *of) for (n, _), of in zip(numbered, lines, strict=True)])
            changes = self._db.gathering(TermChanges)
            for (_, memory), of in zip(numbered, lines, strict=True):
                changes.gain(of[: len(FIELDS)], memory.namespace)
            exact = self._db.codec.exact
            if topics := [(exact(t, TOPIC), n) for n, memory in numbered for t in memory.topics]:
                db.executemany("INSERT INTO topics (topic, memory) VALUES (?, ?)", topics)

    def replace(self, n: int, memory: Memory, old_namespace: str) -> None:
        """Index a changed memory again; `old_namespace` is where it was."""
        with self._db.write() as db:
            changes = self._db.gathering(TermChanges)
            for _, _, before in _lines_of(db, [n]):
                changes.lose(before, old_namespace)
            self._drop(db, [n])
            db.execute("DELETE FROM topics WHERE memory = ?", (n,))
            self.insert([(n, memory)])

    def lines_of(self, memory: Memory) -> list[str]:
        """Return the token lines of a memory, by field."""
        name = os.path.basename(memory.source or "") if memory.type == "document" else ""
        ident = f"{memory.id} {name}"  # people search for file names, too
        fields = (memory.title, _own_words(memory), " ".join(memory.topics), memory.context)
        lines = [self._lines.of(field, memory.language) for field in fields]
        return [*lines, self._lines.of_name(ident, memory.language)]

    def put_topics(self, renamed: Iterable[tuple[int, Sequence[str], str]]) -> None:
        """Replace the topics of memories, each given by number, topics and language."""
        new = {n: self._lines.of(" ".join(topics), language) for n, topics, language in renamed}
        self._put_field("topics", new)

    def put_context(self, n: int, context: str, language: str) -> bool:
        """Replace the context of a memory; False if its tokens have not changed."""
        return self._put_field("context", {n: self._lines.of(context, language)})

    def _put_field(self, field: str, new: dict[int, str]) -> bool:
        """Replace one field of memories, by number; False if it has not changed in any."""
        at = FIELDS.index(field)
        with self._db.write() as db:
            for n, namespace, lines in _lines_of(db, list(new)):
                if lines[at] == new[n]:
                    del new[n]
                    continue
                changes = self._db.gathering(TermChanges)
                changes.lose(lines, namespace)
                changes.gain((*lines[:at], new[n], *lines[at + 1 :]), namespace)
            if new:
                self._replace(db, field, new)
        return bool(new)

    def delete(self, numbers: Sequence[int]) -> None:
        """Delete the words of memories that are deleted next; their topics are deleted with them."""
        with self._db.write() as db:
            changes = self._db.gathering(TermChanges)
            for _, namespace, lines in _lines_of(db, numbers):
                changes.lose(lines, namespace)
            self._drop(db, numbers)

    @abstractmethod
    def put_lines(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add token lines of another index, each after its number, without counting."""

    def drop_lines(self, numbers: Sequence[int]) -> None:
        """Delete the token lines of memories, without counting."""
        with self._db.write() as db:
            self._drop(db, numbers)

    @abstractmethod
    def overwrite_deleted(self) -> None:
        """Erase deleted words from the index; only inside a write."""

    @abstractmethod
    def _replace(self, db: Connection, field: str, lines: Mapping[int, str]) -> None:
        """Replace one field of memories, by number."""

    @abstractmethod
    def _drop(self, db: Connection, numbers: Sequence[int]) -> None:
        """Delete the lines of memories."""


def _lines_of(
    db: Connection, numbers: Sequence[int]
) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    for several, part in in_parts(numbers):
        rows = db.execute(
            f"SELECT m.n, m.namespace, {_FIELD_COLUMNS}"
            f" FROM memories AS m JOIN words AS w ON w.rowid = m.n WHERE m.n IN ({several})",
            part,
        ).fetchall()
        for n, namespace, *lines in rows:
            yield n, namespace if type(namespace) is str else "", texts(lines)


def _own_words(memory: Memory) -> str:
    """Return the words of a memory's text; of front matter only what is in no field of its own.

    `severity` there is the name of a field, not a word of the document. Recalled text is not a message's
    own.
    """
    if memory.type == "message":
        from scrubjay.text.recall_tags import blank_recalled

        return blank_recalled(memory.text)
    if memory.metadata.get("format") != "markdown":
        return memory.text
    from scrubjay.text.front_matter import other_words
    from scrubjay.text.markdown import front_matter

    _, body = front_matter(memory.text)
    front = memory.metadata.get("front_matter")
    if not body or not isinstance(front, dict):
        return memory.text
    return "\n".join((memory.text[body:], *other_words(front)))


class SqlTermCounts(SqlTable):
    """The table `terms`, read: how many memories hold each token, and how often one does."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._lines = TokenLines(db.codec.token)
        self._commit: int | None = None
        self._cached: dict[str | None, dict[str, int]] = {}

    def query_tokens(self, text: str, language: str) -> dict[str, int]:
        """Return the tokens of a query, as a text of this language has them, with their counts."""
        return _count_tokens([self._lines.of(text, language)])

    def bags(self, ids: Sequence[str]) -> dict[str, Bag]:
        """Return, by id, the tokens of title, text, context and topics, with their counts."""
        rows = self._rows_in(
            f"SELECT m.id, m.language, {_FIELD_COLUMNS} FROM memories AS m"
            " JOIN words AS w ON w.rowid = m.n WHERE m.id IN ({values})",
            ids,
        )
        return {id_: Bag(language, _count_tokens(texts(lines))) for id_, language, *lines in rows}

    def counted(self, tokens: Collection[str], scope: Scope) -> TokenCounts:
        """Return how many memories hold each token, of all that the scope's person may see.

        Nothing else of the scope counts: a filter does not make a word rarer. Memories of others do not
        count either, or scores would reveal them.
        """
        with self._db.watched() as (db, commit):
            if commit is None:
                self._db.write_gathered()
            known = self._cache_for(scope.reader, commit)
            if missing := [token for token in (MEMORIES, *tokens) if token not in known]:
                known.update(_read_counts(db, missing, scope.reader))
            # SQLite cuts a token of a damaged line at a NUL, and returns no count for it.
            held_by = {token: held for token in tokens if (held := known.get(token))}
            return TokenCounts(known[MEMORIES], held_by)

    def held_by(self, terms: Collection[str], scope: Scope) -> TokenCounts:
        """Return the same for tokens of a query, which are not encoded."""
        encoded = {self._db.codec.token(term): term for term in terms}
        memories, held = self.counted(encoded, scope)
        return TokenCounts(memories, {encoded[token]: many for token, many in held.items()})

    def _cache_for(self, reader: str | None, commit: int | None) -> dict[str, int]:
        """Return the counts for a person since the last commit; inside a write, none."""
        if commit is None:
            return {}
        if commit != self._commit or sum(map(len, self._cached.values())) > _MAX_CACHED:
            self._commit, self._cached = commit, {}
        return self._cached.setdefault(reader, {})


def _read_counts(
    db: Connection, tokens: list[str], reader: str | None
) -> Iterator[tuple[str, int]]:
    condition, arguments = namespace_condition(Scope(reader=reader), "namespace")
    # One statement, so all counts are of the same moment; summed token by token, because grouping takes
    # twice as long.
    rows = db.execute(
        "SELECT value, (SELECT sum(held_by) FROM terms"
        f" WHERE token = value AND {condition}) FROM json_each(?)",
        (*arguments, json.dumps(tokens)),
    )
    return ((token, held or 0) for token, held in rows)


class TermChanges(Gathered):
    """Changes of the counts in `terms`, by namespace and token, gathered during a write."""

    def __init__(self) -> None:
        self._changes: dict[str, Counter[str]] = {}

    def gain(self, lines: Iterable[str], namespace: str) -> None:
        """Count a memory that was added to a namespace, by its token lines."""
        self._changes.setdefault(namespace, Counter()).update(_distinct_tokens(lines))

    def lose(self, lines: Iterable[str], namespace: str) -> None:
        """Count a memory that was removed from a namespace."""
        self._changes.setdefault(namespace, Counter()).subtract(_distinct_tokens(lines))

    def __len__(self) -> int:
        return sum(map(len, self._changes.values()))

    def held(self) -> dict[tuple[str, str], int]:
        """Return the gathered counts, by token and namespace."""
        return {
            (token, namespace): count
            for namespace, tokens in self._changes.items()
            for token, count in tokens.items()
            if count
        }

    def write(self, db: Connection) -> None:
        """Update the table; a token that no memory holds any more is deleted."""
        for namespace, tokens in self._changes.items():
            changed = [(token, namespace, by) for token, by in sorted(tokens.items()) if by]
            fewer = [(by, token, namespace) for token, _, by in changed if by < 0]
            db.executemany(
                "INSERT INTO terms (token, namespace, held_by) VALUES (?, ?, ?)"
                " ON CONFLICT (token, namespace) DO UPDATE SET held_by = terms.held_by + excluded.held_by",
                [row for row in changed if row[2] > 0] if fewer else changed,
            )
            if not fewer:
                continue
            db.executemany(
                "UPDATE terms SET held_by = held_by + ? WHERE token = ? AND namespace = ?", fewer
            )
            db.executemany(
                "DELETE FROM terms WHERE token = ? AND namespace = ? AND held_by < 1",
                [key for _, *key in fewer],
            )
        self._changes.clear()


def count_terms(db: Connection) -> None:
    """Count everything again from the keyword index, inside the caller's transaction."""
    db.execute("DELETE FROM terms")
    changes, after = TermChanges(), 0
    while batch := db.execute(
        f"SELECT w.rowid, m.namespace, {_FIELD_COLUMNS} FROM words AS w"
        " JOIN memories AS m ON m.n = w.rowid WHERE w.rowid > ? ORDER BY w.rowid LIMIT ?",
        (after, _COUNT_BATCH),
    ).fetchall():
        after = batch[-1][0]
        for _, namespace, *lines in batch:
            changes.gain(texts(lines), namespace)
        if len(changes) > _MAX_GATHERED:
            changes.write(db)
    changes.write(db)


def _count_tokens(lines: Iterable[str]) -> Counter[str]:
    return Counter(" ".join(lines).split())


def _distinct_tokens(lines: Iterable[str]) -> set[str]:
    return {MEMORIES, *" ".join(lines).split()}
