"""Check of the index: every memory's postings are those of its lines, and there are no others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scrubjay.storage.database import Connection
from scrubjay.storage.sql.keyword_index import indexed
from scrubjay.storage.sqlite.postings import pages
from scrubjay.storage.sqlite.postings.blocks import (
    Counts,
    DamagedBlock,
    Posting,
    StoredBlock,
    decode,
)
from scrubjay.storage.sqlite.postings.lines import LINES, counts_of

_SUM_BITS = (1 << 64) - 1


def damage_of(db: Connection, *, filled: bool) -> str:
    """Return what is wrong with the index, "" for nothing. In a file that is still being `filled`,
    FTS5 has the sizes."""
    for table in ("postings", "posting_pages"):
        (lost,) = db.execute(
            f"SELECT count(*) FROM {table} WHERE segment NOT IN (SELECT n FROM segments)"
        ).fetchone()
        if lost:
            return f"{lost} blocks of the keyword index belong to no segment"
    try:
        held = _sums(db)
    except DamagedBlock as error:
        return f"a block of the keyword index is damaged: {error}"
    waiting = {n for (n,) in db.execute("SELECT memory FROM unindexed")}
    memories = tokens = wrong = 0
    for n, *lines in db.execute(f"SELECT rowid, {LINES} FROM words"):
        counts, length = counts_of(lines)
        memories, tokens = memories + 1, tokens + length
        expected = 0
        if n not in waiting:
            for token, of_token in counts.items():
                expected += _sum(token, of_token, length)
        wrong += held.pop(n, 0) != expected & _SUM_BITS
    if wrong or held:
        return f"the keyword index has wrong words of {wrong + len(held)} memories"
    if filled and indexed(db)[:2] != (memories, tokens):
        return "the keyword index has a wrong number of memories or words"
    return ""


def _sums(db: Connection) -> dict[int, int]:
    """Return a sum of all that the index has of each memory."""
    sums: dict[int, int] = {}
    for token, postings in _held(db):
        for n, counts, length in postings:
            sums[n] = (sums.get(n, 0) + _sum(token, counts, length)) & _SUM_BITS
    return sums


def _held(db: Connection) -> Iterator[tuple[str, Sequence[Posting]]]:
    for token, *stored in db.execute("SELECT term, first, span, count, head, body FROM postings"):
        yield token, decode(StoredBlock(*stored)).postings
    for token, data in db.execute("SELECT term, data FROM posting_pages"):
        page = pages.decode(data)
        if page.tokens[0] != token:
            raise DamagedBlock("a page has the place of another")
        yield from page.postings()


def _sum(token: str, counts: Counts, length: int) -> int:
    return hash((token, counts, length))
