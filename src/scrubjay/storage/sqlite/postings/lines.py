"""Token lines of a memory, counted: how often each token is in each field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from scrubjay.storage.sql.keyword_index import split_line
from scrubjay.storage.sql.keyword_ranking import FIELDS
from scrubjay.storage.sqlite.postings.blocks import Counts

LINES = "title, text, topics, context, ident"
_TEXT = FIELDS.index("text")
_IN_TEXT: tuple[Counts, ...] = tuple((0, count, 0, 0, 0) for count in range(32))


def tokens_of(line: object) -> list[str]:
    return split_line(line) if isinstance(line, str) else []


def counts_of(lines: Sequence[object]) -> tuple[dict[str, Counts], int]:
    """Return how often a memory holds each token, by field, and how many tokens it has."""
    text = tokens_of(lines[_TEXT])
    length = len(text)
    elsewhere: dict[str, list[int]] = {}
    for field, line in enumerate(lines):
        if field != _TEXT and line:
            tokens = tokens_of(line)
            length += len(tokens)
            for token in tokens:
                elsewhere.setdefault(token, [0] * len(FIELDS))[field] += 1
    found = {}
    # Most tokens are in the text alone, and once.
    for token, count in Counter(text).items():
        if token in elsewhere:
            elsewhere[token][_TEXT] = count
        else:
            found[token] = _IN_TEXT[count] if count < len(_IN_TEXT) else (0, count, 0, 0, 0)
    found.update((token, tuple(counts)) for token, counts in elsewhere.items())
    return found, length


def length_of(lines: Iterable[object]) -> int:
    """Return how many tokens lines have."""
    return sum(len(tokens_of(line)) for line in lines if line)
