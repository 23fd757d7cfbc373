"""Merges of segments of about the same size.

Their postings move to a new segment, some tokens at a time, each step in a transaction. Every posting is in
one segment at any moment, so a merge may stop anywhere, and any process may continue it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from scrubjay.storage.database import Connection
from scrubjay.storage.sql.scope import in_parts, marks
from scrubjay.storage.sqlite.postings import pages, tables
from scrubjay.storage.sqlite.postings.blocks import (
    MAX_POSTINGS,
    Posting,
    StoredBlock,
    blocks_of,
    decode,
)
from scrubjay.storage.sqlite.postings.tables import (
    DELETE,
    DELETE_PAGE,
    INSERT_PAGE,
    Written,
    bulk_for,
    new_segment,
    write,
)

_FACTOR = 8  # segments of about one size are merged into one
_STEP = 1024  # pages that are read at once
_JOINED = 240  # postings of a block that is joined with the next one


def merge_some(db: Connection) -> bool:
    """Take one step of a merge, and begin one if there are segments to merge; False if there are none."""
    row = db.execute("SELECT target FROM segments WHERE target IS NOT NULL LIMIT 1").fetchone()
    target = _begin_merge(db) if row is None else int(row[0])
    if target is None:
        return False
    sources = [n for (n,) in db.execute("SELECT n FROM segments WHERE target = ?", (target,))]
    read = {source: _first_pages(db, source, max(_STEP // len(sources), 1)) for source in sources}
    # The first token that is not read, of each segment that has more.
    until = min((more for _, more in read.values() if more is not None), default=None)
    of_pages = [page for of_source, _ in read.values() for page in of_source]
    if until is not None:
        of_pages = list(_before(db, read, until))
    else:
        db.execute(f"DELETE FROM posting_pages WHERE segment IN ({marks(sources)})", sources)
    _move(db, target, sources, of_pages, until)
    if until is None:
        db.execute("DELETE FROM segments WHERE target = ?", (target,))
    return True


def _first_pages(
    db: Connection, source: int, most: int
) -> tuple[list[pages.StoredPage], str | None]:
    """Return the first pages of a segment, and the first token of the next one."""
    rows = db.execute(
        "SELECT term, data FROM posting_pages WHERE segment = ? ORDER BY term LIMIT ?",
        (source, most),
    ).fetchall()
    read = [pages.StoredPage(*row) for row in rows]
    if len(read) < most:
        return read, None
    (more,) = db.execute(
        "SELECT min(term) FROM posting_pages WHERE segment = ? AND term > ?",
        (source, read[-1].token),
    ).fetchone()
    return read, more


def _before(
    db: Connection,
    read: Mapping[int, tuple[Sequence[pages.StoredPage], str | None]],
    until: str,
) -> Iterator[pages.StoredPage]:
    """Yield the pages of segments up to a token, and delete them; of a page with more, the rest stays."""
    for source, (of_source, more) in read.items():
        here = [page for page in of_source if page.token < until]
        db.executemany(DELETE_PAGE, [(source, page.token) for page in here])
        after = of_source[len(here)].token if len(here) < len(of_source) else more
        if here and after != until:
            for part in pages.parts(here.pop(), until):
                if part.token < until:
                    here.append(part)
                else:
                    db.execute(INSERT_PAGE, (source, *part))
        yield from here


def _move(
    db: Connection,
    target: int,
    sources: Sequence[int],
    of_pages: Sequence[pages.StoredPage],
    until: str | None,
) -> None:
    """Write the postings of pages, and of the blocks of the same tokens, to a segment."""
    condition, until_token = ("", ()) if until is None else (" AND term < ?", (until,))
    there = f"segment IN ({marks(sources)}){condition}"
    arguments = (*sources, *until_token)
    by_token: dict[str, list[StoredBlock]] = {}
    # A block that has no small neighbour need not be read.
    for token, first, span, size in db.execute(
        f"SELECT term, first, span, count FROM postings WHERE {there}", arguments
    ):
        by_token.setdefault(token, []).append(StoredBlock(first, span, size, b"", b""))
    (memories,) = db.execute("SELECT memories FROM segments WHERE n = ?", (target,)).fetchone()
    bulk = bulk_for(memories)
    unite, join = (_united, _joined) if bulk is None else (bulk.united, bulk.joined)
    made, of_many = unite([page.data for page in of_pages], by_token.keys())
    for token, block in of_many:
        by_token.setdefault(token, []).append(block)
    alone: list[tuple[str, StoredBlock]] = []
    groups: list[tuple[str, list[StoredBlock]]] = []
    for token, blocks in by_token.items():
        for group in _neighbors(sorted(blocks)):
            if len(group) > 1:
                groups.append((token, group))
            elif group[0].body:
                alone.append((token, group[0]))
    read = _take(db, there, arguments, groups)
    db.execute(f"UPDATE postings SET segment = ? WHERE {there}", (target, *arguments))
    joined = join(
        [
            [block if block.body else read[token, block.first] for block in group]
            for token, group in groups
        ]
    )
    for (token, _), blocks in zip(groups, joined, strict=True):
        alone += [(token, block) for block in blocks]
    write(db, target, (made, sorted(alone)))


def _take(
    db: Connection,
    there: str,
    arguments: Sequence[object],
    groups: Iterable[tuple[str, Sequence[StoredBlock]]],
) -> dict[tuple[str, int], StoredBlock]:
    """Return the stored blocks of groups by token and first memory, and delete them."""
    wanted = {(token, block.first) for token, group in groups for block in group if not block.body}
    found: dict[tuple[str, int], StoredBlock] = {}
    gone = []
    for several, part in in_parts(sorted({token for token, _ in wanted})):
        rows = db.execute(
            "SELECT segment, term, first, span, count, head, body FROM postings"
            f" WHERE {there} AND term IN ({several})",
            (*arguments, *part),
        )
        for segment, token, *stored in rows:
            block = StoredBlock(*stored)
            if (token, block.first) in wanted:
                found[token, block.first] = block
                gone.append((segment, token, block.first))
    db.executemany(DELETE, gone)
    return found


def _united(several: Sequence[bytes], apart: Collection[str]) -> Written:
    """Return the postings of pages in new ones; those of many memories, and of some tokens, in blocks."""
    postings: dict[str, list[Posting]] = {}
    for data in several:
        for token, held in pages.decode(data).postings():
            postings.setdefault(token, []).extend(held)
    return pages.split([(token, sorted(postings[token])) for token in sorted(postings)], apart)


def _joined(groups: Sequence[Sequence[StoredBlock]]) -> list[list[StoredBlock]]:
    """Return the postings of each group of blocks in as few blocks as they need."""
    return [
        blocks_of(sorted(one for block in group for one in decode(block).postings))
        for group in groups
    ]


def _neighbors(blocks: Sequence[StoredBlock]) -> Iterator[list[StoredBlock]]:
    """Yield the blocks to join: small ones, and those that overlap, as a memory that was changed is in a
    later segment."""
    waiting: list[StoredBlock] = []
    count = last = 0
    for block in blocks:
        if waiting:
            small = min(count, block.size) <= _JOINED and count + block.size <= MAX_POSTINGS
            if block.first > last and not small:
                yield waiting
                waiting, count, last = [], 0, 0
        waiting.append(block)
        count, last = count + block.size, max(last, block.last)
    if waiting:
        yield waiting


def can_merge(db: Connection) -> bool:
    """True if a merge has begun, or is due."""
    begun = db.execute("SELECT 1 FROM segments WHERE target IS NOT NULL LIMIT 1").fetchone()
    return begun is not None or bool(_alike(db))


def _begin_merge(db: Connection) -> int | None:
    """Mark the segments to merge next; return the new one, or None if no merge is due."""
    segments = _alike(db)
    if not segments:
        return None
    target = new_segment(
        db,
        sum(one.memories for one in segments),
        min(one.first for one in segments),
        max(one.last for one in segments),
    )
    db.executemany(
        "UPDATE segments SET target = ? WHERE n = ?", [(target, one.n) for one in segments]
    )
    return target


class _Segment(NamedTuple):
    """A segment: its number, how many memories were written to it, the first and the last."""

    n: int
    memories: int
    first: int
    last: int


def _alike(db: Connection) -> list[_Segment]:
    """Return the segments to merge: those of a size of which there are enough, and all that are smaller.

    The smaller ones are later, so that the memories of most segments stay in order.
    """
    rows = db.execute("SELECT n, memories, first, last FROM segments")
    segments = [_Segment(*row) for row in rows]
    levels = Counter(_level(one.memories) for one in segments)
    due = [level for level, count in levels.items() if count >= _FACTOR]
    return [one for one in segments if due and _level(one.memories) <= min(due)]


def _level(memories: int) -> int:
    level = 0
    while memories > tables.SEGMENT * 2:
        memories //= _FACTOR
        level += 1
    return level
