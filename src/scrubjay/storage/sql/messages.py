"""Messages of sessions: their order, the neighbors of short ones, and search by time.

A short message says little alone ("yes, in May"). Its words are indexed and its vector is made with the
message before it and the one after it, in the same namespace and session, of the same owner and agent: a
filter on any of these must not show, or find by, what it excludes. Neighbors are read from the rows when
needed, and stored nowhere else. Changes during a write are applied once, before it ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from scrubjay.storage.database import Connection, Database, Gathered
from scrubjay.storage.sql.records import CONTEXT, TEXT
from scrubjay.storage.sql.scope import FIRST_US, READ, SqlTable
from scrubjay.text.recall_tags import blank_recalled
from scrubjay.text.snippets import preview
from scrubjay.times import micros, moment
from scrubjay.types import Memory, RankedList, Row, Scope, Spoken
from scrubjay.types.reports import Session

if TYPE_CHECKING:
    from datetime import datetime

MESSAGE = "message"
# With a plus SQLite reads the few that are asked for, instead of all messages.
_IS_MESSAGE = "+type = 'message' AND +session IS NOT NULL"
# Those of the same moment and of others apart: SQLite would read all of one moment, which may be a whole
# conversation without times. Without `type = 'message'` it would not use the index.
_IN_SESSION = (
    "SELECT * FROM (SELECT created_us AS at, n, id, text FROM memories WHERE type = 'message'"
    " AND namespace = ?1 AND session = ?2 AND owner IS ?3 AND agent IS ?4"
)
_BESIDE = (
    "SELECT n, id, text FROM ("
    f"{_IN_SESSION} AND created_us = ?5 AND n {{sign}} ?6 ORDER BY n {{way}} LIMIT ?7)"
    f" UNION ALL {_IN_SESSION} AND created_us {{sign}} ?5 ORDER BY created_us {{way}}, n {{way}} LIMIT ?7)"
    ") ORDER BY at {way}, n {way} LIMIT ?7"
)
_BEFORE = _BESIDE.format(sign="<", way="DESC")
_AFTER = _BESIDE.format(sign=">", way="ASC")
_BATCH = 500


class Position(NamedTuple):
    """Position of a message: ordered by time, then by the order of writing."""

    namespace: str
    session: str
    owner: str | None
    agent: str | None
    created_us: int
    n: int


_POSITION = "namespace, session, owner, agent, created_us, n"
# The type of a memory, and its position without the number.
ROW = "type, namespace, session, owner, agent, created_us"


class ChangedNeighbors(Gathered):
    """Messages whose neighbors have changed during a write, by number. `words` are indexed again,
    `embed` get new vectors, and of `outdated` the old vectors are deleted at once."""

    apply: Callable[[ChangedNeighbors], None] | None = None

    def __init__(self) -> None:
        self.words: set[int] = set()
        self.embed: set[int] = set()
        self.outdated: set[int] = set()

    def write(self, db: Connection) -> None:
        if self.apply is not None:
            self.apply(self)


class SqlMessages(SqlTable):
    """The messages in the table `memories`."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._words = db.words

    def positions(self, ids: Sequence[str]) -> list[tuple[str, Position]]:
        """Return the positions of these messages, by id; memories outside of sessions are left out."""
        rows = self._rows_in(
            f"SELECT id, {_POSITION} FROM memories WHERE id IN ({{values}}) AND {_IS_MESSAGE}", ids
        )
        return [(id_, Position(*position)) for id_, *position in rows]

    def beside(self, position: Position, count: int) -> tuple[list[int], list[int]]:
        """Return the numbers of the messages before and after a position, in order."""
        before, after = (
            [n for n, *_ in self._rows(side, (*position, count))] for side in (_BEFORE, _AFTER)
        )
        return before[::-1], after

    def mismatches(self, id_: str) -> list[tuple[str, str | None, str | None]]:
        """Return the fields (owner, agent) that only one of a message and the one before it has.

        Each comes with both values. Only the first message of its owner and agent in a session is
        compared, because that reads the whole session.
        """
        for _, position in self.positions([id_]):
            if self.beside(position, 1)[0]:
                break
            row = self._row(
                "SELECT owner, agent FROM memories WHERE type = 'message' AND namespace = ?"
                " AND session = ? AND (created_us, n) < (?, ?)"
                " ORDER BY created_us DESC, n DESC LIMIT 1",
                (position.namespace, position.session, position.created_us, position.n),
            )
            fields = ("owner", "agent")
            pairs = zip(fields, (position.owner, position.agent), row or (), strict=False)
            return [pair for pair in pairs if (pair[1] is None) != (pair[2] is None)]
        return []

    def neighbor_texts(self, n: int, text: str, row: Sequence[Any], *, for_model: bool) -> str:
        """Return the neighbors of a short message, by its columns `ROW`; "" for any other memory.

        Of a long neighbor the first words are indexed. A model does not read it at all: the vector
        would be that of the long one.
        """
        type_, namespace, session, owner, agent, created_us = row
        max_chars = self._db.short_turn_chars
        # A message of recalled text alone says nothing that its neighbors could explain.
        if (
            type_ != MESSAGE
            or session is None
            or len(text) > max_chars
            or not blank_recalled(text).strip()
        ):
            return ""
        position = Position(namespace, session, owner, agent, created_us, n)
        rows = [self._row(side, (*position, 1)) for side in (_BEFORE, _AFTER)]
        texts = [
            blank_recalled(self._unseal(row[2], TEXT, row[1])).strip()
            for row in rows
            if row is not None
        ]
        if for_model:
            return "\n".join(text for text in texts if len(text) <= max_chars)
        return "\n".join(filter(None, (preview(text, max_chars) for text in texts)))

    def on_put(self, n: int, before: Memory | None, after: Memory) -> None:
        """Note that a written memory changes its own neighbors and those of the messages beside it."""
        old, new = None if before is None else _position(n, before), _position(n, after)
        if old is None and new is None:
            return
        changed = self._changed()
        changed.words.add(n)
        if before is not None and old == new and before.text == after.text:
            return
        if before is not None:  # a new one is queued already
            changed.embed.add(n)
        for position in filter(None, (old, new)):
            for numbers in self.beside(position, 1):
                changed.words.update(numbers)
                changed.embed.update(numbers)

    def on_delete(self, numbers: Sequence[int]) -> None:
        """Note that memories are deleted next: vectors made with their words must not stay."""
        with self._db.write():
            for position in self._rows_in(
                f"SELECT {_POSITION} FROM memories WHERE n IN ({{values}}) AND {_IS_MESSAGE}",
                numbers,
            ):
                changed = self._changed()
                for beside in self.beside(Position(*position), 1):
                    for noted in (changed.words, changed.embed, changed.outdated):
                        noted.update(beside)

    def index_neighbors(self, *, embed: bool) -> None:
        """Index the neighbors of every message; with `embed`, queue all of them for new vectors."""
        with self._db.write() as db:
            after = 0
            while batch := db.execute(
                "SELECT n FROM memories WHERE type = 'message' AND session IS NOT NULL AND n > ?"
                " ORDER BY n LIMIT ?",
                (after, _BATCH),
            ).fetchall():
                changed = ChangedNeighbors()
                changed.words.update(n for (n,) in batch)
                if embed:
                    changed.embed.update(changed.words)
                self._apply(changed)
                after = batch[-1][0]

    def sessions(self, scope: Scope, limit: int, offset: int = 0) -> list[Session]:
        """Return the sessions in which a scope sees messages, the one with the newest first."""
        rows = self._rows(
            "SELECT m.session, m.namespace, count(*), min(m.created_us), max(m.created_us),"
            " json_group_array(DISTINCT m.owner), json_group_array(DISTINCT m.agent)"
            " FROM memories AS m WHERE m.type = 'message' AND m.session IS NOT NULL"
            " AND {scope} GROUP BY m.namespace, m.session"
            " ORDER BY max(m.created_us) DESC, m.session, m.namespace LIMIT ? OFFSET ?",
            (scope, limit, offset),
        )
        return [
            Session(name, place, count, _time(first), _time(last), _names(owners), _names(agents))
            for name, place, count, first, last, owners, agents in rows
        ]

    def count_sessions(self, scope: Scope) -> int:
        return self._number(
            "SELECT count(*) FROM (SELECT 1 FROM memories AS m WHERE m.type = 'message' AND"
            " m.session IS NOT NULL AND {scope} GROUP BY m.namespace, m.session)",
            (scope,),
        )

    def _changed(self) -> ChangedNeighbors:
        changed = self._db.gathering(ChangedNeighbors)
        changed.apply = self._apply
        return changed

    def _apply(self, changed: ChangedNeighbors) -> None:
        """Index the present neighbors of each message; where a model reads them, request a vector."""
        embed: list[int] = []
        with self._db.write() as db:
            for n in sorted(changed.words):
                row = db.execute(
                    f"SELECT {ROW}, language, id, text, context FROM memories WHERE n = ?", (n,)
                ).fetchone()
                if row is None:
                    continue
                *columns, language, id_, text, context = row
                text = self._unseal(text, TEXT, id_)
                neighbors = self.neighbor_texts(n, text, columns, for_model=False)
                own = self._unseal(context, CONTEXT, id_)
                lines = "\n".join(filter(None, (own, neighbors)))
                differs = self._words.put_context(n, lines, language)
                if n in changed.embed and (differs or len(text) <= self._db.short_turn_chars):
                    embed.append(n)
            if embed:
                self._request_vectors(db, embed)
            db.executemany(
                "DELETE FROM vectors WHERE chunk IN (SELECT n FROM chunks WHERE memory = ?)",
                [(n,) for n in embed if n in changed.outdated],
            )

    def _request_vectors(self, db: Connection, numbers: Sequence[int]) -> None:
        """Request new vectors of memories, under a number that no request of this database had before.

        A request is deleted when it is done. A later one must have another number, or a model that
        still reads for the first would complete it.
        """
        (number,) = db.execute(
            "INSERT INTO meta (key, value) VALUES ('asked', 1)"
            " ON CONFLICT (key) DO UPDATE SET value = meta.value + 1 RETURNING value"
        ).fetchone()
        db.executemany(
            "INSERT INTO wanting (model, chunk, asked) SELECT m.n, c.n, ?"
            " FROM chunks AS c CROSS JOIN models AS m WHERE c.memory = ?"
            " ON CONFLICT (model, chunk) DO UPDATE SET asked = excluded.asked,"
            " leased_until_s = 0, tries = 0, reason = NULL",
            [(number, n) for n in numbers],
        )


def _position(n: int, memory: Memory) -> Position | None:
    if memory.type != MESSAGE or memory.session is None:
        return None
    created_us = 0 if memory.created_at is None else micros(memory.created_at)
    return Position(memory.namespace, memory.session, memory.owner, memory.agent, created_us, n)


def _time(us: int) -> datetime:
    return cast("datetime", moment(us))  # every memory has a time


def _names(array: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in json.loads(array) if name is not None))


class SqlTimeline(SqlTable):
    """Memories by time: when they were said, and when they happened."""

    def spoken(self, asked: Spoken) -> Spoken | None:
        """Return which raw messages are visible, by a number that stays until that changes. None
        where all of them are: then no search has to filter messages."""
        settled_us = asked.settled_us
        newest, newest_settled, extracted = self._row(
            "SELECT (SELECT max(created_us) FROM memories WHERE type = 'message'),"
            " (SELECT max(created_us) FROM memories WHERE type = 'message' AND created_us <= ?),"
            " EXISTS (SELECT 1 FROM extractions WHERE outcome = 'facts')",
            (settled_us,),
        )
        if newest is None or (newest <= settled_us and not (extracted or asked.only_read)):
            return None
        # Cached sets of memories are by scope: with `settled_us` itself, every search had its own.
        return asked._replace(settled_us=FIRST_US if newest_settled is None else newest_settled)

    def unsettled(self, spoken: Spoken, scope: Scope) -> int:
        """Return how many messages are found in their session alone for now."""
        unread = f"OR NOT {READ} " if spoken.only_read else ""
        return self._number(
            f"SELECT count(*) FROM memories AS m WHERE m.type = 'message' AND (m.created_us > ?"
            f" {unread}) AND {{scope}}",
            (spoken.settled_us, scope._replace(spoken=None)),
        )

    def between(self, begins_us: int, ends_us: int, scope: Scope, limit: int) -> RankedList:
        """Return what happened, or was said, between two times, the latest first.

        What began before and lasted until then comes last. A message without words of its own, such as
        one of recalled text alone, is left out.
        """
        # Two statements in one: for what lasts, and for the rest, there is an index each.
        rows = self._rows(
            "SELECT id, updated_us FROM (SELECT * FROM (SELECT m.n, m.id, m.type, m.updated_us,"
            " coalesce(m.event_us, m.created_us) AS at FROM memories AS m"
            " WHERE coalesce(m.event_us, m.created_us) >= ?"
            " AND coalesce(m.event_us, m.created_us) < ? AND {scope}"
            " UNION ALL SELECT m.n, m.id, m.type, m.updated_us, m.event_us FROM memories AS m"
            " WHERE m.event_until_us IS NOT NULL AND m.event_until_us > ? AND m.event_us < ?"
            # The inner limit keeps SQLite from reading the words of more than are returned.
            " AND {scope}) AS seen ORDER BY at DESC, updated_us DESC, id LIMIT -1) AS latest"
            " WHERE type <> 'message' OR (SELECT text <> '' FROM words WHERE rowid = n) LIMIT ?",
            (begins_us, ends_us, scope, begins_us, begins_us, scope, limit),
        )
        return RankedList("moment", tuple(Row(id_, 1.0, None, us) for id_, us in rows))
