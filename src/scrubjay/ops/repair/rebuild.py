"""Rebuild what is derived from the memories, in place: indexes, passages, queues, counts and links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scrubjay.storage.codec import UNREADABLE
from scrubjay.storage.database import NOTE, Connection, Database
from scrubjay.storage.sql.graph import MAX_STRENGTH
from scrubjay.storage.sql.readable import has_right_length, vector_of
from scrubjay.storage.sql.records import HEADING, SqlRecords
from scrubjay.storage.sql.topics import TopicHashes
from scrubjay.storage.sql.vectors import SqlTokenVectors, is_width
from scrubjay.storage.sql.versions import SqlVersions
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.text.analysis import content_hash
from scrubjay.write.chunking import split

_BATCH = 200


def rebuild(db: Database) -> None:
    """Rebuild everything in one transaction; memories that cannot be read are left as they are."""
    records = SqlRecords(db)
    with db.write() as connection:
        if isinstance(db, SqliteDatabase):
            # From its lines: as long as the index is damaged, a memory cannot be taken out of it.
            db.words.index_again()
        _remove_lost(db, connection)
        _correct_rows(db, connection, records)
        _remove_damaged_vectors(db, connection)
        lost = [(memory, n) for memory, n, _ in SqlVersions(db).damaged()]
        connection.executemany("DELETE FROM versions WHERE memory = ? AND n = ?", lost)
        _queue_missing(connection)
        records.reindex(always=True)
        connection.execute(NOTE, ("topic_hashes", 0))
        TopicHashes(db).reindex()
        if not isinstance(db, SqliteDatabase):
            _copy_vectors(db, connection)


def _copy_vectors(db: Database, connection: Connection) -> None:
    """Copy all vectors to pgvector again, if it has any."""
    from scrubjay.storage.postgres.vectors import PostgresVector

    if connection.execute("SELECT to_regclass('embeddings')").fetchone()[0] is not None:
        assert isinstance(db.vectors, PostgresVector)
        db.vectors.reindex()


def _remove_lost(db: Database, connection: Connection) -> None:
    """Delete links and other rows whose memory, passage or model does not exist."""
    connection.execute(
        "DELETE FROM edges WHERE NOT EXISTS (SELECT 1 FROM memories WHERE n = a)"
        " OR NOT EXISTS (SELECT 1 FROM memories WHERE n = b)"
    )
    connection.execute(
        "DELETE FROM edges WHERE strength NOT BETWEEN ? AND ?", (-MAX_STRENGTH, MAX_STRENGTH)
    )
    if not isinstance(db, SqliteDatabase):
        return
    connection.execute(
        "DELETE FROM edges WHERE typeof(strength) NOT IN ('real', 'integer')"
        " OR typeof(kind) <> 'text'"
    )
    # One table's rows may be what another's refer to.
    while violations := connection.execute("PRAGMA foreign_key_check").fetchall():
        for table, rowid, parent, _ in violations:
            if rowid is not None:
                connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
                continue
            for key, column in _references(connection, table, parent):
                connection.execute(
                    f"DELETE FROM {table} WHERE {key} IS NOT NULL"
                    f" AND {key} NOT IN (SELECT {column} FROM {parent})"
                )


def _references(connection: Connection, table: str, parent: str) -> Iterator[tuple[str, str]]:
    """Yield the columns of a table that refer to another one, and what they refer to."""
    for _, _, other, column, to, *_ in connection.execute(
        f"PRAGMA foreign_key_list({table})"
    ).fetchall():
        if other == parent:
            keys = connection.execute(f"PRAGMA table_info({parent})").fetchall()
            yield column, to or next(row[1] for row in keys if row[5])


def _correct_rows(db: Database, connection: Connection, records: SqlRecords) -> None:
    """Give each memory the hash of its text, and passages that lie in it."""
    after = 0
    while batch := connection.execute(*records.page_after(after, _BATCH)).fetchall():
        after = batch[-1][0]
        for n, *stored in batch:
            if records.damage_of(stored):
                continue
            memory = records.decoded(stored)
            found = content_hash(memory.text)
            if found != memory.content_hash:
                connection.execute("UPDATE memories SET content_hash = ? WHERE n = ?", (found, n))
            chunks = records.chunks_of(memory.id)
            ordinals = [chunk.ordinal for chunk in chunks]
            inside = all(chunk.stop <= len(memory.text) for chunk in chunks)
            if not chunks or not inside or ordinals != list(range(len(chunks))):
                format_ = str(memory.metadata.get("format", "text"))
                split_again(db, connection, n, memory.id, memory.text, format_)


def split_again(
    db: Database, connection: Connection, n: int, id_: str, text: str, format_: str = "text"
) -> None:
    """Replace the passages of a memory."""
    seal = db.codec.seal
    connection.execute("DELETE FROM chunks WHERE memory = ?", (n,))
    connection.executemany(
        "INSERT INTO chunks (memory, ordinal, start, stop, first_line, last_line, heading)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(n, *chunk[:5], seal(chunk.heading, HEADING, id_)) for chunk in split(text, format_)],
    )


def _remove_damaged_vectors(db: Database, connection: Connection) -> None:
    damaged: list[tuple[int]] = []
    after = 0
    while batch := connection.execute(
        "SELECT v.n, v.vector, o.dims FROM vectors AS v JOIN models AS o ON o.n = v.model"
        " WHERE v.n > ? ORDER BY v.n LIMIT ?",
        (after, _BATCH),
    ).fetchall():
        after = batch[-1][0]
        damaged += (
            (n,)
            for n, stored, dims in batch
            if not (is_width(dims) and has_right_length(vector_of(db.codec, stored, dims)))
        )
    connection.executemany("DELETE FROM vectors WHERE n = ?", damaged)
    tokens = SqlTokenVectors(db)
    for model, dims in connection.execute("SELECT n, token_dims FROM models").fetchall():
        chunks = connection.execute(
            "SELECT DISTINCT chunk FROM tokens WHERE model = ?", (model,)
        ).fetchall()
        broken = [(chunk, model) for (chunk,) in chunks if not tokens.is_sound(chunk, model, dims)]
        connection.executemany("DELETE FROM tokens WHERE chunk = ? AND model = ?", broken)
        connection.executemany(
            "INSERT OR IGNORE INTO wanting (model, chunk) VALUES (?, ?)",
            [(number, chunk) for chunk, number in broken],
        )


def _queue_missing(connection: Connection) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO wanting (model, chunk) SELECT o.n, c.n FROM models AS o, chunks AS c"
        " WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.chunk = c.n AND v.model = o.n)"
    )
    connection.execute(
        "UPDATE wanting SET tries = 0, reason = NULL WHERE NOT EXISTS"
        " (SELECT 1 FROM vectors AS v WHERE v.chunk = wanting.chunk AND v.model = wanting.model)"
    )


def format_of(metadata: Any) -> str:
    """Return the format that a memory's metadata name."""
    try:
        return str(json.loads(metadata).get("format", "text"))
    except UNREADABLE:
        return "text"
