"""The one door through which every stored text, vector and token passes.

A plain store keeps them as they are. An encrypted store will put its own codec here, so no other
module may write any of the three without it.
"""

from __future__ import annotations

from typing import Protocol


class Codec(Protocol):
    """How texts, vectors and tokens look in the file."""

    name: str

    def seal(self, text: str) -> str | bytes:
        """Return a text as it is stored."""
        ...

    def unseal(self, stored: str | bytes) -> str:
        """Return a stored text as it was given."""
        ...

    def seal_vector(self, vector: bytes) -> bytes:
        """Return a vector's float32 bytes as they are stored."""
        ...

    def unseal_vector(self, stored: bytes) -> bytes:
        """Return the float32 bytes of a stored vector."""
        ...

    def token(self, token: str) -> str:
        """Return a keyword token or topic as it is indexed; the same token always gives the same."""
        ...


class Plain:
    """Keeps everything as it is."""

    name = "plain"

    def seal(self, text: str) -> str | bytes:
        """Return the text."""
        return text

    def unseal(self, stored: str | bytes) -> str:
        """Return the text."""
        return stored if isinstance(stored, str) else stored.decode()

    def seal_vector(self, vector: bytes) -> bytes:
        """Return the bytes."""
        return vector

    def unseal_vector(self, stored: bytes) -> bytes:
        """Return the bytes."""
        return stored

    def token(self, token: str) -> str:
        """Return the token."""
        return token
