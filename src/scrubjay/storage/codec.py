"""Encoding of every stored text, vector and token.

No other module may write any of the three without it, so that an encrypted store only needs a codec.
"""

from __future__ import annotations

_ESCAPE = "\x1a"  # SUBSTITUTE, which texts do not contain in practice


class Codec:
    """Stores texts, vectors and tokens as they are."""

    name = "plain"

    def seal(self, text: str) -> str | bytes:
        return text

    def unseal(self, stored: str | bytes) -> str:
        return stored if isinstance(stored, str) else stored.decode()

    def seal_vector(self, vector: bytes) -> bytes:
        return vector

    def unseal_vector(self, stored: bytes) -> bytes:
        return stored

    def token(self, token: str) -> str:
        """Encode a keyword token or topic; equal tokens give equal results."""
        return token


class EscapeNul(Codec):
    """Escapes NUL characters, which Postgres does not accept in texts."""

    name = "without-nul"

    def seal(self, text: str) -> str | bytes:
        if "\0" not in text and _ESCAPE not in text:
            return text
        return text.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")

    def unseal(self, stored: str | bytes) -> str:
        text = super().unseal(stored)
        if _ESCAPE not in text:
            return text
        return text.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)
