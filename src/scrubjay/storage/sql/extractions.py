"""Extraction of facts from messages: which messages are read, with what outcome, and the words of each fact.

Messages are claimed under a lease, and results are written only while it is held: two processes never
extract from the same messages, and a killed one leaves them to the next.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from scrubjay.storage.codec import UNREADABLE
from scrubjay.storage.sql.scope import MAX_TRIES, UNREAD, SqlTable, where
from scrubjay.types import Scope

FACTS, PARTLY, NOTHING, FAILED = "facts", "partly", "nothing", "failed"

_UNREAD = f"m.type = 'message' AND (x.message IS NULL OR ({UNREAD}"
_OPEN = f"{_UNREAD} AND x.leased_until_s < ?))"
# A message is settled some time after it was said, or when two more were said.
_SETTLED = (
    "(m.created_us <= ? OR (SELECT count(*) FROM (SELECT 1 FROM memories AS t"
    " WHERE t.type = 'message' AND t.session = m.session AND t.namespace = m.namespace"
    " AND (t.created_us, t.n) > (m.created_us, m.n) LIMIT 2)) = 2)"
)
_SAME_SESSION = (
    "m.type = 'message' AND m.namespace = ? AND m.session = ? AND m.owner IS ? AND m.agent IS ?"
)


class Claim(NamedTuple):
    """Messages under our lease, in order, and the messages before them, by id."""

    turns: tuple[str, ...]
    context: tuple[str, ...]
    lease_s: float


class Limits(NamedTuple):
    """Maximum of one claim: messages, messages before them, and characters (half of it before them)."""

    turns: int = 12
    context: int = 6
    chars: int = 6_000


class SqlExtractions(SqlTable):
    """The table `extractions`: the outcome of each message."""

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
        """Lease the next unread messages of one session; those tried longest ago first. With
        `settled_us`, only messages said until then, or followed by two more."""
        condition, arguments = where(scope, self._db)
        if passed_over:
            condition += " AND m.id NOT IN (SELECT value FROM json_each(?))"
            arguments.append(json.dumps(list(passed_over)))
        settled, since = ("TRUE", []) if settled_us is None else (_SETTLED, [settled_us])
        held_until_s = time.time() + lease_s
        open_now = (time.time(),)
        # A session that another process reads is left alone: later messages may depend on its facts.
        # "> 0" makes SQLite use the index of leases; the cross join reads it first.
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
            n, *session, created_us, id_ = first
            turns, context = [(n, id_)], []
            if session[1] is not None:
                following = db.execute(
                    f"SELECT m.n, m.id, length(m.text), {_OPEN} AND {settled} AND {condition}"
                    " FROM memories AS m LEFT JOIN extractions AS x ON x.message = m.n"
                    f" WHERE {_SAME_SESSION} AND (m.created_us, m.n) >= (?, ?)"
                    " ORDER BY m.created_us, m.n LIMIT ?",
                    (*open_now, *since, *arguments, *session, created_us, n, limits.turns),
                ).fetchall()
                turns = _within(following, limits.chars) or turns
                before = db.execute(
                    "SELECT m.n, m.id, length(m.text), 1 FROM memories AS m"
                    f" WHERE {_SAME_SESSION} AND (m.created_us, m.n) < (?, ?) AND {condition}"
                    " ORDER BY m.created_us DESC, m.n DESC LIMIT ?",
                    (*session, created_us, n, *arguments, limits.context),
                ).fetchall()
                context = _within(before, limits.chars // 2)[::-1]
            db.executemany(
                "INSERT INTO extractions (message, outcome, model, at_us, leased_until_s)"
                " VALUES (?, 'waiting', ?, ?, ?) ON CONFLICT (message) DO UPDATE SET"
                " leased_until_s = excluded.leased_until_s, at_us = excluded.at_us",
                [(turn, model, now_us, held_until_s) for turn, _ in turns],
            )
        ids, before_ids = (tuple(id_ for _, id_ in part) for part in (turns, context))
        return Claim(ids, before_ids, held_until_s)

    def is_held(self, claim: Claim) -> bool:
        """True when all these messages exist and are still leased by us; call it inside the write."""
        rows = self._rows_in(
            "SELECT x.message FROM extractions AS x JOIN memories AS m ON m.n = x.message"
            " WHERE m.id IN ({values}) AND x.leased_until_s = ?",
            claim.turns,
            (claim.lease_s,),
        )
        return len(rows) == len(claim.turns)

    def finish(self, id_: str, outcome: str, model: str, reason: str, at_us: int) -> None:
        """Record the outcome of a message; a failure counts as a try."""
        self._write(
            "UPDATE extractions SET outcome = ?, model = ?, reason = ?, at_us = ?,"
            " tries = tries + 1, leased_until_s = 0"
            " WHERE message = (SELECT n FROM memories WHERE id = ?)",
            (outcome, model, self._sealed_reason(reason), at_us, id_),
        )

    def release(self, claim: Claim, reason: str = "") -> None:
        """End our lease of messages; it does not count as a try."""
        self._write_in(
            "UPDATE extractions SET leased_until_s = 0, reason = ? WHERE leased_until_s = ?"
            " AND message IN (SELECT n FROM memories WHERE id IN ({values}))",
            claim.turns,
            before=(self._sealed_reason(reason), claim.lease_s),
        )

    def _sealed_reason(self, reason: str) -> str | bytes | None:
        # Not bound to a message: one reason is written for several, and none is more than shown.
        return self._seal(reason, _REASON, "") if reason else None

    def retry(self, scope: Scope) -> None:
        self._write(
            "UPDATE extractions SET tries = 0, leased_until_s = 0 WHERE outcome = 'failed'"
            " AND message IN (SELECT m.n FROM memories AS m WHERE {scope})",
            (scope,),
        )

    def waiting(self, scope: Scope) -> int:
        """Return how many messages are unread, including failed ones with tries left."""
        return self._number(
            "SELECT count(*) FROM memories AS m LEFT JOIN extractions AS x ON x.message = m.n"
            f" WHERE {_UNREAD})) AND {{scope}}",
            (scope,),
        )

    def has_messages(self, scope: Scope) -> bool:
        statement = "SELECT 1 FROM memories AS m WHERE m.type = 'message' AND {scope} LIMIT 1"
        return self._row(statement, (scope,)) is not None

    def failures(self, scope: Scope) -> Mapping[str, int]:
        """Return why messages have failed for good, with the number of each reason, most first."""
        rows = self._rows(
            "SELECT x.reason, count(*) FROM extractions AS x"
            " JOIN memories AS m ON m.n = x.message WHERE x.outcome = 'failed'"
            f" AND x.tries >= {MAX_TRIES} AND {{scope}} GROUP BY 1",
            (scope,),
        )
        counts = Counter[str]()
        for reason, count in rows:
            with suppress(*UNREADABLE):
                counts["" if reason is None else self._unseal(reason, _REASON, "")] += count
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def oldest_waiting_us(self) -> int | None:
        """Return when the oldest waiting message was said; None where none waits."""
        (said,) = self._row(
            "SELECT min(m.created_us) FROM memories AS m LEFT JOIN extractions AS x"
            f" ON x.message = m.n WHERE {_OPEN}",
            (time.time(),),
        )
        return None if said is None else int(said)


def _within(rows: Sequence[tuple[int, str, int, int]], max_chars: int) -> list[tuple[int, str]]:
    """Return the first rows up to one that may not be read or exceeds the limit; one at least."""
    taken: list[tuple[int, str]] = []
    chars = 0
    for n, id_, length, readable in rows:
        chars += length
        if not readable or (taken and chars > max_chars):
            break
        taken.append((n, id_))
    return taken


class Span(NamedTuple):
    """The words of a message from which a fact was extracted, and the fact as it was worded."""

    message: str
    start: int
    stop: int
    text: str


_TEXT, _REASON = "spans.text", "extractions.reason"  # their places, as the codec knows them


def _owner(fact: str, message: str, start: int) -> str:
    return f"{start}\0{fact}\0{message}"


class SqlSpans(SqlTable):
    """The table `spans`: sources of facts; deleted with the fact, and with the message."""

    def add(self, fact: str, span: Span) -> None:
        message, start, stop, text = span
        self._write(
            "INSERT INTO spans (fact, message, start, stop, text) SELECT f.n, m.n, ?, ?, ?"
            " FROM memories AS f, memories AS m WHERE f.id = ? AND m.id = ?"
            " ON CONFLICT (fact, message, start) DO UPDATE SET text = excluded.text, stop ="
            " CASE WHEN spans.stop > excluded.stop THEN spans.stop ELSE excluded.stop END",
            (start, stop, self._seal(text, _TEXT, _owner(fact, message, start)), fact, message),
        )

    def of(self, fact: str) -> list[Span]:
        """Return the sources of a fact, in the order of the messages."""
        rows = self._rows(
            "SELECT m.id, s.start, s.stop, s.text FROM spans AS s JOIN memories AS f ON f.n = s.fact"
            " JOIN memories AS m ON m.n = s.message WHERE f.id = ?"
            " ORDER BY m.created_us, m.n, s.start",
            (fact,),
        )
        return [
            Span(id_, start, stop, self._unseal(text, _TEXT, _owner(fact, id_, start)))
            for id_, start, stop, text in rows
        ]

    def delete(self, message: str) -> None:
        self._write(
            "DELETE FROM spans WHERE message = (SELECT n FROM memories WHERE id = ?)", (message,)
        )

    def facts_of(self, messages: Sequence[str]) -> list[str]:
        rows = self._rows_in(
            "SELECT f.id FROM memories AS m JOIN spans AS s ON s.message = m.n"
            " JOIN memories AS f ON f.n = s.fact WHERE m.id IN ({values}) ORDER BY f.n",
            messages,
        )
        return list(dict.fromkeys(id_ for (id_,) in rows))
