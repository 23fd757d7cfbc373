"""The name of an entry's file: from its id alone, safe on every file system, and still readable."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256

ENDING = ".md"
# Small letters only: where A.md and a.md are one file, two ids must not be.
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9_-])?")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")  # what Windows keeps for itself
_MOST_BYTES = 120
_HASH_DIGITS = 16


def file_name(id_: str) -> str:
    """Return the file name of an id: the id where that is safe, else what is readable of it and a hash.

    A plain id has no tilde in it, so no other id gets its name.
    """
    if _PLAIN.fullmatch(id_) and not _DEVICES.match(id_):
        return id_ + ENDING
    digits = sha256(id_.encode()).hexdigest()[:_HASH_DIGITS]
    return f"{_readable(id_)}~{digits}{ENDING}"


def _readable(id_: str) -> str:
    letters = unicodedata.normalize("NFC", id_.casefold())
    words = "".join(one if one.isalnum() else "-" for one in letters)
    short = re.sub("-+", "-", words).encode()[:_MOST_BYTES].decode(errors="ignore").strip("-")
    return short or "entry"
