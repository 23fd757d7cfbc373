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


class WithoutNul(Plain):
    """Keeps texts where no character may be NUL, as in Postgres, so that they come back as they were."""

    name = "without-nul"

    def seal(self, text: str) -> str | bytes:
        """Write NUL as two other characters."""
        if "\0" not in text and _ESCAPE not in text:
            return text
        return text.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")

    def unseal(self, stored: str | bytes) -> str:
        """Put NUL back where it was."""
        text = super().unseal(stored)
        if _ESCAPE not in text:
            return text
        return text.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)


_ESCAPE = "\x1a"  # SUBSTITUTE: nobody writes it
