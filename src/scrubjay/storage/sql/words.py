"""Texts as lines of tokens, as the keyword index takes them in."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from scrubjay.storage.database import NOTE, Connection, Database, Gathered
from scrubjay.storage.sql.scope import in_parts, in_sight
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


class TokenLines:
    """Makes lines of tokens, each token as `written` writes it."""

    def __init__(self, written: Callable[[str], str]) -> None:
        self._written = written
        self._known: dict[str, _KnownWords] = {}

    def of(self, text: str, language: str = "") -> str:
        """Return the tokens of a text in a language, in order, with spaces between."""
        stems = stemmer_for(language)
        if stems not in self._known:
            self._known[stems] = _KnownWords(stems, self._written)
        return " ".join(filter(None, map(self._known[stems].__getitem__, words(text))))


class _KnownWords(dict[str, str]):
    """The tokens of words met before: a folder says the same ones over and over."""

    def __init__(self, stems: str, written: Callable[[str], str]) -> None:
        self._stems = stems
        self._written = written

    def __missing__(self, word: str) -> str:
        line = " ".join(map(self._written, make_tokens(word, self._stems)))
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        if len(word) <= MAX_TOKEN_CHARS:  # a blob of a megabyte is not met again
            self[word] = line
        return line


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
                count_again(db)
            db.executemany(NOTE, _CURRENT.items())

    def _changes(self) -> Changes:
        """Return what this write changes in the counts; to search by word, none of it is imported."""
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


MEMORIES = ""  # counts the memories themselves: no token is empty
_MOST_KNOWN = (
    100_000  # tokens whose counts are kept until anybody commits: most are asked for again
)
_COUNT_BATCH = 500
_MOST_GATHERED = 200_000  # tokens; a large store has millions, and need not be held at once


class SqlTermCounts:
    """The counts of one file, to be read."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lines = TokenLines(db.codec.token)
        self._commit: int | None = None
        self._known: dict[str | None, dict[str, int]] = {}

    def asked(self, text: str, language: str) -> dict[str, int]:
        """Return the tokens of a query, as a text of this language has them, with how often each stands."""
        return bag_of([self._lines.of(text, language)])

    def bags(self, ids: Sequence[str]) -> dict[str, Bag]:
        """Return, by id, the tokens of title, text, context and topics, with how often each stands."""
        found: dict[str, Bag] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    f"SELECT m.id, m.language, {_columns()} FROM memories AS m"
                    f" JOIN words AS w ON w.rowid = m.n WHERE m.id IN ({several})",
                    part,
                )
                found.update((id_, Bag(spoken, bag_of(lines))) for id_, spoken, *lines in rows)
        return found

    def counted(self, tokens: Collection[str], scope: Scope) -> TokenCounts:
        """Return how many memories hold each token, of all that the scope's person may see.

        Nothing else of the scope counts: a filter does not make a word rarer. What others have stored
        does not either, or scores would tell of it.
        """
        with self._db.watched() as (db, commit):
            if commit is None:
                self._db.write_gathered()
            known = self._known_by(scope.reader, commit)
            if missing := [token for token in (MEMORIES, *tokens) if token not in known]:
                known.update(_counts(db, missing, scope.reader))
            held_by = {token: held for token in tokens if (held := known[token])}
            return TokenCounts(known[MEMORIES], held_by)

    def _known_by(self, reader: str | None, commit: int | None) -> dict[str, int]:
        """Return what was counted for a person since anybody committed; inside a write, nothing."""
        if commit is None:
            return {}
        if commit != self._commit or sum(map(len, self._known.values())) > _MOST_KNOWN:
            self._commit, self._known = commit, {}
        return self._known.setdefault(reader, {})


def _counts(db: Connection, tokens: list[str], reader: str | None) -> Iterator[tuple[str, int]]:
    """Yield how many memories in sight hold each token."""
    condition, arguments = in_sight(Scope(reader=reader), "namespace")
    # One statement, so all counts are of the same moment; summed token by token, because to group them
    # takes twice as long.
    rows = db.execute(
        "SELECT value, (SELECT sum(held_by) FROM terms"
        f" WHERE token = value AND {condition}) FROM json_each(?)",
        (*arguments, json.dumps(tokens)),
    )
    return ((token, held or 0) for token, held in rows)


class Changes(Gathered):
    """How many more memories hold a token in a namespace, or fewer, than the table says."""

    def __init__(self) -> None:
        self._more: dict[str, Counter[str]] = {}

    def gain(self, lines: Iterable[str], namespace: str) -> None:
        """Note a memory that is new in a namespace, by its lines of tokens."""
        self._more.setdefault(namespace, Counter()).update(_distinct(lines))

    def lose(self, lines: Iterable[str], namespace: str) -> None:
        """Note a memory that is gone from a namespace."""
        self._more.setdefault(namespace, Counter()).subtract(_distinct(lines))

    def __len__(self) -> int:
        return sum(map(len, self._more.values()))

    def write(self, db: Connection) -> None:
        """Bring the table up to date; a token that nobody holds any more is not kept."""
        for namespace, tokens in self._more.items():
            changed = [(token, namespace, by) for token, by in sorted(tokens.items()) if by]
            more = [one for one in changed if one[2] > 0]
            fewer = [(by, token, namespace) for token, _, by in changed if by < 0]
            db.executemany(
                "INSERT INTO terms (token, namespace, held_by) VALUES (?, ?, ?)"
                " ON CONFLICT (token, namespace) DO UPDATE SET held_by = terms.held_by + excluded.held_by",
                more,
            )
            db.executemany(
                "UPDATE terms SET held_by = held_by + ? WHERE token = ? AND namespace = ?", fewer
            )
            db.executemany(
                "DELETE FROM terms WHERE token = ? AND namespace = ? AND held_by < 1",
                [key for _, *key in fewer],
            )
        self._more.clear()


def count_again(db: Connection) -> None:
    """Count everything anew from the keyword index, inside the caller's transaction."""
    db.execute("DELETE FROM terms")
    changes, after = Changes(), 0
    while batch := db.execute(
        f"SELECT w.rowid, m.namespace, {_columns()} FROM words AS w"
        " JOIN memories AS m ON m.n = w.rowid WHERE w.rowid > ? ORDER BY w.rowid LIMIT ?",
        (after, _COUNT_BATCH),
    ).fetchall():
        after = batch[-1][0]
        for _, namespace, *lines in batch:
            changes.gain(lines, namespace)
        if len(changes) > _MOST_GATHERED:
            changes.write(db)
    changes.write(db)


def write_anew(db: Connection) -> None:
    """Write the table once more on clean pages, so that no trace of a deleted token is left."""
    db.execute("CREATE TEMP TABLE copied AS SELECT token, namespace, held_by FROM terms")
    db.execute("DELETE FROM terms")
    db.execute("INSERT INTO terms SELECT token, namespace, held_by FROM copied")
    db.execute("DROP TABLE copied")


def bag_of(lines: Iterable[str]) -> Counter[str]:
    """Return how often each token stands in lines of tokens."""
    return Counter(" ".join(lines).split())


def _distinct(lines: Iterable[str]) -> set[str]:
    return {MEMORIES, *" ".join(lines).split()}


def _columns() -> str:
    return ", ".join(f"w.{field}" for field in FIELDS)
