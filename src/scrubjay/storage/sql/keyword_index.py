"""What the keyword indexes of SQLite and Postgres share: how lines are split into tokens, and their size.

A token may contain a quote (`don't`): the index has its parts as neighbours, in the order of the line.
Memories and tokens are counted in the transactions that change the index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Connection, Gathered

# ASCII controls, spaces and both quotes lie between tokens.
_TOKEN = re.compile(r"""[^\x00-\x20"'\x7f]+""")


def split_line(line: str) -> list[str]:
    """Return the tokens of a line, in order."""
    # Splitting at spaces takes a third of the time, and nearly every line has only these.
    if line.isprintable() and "'" not in line and '"' not in line:
        return line.split()
    return _TOKEN.findall(line)


def split_run(run: Sequence[str], codec: Codec) -> tuple[tuple[str, ...], bool]:
    """Return the encoded tokens of a run, and True if the last one is a prefix."""
    *before, last = run
    is_prefix = len(last) > 1 and last.endswith("*")
    final = codec.prefix(last[:-1]) if is_prefix else codec.token(last)
    encoded = (*map(codec.token, before), final)
    tokens = tuple(token for each in encoded for token in split_line(each))
    return tokens, is_prefix and bool(tokens)


MEMORIES, TOKENS = "indexed_memories", "indexed_tokens"  # keys of `meta`
_ADD = (
    "INSERT INTO meta (key, value) VALUES (?, ?)"
    " ON CONFLICT (key) DO UPDATE SET value = meta.value + excluded.value"
)


class Indexed(NamedTuple):
    """The size of the keyword index, and in Postgres a number that changes with every commit."""

    memories: int
    tokens: int
    commit: int


def indexed(db: Connection) -> Indexed:
    rows = db.execute(
        "SELECT key, value FROM meta WHERE key IN (?, ?, 'commits')", (MEMORIES, TOKENS)
    )
    noted = dict(rows.fetchall())
    return Indexed(noted.get(MEMORIES, 0), noted.get(TOKENS, 0), noted.get("commits", 0))


def forget_size(db: Connection) -> None:
    """Count from zero again."""
    db.execute("DELETE FROM meta WHERE key IN (?, ?)", (MEMORIES, TOKENS))


class Growth(Gathered):
    """By how much the keyword index has grown in this write."""

    def __init__(self) -> None:
        self.memories = 0
        self.tokens = 0

    def write(self, db: Connection) -> None:
        db.executemany(_ADD, [(MEMORIES, self.memories), (TOKENS, self.tokens)])
