"""Topics as keyed hashes: who reads the file without the key cannot tell what they say.

Each topic is hashed as a whole and word by word, so that "continuous integration" is found by both
of its words as well. Equal topics give equal hashes in one store, and different ones in another.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrubjay.storage.database import NOTE, Connection, Database, Gathered
from scrubjay.storage.sql.scope import Unchanged, in_parts, where
from scrubjay.text.analysis import STOP_WORDS, normalize, without_stop_words, words
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.database import Database
    from scrubjay.storage.sql.vectors import SqlVectors

# Stored beside the hashes: those that were made by other rules are made again.
_VERSION = 2
_KEY_BYTES = 32
_HASH_BYTES = 16
_BATCH = 2000
_JOINED = re.compile(r"(?<=[^\W_])[-\u2010\u2011/_]+(?=[^\W_])")
# `whole` is of no use: a keyword of several words is hashed with its spaces, so it cannot be a word.
_INSERT = "INSERT OR IGNORE INTO topic_hashes (hash, memory, whole) VALUES (?, ?, 0)"


def folded(topic: str) -> str:
    """Return the form in which topics are compared: composed, words apart, single spaces, no case."""
    return apart(normalize(topic)).casefold()


def apart(text: str) -> str:
    """Return a text with spaces for what joins words: "ci-cd", "ci/cd" and "ci_cd" are "ci cd"."""
    return _JOINED.sub(" ", text)


def forms_of(topics: Iterable[str]) -> list[str]:
    """Return what these topics can be found by, each once: themselves, and their words."""
    return list(dict.fromkeys(form for topic in topics for form in _forms(topic)))


@lru_cache(maxsize=4096)
def _forms(topic: str) -> tuple[str, ...]:
    topic = folded(topic)
    said = words(topic)
    # A query's words come without commas and the like, so there is a whole without them, too.
    return tuple(filter(None, (*without_stop_words(said, STOP_WORDS), topic, " ".join(said))))


class TopicHashes:
    """The hashes of one file, made with its key."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known_key: bytes | None = None

    def of(self, text: str) -> bytes | None:
        """Return the hash of a folded topic or word; None while the store has no key, so no hashes."""
        key = self._key()
        return None if key is None else _hashed(key, text)

    def put(self, n: int, topics: Iterable[str]) -> None:
        """Write the hashes of a memory's topics in place of those that it had."""
        with self._db.write() as db:
            db.execute("DELETE FROM topic_hashes WHERE memory = ?", (n,))
            self.put_new(n, topics)

    def put_new(self, n: int, topics: Iterable[str]) -> None:
        """Write the hashes of the topics of a memory that has none yet."""
        if forms := forms_of(topics):
            with self._db.write() as db:
                key = self.made_key()
                db.executemany(_INSERT, [(_hashed(key, form), n) for form in forms])

    def replace(self, changes: Sequence[tuple[int, Sequence[str], Sequence[str]]]) -> None:
        """Write what differs where memories, by number, had some topics before and have others after."""
        lost: list[tuple[bytes, int]] = []
        won: list[tuple[bytes, int]] = []
        with self._db.write() as db:
            known = _Known(self.made_key())
            for n, before, after in changes:
                had, has = set(forms_of(before)), set(forms_of(after))
                lost += ((known[form], n) for form in had - has)
                won += ((known[form], n) for form in has - had)
            db.executemany("DELETE FROM topic_hashes WHERE hash = ? AND memory = ?", lost)
            db.executemany(_INSERT, won)

    def index_again(self) -> None:
        """Hash every topic anew, if a store has none yet or has those of other rules."""
        if self.is_current():
            return
        with self._db.write() as db:
            if self.is_current():  # another process was faster
                return
            db.execute("DELETE FROM topic_hashes")
            unseal, after, known = self._db.codec.unseal, 0, _Known(b"")
            while batch := db.execute(
                "SELECT n, topics FROM memories WHERE n > ? ORDER BY n LIMIT ?", (after, _BATCH)
            ).fetchall():
                after = batch[-1][0]
                tagged = [(n, json.loads(unseal(topics))) for n, topics in batch]
                if not any(topics for _, topics in tagged):
                    continue
                known.key = known.key or self.made_key()
                db.executemany(
                    _INSERT,
                    [(known[form], n) for n, topics in tagged for form in forms_of(topics)],
                )
            db.execute(NOTE, ("topic_hashes", _VERSION))

    def is_current(self) -> bool:
        """True when the hashes of a store were made by the rules that hold now."""
        return self._version() == _VERSION

    def _version(self) -> int | None:
        with self._db.read() as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'topic_hashes'").fetchone()
        return row[0] if row else None

    def _key(self) -> bytes | None:
        if self._known_key is not None:
            return self._known_key
        # One made in a transaction that is rolled back was never the store's.
        held = self._db.gathering(_Key) if self._db.in_write else None
        if held is not None and held.key:
            return held.key
        with self._db.read() as db:
            row = db.execute("SELECT key FROM keys WHERE name = 'topics'").fetchone()
        if row is None:
            return None
        if held is None:
            self._known_key = bytes(row[0])
        else:
            held.key = bytes(row[0])
        return bytes(row[0])

    def made_key(self) -> bytes:
        """Return the key of the store, made if there is none yet; only inside a write."""
        key = self._key()
        if key is None:
            import secrets

            key = secrets.token_bytes(_KEY_BYTES)
            with self._db.write() as db:
                db.execute("INSERT INTO keys (name, key) VALUES ('topics', ?)", (key,))
        return key


class _Key(Gathered):
    """The key as a write knows it."""

    key = b""

    def write(self, db: Connection) -> None:
        """Nothing to write: it was when it was made."""


class _Known(dict[str, bytes]):
    """Hashes made before: many memories have the same few topics."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def __missing__(self, form: str) -> bytes:
        made = self[form] = _hashed(self.key, form)
        return made


def _hashed(key: bytes, text: str) -> bytes:
    import hmac

    # Under its own name, so that the key may serve for other things, too.
    return hmac.digest(key, b"topic\0" + text.encode(), "sha256")[:_HASH_BYTES]


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


def matches(
    sets: Sequence[NDArray[Any]], counts_for: Sequence[int], seen: NDArray[np.bool_] | None
) -> NDArray[np.uint16]:
    """Return for each memory, by its number, how many keywords it matches; 0 where it is not seen.

    A set has a flag for each memory, or the numbers of those that are in it. What it counts for is
    a bit for each keyword, and each bit counts once, in however many sets a memory is.
    """
    import numpy as np

    by_bit: dict[int, list[NDArray[Any]]] = {}
    for one, bits in zip(sets, counts_for, strict=True):
        while bits and len(one):
            lowest = bits & -bits
            by_bit.setdefault(lowest, []).append(one)
            bits ^= lowest
    size = _size(sets, seen)
    counted = np.zeros(size, np.uint16)
    for several in by_bit.values():
        one = several[0] if len(several) == 1 else _union(several, size)
        if one.dtype == np.bool_:
            counted += one
        else:
            counted[one] += 1
    if seen is not None:
        counted *= seen
    return counted


def cut(counted: NDArray[np.uint16], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return who is in any case among the best so many, and who ties for the places that are left."""
    import numpy as np

    above = np.empty(0, np.int64)
    for last in range(int(counted.max(initial=0)), 0, -1):
        tied = np.flatnonzero(counted == last)
        if len(above) + len(tied) >= limit or last == 1:
            return above, tied
        above = np.concatenate((above, tied))
    return above, above


def _size(sets: Sequence[NDArray[Any]], seen: NDArray[np.bool_] | None) -> int:
    import numpy as np

    flags = [one for one in (*sets, seen) if one is not None and one.dtype == np.bool_]
    if flags:
        return len(flags[0])  # all of one state of the file, so all are of one length
    return 1 + max((int(one.max()) for one in sets if len(one)), default=0)


def _union(several: Sequence[NDArray[Any]], size: int) -> NDArray[np.bool_]:
    import numpy as np

    union = np.zeros(size, np.bool_)
    for one in several:
        if one.dtype == np.bool_:
            union |= one
        else:
            union[one] = True
    return union
