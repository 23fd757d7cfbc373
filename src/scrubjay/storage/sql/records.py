"""Memories in SQLite: the truth that every index is derived from.

A memory, its chunks, its keyword row, its topics, its links and its wish for a vector are written in
one transaction, so no reader and no crash ever sees a part of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import BY_ID, PEOPLES, in_parts, in_sight, marks, padded, where
from scrubjay.storage.sql.topics import TopicHashes
from scrubjay.text.analysis import fold_label
from scrubjay.text.languages import detect
from scrubjay.times import micros, moment
from scrubjay.types import Chunk, Memory, Scope

if TYPE_CHECKING:
    from scrubjay.storage.sql.messages import SqlMessages

_COLUMNS = (
    "id namespace type text title context topics metadata collection session role owner agent "
    "severity domain source language content_hash created_us updated_us event_us event_until_us "
    "valid_from_us valid_until_us"
).split()
# What is derived from the others, for the filters.
_WRITTEN = (*_COLUMNS, "domain_label")
_SELECT = "SELECT " + ", ".join(f"m.{column}" for column in _COLUMNS) + " FROM memories AS m"
_SELECT_BY_ID = _SELECT.replace("memories AS m", BY_ID)
_SELECT_N = _SELECT.replace("SELECT ", "SELECT m.n, ", 1)


# Every other format is a programming language.
_PROSE = ("text", "markdown", "rst", "pages", "chat")
_TELLING_CHARS = 4000
# With a plus: there are indexes of messages alone, and without it SQLite would compile the statement
# anew for each value that it is given, to see whether they serve. That was a sixth of a write.
_SAME = (
    "memories INDEXED BY memories_by_hash WHERE content_hash = ? AND +type = ? AND namespace = ?"
)


def language_of(memory: Memory) -> str:
    """Return the language of a memory, or nothing where it is not clear, or it is code."""
    if memory.metadata.get("format", "text") not in _PROSE:
        return ""
    return detect(f"{memory.title}\n{memory.text[:_TELLING_CHARS]}")


def aliases_of(metadata: Mapping[str, Any]) -> list[str]:
    """Return the other names of a document; metadata may hold anything."""
    given = metadata.get("aliases")
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []


class SqlRecords:
    """The memories of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._words = db.words
        self._chunks = SqlChunks(db)
        self._hashes = TopicHashes(db)

    @cached_property
    def _turns(self) -> SqlMessages:
        # A search by word needs none of it.
        from scrubjay.storage.sql.messages import SqlMessages

        return SqlMessages(self._db)

    @property
    def short_turn_chars(self) -> int:
        """How long a turn of a conversation may be to be known by those around it."""
        return self._db.short_turn_chars

    def index_again(self, *, always: bool = False) -> None:
        """Index every word anew if the rules of text.py have changed since the file was written, or always.

        A file of a version that did not count its tokens has them counted, and one of a version that
        knew no neighbours of turns has these indexed.
        """
        if self._words.is_current() and not always:
            return
        knew_turns = self._words.knows_turns()
        with self._db.write() as db:
            if always or self._words.is_of_other_rules():
                self._words.clear()
                after = 0
                while batch := db.execute(
                    f"{_SELECT_N} WHERE m.n > ? ORDER BY m.n LIMIT 500", (after,)
                ).fetchall():
                    for n, *stored in batch:
                        memory = self._memory(stored)
                        language = language_of(memory)
                        if language != memory.language:  # each change is told to servers
                            db.execute(
                                "UPDATE memories SET language = ? WHERE n = ?", (language, n)
                            )
                            memory = memory._replace(language=language)
                        self._words.put(n, memory)
                    after = batch[-1][0]
                self._turns.settle_all(ask=not knew_turns)
            elif not knew_turns:
                self._turns.settle_all(ask=True)
            self._words.note_current()

    def is_current(self) -> bool:
        """True when the words were indexed and counted by the rules as they are now."""
        return self._words.is_current()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything written inside durable together."""
        with self._db.write():
            yield

    def put(self, memory: Memory, chunks: Sequence[Chunk]) -> None:
        """Write a memory with its chunks, in place of any other of the same id."""
        values = self._values(memory)
        with self._db.write() as db:
            before = None
            row = db.execute(
                f"INSERT INTO memories ({', '.join(_WRITTEN)}) VALUES ({marks(_WRITTEN)})"
                " ON CONFLICT (id) DO NOTHING RETURNING n",
                values,
            ).fetchone()
            if row is None:
                before = self.get([memory.id], Scope())[memory.id]
                row = db.execute("SELECT n FROM memories WHERE id = ?", (memory.id,)).fetchone()
                db.execute(
                    f"UPDATE memories SET ({', '.join(_WRITTEN)}) = ({marks(_WRITTEN)}) WHERE n = ?",
                    (*values, row[0]),
                )
            n = row[0]
            self._words.put(n, memory, None if before is None else before.namespace)
            if before is None:
                self._hashes.put_new(n, memory.topics)
            elif before.topics != memory.topics:
                self._hashes.put(n, memory.topics)
            self._chunks.put(n, before, memory, chunks)
            if "message" in (memory.type, before.type if before else ""):
                self._turns.wrote(n, before, memory)

    def titles(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the title of each of these memories, and its other names."""
        unseal = self._db.codec.unseal
        found: dict[str, tuple[str, ...]] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                for id_, title, metadata in db.execute(
                    f"SELECT id, title, metadata FROM memories WHERE id IN ({several})", part
                ):
                    found[id_] = (unseal(title), *aliases_of(json.loads(unseal(metadata))))
        return found

    def languages(self) -> tuple[str, ...]:
        """Return the languages of what is stored; "" stands for texts whose language is not clear."""
        # From one to the next over the index: counting them all takes longer than a search.
        with self._db.read() as db:
            rows = db.execute(
                "WITH RECURSIVE each (language) AS (SELECT min(language) FROM memories UNION ALL"
                " SELECT (SELECT min(language) FROM memories AS m WHERE m.language > each.language)"
                " FROM each WHERE each.language IS NOT NULL)"
                " SELECT language FROM each WHERE language IS NOT NULL"
            )
            return tuple(language for (language,) in rows)

    def get(self, ids: Sequence[str], scope: Scope) -> dict[str, Memory]:
        """Return the memories of these ids that the scope may see."""
        condition, arguments = where(scope, self._db)
        found: dict[str, Memory] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                statement = f"{_SELECT_BY_ID} WHERE m.id IN ({several}) AND {condition}"
                for row in db.execute(statement, (*part, *arguments)):
                    found[row[0]] = self._memory(row)
        return found

    def holds(self, id_: str) -> bool:
        """True when a memory has this id."""
        with self._db.read() as db:
            found = db.execute("SELECT 1 FROM memories WHERE id = ?", (id_,)).fetchone()
            return found is not None

    def holds_any(self, scope: Scope) -> bool:
        """True when the scope sees at least one memory."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            found = db.execute(f"SELECT 1 FROM memories AS m WHERE {condition} LIMIT 1", arguments)
            return found.fetchone() is not None

    def secret(self, namespace: str) -> str:
        """Return what nobody can guess, for ids in a namespace of people; nothing elsewhere."""
        if not namespace.startswith(PEOPLES):
            return ""
        with self._db.write():
            return self._hashes.made_key().hex()

    def ids(self, scope: Scope) -> list[str]:
        """Return the ids of everything that a scope may see."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(f"SELECT m.id FROM memories AS m WHERE {condition}", arguments)
            return [id_ for (id_,) in rows]

    def ids_to_write(self, scope: Scope) -> list[str]:
        """Return the same in the order in which they are best stored anew: by id, then what was said.

        Turns of one moment stand in the order of writing, so that is how they have to come back.
        """
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT m.id FROM memories AS m WHERE {condition} ORDER BY m.type = 'message',"
                " CASE WHEN m.type = 'message' THEN m.created_us END,"
                " CASE WHEN m.type = 'message' THEN m.n END, m.id",
                arguments,
            )
            return [id_ for (id_,) in rows]

    def ids_like(self, prefix: str, scope: Scope, limit: int) -> list[str]:
        """Return the ids that begin with a prefix."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT m.id FROM memories AS m WHERE m.id >= ? AND m.id < ? AND {condition}"
                " ORDER BY m.id LIMIT ?",
                (prefix, prefix + "\U0010ffff", *arguments, limit),
            )
            return [row[0] for row in rows]

    def same(self, content_hash: str, type_: str, namespace: str) -> str | None:
        """Return the id of the memory with this content, type and namespace, if there is one."""
        with self._db.read() as db:
            row = db.execute(
                f"SELECT id FROM {_SAME} ORDER BY n LIMIT 1",
                (content_hash, type_, namespace),
            ).fetchone()
        return row[0] if row else None

    def times_stored(self, content_hash: str, type_: str, namespace: str) -> int:
        """Return how many memories have this content, type and namespace."""
        with self._db.read() as db:
            row = db.execute(
                f"SELECT count(*) FROM {_SAME}",
                (content_hash, type_, namespace),
            ).fetchone()
        return int(row[0])

    def chunks(self, places: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], Chunk]:
        """Return chunks by memory id and ordinal."""
        return self._chunks.at(places)

    def chunks_of(self, id_: str) -> list[Chunk]:
        """Return every chunk of a memory, in order."""
        return self._chunks.of(id_)

    def how_many_chunks(self, ids: Sequence[str]) -> dict[str, int]:
        """Return how many chunks each of these memories has."""
        return self._chunks.how_many(ids)

    def around(
        self, ids: Sequence[str], turns: int, scope: Scope
    ) -> dict[str, tuple[list[Memory], list[Memory]]]:
        """Return so many turns before and after each of these messages, in order, as two lists.

        They are of the same conversation; those that the scope may not see are left out. What is no
        message of a session has none.
        """
        beside = {id_: self._turns.beside(place, turns) for id_, place in self._turns.places(ids)}
        numbers = list({n for sides in beside.values() for side in sides for n in side})
        found: dict[int, Memory] = {}
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            for several, part in in_parts(numbers):
                statement = f"{_SELECT_N} WHERE m.n IN ({several}) AND {condition}"
                for n, *stored in db.execute(statement, (*part, *arguments)):
                    found[n] = self._memory(stored)
        return {
            id_: (
                [found[n] for n in before if n in found],
                [found[n] for n in after if n in found],
            )
            for id_, (before, after) in beside.items()
        }

    def delete(self, ids: Sequence[str]) -> int:
        """Remove memories and everything derived from them; return how many there were."""
        with self._db.write() as db:
            gone = 0
            for several, part in in_parts(list(dict.fromkeys(ids))):
                rows = db.execute(f"SELECT n FROM memories WHERE id IN ({several})", part)
                numbers = [n for (n,) in rows]
                self._turns.leaving(numbers)
                self._words.delete(numbers)
                gone += db.execute(f"DELETE FROM memories WHERE id IN ({several})", part).rowcount
            if gone:
                self._words.overwrite_deleted()
        if gone:
            self._db.purge_log()
        return gone

    def scan(self, scope: Scope, limit: int, offset: int = 0) -> list[Memory]:
        """Return the memories of a scope, newest first."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                f"{_SELECT} WHERE {condition} ORDER BY m.updated_us DESC, m.id LIMIT ? OFFSET ?",
                (*arguments, limit, offset),
            )
            return [self._memory(row) for row in rows]

    def said(self, scope: Scope, limit: int, offset: int = 0) -> list[Memory]:
        """Return the latest memories of a scope in the order in which they were said, oldest first."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                f"{_SELECT} WHERE {condition}"
                " ORDER BY m.created_us DESC, m.n DESC LIMIT ? OFFSET ?",
                (*arguments, limit, offset),
            )
            return [self._memory(row) for row in rows][::-1]

    def namespaces(self, scope: Scope, most: int) -> list[str]:
        """Return the first so many namespaces, by name, in which a scope's person may see anything."""
        return SqlNamespaces(self._db).first(scope, most)

    def counts(self, column: str, scope: Scope) -> dict[str, int]:
        """Return how many memories there are for each value of a column, most first."""
        if column not in _COLUMNS:
            raise ValueError(column)
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT m.{column}, count(*) FROM memories AS m WHERE {condition}"
                f" AND m.{column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
                arguments,
            )
            return dict(rows.fetchall())

    def _values(self, memory: Memory) -> list[Any]:
        seal = self._db.codec.seal
        times = (
            memory.created_at,
            memory.updated_at,
            memory.event_time,
            memory.event_until,
            memory.valid_from,
            memory.valid_until,
        )
        return [
            memory.id,
            memory.namespace,
            memory.type,
            seal(memory.text),
            seal(memory.title),
            seal(memory.context),
            seal(json.dumps(memory.topics, ensure_ascii=False)),
            seal(json.dumps(dict(memory.metadata), ensure_ascii=False)),
            memory.collection,
            memory.session,
            memory.role,
            memory.owner,
            memory.agent,
            memory.severity,
            memory.domain,
            None if memory.source is None else seal(memory.source),
            memory.language,
            memory.content_hash,
            *(None if time is None else micros(time) for time in times),
            None if memory.domain is None else fold_label(memory.domain),
        ]

    def _memory(self, row: Sequence[Any]) -> Memory:
        # Unpacked rather than looked up by name: this runs for every hit of every search.
        unseal = self._db.codec.unseal
        id_, namespace, type_, text, title, context, topics, metadata, *rest = row
        collection, session, role, owner, agent, severity, domain, source, *rest = rest
        language, content_hash, created, updated, event, event_until, *window = rest
        return Memory(
            text=unseal(text),
            id=id_,
            title=unseal(title),
            type=type_,
            topics=tuple(json.loads(unseal(topics))),
            namespace=namespace,
            collection=collection,
            session=session,
            role=role,
            owner=owner,
            agent=agent,
            severity=severity,
            domain=domain,
            context=unseal(context),
            created_at=moment(created),
            updated_at=moment(updated),
            event_time=moment(event),
            event_until=moment(event_until),
            valid_from=moment(window[0]),
            valid_until=moment(window[1]),
            source=None if source is None else unseal(source),
            metadata=json.loads(unseal(metadata)),
            content_hash=content_hash,
            language=language,
        )


_SELECT_CHUNKS = (
    "SELECT c.ordinal, c.start, c.stop, c.first_line, c.last_line, c.heading"
    " FROM chunks AS c JOIN memories AS m ON m.n = c.memory WHERE m.id = ?"
)

_PAIRS_AT_ONCE = 256  # two numbers each, and every SQLite takes 999


class SqlChunks:
    """The passages of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def at(self, places: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], Chunk]:
        """Return chunks by memory id and ordinal."""
        wanted = list(dict.fromkeys(places))
        found: dict[tuple[str, int], Chunk] = {}
        with self._db.read() as db:
            for start in range(0, len(wanted), _PAIRS_AT_ONCE):
                part = padded(wanted[start : start + _PAIRS_AT_ONCE])
                pairs = ", ".join(["(?, ?)"] * len(part))
                rows = db.execute(
                    f"WITH wanted (id, ordinal) AS (VALUES {pairs}) SELECT m.id, c.ordinal, c.start,"
                    " c.stop, c.first_line, c.last_line, c.heading FROM wanted AS w"
                    " CROSS JOIN memories AS m ON m.id = w.id"
                    " CROSS JOIN chunks AS c ON c.memory = m.n AND c.ordinal = w.ordinal",
                    [value for place in part for value in place],
                )
                for id_, *row in rows:
                    found[id_, row[0]] = self._chunk(row)
        return found

    def of(self, id_: str) -> list[Chunk]:
        """Return every chunk of a memory, in order."""
        with self._db.read() as db:
            return [
                self._chunk(row)
                for row in db.execute(f"{_SELECT_CHUNKS} ORDER BY c.ordinal", (id_,))
            ]

    def how_many(self, ids: Sequence[str]) -> dict[str, int]:
        """Return how many chunks each of these memories has."""
        found: dict[str, int] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                # Ordinals have no holes: the last says how many, and an index has it at hand.
                found |= db.execute(
                    "SELECT m.id, 1 + (SELECT max(ordinal) FROM chunks WHERE memory = m.n)"
                    f" FROM memories AS m WHERE m.id IN ({several})",
                    part,
                ).fetchall()
        return found

    def put(self, n: int, before: Memory | None, after: Memory, chunks: Sequence[Chunk]) -> None:
        """Replace the chunks of a memory; a passage that stays keeps its vectors, a new one wants them."""
        if (
            before is not None
            and _reads(before) == _reads(after)
            and self.of(after.id) == [*chunks]
        ):
            return
        with self._db.write() as db:
            kept = self._unchanged(db, n, before, after)
            last = 0
            if before is not None:
                (last,) = db.execute("SELECT coalesce(max(n), 0) FROM chunks").fetchone()
                # Out of the way of the ordinals to come; what is not taken up again is dropped.
                db.execute("UPDATE chunks SET ordinal = -1 - n WHERE memory = ?", (n,))
            made = []
            for c in chunks:
                place = (c.ordinal, c.start, c.stop, c.first_line, c.last_line)
                same = kept.get((c.heading, after.text[c.start : c.stop]))
                if same:
                    db.execute(
                        "UPDATE chunks SET ordinal = ?, start = ?, stop = ?, first_line = ?,"
                        " last_line = ? WHERE n = ?",
                        (*place, same.pop()),
                    )
                else:
                    made.append((n, *place, self._db.codec.seal(c.heading)))
            if before is not None:
                db.execute("DELETE FROM chunks WHERE memory = ? AND ordinal < 0", (n,))
            db.executemany(
                "INSERT INTO chunks (memory, ordinal, start, stop, first_line, last_line, heading)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                made,
            )
            db.execute(
                "INSERT INTO wanting (model, chunk) SELECT models.n, chunks.n FROM models, chunks"
                " WHERE chunks.memory = ? AND chunks.n > ?",
                (n, last),
            )

    def _unchanged(
        self, db: Connection, n: int, before: Memory | None, after: Memory
    ) -> dict[tuple[str, str], list[int]]:
        """Return the chunks of a memory by what a model read of them, if that can still be the same."""
        kept: dict[tuple[str, str], list[int]] = {}
        if before is None or _reads(before)[1:] != _reads(after)[1:]:
            return kept
        rows = db.execute("SELECT n, start, stop, heading FROM chunks WHERE memory = ?", (n,))
        for chunk, start, stop, heading in rows:
            passage = (self._db.codec.unseal(heading), before.text[start:stop])
            kept.setdefault(passage, []).append(chunk)
        return kept

    def _chunk(self, row: Sequence[Any]) -> Chunk:
        return Chunk(*row)._replace(heading=self._db.codec.unseal(row[5]))


def _reads(memory: Memory) -> tuple[str, str, str]:
    """Return what models read of a memory."""
    return memory.text, memory.title, memory.context


class SqlNamespaces:
    """The namespaces of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def first(self, scope: Scope, most: int) -> list[str]:
        """Return the first so many, by name. Each is one step in the index: memories are not counted."""
        condition, arguments = in_sight(scope, "m.namespace")
        found: list[str] = []
        last = ""
        with self._db.read() as db:
            while len(found) < most:
                row = db.execute(
                    f"SELECT m.namespace FROM memories AS m WHERE m.namespace > ? AND {condition}"
                    " ORDER BY m.namespace LIMIT 1",
                    (last, *arguments),
                ).fetchone()
                if row is None:
                    break
                last = row[0]
                found.append(last)
        return found

    def of_project(self, beginning: str, scope: Scope) -> list[str]:
        """Return all that begin so, by name."""
        condition, arguments = in_sight(scope, "m.namespace")
        with self._db.read() as db:
            rows = db.execute(
                "SELECT DISTINCT m.namespace FROM memories AS m"
                f" WHERE substr(m.namespace, 1, ?) = ? AND {condition} ORDER BY 1",
                (len(beginning), beginning, *arguments),
            )
            return [name for (name,) in rows]


class SqlHistory:
    """The changes of one file. They go with the memory."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def note(self, id_: str, at_us: int, field: str, before: str, after: str) -> None:
        """Keep what a field was and became."""
        seal = self._db.codec.seal
        with self._db.write() as db:
            db.execute(
                "INSERT INTO history (memory, at_us, change, before, after)"
                " SELECT n, ?, ?, ?, ? FROM memories WHERE id = ?",
                (at_us, field, seal(before), seal(after), id_),
            )

    def of(self, id_: str) -> list[tuple[int, str, str, str]]:
        """Return time, field, before and after of each change of a memory, oldest first."""
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = db.execute(
                "SELECT h.at_us, h.change, h.before, h.after FROM history AS h"
                " JOIN memories AS m ON m.n = h.memory WHERE m.id = ? ORDER BY h.n",
                (id_,),
            )
            return [(at, field, unseal(old), unseal(new)) for at, field, old, new in rows]

    def drop(self, id_: str, field: str) -> None:
        """Forget what a field was."""
        with self._db.write() as db:
            db.execute(
                "DELETE FROM history WHERE change = ?"
                " AND memory = (SELECT n FROM memories WHERE id = ?)",
                (field, id_),
            )
