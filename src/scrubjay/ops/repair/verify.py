"""Check a whole store: rows against their hashes, and everything that is derived against the rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from scrubjay.errors import StoreError
from scrubjay.ops.repair import Problem, Verified
from scrubjay.storage.database import Database
from scrubjay.storage.sql.graph import is_strength
from scrubjay.storage.sql.readable import has_right_length, vector_of
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.storage.sql.scope import TOPIC, SqlTable
from scrubjay.storage.sql.topics import TopicHashes
from scrubjay.storage.sql.vectors import SqlTokenVectors, is_width
from scrubjay.storage.sql.versions import SqlVersions
from scrubjay.storage.sql.words import FIELDS, MEMORIES, TermChanges
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.errors import is_damage
from scrubjay.storage.sqlite.postings.check import damage_of
from scrubjay.storage.sqlite.postings.migration import is_filled
from scrubjay.text.analysis import content_hash
from scrubjay.types import Chunk, Memory

Report = Callable[[int, int], None]

NEW_FILE = "copies every row that can be read into a new file, and keeps the old one"
KEEP = "leaves them as they are: forget them, or use a backup"  # a schema is not copied
REBUILD = "rebuilds it from the memories"
EMBED = "deletes them, and they are made again"
REMOVE = "removes them"
CHECKED = (
    *("file", "memories", "keyword index", "topics"),
    *("vectors", "token vectors", "links", "versions", "references"),
)
_BATCH = 200
_MOST_IDS = 1000
_MOST_LINES = 20  # of what SQLite reports


class _Found:
    """Counts one kind of problem, and collects the ids of its memories."""

    def __init__(self, check: str, detail: str, repair: str) -> None:
        self._check, self._detail, self._repair = check, detail, repair
        self.count = 0
        self._ids: dict[str, None] = {}

    def add(self, id_: object, count: int = 1) -> None:
        self.count += count
        if isinstance(id_, str) and len(self._ids) < _MOST_IDS:
            self._ids[id_] = None

    def problems(self) -> Iterator[Problem]:
        if self.count:
            yield Problem(self._check, self.count, self._detail, tuple(self._ids), self._repair)


class _Row(NamedTuple):
    """A memory with what is derived from it."""

    n: int
    memory: Memory
    chunks: Sequence[Chunk]
    tokens: Sequence[Any] | None


def verify(db: Database, report: Report | None = None) -> Verified:
    """Check everything; nothing is changed."""
    checks = {
        "file": _file,
        "memories": _memories,
        "vectors": _vectors,
        "token vectors": _token_vectors,
        "links": _links,
        "versions": _versions,
        "references": _references,
    }
    problems: list[Problem] = []
    table = _Checks(db)
    keep = NEW_FILE if isinstance(db, SqliteDatabase) else KEEP
    for done, (name, check) in enumerate(checks.items()):
        if report:
            report(done, len(checks))
        try:
            with db.one_state():  # a row that others write meanwhile would look damaged
                problems += check(table)
        except StoreError as error:
            problems.append(Problem(name, 1, str(error), (), keep))
            if name == "file":
                break
    if report:
        report(len(checks), len(checks))
    return Verified(db.path, table.memories, CHECKED, tuple(problems))


class _Checks(SqlTable):
    """Reads the tables of a store, and what can be read of each row."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.db = db
        self.records = SqlRecords(db)
        self.hashes = TopicHashes(db)
        self.memories = 0

    def rows(self, statement: str, arguments: Sequence[Any] = ()) -> list[Any]:
        return self._rows(statement, arguments)

    def lines(self, numbers: Sequence[int]) -> dict[int, Sequence[Any]]:
        columns = ", ".join(f"w.{field}" for field in FIELDS)
        rows = self._rows_in(
            f"SELECT m.n, m.namespace, {columns} FROM memories AS m JOIN words AS w ON w.rowid = m.n"
            " WHERE m.n IN ({values})",
            numbers,
        )
        return {n: lines for n, *lines in rows}

    def topics(self, numbers: Sequence[int]) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {n: set() for n in numbers}
        for memory, topic in self._rows_in(
            "SELECT memory, topic FROM topics WHERE memory IN ({values})", numbers
        ):
            found[memory].add(topic)
        return found

    def topic_hashes(self, numbers: Sequence[int]) -> dict[int, set[bytes]]:
        found: dict[int, set[bytes]] = {n: set() for n in numbers}
        for memory, hash_ in self._rows_in(
            "SELECT memory, hash FROM topic_hashes WHERE memory IN ({values})", numbers
        ):
            if not isinstance(hash_, str | int | float | None):
                found[memory].add(bytes(hash_))
        return found

    def token(self, topic: str) -> str:
        return self._db.codec.exact(topic, TOPIC)

    def has_embeddings(self) -> bool:
        """True when pgvector has copies of the vectors; they may be in a replica alone."""
        return self._row("SELECT to_regclass('embeddings')")[0] is not None


def _file(table: _Checks) -> Iterator[Problem]:
    """Ask SQLite whether its pages, indexes and keyword index are whole."""
    if not isinstance(table.db, SqliteDatabase):
        return
    try:
        with table.db.read() as db:
            rows = db.execute(f"PRAGMA integrity_check({_MOST_LINES})").fetchall()
    except StoreError as error:
        rows = [(str(error),)]
    wrong = [str(text) for (text,) in rows if text != "ok"]
    if wrong:
        first = wrong[0].splitlines()[0]
        yield Problem("file", len(wrong), f"SQLite reports: {first}", (), NEW_FILE)
        return
    if damage := _damage_of_index(table.db):
        yield Problem("keyword index", 1, damage, (), REBUILD)


def _damage_of_index(db: SqliteDatabase) -> str:
    """Compare the keyword index with its lines; "" where they agree, or cannot be compared."""
    with db.one_state(), db.read() as reader:
        filled = is_filled(reader)
        if damage := damage_of(reader, filled=filled):
            return damage
    return "" if filled else _damage_of_fts5(db)


def _damage_of_fts5(db: SqliteDatabase) -> str:
    """Let FTS5, which an older file still has, compare its index with its rows; "" where they agree,
    or cannot be compared."""

    class Undo(Exception):
        pass

    try:
        with db.write() as writer:
            try:
                writer.execute("INSERT INTO words (words) VALUES ('integrity-check')")
            except sqlite3.DatabaseError as error:
                if is_damage(error):
                    raise Undo("FTS5 reports that its index is damaged") from error
                raise
            raise Undo("")
    except Undo as found:
        return str(found)
    except StoreError:  # the store can only be read
        return ""


def damaged_rows(db: Database) -> list[Problem]:
    """Find memories and vectors that cannot be read: a part of `verify`, and quicker."""
    table = _Checks(db)
    unreadable = _Found("memories", "cannot be read", NEW_FILE)
    after = 0
    while batch := table.rows(*table.records.page_after(after, _BATCH)):
        after = batch[-1][0]
        for _, *stored in batch:
            if table.records.damage_of(stored):
                unreadable.add(stored[0])
    return [*unreadable.problems(), *_damaged_vectors(table)]


def _memories(table: _Checks) -> Iterator[Problem]:
    """Decode every memory, and compare all that is derived from its text."""
    keep = NEW_FILE if isinstance(table.db, SqliteDatabase) else KEEP
    unreadable = _Found("memories", "cannot be read", keep)
    changed = _Found(
        "content", "do not match the hash of their text", "keeps them, with a new hash"
    )
    unsplit = _Found("chunks", "have damaged or missing passages", "splits their text again")
    unindexed = _Found("keyword index", "are not in the keyword index as they are", REBUILD)
    untagged = _Found("topics", "are not listed under their topics", REBUILD)
    checked: list[str] = []
    counts = TermChanges()
    after = 0
    while batch := table.rows(*table.records.page_after(after, _BATCH)):
        after = batch[-1][0]
        numbers = [n for n, *_ in batch]
        lines, topics = table.lines(numbers), table.topics(numbers)
        hashes = table.topic_hashes(numbers)
        for n, *stored in batch:
            table.memories += 1
            why = table.records.damage_of(stored)
            if why:
                unreadable.add(stored[0])
                continue
            memory = table.records.decoded(stored)
            checked.append(memory.id)
            if content_hash(memory.text) != memory.content_hash:
                changed.add(memory.id)
            if not _are_whole(table.records.chunks_of(memory.id), memory.text):
                unsplit.add(memory.id)
            indexed = lines.get(n)
            if indexed is None or not _is_indexed(table, memory, indexed[1:]):
                unindexed.add(memory.id)
            else:
                counts.gain(indexed[1:], memory.namespace)
            named = {table.token(topic) for topic in memory.topics}
            if named != topics[n] or not table.hashes.match(memory.topics, hashes[n]):
                untagged.add(memory.id)
    for found in (unreadable, changed, unsplit, unindexed, untagged):
        yield from found.problems()
    yield from _counts(table, counts, complete=not unindexed.count and not unreadable.count)


def _are_whole(chunks: Sequence[Chunk], text: str) -> bool:
    """True when passages are numbered without a hole and lie in the text."""
    ordinals = [chunk.ordinal for chunk in chunks]
    inside = all(chunk.stop <= len(text) for chunk in chunks)
    return bool(chunks) and inside and ordinals == list(range(len(chunks)))


def _is_indexed(table: _Checks, memory: Memory, indexed: Sequence[Any]) -> bool:
    """True when the index has the tokens of a memory. Its context is left out for messages: those
    of others around it are part of that."""
    expected = table.db.words.lines_of(memory)[: len(FIELDS)]
    fields = range(len(FIELDS) - (memory.type == "message"))
    return all(expected[field] == indexed[field] for field in fields)


def _counts(table: _Checks, counted: TermChanges, *, complete: bool) -> Iterator[Problem]:
    """Compare the token counts with the index; not where the index is wrong already."""
    if not complete:
        return
    expected = counted.held()
    stored = {
        (token, namespace): held
        for token, namespace, held in table.rows("SELECT token, namespace, held_by FROM terms")
    }
    wrong = sum(expected.get(key) != stored.get(key) for key in expected.keys() | stored.keys())
    if wrong:
        detail = "counts of words are wrong"
        if expected.get((MEMORIES, "")) != stored.get((MEMORIES, "")):
            detail += ", among them that of the memories"
        yield Problem("counts", wrong, detail, (), REBUILD)


def _vectors(table: _Checks) -> Iterator[Problem]:
    yield from _damaged_vectors(table)
    unqueued = _Found("vectors", "are missing and not queued", "queues their passages")
    for id_, count in table.rows(
        "SELECT m.id, count(*) FROM models AS o CROSS JOIN chunks AS c"
        " JOIN memories AS m ON m.n = c.memory"
        " WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.chunk = c.n AND v.model = o.n)"
        " AND NOT EXISTS (SELECT 1 FROM wanting AS w WHERE w.chunk = c.n AND w.model = o.n)"
        # A message of recalled text alone has no vector.
        " AND m.type <> 'message' GROUP BY m.id"
    ):
        unqueued.add(id_, count)
    yield from unqueued.problems()
    yield from _copies_in_pgvector(table)


def _copies_in_pgvector(table: _Checks) -> Iterator[Problem]:
    """Compare the vectors with those that Postgres searches, if it has any."""
    if isinstance(table.db, SqliteDatabase) or not table.has_embeddings():
        return
    from scrubjay.storage.postgres.vectors import PostgresVector

    unlike = _Found("vectors", "differ from their copies in pgvector", REBUILD)
    assert isinstance(table.db.vectors, PostgresVector)
    for _, id_ in table.db.vectors.differing():
        unlike.add(id_)
    yield from unlike.problems()


def _damaged_vectors(table: _Checks) -> Iterator[Problem]:
    damaged = _Found("vectors", "are damaged", EMBED)
    lost = _Found("vectors", "belong to no passage or no model", REMOVE)
    after = 0
    while batch := table.rows(
        "SELECT v.n, v.vector, o.dims, c.n, m.id FROM vectors AS v"
        " LEFT JOIN models AS o ON o.n = v.model LEFT JOIN chunks AS c ON c.n = v.chunk"
        " LEFT JOIN memories AS m ON m.n = c.memory WHERE v.n > ? ORDER BY v.n LIMIT ?",
        (after, _BATCH),
    ):
        after = batch[-1][0]
        for _, stored, dims, chunk, id_ in batch:
            if chunk is None or dims is None or id_ is None:
                lost.add(id_)
            elif not (
                is_width(dims) and has_right_length(vector_of(table.db.codec, stored, dims))
            ):
                damaged.add(id_)
    yield from damaged.problems()
    yield from lost.problems()


def _token_vectors(table: _Checks) -> Iterator[Problem]:
    damaged = _Found("token vectors", "are damaged", EMBED)
    tokens = SqlTokenVectors(table.db)
    for model, dims in table.rows("SELECT n, token_dims FROM models"):
        for chunk, id_ in table.rows(
            "SELECT DISTINCT t.chunk, m.id FROM tokens AS t LEFT JOIN chunks AS c ON c.n = t.chunk"
            " LEFT JOIN memories AS m ON m.n = c.memory WHERE t.model = ?",
            (model,),
        ):
            if not tokens.is_sound(chunk, model, dims):
                damaged.add(id_)
    yield from damaged.problems()


def _links(table: _Checks) -> Iterator[Problem]:
    lost = _Found("links", "lead to no memory", REMOVE)
    damaged = _Found("links", "are damaged", REMOVE)
    for kind, strength, a, b in table.rows(
        "SELECT e.kind, e.strength, x.id, y.id FROM edges AS e"
        " LEFT JOIN memories AS x ON x.n = e.a LEFT JOIN memories AS y ON y.n = e.b"
    ):
        if a is None or b is None:
            lost.add(a or b)
        elif not is_strength(strength) or type(kind) is not str:
            damaged.add(a)
    yield from lost.problems()
    yield from damaged.problems()


def _versions(table: _Checks) -> Iterator[Problem]:
    damaged = _Found("versions", "of memories cannot be read", REMOVE)
    for _, _, id_ in SqlVersions(table.db).damaged():
        damaged.add(id_)
    yield from damaged.problems()


def _references(table: _Checks) -> Iterator[Problem]:
    """Find rows of any table whose memory, passage or model does not exist."""
    if not isinstance(table.db, SqliteDatabase):
        return  # Postgres enforces them itself
    counts: dict[str, int] = {}
    for name, *_ in table.rows("PRAGMA foreign_key_check"):
        if name not in ("edges", "vectors"):  # reported already
            counts[name] = counts.get(name, 0) + 1
    for name, count in counts.items():
        yield Problem("references", count, f"rows of {name} belong to nothing", (), REMOVE)
