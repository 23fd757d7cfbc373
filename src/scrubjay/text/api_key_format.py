"""Format of API keys: make a new one, check one for typing errors, mask those in a text."""

from __future__ import annotations

import binascii
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

PREFIX = "sj_"
_SECRET_BYTES = 32
_CHECKSUM_BYTES = 4
_SECRET = rf"{PREFIX}[\w-]{{48}}"  # 36 bytes; the decoder itself would skip any other character
_LIKE_A_SECRET = re.compile(rf"{PREFIX}[\w-]{{8,}}", re.ASCII)


def new_secret() -> str:
    """Return 256 random bits with a checksum, as 51 characters that fit a URL and a header."""
    random = secrets.token_bytes(_SECRET_BYTES)
    return PREFIX + urlsafe_b64encode(random + _checksum(random)).decode()


def is_whole(secret: str) -> bool:
    """True when a text can be an API key; False if it is mistyped or cut short."""
    if not re.fullmatch(_SECRET, secret, re.ASCII):
        return False
    raw = urlsafe_b64decode(secret.removeprefix(PREFIX))
    return raw[_SECRET_BYTES:] == _checksum(raw[:_SECRET_BYTES])


def mask_secrets(text: str) -> str:
    """Return a text with the API keys in it masked: clients put them into URLs by mistake."""
    return _LIKE_A_SECRET.sub(f"{PREFIX}…", text)


def _checksum(random: bytes) -> bytes:
    return binascii.crc32(random).to_bytes(_CHECKSUM_BYTES, "big")
