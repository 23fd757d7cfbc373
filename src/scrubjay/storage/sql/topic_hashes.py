"""Topics as keyed hashes: who reads the file without the key cannot tell what they say.

Each topic is hashed as a whole and word by word, so that "continuous integration" is found by both
of its words as well. Equal topics give equal hashes in one store, and different ones in another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from scrubjay.storage.database import NOTE, Connection, Gathered
from scrubjay.text.analysis import STOP_WORDS, normalise, telling, words

if TYPE_CHECKING:
    from scrubjay.storage.database import Database

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
    return apart(normalise(topic)).casefold()


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
    return tuple(filter(None, (*telling(said, STOP_WORDS), topic, " ".join(said))))


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
