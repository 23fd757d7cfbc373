"""Topics as keyed hashes: who reads the file without the key cannot tell what they say.

Each topic is hashed as a whole and word by word, so that "continuous integration" is found by both
of its words as well. Equal topics give equal hashes in one store, and different ones in another.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from scrubjay.text import STOP_WORDS, normalise, telling, words

if TYPE_CHECKING:
    from scrubjay.stores.sqlite import Database

# Stored beside the hashes: those that were made by other rules are made again.
_VERSION = 1
_KEY_BYTES = 32
_HASH_BYTES = 16
_BATCH = 2000


def folded(topic: str) -> str:
    """Return the form in which topics are compared: composed, single spaces, no case."""
    return normalise(topic).casefold()


def forms_of(topics: Iterable[str]) -> dict[str, bool]:
    """Return what these topics can be found by, each with whether it is the whole of one."""
    forms: dict[str, bool] = {}
    for topic in map(folded, topics):
        said = words(topic)
        forms.update(dict.fromkeys(telling(said, STOP_WORDS), False) | forms)
        # A query's words come without commas and the like, so there is a whole without them, too.
        forms.update(dict.fromkeys((topic, " ".join(said)), True))
    forms.pop("", None)
    return forms


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
        forms = forms_of(topics)
        with self._db.write() as db:
            db.execute("DELETE FROM topic_hashes WHERE memory = ?", (n,))
            if not forms:
                return
            key = self._made_key()
            db.executemany(
                "INSERT INTO topic_hashes (hash, memory, whole) VALUES (?, ?, ?)",
                [(_hashed(key, form), n, whole) for form, whole in forms.items()],
            )

    def index_again(self) -> None:
        """Hash every topic anew, if a store has none yet or has those of other rules."""
        if self._version() == _VERSION:
            return
        with self._db.write() as db:
            if self._version() == _VERSION:  # another process was faster
                return
            db.execute("DELETE FROM topic_hashes")
            unseal, after, known = self._db.codec.unseal, 0, _Known()
            while batch := db.execute(
                "SELECT n, topics FROM memories WHERE n > ? ORDER BY n LIMIT ?", (after, _BATCH)
            ).fetchall():
                after = batch[-1][0]
                tagged = [(n, json.loads(unseal(topics))) for n, topics in batch]
                if not any(topics for _, topics in tagged):
                    continue
                known.key = known.key or self._made_key()
                db.executemany(
                    "INSERT INTO topic_hashes (hash, memory, whole) VALUES (?, ?, ?)",
                    [
                        (known[form], n, whole)
                        for n, topics in tagged
                        for form, whole in forms_of(topics).items()
                    ],
                )
            db.execute("INSERT OR REPLACE INTO meta VALUES ('topic_hashes', ?)", (_VERSION,))

    def _version(self) -> int | None:
        with self._db.read() as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'topic_hashes'").fetchone()
        return row[0] if row else None

    def _key(self) -> bytes | None:
        if self._known_key is not None:
            return self._known_key
        with self._db.read() as db:
            row = db.execute("SELECT key FROM keys WHERE name = 'topics'").fetchone()
        if row is None:
            return None
        # One made in a transaction that is rolled back was never the store's.
        if not self._db.in_write:
            self._known_key = row[0]
        return bytes(row[0])

    def _made_key(self) -> bytes:
        """Return the key of the store, made if there is none yet; only inside a write."""
        key = self._key()
        if key is None:
            import secrets

            key = secrets.token_bytes(_KEY_BYTES)
            with self._db.write() as db:
                db.execute("INSERT INTO keys (name, key) VALUES ('topics', ?)", (key,))
        return key


class _Known(dict[str, bytes]):
    """Hashes made before: many memories have the same few topics."""

    key = b""

    def __missing__(self, form: str) -> bytes:
        made = self[form] = _hashed(self.key, form)
        return made


def _hashed(key: bytes, text: str) -> bytes:
    import hmac

    # Under its own name, so that the key may serve for other things, too.
    return hmac.digest(key, b"topic\0" + text.encode(), "sha256")[:_HASH_BYTES]
