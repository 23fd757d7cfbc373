"""The line by which a file shows whether a person has changed it since it was exported.

Times would not do: a link or a renamed topic changes an entry without making it younger.
"""

from __future__ import annotations

import re
from hashlib import sha256

from scrubjay.text.markdown import front_matter

_HASH_DIGITS = 16
_MARK = re.compile(rf"^# as exported: ([0-9a-f]{{{_HASH_DIGITS}}})$", re.M)


def marked(text: str) -> str:
    """Return the file of an entry with its mark, a comment at the end of its front matter."""
    block, _ = front_matter(text)
    at = text.index("\n") + 1 + len(block)
    return f"{text[:at]}# as exported: {_hash(text)}\n{text[at:]}"


def is_as_exported(text: str) -> bool:
    """True for a file as `marked` made it; line ends that were converted are no matter."""
    text = _plain_ends(text)
    block, _ = front_matter(text)
    found = list(_MARK.finditer(block))
    if not found or block[found[-1].end() :] != "\n":
        return False
    at = text.index("\n") + 1
    first, last = at + found[-1].start(), at + len(block)
    return _hash(text[:first] + text[last:]) == found[-1][1]


def has_mark(text: str) -> bool:
    """True when a file was exported once, whatever has become of it."""
    return bool(_MARK.search(_plain_ends(text)))


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n") if text.partition("\n")[0].endswith("\r") else text


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
