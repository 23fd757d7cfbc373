"""Memories by topic in SQLite: found by keyed hash, counted, renamed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.stores.scope_sql import in_parts, where
from scrubjay.stores.sqlite import Database
from scrubjay.stores.token_lines import TokenLines
from scrubjay.stores.topic_hashes import TopicHashes, folded
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    from scrubjay.stores.protocols import VectorIndex

# So many vectors are read one by one; of more, the nearest are looked for by a scan.
_MOST_READ = 2048
_FURTHER = 4


class SqliteTopics:
    """The topics of one file. Cosines come from its vector index, if there is one."""

    def __init__(self, db: Database, vectors: VectorIndex | None = None) -> None:
        self._db = db
        self._vectors = vectors
        self._hashes = TopicHashes(db)
        self._lines = TokenLines(db.codec.token)

    def index_again(self) -> None:
        """Hash every topic anew, if the store was written before there were hashes."""
        self._hashes.index_again()

    def search(
        self,
        keywords: Sequence[str],
        vector: Any | None,
        model: str | None,
        scope: Scope,
        limit: int,
    ) -> RankedList:
        """Return the memories with the most of these topics, then the nearer ones, then the newer.

        A keyword is a word, found in any topic, or several with spaces between, found as a whole
        topic only; such a one counts for as many keywords as there are single ones among its words.
        """
        counts_for, best = _counts_for(keywords)
        wanted = {hash_: of for key, of in counts_for.items() if (hash_ := self._hashes.of(key))}
        if not wanted or limit < 1:
            return RankedList("topics", best=best)
        with self._db.read() as db:
            scores = _with_ties(self._matched(db, wanted, scope), limit)
            if len(scores) > _MOST_READ:
                scores = self._likely(db, scores, vector, model, scope, limit)
            rows = _named(db, scores)
        near: dict[str, Row] = {}
        if vector is not None and model is not None and self._vectors is not None:
            # The scope has chosen these already; their ids are all that is left to say.
            these = Scope(ids=tuple(row.id for row in rows))
            found = self._vectors.search(vector, model, these, len(rows)).rows
            near = {row.id: row for row in found}
        rows.sort(
            key=lambda row: (-row.score, _distance(near.get(row.id)), -row.updated_us, row.id)
        )
        return RankedList(
            "topics",
            tuple(
                row._replace(chunk=near[row.id].chunk if row.id in near else None)
                for row in rows[:limit]
            ),
            best=best,
        )

    def counts(self, scope: Scope, limit: int | None = None) -> dict[str, int]:
        """Return how many memories of a scope have each topic, most first, then by name."""
        condition, arguments = where(scope, self._db.codec)
        # Looking up every memory of every topic takes ten times as long as counting.
        seen = "" if scope.everything else " JOIN memories AS m ON m.n = t.memory"
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT t.topic, count(*), min(t.memory) FROM topics AS t{seen}"
                f" WHERE {condition} GROUP BY t.topic",
                arguments,
            ).fetchall()
            # The index may hold no readable name; a memory that has the topic does.
            spelled = self._spelled(db, [n for *_, n in rows])
        named = [(spelled.get(token, token), count) for token, count, _ in rows]
        named.sort(key=lambda one: (-one[1], one[0]))
        return dict(named[:limit])

    def rename(self, old: str, new: str, scope: Scope) -> int:
        """Give a topic another name in what the scope may see; return how many memories had it.

        A memory that has the new one already keeps it once. Times stay: nothing new was said.
        """
        codec = self._db.codec
        condition, arguments = where(scope, codec)
        with self._db.write() as db:
            found = db.execute(
                "SELECT m.n, m.topics, m.language FROM memories AS m WHERE m.n IN"
                f" (SELECT memory FROM topics WHERE topic = ?) AND {condition}",
                (codec.token(old), *arguments),
            ).fetchall()
            for n, stored, language in found if old != new else ():
                before = json.loads(codec.unseal(stored))
                after = list(dict.fromkeys(new if one == old else one for one in before))
                db.execute(
                    "UPDATE memories SET topics = ? WHERE n = ?",
                    (codec.seal(json.dumps(after, ensure_ascii=False)), n),
                )
                db.execute(
                    "UPDATE words SET topics = ? WHERE rowid = ?",
                    (self._lines.of(" ".join(after), language), n),
                )
                db.execute(
                    "DELETE FROM topics WHERE topic = ? AND memory = ?", (codec.token(old), n)
                )
                db.execute(
                    "INSERT OR IGNORE INTO topics (topic, memory) VALUES (?, ?)",
                    (codec.token(new), n),
                )
                self._hashes.put(n, after)
        return len(found)

    def _matched(
        self, db: sqlite3.Connection, wanted: dict[bytes, int], scope: Scope
    ) -> dict[int, int]:
        """Return for each memory of the scope how many keywords its topics match."""
        condition, arguments = where(scope, self._db.codec)
        # Crossed: beginning with the scope, SQLite would read every memory of a namespace. Where
        # everything may be seen, no memory need be read at all.
        seen = "" if scope.everything else " CROSS JOIN memories AS m ON m.n = h.memory"
        matched: dict[int, int] = {}
        for several, part in in_parts(list(wanted)):
            for n, hash_ in db.execute(
                f"SELECT h.memory, h.hash FROM topic_hashes AS h{seen}"
                f" WHERE h.hash IN ({several}) AND {condition}",
                (*part, *arguments),
            ):
                matched[n] = matched.get(n, 0) | wanted[hash_]
        return {n: of.bit_count() for n, of in matched.items()}

    def _likely(
        self,
        db: sqlite3.Connection,
        scores: dict[int, int],
        vector: Any | None,
        model: str | None,
        scope: Scope,
        limit: int,
    ) -> dict[int, int]:
        """Of very many that tie, keep what can come first: the nearest, and the newest."""
        last = min(scores.values())
        tied = {n for n, score in scores.items() if score == last}
        kept = {n for n in scores if n not in tied}
        # Fewer than `limit` may have a vector, and those may be the newest: so there are twice as many.
        kept |= _newest(db, tied, 2 * limit)
        if vector is not None and model is not None and self._vectors is not None:
            take, near = limit, set[int]()
            while len(near) < limit:
                take *= _FURTHER
                found = self._vectors.search(vector, model, scope, take).rows
                for several, part in in_parts([row.id for row in found]):
                    rows = db.execute(f"SELECT n FROM memories WHERE id IN ({several})", part)
                    near.update(n for (n,) in rows if n in tied)
                if len(found) < take:
                    break
            kept |= near
        return {n: scores[n] for n in kept}

    def _spelled(self, db: sqlite3.Connection, memories: Sequence[int]) -> dict[str, str]:
        """Return the topics of these memories by what stands for them in the index."""
        codec = self._db.codec
        spelled: dict[str, str] = {}
        for several, part in in_parts(list(dict.fromkeys(memories))):
            for (stored,) in db.execute(
                f"SELECT topics FROM memories WHERE n IN ({several})", part
            ):
                spelled.update((codec.token(one), one) for one in json.loads(codec.unseal(stored)))
        return spelled


def _counts_for(keywords: Sequence[str]) -> tuple[dict[str, int], float]:
    """Return for each keyword which ones a match of it counts for, a bit each, and how many there are."""
    asked = [one for one in dict.fromkeys(map(folded, keywords)) if one]
    bits = {one: 1 << place for place, one in enumerate(asked)}
    counts_for = dict(bits)
    for one in asked:
        inside = [bits[word] for word in set(one.split()) if word in bits] if " " in one else []
        if inside:
            counts_for[one] = sum(inside)
    everything = 0
    for of in counts_for.values():
        everything |= of
    return counts_for, float(everything.bit_count())


def _with_ties(scores: dict[int, int], limit: int) -> dict[int, int]:
    """Keep the best so many, and those that tie with the last."""
    if len(scores) <= limit:
        return scores
    last = sorted(scores.values(), reverse=True)[limit - 1]
    return {n: score for n, score in scores.items() if score >= last}


def _named(db: sqlite3.Connection, scores: dict[int, int]) -> list[Row]:
    """Add id and age."""
    rows: list[Row] = []
    for several, part in in_parts(list(scores)):
        rows += (
            Row(id_, float(scores[n]), None, updated_us)
            for n, id_, updated_us in db.execute(
                f"SELECT n, id, updated_us FROM memories WHERE n IN ({several})", part
            )
        )
    return rows


def _newest(db: sqlite3.Connection, memories: set[int], limit: int) -> set[int]:
    """Return the newest of these memories, with those that tie with the last."""
    # The index by age has both numbers: no long row is read.
    rows = db.execute("SELECT n, updated_us FROM memories")
    ages = {n: updated_us for n, updated_us in rows if n in memories}
    last = sorted(ages.values(), reverse=True)[:limit][-1] if ages else 0
    return {n for n, updated_us in ages.items() if updated_us >= last}


def _distance(near: Row | None) -> float:
    """Return what orders by cosine; what has none comes after everything that has."""
    return 2.0 if near is None else -round(near.score, 6)
