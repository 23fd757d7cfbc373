"""Tokens as Postgres keeps and asks for them: vectors with positions, and the queries that fit them.

A memory has one or more pairs of vectors. `main` holds title, context and text, `ident` the id and the
topics. Where a field ends a position is left out, so that no phrase runs on into the next. Postgres
counts no position beyond 16,383 and no more than 255 of one token: a longer text goes on in the
next part, and what comes ahead stands at the end of this one as well, so that a phrase is whole in
one of the two. What is ahead has a label of its own, and nothing that begins there is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scrubjay.storage.codec import Codec
from scrubjay.types import Term

# The labels of tokens, which tell fields apart.
TITLE, CONTEXT, AHEAD, TEXT = "ABCD"
TOPICS, IDENT = "AD"
_COUNTED = TITLE + CONTEXT + TEXT
_OWN = TITLE + AHEAD + TEXT

MOST_POSITIONS = 15_000
MOST_ALIKE = 200  # tokens of a part; 55 more may be ahead
MOST_AHEAD = 1_000
_MOST_ALIKE_AHEAD = 255
_MOST_BYTES = 500_000  # a vector has at most a megabyte
_MOST_BYTES_AHEAD = 900_000
_MOST_CHARS = 500  # and a token 2,046 bytes
# FTS5 takes these as spaces, too: all controls and both quotes of ASCII.
_TOKEN = re.compile(r"""[^\x00-\x20"'\x7f]+""")


class Part(NamedTuple):
    """Two vectors as Postgres reads them."""

    main: str
    ident: str


class Vectors(NamedTuple):
    """All of a memory's tokens."""

    parts: list[Part]
    length: int


def vectors(title: str, text: str, topics: str, context: str, ident: str) -> Vectors:
    """Return lines of tokens as vectors, and how many tokens there are."""
    mains = [(_split(title), TITLE), (_split(context), CONTEXT), (_split(text), TEXT)]
    idents = [(_split(topics), TOPICS), (_split(ident), IDENT)]
    first, second = list(_in_parts(mains)), list(_in_parts(idents))
    empty = [""] * abs(len(first) - len(second))
    pairs = zip(first + empty, second + empty, strict=False)
    length = sum(len(tokens) for tokens, _ in (*mains, *idents))
    return Vectors([Part(*pair) for pair in pairs], length)


def asked(term: Term, codec: Codec) -> str:
    """Return the query that finds a term in any field; what it is to spare is not in it."""
    return " | ".join(filter(None, (run_asked(run, codec) for run in term.any_of)))


def asked_of_itself(term: Term, codec: Codec) -> str:
    """Return the query that finds a term anywhere but in the context."""
    return " | ".join(filter(None, (run_asked(run, codec, _OWN, _OWN) for run in term.any_of)))


def run_counted(run: Sequence[str], codec: Codec) -> str:
    """Return the query by which the occurrences of neighbouring tokens are counted, each once."""
    return run_asked(run, codec, _COUNTED)


def run_asked(run: Sequence[str], codec: Codec, first: str = "", others: str = "") -> str:
    """Return neighbouring tokens as a query, each with the labels it may have; with a star, the last
    is only begun so.
    """
    *before, last = run
    begun = len(last) > 1 and last.endswith("*")
    written = " ".join(map(codec.token, (*before, last[:-1] if begun else last)))
    tokens = _split(written)
    return " <-> ".join(
        f"{_quoted(token)}{_marks('*' if begun and at == len(tokens) else '', others if at > 1 else first)}"
        for at, token in enumerate(tokens, 1)
    )


def _marks(star: str, labels: str) -> str:
    return f":{star}{labels}" if star or labels else ""


def _quoted(token: str) -> str:
    """Return a token so that no sign in it is read as syntax; it holds no quote."""
    return "'" + token.replace("\\", "\\\\") + "'"


def _split(line: str) -> list[str]:
    return [token[:_MOST_CHARS] for token in _TOKEN.findall(line)]


class _Vector:
    """A vector in the making."""

    def __init__(self) -> None:
        self._positions: dict[str, list[str]] = {}
        self._alike: Counter[str] = Counter()
        self._bytes = 0
        self.last = 0

    def takes(self, token: str, most: int, most_alike: int, most_bytes: int) -> bool:
        """Whether there is room for one more."""
        return self.last < most and self._alike[token] < most_alike and self._bytes < most_bytes

    def add(self, token: str, label: str) -> None:
        self.last += 1
        self._alike[token] += 1
        self._bytes += 2 if token in self._positions else len(token.encode()) + 8
        mark = f"{self.last}{'' if label == TEXT else label}"
        self._positions.setdefault(token, []).append(mark)

    def leave_gap(self) -> None:
        self.last += 1

    def __str__(self) -> str:
        return " ".join(
            f"{_quoted(token)}:{','.join(at)}" for token, at in self._positions.items()
        )


def _in_parts(fields: Sequence[tuple[list[str], str]]) -> Iterator[str]:
    """Yield vectors that hold fields, the last of which may be cut."""
    vector = _Vector()
    for tokens, label in fields:
        for at, token in enumerate(tokens):
            if not vector.takes(token, MOST_POSITIONS, MOST_ALIKE, _MOST_BYTES):
                if label == TEXT:
                    _look_ahead(vector, tokens, at)
                yield str(vector)
                vector = _Vector()
            vector.add(token, label)
        vector.leave_gap()
    yield str(vector)


def _look_ahead(vector: _Vector, tokens: list[str], at: int) -> None:
    """Add what comes next, as far as there is room."""
    most = vector.last + MOST_AHEAD
    for token in tokens[at : at + MOST_AHEAD]:
        if not vector.takes(token, most, _MOST_ALIKE_AHEAD, _MOST_BYTES_AHEAD):
            return
        vector.add(token, AHEAD)
