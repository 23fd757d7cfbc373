"""The turns of conversations in SQLite: in order, and each short one known by the turns around it.

A short turn says little by itself ("yes, in May"). Its words are indexed and its vector is made with
the turn before it and the turn after it, in the same namespace and session, of the same owner and
agent: a filter on any of these must not show, or find by, what it excludes. Those are read from the
rows whenever they are needed, and stored nowhere else. What a write changes of them is settled once,
before it ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from scrubjay.storage.database import Connection, Database, Gathered
from scrubjay.storage.sql.scope import in_parts, where
from scrubjay.text.recall_tags import blank_recalled
from scrubjay.text.snippets import preview
from scrubjay.times import micros, moment
from scrubjay.types import Memory, RankedList, Row, Scope, Spoken
from scrubjay.types.reports import Session

if TYPE_CHECKING:
    from datetime import datetime

MESSAGE = "message"
_TURNS = "type = 'message' AND session IS NOT NULL"
# With a plus SQLite looks up the few it is asked for, and does not go through all messages instead.
_IS_TURN = "+type = 'message' AND +session IS NOT NULL"
# Of the same moment and of others apart: SQLite would go through all that were said at one moment, and
# those may be a whole conversation without times. Without these words it would not use the index.
_IN = (
    "SELECT * FROM (SELECT created_us AS at, n, text FROM memories WHERE type = 'message'"
    " AND namespace = ?1 AND session = ?2 AND owner IS ?3 AND agent IS ?4"
)
_BESIDE = (
    "SELECT n, text FROM ("
    f"{_IN} AND created_us = ?5 AND n {{sign}} ?6 ORDER BY n {{way}} LIMIT ?7)"
    f" UNION ALL {_IN} AND created_us {{sign}} ?5 ORDER BY created_us {{way}}, n {{way}} LIMIT ?7)"
    ") ORDER BY at {way}, n {way} LIMIT ?7"
)
_BEFORE = _BESIDE.format(sign="<", way="DESC")
_AFTER = _BESIDE.format(sign=">", way="ASC")
_BATCH = 500


class Place(NamedTuple):
    """Where a turn stands: the order is by time, then by the order of writing."""

    namespace: str
    session: str
    owner: str | None
    agent: str | None
    created_us: int
    n: int


_PLACE = "namespace, session, owner, agent, created_us, n"
# What tells whether a memory is a turn, and where it stands but for its number.
ROW = "type, namespace, session, owner, agent, created_us"


class Touched(Gathered):
    """Memories whose words or vectors may no longer fit the turns around them, by number.

    `asked` are those whose vectors are wanted anew, `dropped` those whose old ones go at once.
    """

    settle: Callable[[Touched], None] | None = None

    def __init__(self) -> None:
        self.words: set[int] = set()
        self.asked: set[int] = set()
        self.dropped: set[int] = set()

    def write(self, db: Connection) -> None:
        """Bring words and wishes up to date."""
        if self.settle is not None:
            self.settle(self)


class SqlMessages:
    """The conversations of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._words = db.words

    def places(self, ids: Sequence[str]) -> list[tuple[str, Place]]:
        """Return where each of these messages stands, by id; what is no message of a session is not."""
        found: list[tuple[str, Place]] = []
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    f"SELECT id, {_PLACE} FROM memories WHERE id IN ({several}) AND {_IS_TURN}",
                    part,
                )
                found += ((id_, Place(*stands)) for id_, *stands in rows)
        return found

    def beside(self, place: Place, turns: int) -> tuple[list[int], list[int]]:
        """Return the numbers of so many turns before a place, and after it, in order."""
        with self._db.read() as db:
            before, after = (
                [n for n, _ in db.execute(side, (*place, turns))] for side in (_BEFORE, _AFTER)
            )
        return before[::-1], after

    def parted(self, id_: str) -> list[tuple[str, str | None, str | None]]:
        """Return whether a turn has an owner or an agent where the one before it has none, or the reverse.

        Each comes with its name, that of the turn and that of the one before it. Only the first turn of
        its owner and agent in a session is compared: that takes a look at all of the session.
        """
        for _, place in self.places([id_]):
            if self.beside(place, 1)[0]:
                break
            with self._db.read() as db:
                row = db.execute(
                    "SELECT owner, agent FROM memories WHERE type = 'message' AND namespace = ?"
                    " AND session = ? AND (created_us, n) < (?, ?)"
                    " ORDER BY created_us DESC, n DESC LIMIT 1",
                    (place.namespace, place.session, place.created_us, place.n),
                ).fetchone()
            pairs = zip(("owner", "agent"), (place.owner, place.agent), row or (), strict=False)
            return [one for one in pairs if (one[1] is None) != (one[2] is None)]
        return []

    def texts_around(self, place: Place, text: str, *, by_model: bool) -> str:
        """Return what is read together with a turn: nothing with a long one, or with a silent one.

        Of a long turn beside a short one the first words are indexed. A model does not read it at all:
        the vector would be that of the long one.
        """
        most_chars = self._db.short_turn_chars
        # One of recalled text alone says nothing that its neighbours could make understood.
        if len(text) > most_chars or not blank_recalled(text).strip():
            return ""
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = [db.execute(side, (*place, 1)).fetchone() for side in (_BEFORE, _AFTER)]
        # What one of them repeats of a search is not its own.
        said = [blank_recalled(unseal(row[1])).strip() for row in rows if row is not None]
        if by_model:
            return "\n".join(one for one in said if len(one) <= most_chars)
        return "\n".join(filter(None, (preview(one, most_chars) for one in said)))

    def around_row(self, n: int, text: str, row: Sequence[Any], *, by_model: bool) -> str:
        """Return what is read together with a memory, by the columns `ROW` of it: with most, nothing."""
        type_, *stands = row
        if type_ != MESSAGE or stands[1] is None:
            return ""
        namespace, session, owner, agent, created_us = stands
        place = Place(namespace, session, owner, agent, created_us, n)
        return self.texts_around(place, text, by_model=by_model)

    def wrote(self, n: int, before: Memory | None, after: Memory) -> None:
        """Note what a memory that was just written means for itself and for the turns beside it."""
        was, now = None if before is None else place_of(n, before), place_of(n, after)
        if was is None and now is None:
            return
        touched = self._touched()
        touched.words.add(n)
        if before is not None and was == now and before.text == after.text:
            return
        if before is not None:  # a new one wants its vectors already
            touched.asked.add(n)
        for place in filter(None, (was, now)):
            for beside in self.beside(place, 1):
                touched.words.update(beside)
                touched.asked.update(beside)

    def leaving(self, numbers: Sequence[int]) -> None:
        """Note what it means that memories are about to go: no vector made with their words may stay."""
        with self._db.write() as db:
            for several, part in in_parts(numbers):
                for place in db.execute(
                    f"SELECT {_PLACE} FROM memories WHERE n IN ({several}) AND {_IS_TURN}",
                    part,
                ).fetchall():
                    for beside in self.beside(Place(*place), 1):
                        touched = self._touched()
                        touched.words.update(beside)
                        touched.asked.update(beside)
                        touched.dropped.update(beside)

    def settle_all(self, *, ask: bool) -> None:
        """Index the words around every turn, and want their vectors anew, in a file that has none."""
        with self._db.write() as db:
            after = 0
            while batch := db.execute(
                f"SELECT n FROM memories WHERE {_TURNS} AND n > ? ORDER BY n LIMIT ?",
                (after, _BATCH),
            ).fetchall():
                every = Touched()
                every.words.update(n for (n,) in batch)
                if ask:
                    every.asked.update(every.words)
                self._settle(every)
                after = batch[-1][0]

    def sessions(self, scope: Scope, limit: int, offset: int = 0) -> list[Session]:
        """Return the sessions in which a scope sees messages, the one with the newest first."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                "SELECT m.session, m.namespace, count(*), min(m.created_us), max(m.created_us),"
                " json_group_array(DISTINCT m.owner), json_group_array(DISTINCT m.agent)"
                " FROM memories AS m WHERE m.type = 'message' AND m.session IS NOT NULL"
                f" AND {condition} GROUP BY m.namespace, m.session"
                " ORDER BY max(m.created_us) DESC, m.session, m.namespace LIMIT ? OFFSET ?",
                (*arguments, limit, offset),
            ).fetchall()
        return [
            Session(name, place, count, _at(first), _at(last), _named(owners), _named(agents))
            for name, place, count, first, last, owners, agents in rows
        ]

    def how_many(self, scope: Scope) -> int:
        """Return in how many sessions a scope sees messages."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            row = db.execute(
                "SELECT count(*) FROM (SELECT 1 FROM memories AS m WHERE m.type = 'message' AND"
                f" m.session IS NOT NULL AND {condition} GROUP BY m.namespace, m.session)",
                arguments,
            ).fetchone()
        return int(row[0])

    def _touched(self) -> Touched:
        touched = self._db.gathering(Touched)
        touched.settle = self._settle
        return touched

    def _settle(self, touched: Touched) -> None:
        """Index what stands around each memory now; where that was or is read with it, ask again."""
        unseal = self._db.codec.unseal
        ask: list[int] = []
        with self._db.write() as db:
            for n in sorted(touched.words):
                row = db.execute(
                    f"SELECT {ROW}, language, text, context FROM memories WHERE n = ?",
                    (n,),
                ).fetchone()
                if row is None:
                    continue
                *stands, language, text, context = row
                text = unseal(text)
                around = self.around_row(n, text, stands, by_model=False)
                lines = "\n".join(filter(None, (unseal(context), around)))
                changed = self._words.put_context(n, lines, language)
                if n in touched.asked and (changed or len(text) <= self._db.short_turn_chars):
                    ask.append(n)
            self._ask(db, ask)
            db.executemany(
                "DELETE FROM vectors WHERE chunk IN (SELECT n FROM chunks WHERE memory = ?)",
                [(n,) for n in ask if n in touched.dropped],
            )

    def _ask(self, db: Connection, numbers: Sequence[int]) -> None:
        """Want the vectors of memories anew, under a number that no wish of this file had before.

        A wish that is granted goes. One after it must not look the same to a model that still reads
        for the first, or that would grant it, too.
        """
        if not numbers:
            return
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


def place_of(n: int, memory: Memory) -> Place | None:
    """Return where a memory stands in its conversation; None for what is no turn of one."""
    if memory.type != MESSAGE or memory.session is None:
        return None
    created_us = 0 if memory.created_at is None else micros(memory.created_at)
    return Place(memory.namespace, memory.session, memory.owner, memory.agent, created_us, n)


def _at(us: int) -> datetime:
    return cast("datetime", moment(us))  # no memory is without a time


def _named(array: str) -> tuple[str, ...]:
    return tuple(sorted(one for one in json.loads(array) if one is not None))


class SqlTimeline:
    """The times of the memories of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def spoken(self, session: str | None, settled_us: int) -> Spoken | None:
        """Return which raw messages are seen, by a number that stays until that changes.

        None where all of them are: then no search has to look at what is a message.
        """
        with self._db.read() as db:
            newest, newest_settled, extracted = db.execute(
                "SELECT (SELECT max(created_us) FROM memories WHERE type = 'message'),"
                " (SELECT max(created_us) FROM memories WHERE type = 'message' AND created_us <= ?),"
                " EXISTS (SELECT 1 FROM extractions WHERE outcome = 'facts')",
                (settled_us,),
            ).fetchone()
        if newest is None or (newest <= settled_us and not extracted):
            return None
        # Kept sets of memories are of one scope: with the moment itself, every search had its own.
        return Spoken(session, _BEFORE_ALL_US if newest_settled is None else newest_settled)

    def unsettled(self, settled_us: int, scope: Scope) -> int:
        """Return how many messages were said after a moment, of those that a scope may see."""
        condition, arguments = where(scope._replace(spoken=None), self._db)
        with self._db.read() as db:
            row = db.execute(
                "SELECT count(*) FROM memories AS m WHERE m.type = 'message' AND m.created_us > ?"
                f" AND {condition}",
                (settled_us, *arguments),
            ).fetchone()
        return int(row[0])

    def between(self, begins_us: int, ends_us: int, scope: Scope, limit: int) -> RankedList:
        """Return what happened, or was said, from one moment until another, the latest first.

        What began before and was not over by then comes last. A message without a word of
        its own, such as one of recalled text alone, is none of that.
        """
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            # Two statements in one: for what lasts, and for the rest, there is an index each.
            rows = db.execute(
                "SELECT id, updated_us FROM (SELECT * FROM (SELECT m.n, m.id, m.type, m.updated_us,"
                " coalesce(m.event_us, m.created_us) AS at FROM memories AS m"
                " WHERE coalesce(m.event_us, m.created_us) >= ?"
                f" AND coalesce(m.event_us, m.created_us) < ? AND {condition}"
                " UNION ALL SELECT m.n, m.id, m.type, m.updated_us, m.event_us FROM memories AS m"
                " WHERE m.event_until_us IS NOT NULL AND m.event_until_us > ? AND m.event_us < ?"
                # The limit inside keeps the words from being looked up of more than are returned.
                f" AND {condition}) AS seen ORDER BY at DESC, updated_us DESC, id LIMIT -1) AS latest"
                " WHERE type <> 'message' OR (SELECT text <> '' FROM words WHERE rowid = n) LIMIT ?",
                (begins_us, ends_us, *arguments, begins_us, begins_us, *arguments, limit),
            )
            return RankedList("moment", tuple(Row(id_, 1.0, None, us) for id_, us in rows))


_BEFORE_ALL_US = -(2**62)
