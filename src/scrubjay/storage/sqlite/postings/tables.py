"""Tables of the index: memories get into a segment, and out of one.

A memory that was written last is in `unindexed` alone. Several of these become a segment together; segments
are merged by `merging.py`. A memory that is deleted or changed is taken out of its segment in the same
transaction: nothing of it is left, and no search has to skip it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from scrubjay.storage.database import NOTE, Connection
from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sqlite.postings import pages
from scrubjay.storage.sqlite.postings.blocks import (
    DamagedBlock,
    Posting,
    StoredBlock,
    without,
)
from scrubjay.storage.sqlite.postings.lines import LINES, counts_of

SEGMENT = 256  # memories that become a segment in the background
MOST_UNINDEXED = 4096  # memories; then the write that adds another makes a segment itself
STAMP = "postings_stamp"  # a key of `meta`: a number that changes with the postings
_MANY = 1024  # memories: encoding them without numpy takes longer than loading it

TABLES = ("postings", "posting_pages", "segments", "unindexed")
# The page of a segment `s` that would have a token `t`, and all of them, for a list of tokens in JSON.
PAGE_OF = (
    "(SELECT max(q.term) FROM posting_pages AS q WHERE q.segment = s.n AND q.term <= t.value)"
)
PAGES = (
    "SELECT t.value, s.n, p.term, p.data FROM segments AS s CROSS JOIN json_each(?) AS t"
    f" CROSS JOIN posting_pages AS p ON p.segment = s.n AND p.term = {PAGE_OF}"
)
_INSERT = "INSERT INTO postings (segment, term, first, span, count, head, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
_UPDATE = (
    "UPDATE postings SET span = ?, count = ?, head = ?, body = ?"
    " WHERE segment = ? AND term = ? AND first = ?"
)
DELETE = "DELETE FROM postings WHERE segment = ? AND term = ? AND first = ?"
INSERT_PAGE = "INSERT INTO posting_pages (segment, term, data) VALUES (?, ?, ?)"
_UPDATE_PAGE = "UPDATE posting_pages SET data = ? WHERE segment = ? AND term = ?"
DELETE_PAGE = "DELETE FROM posting_pages WHERE segment = ? AND term = ?"

Written = tuple[list[pages.StoredPage], list[tuple[str, StoredBlock]]]


def add(db: Connection, numbers: Iterable[int]) -> None:
    """Note that memories are in no segment; before their lines are written."""
    db.executemany(
        "INSERT INTO unindexed (memory) VALUES (?) ON CONFLICT (memory) DO NOTHING",
        ((n,) for n in numbers),
    )


def drop(db: Connection, numbers: Sequence[int]) -> None:
    """Forget memories that are in no segment and have no lines any more."""
    for several, part in in_parts(numbers):
        db.execute(f"DELETE FROM unindexed WHERE memory IN ({several})", part)


def has_unindexed(db: Connection, most: int) -> bool:
    """True if at least this number of memories are in no segment."""
    found = db.execute("SELECT 1 FROM unindexed LIMIT 1 OFFSET ?", (most - 1,))
    return found.fetchone() is not None


def _note_change(db: Connection) -> None:
    """Change the number under which searches keep what they have decoded."""
    db.execute(NOTE, (STAMP, int.from_bytes(os.urandom(7), "big")))


def clear(db: Connection) -> None:
    _note_change(db)
    for table in TABLES:
        db.execute(f"DELETE FROM {table}")


def begin_again(db: Connection) -> None:
    """Make every memory wait to be indexed again, from its lines. Searches read the lines until then."""
    clear(db)
    db.execute("INSERT INTO unindexed (memory) SELECT rowid FROM words")


def take_out(db: Connection, lines: Mapping[int, Sequence[Any]]) -> None:
    """Take memories out of their segments, given the lines they had; they count as unindexed then."""
    waiting: set[int] = set()
    for several, part in in_parts(list(lines)):
        rows = db.execute(f"SELECT memory FROM unindexed WHERE memory IN ({several})", part)
        waiting.update(n for (n,) in rows)
    by_token: dict[str, set[int]] = {}
    for n in sorted(lines.keys() - waiting):
        for token in counts_of(lines[n])[0]:
            by_token.setdefault(token, set()).add(n)
    if by_token:
        _note_change(db)
    try:
        _take_out_of(db, by_token)
    except DamagedBlock:
        # What is damaged cannot be shown to have lost a memory: nothing of it may stay.
        begin_again(db)
        return
    add(db, lines.keys() - waiting)


def _take_out_of(db: Connection, by_token: Mapping[str, set[int]]) -> None:
    if not by_token:
        return
    last = max(map(max, by_token.values()))
    first = min(map(min, by_token.values()))
    deleted, updated, inserted = [], [], []
    for several, part in in_parts(sorted(by_token)):
        rows = db.execute(
            "SELECT p.segment, p.term, p.first, p.span, p.count, p.head, p.body FROM segments AS s"
            f" CROSS JOIN postings AS p ON p.segment = s.n AND p.term IN ({several}) AND p.first <= ?"
            " WHERE s.first <= ? AND s.last >= ? AND p.first + p.span >= ?",
            (*part, last, last, first, first),
        )
        for segment, token, *stored in rows:
            block = StoredBlock(*stored)
            left = without(block, by_token[token])
            if left == [block]:
                continue
            key = segment, token, block.first
            if left and left[0].first == block.first:
                updated.append((*left[0][1:], *key))
                left = left[1:]
            else:
                deleted.append(key)
            inserted += [(segment, token, *one) for one in left]
    for statement, changed in ((DELETE, deleted), (_UPDATE, updated), (_INSERT, inserted)):
        if changed:
            db.executemany(statement, changed)
    _take_out_of_pages(db, by_token, first, last)


def _take_out_of_pages(
    db: Connection, by_token: Mapping[str, set[int]], first: int, last: int
) -> None:
    stored: dict[tuple[int, str], bytes] = {}
    tokens: dict[tuple[int, str], list[str]] = {}
    rows = db.execute(
        f"{PAGES} WHERE s.first <= ? AND s.last >= ?", (json.dumps(sorted(by_token)), last, first)
    )
    for token, segment, of_page, data in rows:
        key = segment, of_page
        stored[key] = data
        tokens.setdefault(key, []).append(token)
    for (segment, of_page), data in stored.items():
        page = pages.StoredPage(of_page, data)
        gone = {token: by_token[token] for token in tokens[segment, of_page]}
        left = pages.without(page, gone)
        if left is page:
            continue
        if left is not None and left.token == of_page:
            db.execute(_UPDATE_PAGE, (left.data, segment, of_page))
            continue
        db.execute(DELETE_PAGE, (segment, of_page))
        if left is not None:
            db.execute(INSERT_PAGE, (segment, *left))


def index_some(db: Connection, most: int) -> int:
    """Make a segment of memories in none, at most `most`; return how many there were."""
    rows = db.execute(
        f"SELECT u.memory, {LINES} FROM unindexed AS u LEFT JOIN words AS w ON w.rowid = u.memory"
        " ORDER BY u.memory LIMIT ?",
        (most,),
    ).fetchall()
    if not rows:
        return 0
    _note_change(db)
    segment = new_segment(db, len(rows), rows[0][0], rows[-1][0])
    bulk = bulk_for(len(rows))
    write(db, segment, segment_of(rows) if bulk is None else bulk.segment_of(rows))
    db.execute("DELETE FROM unindexed WHERE memory <= ?", (rows[-1][0],))
    return len(rows)


def write(db: Connection, segment: int, written: Written) -> None:
    of_pages, of_blocks = written
    db.executemany(INSERT_PAGE, ((segment, *page) for page in of_pages))
    db.executemany(_INSERT, ((segment, token, *block) for token, block in of_blocks))


def bulk_for(memories: int) -> ModuleType | None:
    """Return how to encode many postings at once, if that is quicker."""
    if memories < _MANY and sys.modules.get("numpy") is None:
        return None
    try:
        from scrubjay.storage.sqlite.postings import bulk
    except ImportError:
        return None
    return bulk


def segment_of(rows: Iterable[Sequence[Any]]) -> Written:
    """Return what is written of memories, each given by its number and its lines."""
    postings: dict[str, list[Posting]] = {}
    for n, *lines in rows:
        held, length = counts_of(lines)
        for token, counts in held.items():
            postings.setdefault(token, []).append((n, counts, length))
    return pages.split(sorted(postings.items()), ())


def new_segment(db: Connection, memories: int, first: int, last: int) -> int:
    """Return the number of a new segment with a number of memories, from a first to a last."""
    (number,) = db.execute("SELECT coalesce(max(n), 0) + 1 FROM segments").fetchone()
    db.execute(
        "INSERT INTO segments (n, memories, first, last) VALUES (?, ?, ?, ?)",
        (number, memories, first, last),
    )
    return int(number)
