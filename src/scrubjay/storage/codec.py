"""Encoding of every stored text, vector and token.

No other module may write any of the three without it, so that an encrypted store only needs a codec.
A text is encoded for its place: its column, and the id of the memory, or whatever else owns the row.
An encrypted store binds it to that, so that it cannot be read from another place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from scrubjay.storage.database import Connection

T = TypeVar("T")
R = TypeVar("R")

_ESCAPE = "\x1a"  # SUBSTITUTE, which texts do not contain in practice

# What decoding raises for JSON, UTF-8, times and numbers that are damaged, or of another type.
UNREADABLE = (ValueError, TypeError, AttributeError, OverflowError, RecursionError)


class Codec:
    """Stores texts, vectors and tokens as they are."""

    name = "plain"
    is_sealed = False

    def seal(self, text: str, column: str, owner: str, namespace: str = "") -> str | bytes:
        """Encode a text for its place, with the key of a namespace where there are keys."""
        return text

    def unseal(self, stored: str | bytes, column: str, owner: str) -> str:
        """Decode a text of this place."""
        return stored if isinstance(stored, str) else stored.decode()

    def seal_vector(self, vector: bytes) -> bytes:
        return vector

    def unseal_vector(self, stored: bytes) -> bytes:
        return stored

    def token(self, token: str) -> str:
        """Encode a keyword token; equal tokens give equal results."""
        return token

    def prefix(self, token: str) -> str:
        """Encode the beginning of a token; InvalidInput where tokens have none."""
        return token

    def exact(self, value: str, column: str) -> str:
        """Encode what is looked up in a column by equality: a topic, a name, the hash of a text."""
        return value

    def destroy(self, namespace: str) -> None:
        """Destroy the key of a namespace, if it has one: what was stored with it cannot be read again."""
        return

    def write_begins(self, db: Connection) -> None:
        """Prepare for a write; called first in each transaction."""
        return

    def write_ends(self, db: Connection) -> None:
        """Note what a write has written; called last in each transaction."""
        return

    def not_as_written(self, ids: Collection[str]) -> set[str]:
        """Return those of these memories whose rows are not as they were last written."""
        return set()

    def lock(self) -> None:
        """Forget the keys, if there are any."""
        return

    def topic_hash(self, form: str, size: int) -> bytes | None:
        """Return the keyed hash of a topic; None where the store has the key in its table `keys`."""
        return None


class EscapeNul(Codec):
    """Escapes NUL characters, which Postgres does not accept in texts."""

    name = "without-nul"

    def seal(self, text: str, column: str, owner: str, namespace: str = "") -> str | bytes:
        if "\0" not in text and _ESCAPE not in text:
            return text
        return text.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")

    def unseal(self, stored: str | bytes, column: str, owner: str) -> str:
        text = super().unseal(stored, column, owner)
        if _ESCAPE not in text:
            return text
        return text.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)


class DamagedValue(ValueError):
    """A stored value is not of the type that its column has."""


def readable(read: Callable[[R], T], rows: Iterable[R]) -> Iterator[T]:
    """Yield what can be read of each row."""
    for row in rows:
        try:
            value = read(row)
        except UNREADABLE:
            continue
        yield value


def topics_in(stored: str) -> list[str]:
    """Return the topics of a memory; a damaged list raises an error."""
    topics = json.loads(stored)
    if type(topics) is not list or not all(type(topic) is str for topic in topics):
        raise DamagedValue("topics are not a list of texts")
    return topics
