"""Builds the vector cache of a model from the vectors in memory, in a thread.

Vectors lie by namespace, so that a search of one namespace reads one piece of the file, and in it by cell.
Grouping takes the longest, and needs no lock. The file is written inside a write of the store: what is
forgotten meanwhile is not in it, and a file that no store names was left behind by a killed process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.errors import StoreError
from scrubjay.storage.database import CACHES_LEASE, NOTE, Connection, Database
from scrubjay.storage.sqlite.cache import cells as vector_cells
from scrubjay.storage.sqlite.cache.file import About, Contents, in_blocks, write
from scrubjay.storage.sqlite.cache.notes import (
    CacheNote,
    cache_path,
    notes,
    remove_unknown,
    store_name,
    write_notes,
)
from scrubjay.storage.sqlite.int8 import Int8Vectors, Stored

_BATCH = 8192
# So long, one process builds a cache and the others do not. One that was killed keeps it no longer.
_LEASE_S = 120.0
_MAX_SPARSE = 8  # numbers of memories for each vector
_MAX_DAMAGED = 50  # more do not fit the header: repair comes first


class Snapshot(NamedTuple):
    """The vectors of a model as they were in memory at one moment."""

    stored: Sequence[Stored]
    added: int
    gone: int
    damaged: dict[int, int]


def snapshot(copy: Int8Vectors) -> Snapshot:
    return Snapshot(copy.stored(), copy.seen_added, copy.seen_gone, dict(copy.damaged))


def build(
    db: Database,
    path: str,
    model: int,
    taken: Snapshot,
    stopped: Callable[[], bool] = lambda: False,
) -> bool:
    """Write the cache of a model; False if another process is at it, was faster, or this is stopped."""
    if len(taken.damaged) > _MAX_DAMAGED or not _lease(db):
        return False
    try:
        with db.read() as reading:
            before = notes(reading).get(model)
            namespaces = _namespaces(reading)
        vectors = _Vectors(taken.stored)
        cells = _cells(vectors, stopped)
        if stopped():
            return False
        contents, order = _arranged(vectors, namespaces, cells)
        with db.write() as writing:
            if notes(writing).get(model) != before or _added(writing) < taken.added:
                return False  # another process was faster, or what was read has been rolled back
            written = _write(writing, path, model, taken, vectors, contents, order, cells)
            write_notes(writing, {**notes(writing), model: written})
            # The transaction may be rolled back: then the new file is the one without a name.
            remove_unknown(writing, path)
        return True
    finally:
        # A store that was closed meanwhile keeps the lease until it ends.
        with suppress(StoreError), db.write() as writing:
            writing.execute("DELETE FROM meta WHERE key = ?", (CACHES_LEASE,))


def _lease(db: Database) -> bool:
    now = time.time()
    with db.write() as writing:
        row = writing.execute("SELECT value FROM meta WHERE key = ?", (CACHES_LEASE,)).fetchone()
        if row is not None and type(row[0]) is float and now < row[0] <= now + _LEASE_S:
            return False
        writing.execute(NOTE, (CACHES_LEASE, now + _LEASE_S))
    return True


def _added(db: Connection) -> int:
    (seq,) = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'").fetchone()
    return int(seq)


class _Vectors:
    """All vectors of a snapshot, numbered through."""

    def __init__(self, stored: Sequence[Stored]) -> None:
        self._stored = stored
        self._rows = [
            np.arange(len(one.codes)) if one.rows is None else one.rows for one in stored
        ]
        self._starts = np.cumsum([0, *map(len, self._rows)])
        self.dims = stored[0].codes.shape[1]
        self.places = np.concatenate(
            [one.places[:, rows] for one, rows in zip(stored, self._rows, strict=True)], axis=1
        )
        self.scales = np.concatenate(
            [one.scales[rows] for one, rows in zip(stored, self._rows, strict=True)]
        )

    def __len__(self) -> int:
        return len(self.scales)

    def codes(self, numbers: NDArray[np.intp]) -> NDArray[np.int8]:
        found = np.empty((len(numbers), self.dims), np.int8)
        for one, rows, start in zip(self._stored, self._rows, self._starts, strict=False):
            mine = np.flatnonzero((numbers >= start) & (numbers < start + len(rows)))
            found[mine] = one.codes.take(rows[numbers[mine] - start], axis=0)
        return found

    def at(self, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = self.codes(numbers) * self.scales[numbers, None]
        return vectors

    def batches(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float32]]]:
        for start in range(0, len(self), _BATCH):
            here = np.arange(start, min(start + _BATCH, len(self)))
            yield here, self.at(here)


def _namespaces(db: Connection) -> NDArray[np.int64]:
    """Return the number of the namespace of each memory, by the number of the memory."""
    rows = db.execute(
        "SELECT group_concat(n) FROM memories GROUP BY namespace ORDER BY namespace"
    ).fetchall()
    groups = [np.fromstring(joined, np.int64, sep=",") for (joined,) in rows]
    found = np.zeros(max((int(group.max()) for group in groups), default=0) + 2, np.int64)
    for number, group in enumerate(groups):
        found[group] = number
    return found


def _cells(vectors: _Vectors, stopped: Callable[[], bool]) -> vector_cells.Cells:
    if len(vectors) >= vector_cells.MIN_CELLED:
        made = vector_cells.make(len(vectors), vectors.at, vectors.batches, stopped)
        if made is not None and made.probed:
            return made
    one = np.zeros(len(vectors), np.int64)
    return vector_cells.Cells(np.empty((0, vectors.dims), np.float32), one, 0, 1.0, 0)


def _arranged(
    vectors: _Vectors, namespaces: NDArray[np.int64], cells: vector_cells.Cells
) -> tuple[Contents, NDArray[np.intp]]:
    """Return the tables of the cache, and the order of the vectors in it."""
    groups = namespaces.take(vectors.places[1], mode="clip")
    order = np.lexsort((vectors.places[0], cells.of, groups))
    places = vectors.places[:, order]
    of, groups = cells.of[order], groups[order]
    new = np.flatnonzero((np.diff(of, prepend=-1) != 0) | (np.diff(groups, prepend=-1) != 0))
    segments = np.stack([new, np.append(new[1:], len(order)), of[new]])
    segments = segments[:, np.argsort(segments[2], kind="stable")]
    by_memory = np.argsort(places[1], kind="stable")
    contents = Contents(
        places,
        vectors.scales[order],
        np.argsort(places[0]).astype(np.uint32),
        by_memory.astype(np.uint32),
        _starts(places[1], by_memory),
        cells.centroids,
        segments.astype(np.int64),
    )
    return contents, order


def _starts(memories: NDArray[np.int64], by_memory: NDArray[np.intp]) -> NDArray[np.uint32]:
    size = int(memories.max(initial=0)) + 2
    if size > _MAX_SPARSE * len(memories):
        return np.empty(0, np.uint32)
    return np.searchsorted(memories[by_memory], np.arange(size)).astype(np.uint32)


def _write(
    db: Connection,
    path: str,
    model: int,
    taken: Snapshot,
    vectors: _Vectors,
    contents: Contents,
    order: NDArray[np.intp],
    cells: vector_cells.Cells,
) -> CacheNote:
    (name,) = db.execute("SELECT name FROM models WHERE n = ?", (model,)).fetchone()
    rows = db.execute("SELECT n, vector FROM gone WHERE n > ?", (taken.gone,)).fetchall()
    erased = max((n for n, _ in rows), default=taken.gone)
    gone = np.isin(contents.places[0], [vector for _, vector in rows])
    file, stamp = os.urandom(4).hex(), os.urandom(8).hex()

    def codes() -> Iterator[NDArray[np.int8]]:
        for some in in_blocks(len(order)):
            batch = vectors.codes(order[some])
            batch[gone[some]] = 0
            yield batch

    scale = float(vectors.scales.max(initial=0.0))
    about = About(
        store_name(db),
        name,
        vectors.dims,
        len(vectors),
        len(np.unique(contents.places[1])),
        stamp,
        taken.added,
        taken.gone,
        erased,
        cells.probed,
        scale,
        {str(n): memory for n, memory in taken.damaged.items()},
    )
    made = cache_path(path, file)
    write(made, path, about, contents, codes())
    of_cells = (len(cells.centroids), cells.probed, cells.recall, cells.trials)
    return CacheNote(file, stamp, len(vectors), taken.added, *of_cells, os.path.getsize(made))
