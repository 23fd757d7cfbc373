"""The index of an older file is FTS5's until our own has every memory; then FTS5's is deleted.

Its lines stay where they are: the table of rows that FTS5 made becomes the table `words`. Deleting the
rest of FTS5's table takes as long as writing it did, so it is done in steps.
"""

from __future__ import annotations

import sys

from scrubjay.storage.database import Connection
from scrubjay.storage.schema import WORDS_WITHOUT_FTS5
from scrubjay.storage.sqlite.postings import merging, tables
from scrubjay.storage.sqlite.postings.blocks import DamagedBlock

_OLD = "words_fts5"
_STEP = 512  # memories, or pages of FTS5's index
_STEP_IN_BULK = 2048  # memories, where numpy encodes them
FILLED = "postings"  # a key of `meta`: every memory is in the index, or in `unindexed`


def is_filled(db: Connection) -> bool:
    """True once our own index answers."""
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (FILLED,)).fetchone() is not None


def switch(db: Connection) -> None:
    """Let our own index answer from now on."""
    for statement in WORDS_WITHOUT_FTS5:
        db.execute(statement)


def drop_old(db: Connection, most: int | None = None) -> bool:
    """Delete pages of FTS5's index, at most `most`; False if there is none."""
    if not _has_old(db):
        return False
    if most is not None:
        deleted = db.execute(
            f"DELETE FROM {_OLD}_data WHERE id IN (SELECT id FROM {_OLD}_data WHERE id > 10 LIMIT ?)",
            (most,),
        ).rowcount
        if deleted:
            return True
    db.execute(f"DROP TABLE {_OLD}")
    return True


def _has_old(db: Connection) -> bool:
    found = db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (_OLD,))
    return found.fetchone() is not None


def is_due(db: Connection) -> bool:
    """True if `step` has something to do."""
    return (
        not is_filled(db)
        or tables.has_unindexed(db, tables.SEGMENT)
        or _has_old(db)
        or merging.can_merge(db)
    )


def step(db: Connection, *, merge: bool = True) -> bool:
    """Take the next step of a migration, of indexing or of a merge; False if nothing is due. Where a merge
    finds damage, every memory is indexed again."""
    try:
        return _step(db, merge=merge)
    except DamagedBlock:
        tables.begin_again(db)
        return True


def _step(db: Connection, *, merge: bool) -> bool:
    if not is_filled(db):
        if tables.has_unindexed(db, tables.SEGMENT):
            tables.index_some(db, _STEP_IN_BULK if sys.modules.get("numpy") else _STEP)
        elif not (merge and merging.merge_some(db)):
            switch(db)
        return True
    if drop_old(db, _STEP):
        return True
    if tables.has_unindexed(db, tables.SEGMENT):
        tables.index_some(db, tables.MOST_UNINDEXED)
        return True
    return merge and merging.merge_some(db)
