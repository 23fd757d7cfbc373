"""The one door through which every stored text, vector and token passes.

A plain store keeps them as they are. An encrypted store will put its own codec here, so no other
module may write any of the three without it.
"""

from __future__ import annotations


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
