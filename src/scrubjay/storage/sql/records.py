"""Memories with their chunks: the records from which every index is derived.

A memory, its chunks, its keyword tokens, its topics, its links and its place in the embedding queue are
written in one transaction, so no reader and no crash ever sees a part of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from scrubjay.storage.codec import UNREADABLE, DamagedValue, readable, topics_in
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.readable import named_alteration, named_damage, note_damage, reason
from scrubjay.storage.sql.scope import BY_ID, PRIVATE_PREFIXES, SqlTable, marks, padded
from scrubjay.storage.sql.topics import TopicHashes
from scrubjay.text.analysis import content_hash as hash_of_text
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
_PLACE, _TEXTS = attrgetter("id", "namespace", "type"), attrgetter("text", "title", "context")
_STORED_TEXTS = attrgetter("text", "title", "context", "topics", "metadata", "source")
_LABELS = attrgetter("collection", "session", "role", "owner", "agent", "severity", "domain")
_TIMES = attrgetter(
    "created_at", "updated_at", "event_time", "event_until", "valid_from", "valid_until"
)
# `domain_label` is derived, for the filters.
_WRITTEN = (*_COLUMNS, "domain_label")
_INSERT = f"INSERT INTO memories (n, {', '.join(_WRITTEN)}) VALUES (?, {marks(_WRITTEN)})"
_SELECT = "SELECT " + ", ".join(f"m.{column}" for column in _COLUMNS) + " FROM memories AS m"
_SELECT_BY_ID = _SELECT.replace("memories AS m", BY_ID)
_SELECT_N = _SELECT.replace("SELECT ", "SELECT m.n, ", 1)
# With a plus: there are partial indexes of messages, and without it SQLite would compile the statement
# again for each value, to see whether they apply. That was a sixth of a write.
_SAME_CONTENT = (
    "memories INDEXED BY memories_by_hash WHERE content_hash = ? AND +type = ? AND namespace = ?"
)
# What each column holds, as SQLite returns it; texts that pass through the codec may be bytes.
_STR, _SEALED, _INT = frozenset((str,)), frozenset((str, bytes)), frozenset((int,))
_ABSENT = frozenset((type(None),))
_TYPES = (
    *(_STR,) * 3,
    *(_SEALED,) * 5,
    *(_STR | _ABSENT,) * 7,
    _SEALED | _ABSENT,
    *(_STR,) * 2,
    *(_INT,) * 2,
    *(_INT | _ABSENT,) * 4,
)
# The places of texts, as the codec knows them.
TEXT, TITLE, CONTEXT = _TEXT_COLUMNS = "memories.text", "memories.title", "memories.context"
TOPICS, METADATA, SOURCE = "memories.topics", "memories.metadata", "memories.source"
HEADING = "chunks.heading"
_to_json = json.JSONEncoder(ensure_ascii=False).encode  # `dumps` makes an encoder each time
_CHUNK_COLUMNS = "c.ordinal, c.start, c.stop, c.first_line, c.last_line, c.heading"
_PUT_BACK = "its row is not as it was last written"
_PAIRS_AT_ONCE = 256  # two arguments each, and every SQLite takes 999

# All other formats are programming languages.
_PROSE_FORMATS = ("text", "markdown", "rst", "pages", "chat")
_DETECT_CHARS = 4000


# Hash of the text, type and namespace: memories that share all three are merged.
Content = tuple[str, str, str]


def content_of(memory: Memory) -> Content:
    return memory.content_hash, memory.type, memory.namespace


def language_of(memory: Memory) -> str:
    """Return the language of a memory; "" for code and where it is unclear."""
    if memory.metadata.get("format", "text") not in _PROSE_FORMATS:
        return ""
    return detect(f"{memory.title}\n{memory.text[:_DETECT_CHARS]}")


def aliases_of(metadata: Mapping[str, Any]) -> list[str]:
    """Return the other names of a document; metadata may contain anything."""
    aliases = metadata.get("aliases")
    return [name for name in aliases if isinstance(name, str)] if isinstance(aliases, list) else []


class SqlRecords(SqlTable):
    """The tables `memories` and `chunks`."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._words = db.words
        self._hashes = TopicHashes(db)
        self._known_types: set[tuple[type, ...]] = set()

    @cached_property
    def _messages(self) -> SqlMessages:
        # A keyword search does not need it.
        from scrubjay.storage.sql.messages import SqlMessages

        return SqlMessages(self._db)

    @property
    def short_turn_chars(self) -> int:
        """Maximum length of a message that is indexed together with its neighbors."""
        return self._db.short_turn_chars

    def reindex(self, *, always: bool = False) -> None:
        """Index all words again if the rules of `text.analysis` have changed, or always. A file of
        a version that did not count tokens, or did not index neighbors of messages, gets that."""
        if self._words.is_current() and not always:
            return
        has_neighbors = self._words.has_neighbors()
        with self._db.write() as db:
            if always or self._words.has_other_rules():
                self._words.clear()
                after = 0
                while batch := db.execute(
                    f"{_SELECT_N} WHERE m.n > ? ORDER BY m.n LIMIT 500", (after,)
                ).fetchall():
                    numbered = []
                    for n, *stored in batch:
                        memory = self._read(stored)
                        if memory is None:
                            continue
                        language = language_of(memory)
                        if language != memory.language:  # each update is sent to replicas
                            db.execute(
                                "UPDATE memories SET language = ? WHERE n = ?", (language, n)
                            )
                            memory = memory._replace(language=language)
                        numbered.append((n, memory))
                    self._words.insert(numbered)
                    after = batch[-1][0]
                self._messages.index_neighbors(embed=not has_neighbors)
            elif not has_neighbors:
                self._messages.index_neighbors(embed=True)
            self._words.note_current()

    def is_current(self) -> bool:
        return self._words.is_current()

    def insert(self, written: Sequence[tuple[Memory, Sequence[Chunk]]]) -> None:
        """Write memories of new ids, each with its chunks: one statement a table."""
        with self._db.write() as db:
            first, first_chunk = self._db.reserve(
                {"memories": len(written), "chunks": sum(len(chunks) for _, chunks in written)}
            )
            numbered = [(n, memory) for n, (memory, _) in enumerate(written, first)]
            db.executemany(_INSERT, [(n, *self._values(memory)) for n, memory in numbered])
            self._words.insert(numbered)
            if tagged := [(n, (), memory.topics) for n, memory in numbered if memory.topics]:
                self._hashes.replace(tagged)
            owned = (
                (n, memory, chunk)
                for n, (memory, chunks) in enumerate(written, first)
                for chunk in chunks
            )
            self._insert_chunks(db, first_chunk, owned)
            for n, memory in numbered:
                if memory.type == "message":
                    self._messages.on_put(n, None, memory)

    def put(self, memory: Memory, chunks: Sequence[Chunk]) -> Memory | None:
        """Write a memory with its chunks; return the one of the same id that it replaces, if readable."""
        with self._db.write() as db:
            row = db.execute("SELECT n FROM memories WHERE id = ?", (memory.id,)).fetchone()
            if row is None:
                self.insert([(memory, chunks)])
                return None
            return self._replace(db, row[0], memory, chunks)

    def _replace(
        self, db: Connection, n: int, memory: Memory, chunks: Sequence[Chunk]
    ) -> Memory | None:
        before = self.get([memory.id], Scope()).get(memory.id)
        if before is None:
            self._clear(db, n)
        db.execute(
            f"UPDATE memories SET ({', '.join(_WRITTEN)}) = ({marks(_WRITTEN)}) WHERE n = ?",
            (*self._values(memory), n),
        )
        if before is None:
            self._words.insert([(n, memory)])
        else:
            self._words.replace(n, memory, before.namespace)
        old_topics = () if before is None else before.topics
        if old_topics != memory.topics:
            self._hashes.replace([(n, old_topics, memory.topics)])
        self._replace_chunks(db, n, before, memory, chunks)
        if before is not None and _STORED_TEXTS(before) != _STORED_TEXTS(memory):
            self._db.mark_deleted(words=True)
        if "message" in (memory.type, before.type if before else ""):
            self._messages.on_put(n, before, memory)
        return before

    def _clear(self, db: Connection, n: int) -> None:
        """Delete what was derived from a memory that cannot be read, and is replaced next."""
        self._words.delete([n])
        for table in ("topics", "topic_hashes", "chunks"):
            db.execute(f"DELETE FROM {table} WHERE memory = ?", (n,))

    def titles(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the title and the aliases of each of these memories."""
        rows = self._rows_in(
            "SELECT id, title, metadata FROM memories WHERE id IN ({values})", ids
        )

        def names(row: tuple[str, Any, Any]) -> tuple[str, tuple[str, ...]]:
            id_, title, metadata = row
            aliases = aliases_of(json.loads(self._unseal(metadata, METADATA, id_)))
            return id_, (self._unseal(title, TITLE, id_), *aliases)

        return dict(readable(names, rows))

    def short_texts(self, ids: Sequence[str], most: int) -> dict[str, str]:
        """Return the texts of those of these memories that have up to `most` characters and no title."""
        rows = self._rows_in(
            "SELECT m.id, m.text, m.title FROM memories AS m JOIN chunks AS c ON c.memory = m.n"
            " AND c.ordinal = 0 WHERE c.stop <= ? AND m.id IN ({values})",
            ids,
            before=(most,),
        )

        def texts(row: tuple[str, Any, Any]) -> tuple[str, str, str]:
            id_, text, title = row
            return id_, self._unseal(text, TEXT, id_), self._unseal(title, TITLE, id_)

        found = readable(texts, rows)
        return {id_: text for id_, text, title in found if len(text) <= most and not title}

    def languages(self) -> tuple[str, ...]:
        """Return the languages of all memories; "" stands for texts whose language is unclear."""
        # From one to the next in the index: counting them all takes longer than a search.
        languages = self._column(
            "WITH RECURSIVE each (language) AS (SELECT min(language) FROM memories UNION ALL"
            " SELECT (SELECT min(language) FROM memories AS m WHERE m.language > each.language)"
            " FROM each WHERE each.language IS NOT NULL)"
            " SELECT language FROM each WHERE language IS NOT NULL"
        )
        return tuple(languages)

    def languages_of(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the language of each of these memories."""
        return dict(self._rows_in("SELECT id, language FROM memories WHERE id IN ({values})", ids))

    def get(self, ids: Sequence[str], scope: Scope) -> dict[str, Memory]:
        statement = f"{_SELECT_BY_ID} WHERE m.id IN ({{values}}) AND {{scope}}"
        memories = self._memories(self._rows_in(statement, ids, (scope,)))
        return {memory.id: memory for memory in memories}

    def unreadable(self, ids: Sequence[str], scope: Scope) -> dict[str, str]:
        """Return those of these memories that are stored but cannot be read, with the reason."""
        statement = f"{_SELECT_BY_ID} WHERE m.id IN ({{values}}) AND {{scope}}"
        rows = self._rows_in(statement, ids, (scope,))
        readable_ids = {memory.id for memory in self._memories(rows)}
        damaged = [row for row in rows if row[0] not in readable_ids]
        return {row[0]: self.damage_of(row) or _PUT_BACK for row in damaged}

    def existing(self, ids: Collection[str]) -> set[str]:
        """Return those of these ids that are taken."""
        rows = self._rows_in("SELECT id FROM memories WHERE id IN ({values})", list(ids))
        return {id_ for (id_,) in rows}

    def any_visible(self, scope: Scope) -> bool:
        return bool(self._rows("SELECT 1 FROM memories AS m WHERE {scope} LIMIT 1", (scope,)))

    def id_secret(self, namespace: str) -> str:
        """Return a secret for ids that must not be guessable, in a namespace of people; else "".

        In a sealed store no id may be: with the file alone, texts could be tried.
        """
        if self._db.codec.is_sealed:
            return self._db.codec.exact(namespace, "memories.id")
        if not namespace.startswith(PRIVATE_PREFIXES):
            return ""
        with self._db.write():
            return self._hashes.make_key().hex()

    def ids(self, scope: Scope) -> list[str]:
        return self._column("SELECT m.id FROM memories AS m WHERE {scope}", (scope,))

    def ids_for_export(self, scope: Scope) -> list[str]:
        """Return the same in the order in which an import has to write them: by id, then messages.

        Messages of one moment are ordered by the order of writing, so they must be imported that way.
        """
        return self._column(
            "SELECT m.id FROM memories AS m WHERE {scope} ORDER BY m.type = 'message',"
            " CASE WHEN m.type = 'message' THEN m.created_us END,"
            " CASE WHEN m.type = 'message' THEN m.n END, m.id",
            (scope,),
        )

    def ids_with_prefix(self, prefix: str, scope: Scope, limit: int) -> list[str]:
        return self._column(
            "SELECT m.id FROM memories AS m WHERE m.id >= ? AND m.id < ? AND {scope}"
            " ORDER BY m.id LIMIT ?",
            (prefix, prefix + "\U0010ffff", scope, limit),
        )

    def find_duplicate(self, content: Content) -> str | None:
        """Return the id of the first memory with this content."""
        hash_, type_, namespace = content
        row = self._row(
            f"SELECT id FROM {_SAME_CONTENT} ORDER BY n LIMIT 1",
            (self.stored_hash(hash_), type_, namespace),
        )
        return row[0] if row else None

    def count_duplicates(self, hashes: Collection[str]) -> dict[Content, int]:
        """Return how many memories there are of each content with one of these hashes."""
        stored = {self.stored_hash(hash_): hash_ for hash_ in hashes}
        rows = self._rows_in(
            "SELECT content_hash, type, namespace, count(*) FROM memories"
            " INDEXED BY memories_by_hash WHERE content_hash IN ({values})"
            " GROUP BY content_hash, type, namespace",
            list(stored),
        )
        return {
            (stored[hash_], type_, namespace): count for hash_, type_, namespace, count in rows
        }

    def stored_hash(self, content_hash: str) -> str:
        """Return the hash of a text as it is stored."""
        return self._db.codec.exact(content_hash, "memories.content_hash")

    def around(
        self, ids: Sequence[str], turns: int, scope: Scope
    ) -> dict[str, tuple[list[Memory], list[Memory]]]:
        """Return the messages before and after each of these messages, in order, as two lists.
        Only neighbors of the same session that the scope may see are returned."""
        sides = {
            id_: self._messages.beside(at, turns) for id_, at in self._messages.positions(ids)
        }
        numbers = list({n for both in sides.values() for side in both for n in side})
        statement = f"{_SELECT_N} WHERE m.n IN ({{values}}) AND {{scope}}"
        rows = self._rows_in(statement, numbers, (scope,))
        seen_by_id = {memory.id: memory for memory in self._memories(row[1:] for row in rows)}
        visible = {n: seen_by_id[id_] for n, id_, *_ in rows if id_ in seen_by_id}

        def seen(numbers: list[int]) -> list[Memory]:
            return [visible[n] for n in numbers if n in visible]

        return {id_: (seen(before), seen(after)) for id_, (before, after) in sides.items()}

    def delete(self, ids: Sequence[str]) -> int:
        """Delete memories and everything derived from them; return how many were deleted."""
        with self._db.write():
            rows = self._rows_in("SELECT n FROM memories WHERE id IN ({values})", ids)
            numbers = list(dict.fromkeys(n for (n,) in rows))
            self._messages.on_delete(numbers)
            self._words.delete(numbers)
            deleted = self._write_in("DELETE FROM memories WHERE n IN ({values})", numbers)
            if deleted:
                self._words.overwrite_deleted()
        if deleted:
            self._db.purge()
        return deleted

    def scan(self, scope: Scope, limit: int, offset: int = 0) -> list[Memory]:
        """Return the memories of a scope, last updated first."""
        return self._page("m.updated_us DESC, m.id", scope, limit, offset)

    def latest(self, scope: Scope, limit: int, offset: int = 0) -> list[Memory]:
        """Return the latest memories of a scope in the order of creation, oldest first."""
        return self._page("m.created_us DESC, m.n DESC", scope, limit, offset)[::-1]

    def _page(self, order: str, scope: Scope, limit: int, offset: int) -> list[Memory]:
        statement = f"{_SELECT} WHERE {{scope}} ORDER BY {order} LIMIT ? OFFSET ?"
        return self._memories(self._rows(statement, (scope, limit, offset)))

    def namespaces(self, scope: Scope, most: int) -> list[str]:
        """Return the first namespaces, by name, in which a scope's person may see anything."""
        names: list[str] = []
        with self._db.read():
            # Each is one step in the index: memories are not counted.
            while len(names) < most and (
                row := self._row(
                    "SELECT namespace FROM memories WHERE namespace > ? AND {namespaces}"
                    " ORDER BY namespace LIMIT 1",
                    (names[-1] if names else "", scope),
                )
            ):
                names += row
        return names

    def counts(self, column: str, scope: Scope) -> dict[str, int]:
        """Return the number of memories for each value of a column, most first."""
        if column not in _COLUMNS:
            raise ValueError(column)
        rows = self._rows(
            f"SELECT m.{column}, count(*) FROM memories AS m WHERE {{scope}}"
            f" AND m.{column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
            (scope,),
        )
        return {value: count for value, count in rows if type(value) is str}

    def chunks(self, places: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], Chunk]:
        wanted = list(dict.fromkeys(places))
        chunks: dict[tuple[str, int], Chunk] = {}
        for start in range(0, len(wanted), _PAIRS_AT_ONCE):
            part = padded(wanted[start : start + _PAIRS_AT_ONCE])
            rows = self._rows(
                f"WITH wanted (id, ordinal) AS (VALUES {', '.join(['(?, ?)'] * len(part))})"
                f" SELECT m.id, {_CHUNK_COLUMNS} FROM wanted AS w"
                " CROSS JOIN memories AS m ON m.id = w.id"
                " CROSS JOIN chunks AS c ON c.memory = m.n AND c.ordinal = w.ordinal",
                [value for place in part for value in place],
            )
            chunks.update(readable(lambda row: ((row[0], row[1]), self._chunk(row)), rows))
        return chunks

    def chunks_of(self, id_: str) -> list[Chunk]:
        rows = self._rows(
            f"SELECT m.id, {_CHUNK_COLUMNS} FROM chunks AS c JOIN memories AS m ON m.n = c.memory"
            " WHERE m.id = ? ORDER BY c.ordinal",
            (id_,),
        )
        return list(readable(self._chunk, rows))

    def chunk_counts(self, ids: Sequence[str]) -> dict[str, int]:
        # Ordinals have no holes: the last one gives the number, and an index has it at hand.
        rows = self._rows_in(
            "SELECT m.id, 1 + (SELECT max(ordinal) FROM chunks WHERE memory = m.n)"
            " FROM memories AS m WHERE m.id IN ({values})",
            ids,
        )
        return {id_: count for id_, count in rows if count is not None}

    def _insert_chunks(
        self, db: Connection, first: int, owned: Iterable[tuple[int, Memory, Chunk]]
    ) -> None:
        """Write new chunks, each after the number of its memory, and queue them for every model."""
        rows = [
            (n, memory, *c[:5], self._seal(c.heading, HEADING, of.id, of.namespace))
            for n, (memory, of, c) in enumerate(owned, first)
        ]
        db.executemany(
            "INSERT INTO chunks (n, memory, ordinal, start, stop, first_line, last_line, heading)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        db.execute(
            "INSERT INTO wanting (model, chunk) SELECT m.n, c.n"
            " FROM models AS m CROSS JOIN chunks AS c WHERE c.n >= ? AND c.n < ?",
            (first, first + len(rows)),
        )

    def _replace_chunks(
        self, db: Connection, n: int, before: Memory | None, after: Memory, chunks: Sequence[Chunk]
    ) -> None:
        """Replace the chunks of a memory; unchanged ones keep their vectors, new ones are queued."""
        is_same = before is not None and _TEXTS(before) == _TEXTS(after)
        if is_same and self.chunks_of(after.id) == [*chunks]:
            return
        unchanged = self._unchanged_chunks(db, n, before, after)
        # Negative, to not clash with new ordinals; those that stay negative are deleted.
        db.execute("UPDATE chunks SET ordinal = -1 - n WHERE memory = ?", (n,))
        new = []
        for c in chunks:
            same = unchanged.get((c.heading, after.text[c.start : c.stop]))
            if same:
                db.execute(
                    "UPDATE chunks SET ordinal = ?, start = ?, stop = ?, first_line = ?,"
                    " last_line = ? WHERE n = ?",
                    (c.ordinal, c.start, c.stop, c.first_line, c.last_line, same.pop()),
                )
            else:
                new.append((n, after, c))
        db.execute("DELETE FROM chunks WHERE memory = ? AND ordinal < 0", (n,))
        if new:
            (first,) = self._db.reserve({"chunks": len(new)})
            self._insert_chunks(db, first, new)

    def _unchanged_chunks(
        self, db: Connection, n: int, before: Memory | None, after: Memory
    ) -> dict[tuple[str, str], list[int]]:
        """Return the chunks of a memory by heading and text; none if title or context have changed."""
        unchanged: dict[tuple[str, str], list[int]] = {}
        if before is None or _TEXTS(before)[1:] != _TEXTS(after)[1:]:
            return unchanged
        rows = db.execute("SELECT n, start, stop, heading FROM chunks WHERE memory = ?", (n,))
        for chunk, start, stop, heading in rows:
            passage = (self._unseal(heading, HEADING, after.id), before.text[start:stop])
            unchanged.setdefault(passage, []).append(chunk)
        return unchanged

    def _chunk(self, row: Sequence[Any]) -> Chunk:
        id_, ordinal, start, stop, first_line, last_line, heading = row
        numbers = (ordinal, start, stop, first_line, last_line)
        if {type(number) for number in numbers} != {int} or min(numbers) < 0 or start > stop:
            raise DamagedValue("a passage has no place in its text")
        heading = self._unseal(heading, HEADING, id_)
        return Chunk(ordinal, start, stop, first_line, last_line, heading)

    def _values(self, memory: Memory) -> list[Any]:
        texts = zip(_TEXT_COLUMNS, _TEXTS(memory), strict=True)

        def seal(text: str, column: str) -> str | bytes:
            return self._seal(text, column, memory.id, memory.namespace)

        return [
            *_PLACE(memory),
            *(seal(text, column) for column, text in texts),
            seal(_to_json(memory.topics), TOPICS),
            seal(_to_json(dict(memory.metadata)), METADATA),
            *_LABELS(memory),
            None if memory.source is None else seal(memory.source, SOURCE),
            memory.language,
            self.stored_hash(memory.content_hash),
            *(None if time is None else micros(time) for time in _TIMES(memory)),
            None if memory.domain is None else fold_label(memory.domain),
        ]

    def _memories(self, rows: Iterable[Sequence[Any]]) -> list[Memory]:
        """Return the memories of rows, without those that are damaged, which is noted."""
        memories = [memory for row in rows if (memory := self._read(row)) is not None]
        if self._db.codec.is_sealed:
            for id_ in self._db.codec.not_as_written([memory.id for memory in memories]):
                note_damage(self._db, id_, _PUT_BACK)
                memories = [memory for memory in memories if memory.id != id_]
        return memories

    def _read(self, row: Sequence[Any]) -> Memory | None:
        """Return a memory; None where its row is damaged, which is noted."""
        try:
            return self._memory(row)
        except UNREADABLE as error:
            note_damage(self._db, row[0], reason(error))
            return None

    def is_damaged(self, id_: str) -> bool:
        """True for a memory that `get` could not read a moment ago."""
        return id_ in self._db.damaged

    def damage_note(self, ids: Sequence[str]) -> str:
        """Say which memories a result lacks because they are damaged."""
        return named_damage("memory", "left out", ids, self._db.path)

    def altered_note(self, ids: Sequence[str]) -> str:
        """Say which memories of a result do not match the hash of their text."""
        return named_alteration(ids, self._db.path)

    def damage_of(self, row: Sequence[Any]) -> str:
        """Return why a row cannot be read; "" where it can."""
        try:
            self._memory(row)
        except UNREADABLE as error:
            return reason(error)
        return ""

    def decoded(self, row: Sequence[Any]) -> Memory:
        """Return the memory of a row; raises one of UNREADABLE where it is damaged."""
        return self._memory(row)

    def page_after(self, n: int, limit: int) -> tuple[str, tuple[int, int]]:
        """Return the statement that reads the next memories by number, with their numbers."""
        return f"{_SELECT_N} WHERE m.n > ? ORDER BY m.n LIMIT ?", (n, limit)

    def _memory(self, row: Sequence[Any]) -> Memory:
        types = tuple(map(type, row))
        if types not in self._known_types:
            _check_types(types)
            self._known_types.add(types)
        # Unpacked rather than looked up by name: this runs for every hit of every search.
        unseal = self._unseal
        id_, namespace, type_, text, title, context, topics, metadata, *rest = row
        *labels, source, language, content_hash = rest[:-6]
        text, title = unseal(text, TEXT, id_), unseal(title, TITLE, id_)
        named = topics_in(unseal(topics, TOPICS, id_))
        memory = (text, id_, title, type_, tuple(named), namespace, *labels)
        times = tuple(map(moment, rest[-6:]))
        source = None if source is None else unseal(source, SOURCE, id_)
        about = json.loads(unseal(metadata, METADATA, id_))
        if type(about) is not dict:
            raise DamagedValue("metadata is not a JSON object")
        if self._db.codec.is_sealed:  # the stored one is a hash of that
            content_hash = hash_of_text(text)
        others = (source, about, (), content_hash, language)
        return Memory._make((*memory, unseal(context, CONTEXT, id_), *times, *others))


def _check_types(types: tuple[type, ...]) -> None:
    for column, found, known in zip(_COLUMNS, types, _TYPES, strict=True):
        if found not in known:
            raise DamagedValue(f"{column.removesuffix('_us')} has a value of the wrong kind")


def project_namespaces(db: Database, prefix: str, scope: Scope) -> list[str]:
    """Return the namespaces of a project, by name: those that begin with `project/`."""
    return SqlTable(db)._column(
        "SELECT DISTINCT namespace FROM memories"
        " WHERE substr(namespace, 1, ?) = ? AND {namespaces} ORDER BY 1",
        (len(prefix), prefix, scope),
    )
