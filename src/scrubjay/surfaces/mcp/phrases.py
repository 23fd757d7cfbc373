"""Small words that every answer is made of, and what was stored as it may stand among them.

Names, ids and places are whatever somebody has stored. Between our own words they could pose as ours, so
they stand inside a tag, or are short and plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from scrubjay.text.recall_tags import wrap_recalled

_PLAIN_ID = re.compile(r"[\w.:@#+/-]{1,80}")
_MOST_SAID_CHARS = 500
_NO_BRACKETS = str.maketrans("<>", "()")


def ids_of(ids: Iterable[str]) -> str:
    """Return ids on one line; one that could be read as a sentence stands in a tag."""
    return ", ".join(one if _PLAIN_ID.fullmatch(one) else wrap_recalled("", one) for one in ids)


def one_line(text: str, most_chars: int = _MOST_SAID_CHARS) -> str:
    """Return a text on one line, no longer than that, without what could be taken for a tag."""
    said = " ".join(text.split()).translate(_NO_BRACKETS)
    return said if len(said) <= most_chars else f"{said[: most_chars - 1]}…"


def count_of(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def lines_of(*lines: str) -> str:
    """Return lines as one text."""
    return "\n".join(lines)
