"""What a language model made of messages, in SQLite: who reads which turns, and how that ended.

Turns are claimed under a lease, and what comes of them is written only while it is held: two
processes never draw from the same turns, and a killed one leaves them to the next.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import in_parts, where
from scrubjay.types import Scope

MOST_TRIES = 3
FACTS, PARTLY, NOTHING, FAILED, WAITING = "facts", "partly", "nothing", "failed", "waiting"

_OPEN = (
    "m.type = 'message' AND (x.message IS NULL OR (x.outcome IN ('failed', 'waiting')"
    f" AND x.tries < {MOST_TRIES} AND x.leased_until_s < ?))"
)
# A turn is settled some time after it was said, or when the talk has gone on.
_SETTLED = (
    "(m.created_us <= ? OR (SELECT count(*) FROM (SELECT 1 FROM memories AS t"
    " WHERE t.type = 'message' AND t.session = m.session AND t.namespace = m.namespace"
    " AND (t.created_us, t.n) > (m.created_us, m.n) LIMIT 2)) = 2)"
)
_SAME_TALK = (
    "m.type = 'message' AND m.namespace = ? AND m.session = ? AND m.owner IS ? AND m.agent IS ?"
)


class Claim(NamedTuple):
    """Turns that are ours until the lease runs out, in order, and the turns before them, by id."""

    turns: tuple[str, ...]
    context: tuple[str, ...]
    lease_s: float


class Limits(NamedTuple):
    """How much is read at once: turns, turns before them, and characters: half as many before them."""

    turns: int = 12
    context: int = 6
    chars: int = 6_000


class SqlExtractions:
    """The extractions of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def claim(
        self,
        scope: Scope,
        model: str,
        now_us: int,
        lease_s: float,
        limits: Limits,
        settled_us: int | None = None,
        passed_over: Collection[str] = (),
    ) -> Claim | None:
        """Take the next turns of one session that nobody has read; those tried longest ago first.

        With `settled_us`, only turns that were said until then, or after which two more were said.
        """
        import json

        condition, arguments = where(scope, self._db)
        if passed_over:
            condition += " AND m.id NOT IN (SELECT value FROM json_each(?))"
            arguments.append(json.dumps(list(passed_over)))
        settled, since = ("TRUE", []) if settled_us is None else (_SETTLED, [settled_us])
        held_until_s = time.time() + lease_s
        open_now = (time.time(),)
        # A session of which somebody reads a part is left alone: what is said later may depend on it.
        # "> 0" in so many words, or the index of leases is not used; the cross join reads it first.
        idle = (
            "(m.session IS NULL OR (m.namespace, m.session) NOT IN (SELECT om.namespace, om.session"
            " FROM extractions AS o CROSS JOIN memories AS om ON om.n = o.message"
            " WHERE o.leased_until_s > 0 AND o.leased_until_s > ? AND om.session IS NOT NULL))"
        )
        with self._db.write() as db:
            first = db.execute(
                "SELECT m.n, m.namespace, m.session, m.owner, m.agent, m.created_us, m.id"
                " FROM memories AS m LEFT JOIN extractions AS x ON x.message = m.n"
                f" WHERE {_OPEN} AND {idle} AND {settled} AND {condition}"
                " ORDER BY coalesce(x.at_us, 0), m.created_us, m.n LIMIT 1",
                (*open_now, *open_now, *since, *arguments),
            ).fetchone()
            if first is None:
                return None
            n, *talk, created_us, id_ = first
            turns, context = [(n, id_)], []
            if talk[1] is not None:
                following = db.execute(
                    f"SELECT m.n, m.id, length(m.text), {_OPEN} AND {settled} AND {condition}"
                    " FROM memories AS m LEFT JOIN extractions AS x ON x.message = m.n"
                    f" WHERE {_SAME_TALK} AND (m.created_us, m.n) >= (?, ?)"
                    " ORDER BY m.created_us, m.n LIMIT ?",
                    (*open_now, *since, *arguments, *talk, created_us, n, limits.turns),
                ).fetchall()
                turns = _run(following, limits.chars) or turns
                before = db.execute(
                    "SELECT m.n, m.id, length(m.text), 1 FROM memories AS m"
                    f" WHERE {_SAME_TALK} AND (m.created_us, m.n) < (?, ?) AND {condition}"
                    " ORDER BY m.created_us DESC, m.n DESC LIMIT ?",
                    (*talk, created_us, n, *arguments, limits.context),
                ).fetchall()
                context = _run(before, limits.chars // 2)[::-1]
            db.executemany(
                "INSERT INTO extractions (message, outcome, model, at_us, leased_until_s)"
                " VALUES (?, 'waiting', ?, ?, ?) ON CONFLICT (message) DO UPDATE SET"
                " leased_until_s = excluded.leased_until_s, at_us = excluded.at_us",
                [(turn, model, now_us, held_until_s) for turn, _ in turns],
            )
        return Claim(
            tuple(id_ for _, id_ in turns), tuple(id_ for _, id_ in context), held_until_s
        )

    def held(self, claim: Claim) -> bool:
        """True when all these turns are still ours and there; asked inside the write that ends them."""
        with self._db.read() as db:
            count = 0
            for several, part in in_parts(claim.turns):
                (more,) = db.execute(
                    "SELECT count(*) FROM extractions AS x JOIN memories AS m ON m.n = x.message"
                    f" WHERE m.id IN ({several}) AND x.leased_until_s = ?",
                    (*part, claim.lease_s),
                ).fetchone()
                count += more
        return count == len(claim.turns)

    def end(self, id_: str, outcome: str, model: str, reason: str, at_us: int) -> None:
        """Write down what became of a message; a failure counts as a try."""
        with self._db.write() as db:
            db.execute(
                "UPDATE extractions SET outcome = ?, model = ?, reason = ?, at_us = ?,"
                " tries = tries + 1, leased_until_s = 0"
                " WHERE message = (SELECT n FROM memories WHERE id = ?)",
                (outcome, model, reason or None, at_us, id_),
            )

    def give_back(self, claim: Claim, reason: str = "") -> None:
        """Let others have turns that are still ours; it does not count as a try."""
        with self._db.write() as db:
            for several, part in in_parts(claim.turns):
                db.execute(
                    "UPDATE extractions SET leased_until_s = 0, reason = ?"
                    f" WHERE leased_until_s = ? AND message IN"
                    f" (SELECT n FROM memories WHERE id IN ({several}))",
                    (reason or None, claim.lease_s, *part),
                )

    def retry(self, scope: Scope) -> None:
        """Let what failed be tried again, as if it had never been."""
        condition, arguments = where(scope, self._db)
        with self._db.write() as db:
            db.execute(
                "UPDATE extractions SET tries = 0, leased_until_s = 0 WHERE outcome = 'failed'"
                f" AND message IN (SELECT m.n FROM memories AS m WHERE {condition})",
                arguments,
            )

    def waiting(self, scope: Scope) -> int:
        """Return how many messages nobody has read yet, those included that failed and have tries left."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            row = db.execute(
                "SELECT count(*) FROM memories AS m LEFT JOIN extractions AS x ON x.message = m.n"
                " WHERE m.type = 'message' AND (x.message IS NULL OR (x.outcome IN"
                f" ('failed', 'waiting') AND x.tries < {MOST_TRIES})) AND {condition}",
                arguments,
            ).fetchone()
        return int(row[0])

    def holds(self, scope: Scope) -> bool:
        """True when there is a message in a scope, read or not."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            (found,) = db.execute(
                "SELECT EXISTS (SELECT 1 FROM memories AS m"
                f" WHERE m.type = 'message' AND {condition})",
                arguments,
            ).fetchone()
        return bool(found)

    def failures(self, scope: Scope) -> Mapping[str, int]:
        """Return why messages were given up, with how many each, most first."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                "SELECT coalesce(x.reason, ''), count(*) FROM extractions AS x"
                " JOIN memories AS m ON m.n = x.message WHERE x.outcome = 'failed'"
                f" AND x.tries >= {MOST_TRIES} AND {condition} GROUP BY 1 ORDER BY 2 DESC, 1",
                arguments,
            )
            return dict(rows.fetchall())

    def next_us(self) -> int | None:
        """Return when the oldest message that waits was said; None where none does."""
        with self._db.read() as db:
            (said,) = db.execute(
                "SELECT min(m.created_us) FROM memories AS m LEFT JOIN extractions AS x"
                f" ON x.message = m.n WHERE {_OPEN}",
                (time.time(),),
            ).fetchone()
        return None if said is None else int(said)


def _run(rows: Sequence[tuple[int, str, int, int]], most_chars: int) -> list[tuple[int, str]]:
    """Return the first rows that may be read, one at least, up to one that may not or is too much."""
    taken: list[tuple[int, str]] = []
    chars = 0
    for n, id_, length, may in rows:
        chars += length
        if not may or (taken and chars > most_chars):
            break
        taken.append((n, id_))
    return taken


class Span(NamedTuple):
    """By which words of a message a fact is said, and the fact as that message says it."""

    message: str
    start: int
    stop: int
    text: str


class SqlSpans:
    """The spans of one file. They go with the fact, and with the message."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, fact: str, span: Span) -> None:
        """Note that a fact is said by these words of a message."""
        message, start, stop, text = span
        with self._db.write() as db:
            db.execute(
                "INSERT INTO spans (fact, message, start, stop, text) SELECT f.n, m.n, ?, ?, ?"
                " FROM memories AS f, memories AS m WHERE f.id = ? AND m.id = ?"
                " ON CONFLICT (fact, message, start) DO UPDATE SET text = excluded.text, stop ="
                " CASE WHEN spans.stop > excluded.stop THEN spans.stop ELSE excluded.stop END",
                (start, stop, self._db.codec.seal(text), fact, message),
            )

    def of(self, fact: str) -> list[Span]:
        """Return the messages that say a fact, in the order of saying."""
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = db.execute(
                "SELECT m.id, s.start, s.stop, s.text FROM spans AS s"
                " JOIN memories AS f ON f.n = s.fact"
                " JOIN memories AS m ON m.n = s.message WHERE f.id = ?"
                " ORDER BY m.created_us, m.n, s.start",
                (fact,),
            )
            return [Span(id_, start, stop, unseal(text)) for id_, start, stop, text in rows]

    def drop(self, message: str) -> None:
        """Forget what a message says: its text is another now."""
        with self._db.write() as db:
            db.execute(
                "DELETE FROM spans WHERE message = (SELECT n FROM memories WHERE id = ?)",
                (message,),
            )

    def facts_of(self, messages: Sequence[str]) -> list[str]:
        """Return the facts that any of these messages says."""
        found: dict[str, None] = {}
        with self._db.read() as db:
            for several, part in in_parts(messages):
                rows = db.execute(
                    "SELECT f.id FROM memories AS m JOIN spans AS s ON s.message = m.n"
                    f" JOIN memories AS f ON f.n = s.fact WHERE m.id IN ({several}) ORDER BY f.n",
                    part,
                )
                found.update((id_, None) for (id_,) in rows)
        return list(found)
