"""Which vector caches a store has: a note in `meta`, with the name and the stamp of each file.

A file counts only if the store names it, with the stamp that is in it. Both get a new one when a vector is
erased, so that a backup that is put back never goes with a file that has changed since.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.database import CACHES, NOTE

if TYPE_CHECKING:
    from scrubjay.storage.database import Connection, Database
    from scrubjay.storage.sqlite.cache.file import VectorFile

_TRIES, _PAUSE_S = 4, 0.02
_SUFFIX = "-vectors-"  # after the name of the store, before that of the cache
_NAME = re.compile(f"{_SUFFIX}[0-9a-f]{{8}}")  # and no file of a user


class CacheNote(NamedTuple):
    """What a store knows of the cache of a model: its file, and how good its cells are.

    `added` is up to which number vectors were in it, `probed` of `cells` cells are compared by a search.
    """

    file: str
    stamp: str
    rows: int
    added: int
    cells: int
    probed: int
    recall: float
    trials: int
    size_bytes: int


def notes(db: Connection) -> dict[int, CacheNote]:
    """Return the caches of a store, by the number of the model."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (CACHES,)).fetchone()
    return {} if row is None else dict(_parsed(row[0]))


@lru_cache(maxsize=4)  # every search asks
def _parsed(stored: str) -> Mapping[int, CacheNote]:
    try:
        return {int(n): CacheNote(*values) for n, values in json.loads(stored).items()}
    except (TypeError, ValueError, AttributeError):  # damaged: the files are made again
        return {}


def write_notes(db: Connection, known: Mapping[int, CacheNote]) -> None:
    """Store which caches there are; only in a write."""
    db.execute(NOTE, (CACHES, json.dumps(known)))


def store_name(db: Connection) -> str:
    """Return what tells a store from others."""
    (key,) = db.execute("SELECT hex(key) FROM keys WHERE name = 'store'").fetchone()
    return str(key)


def cache_path(store: str, file: str) -> str:
    return f"{store}{_SUFFIX}{file}"


def files_of(store: str) -> list[str]:
    """Return the paths of all cache files of a store."""
    folder, name = os.path.split(store)
    with suppress(OSError):
        return [
            os.path.join(folder, found)
            for found in os.listdir(folder)
            if _NAME.fullmatch(found.removeprefix(name)) and found.startswith(name)
        ]
    return []


def open_cache(path: str, db: Connection, model: int, name: str, dims: int) -> VectorFile:
    """Open the cache of a model, which the store must know; raises DamagedCache or OSError."""
    from scrubjay.storage.sqlite.cache.file import DamagedCache, VectorFile

    for last in reversed(range(_TRIES)):
        known = notes(db).get(model)
        if known is None:
            break
        try:
            file = VectorFile(cache_path(path, known.file))
            about = file.about
            mine = (store_name(db), name, dims, known.stamp)
            if mine == (about.store, about.model, about.dims, about.stamp):
                return file
        except DamagedCache:
            if not last:
                raise
        time.sleep(_PAUSE_S)  # another process may be erasing a vector
    raise DamagedCache(
        f"the vector cache of {path} belongs to another store or another state of it"
    )


def erase_forgotten(db: Connection, path: str) -> None:
    """Erase deleted vectors from the caches of a store, and remove files it does not know; only in a write
    of a purge."""
    from scrubjay.storage.sqlite.cache.file import DamagedCache, VectorFile, erase

    found = files_of(path)
    if not found:
        return
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'gone'").fetchone()
    gone, known = 0 if row is None else int(row[0]), notes(db)
    by_path = {cache_path(path, note.file): model for model, note in known.items()}
    for file in found:
        model = by_path.get(file)
        if model is None:
            with suppress(OSError):
                os.unlink(file)
                continue
        try:
            erased = VectorFile(file).about.erased
            deleted = db.execute("SELECT vector FROM gone WHERE n > ?", (erased,)).fetchall()
            stamp = os.urandom(8).hex()
            if deleted:
                erase(file, [vector for (vector,) in deleted], gone, stamp)
                if model is not None:
                    known[model] = known[model]._replace(stamp=stamp)
        except (DamagedCache, OSError):  # it cannot be changed: then it must go
            if model is not None:
                del known[model]
            os.unlink(file)
    write_notes(db, known)


def remove_unknown(db: Connection, path: str) -> None:
    """Remove cache files that a store does not name: of earlier states, and of a store before it. One that
    a process still uses stays on Windows, until the next time."""
    named = {cache_path(path, note.file) for note in notes(db).values()}
    for file in set(files_of(path)) - named:
        with suppress(OSError):
            os.unlink(file)


def forget_cache(db: Database, path: str, model: int, file: str) -> None:
    """Remove a cache that is damaged, unless there is another by now."""
    with db.write() as writing:
        known = notes(writing)
        if model not in known or cache_path(path, known[model].file) != file:
            return
        del known[model]
        write_notes(writing, known)
    with suppress(OSError):
        os.unlink(file)
