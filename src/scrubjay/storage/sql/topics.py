"""Topics of memories: searched by keyed hash, counted, renamed.

Without the key, the hashes do not reveal the topics. Each topic is hashed as a whole and word by word, so
that "continuous integration" is found by either word as well. Equal topics give equal hashes in one store,
and different ones in another.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.storage.codec import readable, topics_in
from scrubjay.storage.database import NOTE, Connection, Database, Gathered
from scrubjay.storage.sql.scope import TOPIC, MemorySets, SqlTable, in_parts, where
from scrubjay.text.analysis import STOP_WORDS, normalize, without_stop_words, words
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.sql.vectors import Best, SqlVectors

_TOPICS = "memories.topics"
_VERSION = 2  # stored beside the hashes: those of other rules are made again
_KEY_BYTES = 32
_HASH_BYTES = 16
_BATCH = 2000
# Up to this number, matches are read one by one; more are counted as arrays, after importing numpy.
_MAX_READ = 256
_MAX_READ_WITHOUT_NUMPY = 4096
_JOINED = re.compile(r"(?<=[^\W_])[-\u2010\u2011/_]+(?=[^\W_])")
# `whole` is not used: a keyword of several words is hashed with its spaces, so it cannot be a word.
_INSERT = "INSERT OR IGNORE INTO topic_hashes (hash, memory, whole) VALUES (?, ?, 0)"


def fold_topic(topic: str) -> str:
    """Return the form in which topics are compared: composed, words split, single spaces, no case."""
    return split_words(normalize(topic)).casefold()


def split_words(text: str) -> str:
    """Replace what joins words by spaces: "ci-cd", "ci/cd" and "ci_cd" become "ci cd"."""
    return _JOINED.sub(" ", text)


def _forms_of(topics: Iterable[str]) -> dict[str, None]:
    """Return the forms by which these topics are found, in order: themselves, and their words."""
    return dict.fromkeys(form for topic in topics for form in _forms(topic))


@lru_cache(maxsize=4096)
def _forms(topic: str) -> tuple[str, ...]:
    topic = fold_topic(topic)
    parts = words(topic)
    # The words of a query have no commas and the like, so one form is without them.
    return tuple(filter(None, (*without_stop_words(parts, STOP_WORDS), topic, " ".join(parts))))


class TopicHashes(SqlTable):
    """The table `topic_hashes`, made with the key of the store; a sealed one has it in its codec."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._cached_key: bytes | None = None

    def of(self, text: str) -> bytes | None:
        """Return the hash of a folded topic or word; None while the store has no key, so no hashes."""
        sealed = self._db.codec.topic_hash(text, _HASH_BYTES)
        if sealed is not None:
            return sealed
        key = self._key()
        return None if key is None else _hash(key, text)

    def replace(self, changes: Sequence[tuple[int, Sequence[str], Sequence[str]]]) -> None:
        """Update the hashes of memories, each given by number, topics before and topics after."""
        removed: list[tuple[bytes, int]] = []
        added: list[tuple[bytes, int]] = []
        with self._db.write() as db:
            hashes = _HashCache(self._make_hash)
            for n, before, after in changes:
                had, has = _forms_of(before), _forms_of(after)
                removed += ((hashes[form], n) for form in had if form not in has)
                added += ((hashes[form], n) for form in has if form not in had)
            db.executemany("DELETE FROM topic_hashes WHERE hash = ? AND memory = ?", removed)
            db.executemany(_INSERT, added)

    def reindex(self) -> None:
        """Hash every topic again, if the store has no hashes yet or those of other rules."""
        if self.is_current():
            return
        with self._db.write() as db:
            if self.is_current():  # another process was faster
                return
            db.execute("DELETE FROM topic_hashes")
            after, hashes = 0, _HashCache(self._make_hash)
            while batch := db.execute(
                "SELECT n, id, topics FROM memories WHERE n > ? ORDER BY n LIMIT ?",
                (after, _BATCH),
            ).fetchall():
                after = batch[-1][0]
                tagged = list(readable(self._tagged, batch))
                db.executemany(
                    _INSERT,
                    [(hashes[form], n) for n, topics in tagged for form in _forms_of(topics)],
                )
            db.execute(NOTE, ("topic_hashes", _VERSION))

    def match(self, topics: Sequence[str], stored: set[bytes]) -> bool:
        """True when these are the hashes of a memory with these topics."""
        return stored == set(filter(None, map(self.of, _forms_of(topics))))

    def _make_hash(self, form: str) -> bytes:
        """Return the hash of a form, after making the key if there is none; only inside a write."""
        return self.of(form) or _hash(self.make_key(), form)

    def _tagged(self, row: tuple[int, str, str | bytes]) -> tuple[int, list[str]]:
        n, id_, topics = row
        return n, topics_in(self._unseal(topics, _TOPICS, id_))

    def is_current(self) -> bool:
        row = self._row("SELECT value FROM meta WHERE key = 'topic_hashes'")
        return row is not None and row[0] == _VERSION

    def _key(self) -> bytes | None:
        if self._cached_key is not None:
            return self._cached_key
        # A key made in a transaction that is rolled back was never the store's.
        in_write = self._db.gathering(_KeyOfWrite) if self._db.in_write else None
        if in_write is not None and in_write.key:
            return in_write.key
        row = self._row("SELECT key FROM keys WHERE name = 'topics'")
        if row is None:
            return None
        # A damaged key may be anything. No hash matches it, and a repair makes the hashes again.
        key = str(row[0]).encode() if isinstance(row[0], str | int | float) else bytes(row[0])
        if in_write is None:
            self._cached_key = key
        else:
            in_write.key = key
        return key

    def make_key(self) -> bytes:
        """Return the key of the store, made if there is none yet; only inside a write."""
        key = self._key()
        if key is None:
            import secrets

            key = secrets.token_bytes(_KEY_BYTES)
            self._write("INSERT INTO keys (name, key) VALUES ('topics', ?)", (key,))
        return key


class _KeyOfWrite(Gathered):
    """The key, cached for one write."""

    key = b""

    def write(self, db: Connection) -> None:
        """Do nothing: the key was written when it was made."""


class _HashCache(dict[str, bytes]):
    """Hashes by form: many memories have the same few topics."""

    def __init__(self, make: Callable[[str], bytes]) -> None:
        self._make = make

    def __missing__(self, form: str) -> bytes:
        made = self[form] = self._make(form)
        return made


def _hash(key: bytes, text: str) -> bytes:
    import hmac

    # With a name, so that the key may be used for other purposes, too.
    return hmac.digest(key, b"topic\0" + text.encode(), "sha256")[:_HASH_BYTES]


class _Tagged(NamedTuple):
    """A memory with its topics."""

    n: int
    id: str
    namespace: str
    topics: list[str]
    language: str


class SqlTopics(SqlTable):
    """The table `topics`, searched through its hashes. Cosines come from the vector index, if any."""

    def __init__(self, db: Database, vectors: SqlVectors | None = None) -> None:
        super().__init__(db)
        self._vectors = vectors
        self._sets = vectors.sets if vectors is not None else MemorySets(db)
        self._hashes = TopicHashes(db)
        self._words = db.words

    def reindex(self) -> None:
        self._hashes.reindex()

    def is_current(self) -> bool:
        return self._hashes.is_current()

    def search(
        self,
        keywords: Sequence[str],
        vector: Any | None,
        model: str | None,
        scope: Scope,
        limit: int,
    ) -> RankedList:
        """Return the memories with the most of these topics, then the nearer ones, then the latest.

        A single word is found in any topic. Several words are found only as a whole topic, which counts
        for as many keywords as there are single ones among its words.
        """
        counts_for, best = _counts_for(keywords)
        wanted = {hash_: of for key, of in counts_for.items() if (hash_ := self._hashes.of(key))}
        if not wanted or limit < 1:
            return RankedList("topics", best=best)
        near: Best = {}
        scores = self._read_matches(wanted, scope, _max_read()) if vector is None else None
        if scores is None:
            scores, near = self._count_matches(wanted, scope, vector, model, limit)
        rows = self._ranked(scores, near, scope)
        return RankedList("topics", tuple(rows[:limit]), best=best)

    def counts(self, scope: Scope, limit: int | None = None) -> dict[str, int]:
        """Return how many memories of a scope have each topic, most first, then by name."""
        # Reading every memory of every topic takes ten times as long as counting.
        joined = "" if scope.everything else " JOIN memories AS m ON m.n = t.memory"
        with self._db.read():
            rows = self._rows(
                f"SELECT t.topic, count(*), min(t.memory) FROM topics AS t{joined}"
                " WHERE {scope} GROUP BY t.topic",
                (scope,),
            )
            # The index may have no readable name; a memory with the topic has.
            names = self._names([n for *_, n in rows])
        sound = [row for row in rows if type(row[0]) is str]
        named = [(names.get(token, token), count) for token, count, _ in sound]
        named.sort(key=lambda pair: (-pair[1], pair[0]))
        return dict(named[:limit])

    def rename(self, old: str, new: str, scope: Scope) -> int:
        """Rename a topic in the memories that the scope may see; return how many had it. A memory
        that has the new one already has it once. Times of update stay."""
        with self._db.write() as db:
            stored = self._rows(
                "SELECT m.n, m.id, m.namespace, m.topics, m.language FROM memories AS m WHERE m.n IN"
                " (SELECT memory FROM topics WHERE topic = ?) AND {scope}",
                (self._exact(old), scope),
            )
            rows = list(readable(self._tagged, stored))
            if old != new:
                self._rename_in(db, old, new, rows)
                self._db.mark_deleted(words=True)
        return len(rows)

    def _rename_in(self, db: Connection, old: str, new: str, rows: Sequence[_Tagged]) -> None:
        changes: list[tuple[int, list[str], list[str]]] = []
        for row in rows:
            after = list(dict.fromkeys(new if topic == old else topic for topic in row.topics))
            changes.append((row.n, row.topics, after))
            stored = json.dumps(after, ensure_ascii=False)
            db.execute(
                "UPDATE memories SET topics = ? WHERE n = ?",
                (self._seal(stored, _TOPICS, row.id, row.namespace), row.n),
            )
        self._words.put_topics(
            (n, after, row.language) for (n, _, after), row in zip(changes, rows, strict=True)
        )
        db.executemany(
            "DELETE FROM topics WHERE topic = ? AND memory = ?",
            ((self._exact(old), row.n) for row in rows),
        )
        db.executemany(
            "INSERT OR IGNORE INTO topics (topic, memory) VALUES (?, ?)",
            ((self._exact(new), row.n) for row in rows),
        )
        self._hashes.replace(changes)

    def _tagged(self, row: Sequence[Any]) -> _Tagged:
        n, id_, namespace, topics, language = row
        return _Tagged(n, id_, namespace, topics_in(self._unseal(topics, _TOPICS, id_)), language)

    def _exact(self, topic: str) -> str:
        return self._db.codec.exact(topic, TOPIC)

    def _read_matches(
        self, wanted: dict[bytes, int], scope: Scope, most: int
    ) -> dict[int, int] | None:
        """Return the number of keywords that each memory matches; None if there are too many matches."""
        condition, arguments = where(scope, self._db)
        # CROSS JOIN: beginning with the scope, SQLite would read every memory of a namespace. Where
        # everything is visible, no memory is read at all.
        joined = "" if scope.everything else " CROSS JOIN memories AS m ON m.n = h.memory"
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
                    f"SELECT h.memory, h.hash FROM topic_hashes AS h{joined}"
                    f" WHERE h.hash IN ({several}) AND {condition}",
                    (*part, *arguments),
                ):
                    matched[n] = matched.get(n, 0) | wanted[hash_]
        return {n: bits.bit_count() for n, bits in matched.items()}

    def _count_matches(
        self,
        wanted: dict[bytes, int],
        scope: Scope,
        vector: Any | None,
        model: str | None,
        limit: int,
    ) -> tuple[dict[int, int], Best]:
        """Return what can be among the first: the number of matched keywords, and cosines."""
        import numpy as np

        sets, visible = self._sets.with_topics(list(wanted), scope)
        counted = count_matches(sets, list(wanted.values()), visible)
        above, tied = cut(counted, limit)
        lacking = limit - len(above)
        near: Best = {}
        if vector is None or model is None or self._vectors is None:
            tied = self._latest(tied, lacking)
        elif len(tied) <= lacking:
            near = self._vectors.nearest_of(np.concatenate((above, tied)), vector, model, limit)
        else:
            # These are in any case; their cosines only decide the order.
            near = self._vectors.nearest_of(above, vector, model, len(above))
            nearest = self._vectors.nearest_of(tied, vector, model, lacking)
            near |= nearest
            known = np.fromiter(nearest, np.int64, len(nearest))
            lacking = max(lacking - len(nearest), 0)
            unknown = np.setdiff1d(tied, known) if lacking else tied[:0]
            tied = np.concatenate((known, self._latest(unknown, lacking)))
        chosen = np.concatenate((above, tied))
        return dict(zip(chosen.tolist(), counted[chosen].tolist(), strict=True)), near

    def _latest(self, memories: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
        """Return the last updated of these memories, with those that tie with the last."""
        import numpy as np

        if len(memories) <= limit:
            return memories
        times = self._sets.updated_us().take(memories, mode="clip")
        last = np.partition(times, len(times) - limit)[len(times) - limit]
        latest: NDArray[np.int64] = memories[times >= last]
        return latest

    def _ranked(self, scores: dict[int, int], near: Best, scope: Scope) -> list[Row]:
        """Add ids and times to the memories that the scope may see, and sort them."""
        ranked = []
        for n, id_, updated_us in self._ids_and_times(scores, scope):
            cosine, chunk = near.get(n, (None, None))
            # Memories without a cosine come after all others.
            distance = 2.0 if cosine is None else -round(cosine, 6)
            order = (-scores[n], distance, -updated_us, id_)
            ranked.append((order, Row(id_, float(scores[n]), chunk, updated_us)))
        ranked.sort(key=lambda pair: pair[0])
        return [row for _, row in ranked]

    def _names(self, memories: Sequence[int]) -> dict[str, str]:
        """Return the topics of these memories by their tokens in the index."""
        rows = self._rows_in(
            "SELECT id, topics FROM memories WHERE n IN ({values})", list(dict.fromkeys(memories))
        )
        named = readable(lambda row: topics_in(self._unseal(row[1], _TOPICS, row[0])), rows)
        return {self._exact(topic): topic for topics in named for topic in topics}


def _max_read() -> int:
    """Return how many matches are read one by one: all of them where numpy is not installed."""
    if sys.modules.get("numpy") is not None:
        return _MAX_READ
    from importlib.util import find_spec

    try:
        installed = find_spec("numpy") is not None
    except ValueError:  # a test has blocked it
        installed = False
    return _MAX_READ_WITHOUT_NUMPY if installed else sys.maxsize - 1


def _counts_for(keywords: Sequence[str]) -> tuple[dict[str, int], float]:
    """Return for each keyword which ones a match of it counts for, a bit each, and how many there are."""
    unique = [keyword for keyword in dict.fromkeys(map(fold_topic, keywords)) if keyword]
    bits = {keyword: 1 << place for place, keyword in enumerate(unique)}
    counts_for = dict(bits)
    for keyword in unique:
        if " " in keyword:
            inside = [bits[word] for word in set(keyword.split()) if word in bits]
            counts_for[keyword] = sum(inside) or bits[keyword]
    everything = reduce(or_, counts_for.values(), 0)
    return counts_for, float(everything.bit_count())


def count_matches(
    sets: Sequence[NDArray[Any]], counts_for: Sequence[int], visible: NDArray[np.bool_] | None
) -> NDArray[np.uint16]:
    """Return for each memory, by number, how many keywords it matches; 0 where it is not visible.

    A set has a flag for each memory, or the numbers of its memories. What it counts for is a bit for each
    keyword, and each bit counts once, in however many sets a memory is.
    """
    import numpy as np

    by_bit: dict[int, list[NDArray[Any]]] = {}
    for memories, bits in zip(sets, counts_for, strict=True):
        while bits and len(memories):
            lowest = bits & -bits
            by_bit.setdefault(lowest, []).append(memories)
            bits ^= lowest
    flags = [one for one in (*sets, visible) if one is not None and one.dtype == np.bool_]
    if flags:
        size = len(flags[0])  # all of one state of the database, so all are of one length
    else:
        size = 1 + max((int(numbers.max()) for numbers in sets if len(numbers)), default=0)
    counted = np.zeros(size, np.uint16)
    for several in by_bit.values():
        memories = several[0]
        if len(several) > 1:
            memories = np.zeros(size, np.bool_)
            for one in several:
                memories[one] = True  # flags and numbers select alike
        if memories.dtype == np.bool_:
            counted += memories
        else:
            counted[memories] += 1
    if visible is not None:
        counted *= visible
    return counted


def cut(counted: NDArray[np.uint16], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the memories that are among the best `limit`, and those that tie for the places left."""
    import numpy as np

    above = np.empty(0, np.int64)
    for last in range(int(counted.max(initial=0)), 0, -1):
        tied = np.flatnonzero(counted == last)
        if len(above) + len(tied) >= limit or last == 1:
            return above, tied
        above = np.concatenate((above, tied))
    return above, above
