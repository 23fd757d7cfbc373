"""Memories by topic in SQLite: found by keyed hash, counted, renamed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import in_parts, where
from scrubjay.storage.sql.scope_cache import Unchanged
from scrubjay.storage.sql.topic_hashes import TopicHashes, folded
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.sql.vectors import SqlVectors

# So many matches are read one by one; more are counted as arrays, if need be after a wait for numpy.
_MOST_READ = 256
_MOST_READ_WITHOUT_NUMPY = 4096


class SqlTopics:
    """The topics of one file. Cosines come from its vector index, if there is one."""

    def __init__(self, db: Database, vectors: SqlVectors | None = None) -> None:
        self._db = db
        self._vectors = vectors
        self._unchanged = vectors.unchanged if vectors is not None else Unchanged(db)
        self._hashes = TopicHashes(db)
        self._words = db.words

    def index_again(self) -> None:
        """Hash every topic anew, if the store was written before there were hashes."""
        self._hashes.index_again()

    def is_current(self) -> bool:
        """True when the topics were hashed by the rules that hold now."""
        return self._hashes.is_current()

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
        near: dict[int, tuple[float, int]] = {}
        scores = self._few(wanted, scope, _most_read()) if vector is None else None
        if scores is None:
            scores, near = self._chosen(wanted, scope, vector, model, limit)
        with self._db.read() as db:
            ranked = self._named(db, scores, near, scope)
        return RankedList("topics", tuple(row for _, row in ranked[:limit]), best=best)

    def counts(self, scope: Scope, limit: int | None = None) -> dict[str, int]:
        """Return how many memories of a scope have each topic, most first, then by name."""
        condition, arguments = where(scope, self._db)
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
        condition, arguments = where(scope, self._db)
        with self._db.write() as db:
            found = db.execute(
                "SELECT m.n, m.topics, m.language FROM memories AS m WHERE m.n IN"
                f" (SELECT memory FROM topics WHERE topic = ?) AND {condition}",
                (codec.token(old), *arguments),
            ).fetchall()
            if old != new:
                self._put(db, old, new, found)
        return len(found)

    def _put(
        self,
        db: Connection,
        old: str,
        new: str,
        found: Sequence[tuple[int, str | bytes, str]],
    ) -> None:
        """Write a new name into memories, topics, words and hashes, a table after the other."""
        codec = self._db.codec
        changes: list[tuple[int, list[str], list[str]]] = []
        for n, stored, _ in found:
            before = json.loads(codec.unseal(stored))
            after = list(dict.fromkeys(new if one == old else one for one in before))
            changes.append((n, before, after))
        db.executemany(
            "UPDATE memories SET topics = ? WHERE n = ?",
            ((codec.seal(json.dumps(after, ensure_ascii=False)), n) for n, _, after in changes),
        )
        self._words.put_topics(
            (n, after, language)
            for (n, _, after), (*_, language) in zip(changes, found, strict=True)
        )
        numbers = [n for n, *_ in found]
        db.executemany(
            "DELETE FROM topics WHERE topic = ? AND memory = ?",
            ((codec.token(old), n) for n in numbers),
        )
        db.executemany(
            "INSERT OR IGNORE INTO topics (topic, memory) VALUES (?, ?)",
            ((codec.token(new), n) for n in numbers),
        )
        self._hashes.replace(changes)

    def _few(self, wanted: dict[bytes, int], scope: Scope, most: int) -> dict[int, int] | None:
        """Return how many keywords each memory matches, read one by one; None if those are many."""
        condition, arguments = where(scope, self._db)
        # Crossed: beginning with the scope, SQLite would read every memory of a namespace. Where
        # everything may be seen, no memory need be read at all.
        seen = "" if scope.everything else " CROSS JOIN memories AS m ON m.n = h.memory"
        matched: dict[int, int] = {}
        with self._db.read() as db:
            for several, part in in_parts(list(wanted)):
                (count,) = db.execute(
                    "SELECT count(*) FROM (SELECT 1 FROM topic_hashes"
                    f" WHERE hash IN ({several}) LIMIT ?)",
                    (*part, most + 1),
                ).fetchone()
                if count > most:
                    return None
                for n, hash_ in db.execute(
                    f"SELECT h.memory, h.hash FROM topic_hashes AS h{seen}"
                    f" WHERE h.hash IN ({several}) AND {condition}",
                    (*part, *arguments),
                ):
                    matched[n] = matched.get(n, 0) | wanted[hash_]
        return {n: of.bit_count() for n, of in matched.items()}

    def _chosen(
        self,
        wanted: dict[bytes, int],
        scope: Scope,
        vector: Any | None,
        model: str | None,
        limit: int,
    ) -> tuple[dict[int, int], dict[int, tuple[float, int]]]:
        """Return what can be among the first: how many keywords each matches, and how near it is."""
        import numpy as np

        from scrubjay.storage.sql.topic_matches import cut, matches

        sets, seen = self._unchanged.with_topics(list(wanted), scope)
        counted = matches(sets, list(wanted.values()), seen)
        above, tied = cut(counted, limit)
        lacking = limit - len(above)
        near: dict[int, tuple[float, int]] = {}
        if vector is not None and model is not None and self._vectors is not None:
            if len(tied) <= lacking:
                near = self._vectors.nearest_of(
                    np.concatenate((above, tied)), vector, model, limit
                )
            else:
                # These are in any case, so their cosines only say in which order.
                near = self._vectors.nearest_of(above, vector, model, len(above))
                nearest = self._vectors.nearest_of(tied, vector, model, lacking)
                near |= nearest
                known = np.fromiter(nearest, np.int64, len(nearest))
                lacking = max(lacking - len(nearest), 0)
                unknown = np.setdiff1d(tied, known) if lacking else tied[:0]
                tied = np.concatenate((known, self._newest(unknown, lacking)))
        else:
            tied = self._newest(tied, lacking)
        chosen = np.concatenate((above, tied))
        return dict(zip(chosen.tolist(), counted[chosen].tolist(), strict=True)), near

    def _newest(self, memories: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
        """Return the newest of these memories, with those that tie with the last."""
        import numpy as np

        if len(memories) <= limit:
            return memories
        ages = self._unchanged.ages().take(memories, mode="clip")
        last = np.partition(ages, len(ages) - limit)[len(ages) - limit]
        newest: NDArray[np.int64] = memories[ages >= last]
        return newest

    def _named(
        self,
        db: Connection,
        scores: dict[int, int],
        near: dict[int, tuple[float, int]],
        scope: Scope,
    ) -> list[tuple[tuple[int, float, int, str], Row]]:
        """Add id and age to what the scope may see, in the one order."""
        condition, arguments = where(scope, self._db)
        rows = []
        for several, part in in_parts(list(scores)):
            for n, id_, updated_us in db.execute(
                # By number and no other way: SQLite would rather read a whole namespace.
                "SELECT m.n, m.id, m.updated_us FROM memories AS m NOT INDEXED"
                f" WHERE m.n IN ({several}) AND {condition}",
                (*part, *arguments),
            ):
                cosine, chunk = near.get(n, (None, None))
                # What has no cosine comes after everything that has one.
                distance = 2.0 if cosine is None else -round(cosine, 6)
                order = (-scores[n], distance, -updated_us, id_)
                rows.append((order, Row(id_, float(scores[n]), chunk, updated_us)))
        rows.sort(key=lambda row: row[0])
        return rows

    def _spelled(self, db: Connection, memories: Sequence[int]) -> dict[str, str]:
        """Return the topics of these memories by what stands for them in the index."""
        codec = self._db.codec
        spelled: dict[str, str] = {}
        for several, part in in_parts(list(dict.fromkeys(memories))):
            for (stored,) in db.execute(
                f"SELECT topics FROM memories WHERE n IN ({several})", part
            ):
                spelled.update((codec.token(one), one) for one in json.loads(codec.unseal(stored)))
        return spelled


def _most_read() -> int:
    """Return how many matches are read one by one: all of them where there is no numpy."""
    if sys.modules.get("numpy") is not None:
        return _MOST_READ
    from importlib.util import find_spec

    try:
        there = find_spec("numpy") is not None
    except ValueError:  # somebody has marked it as not there
        there = False
    return _MOST_READ_WITHOUT_NUMPY if there else sys.maxsize - 1


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
