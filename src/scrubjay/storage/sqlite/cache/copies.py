"""The vectors of each model in this process: from its cache file, or read from the store into memory.

A cache that is missing, damaged or of another store is reported in the log and built again in the
background. Until then, and where no file can be written, a process reads the vectors from the store.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from scrubjay.errors import StoreError, Unavailable
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.sql.vectors import is_width
from scrubjay.storage.sqlite.cache.notes import cache_path, forget_cache, notes, open_cache

if TYPE_CHECKING:
    from scrubjay.runtime.worker import Worker
    from scrubjay.storage.database import Connection, Database
    from scrubjay.storage.sqlite.cache.notes import CacheNote
    from scrubjay.storage.sqlite.int8 import Int8Vectors

T = TypeVar("T")

# Fewer are read from the store as fast.
MIN_CACHED = 10_000
# A cache is built again when it lacks this many vectors, or this share of its own.
MIN_BEHIND = 10_000
_SHARE_BEHIND = 1 / 16
_SHARE_UNUSED = 1 / 4
_RETRY_S = 5.0


class VectorCopies:
    """The vectors of one file, by model."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # Vectors are stored as they are in the file; those of an encrypted store must not be.
        self._may_cache = db.path != ":memory:" and db.codec.name == "plain"
        self._copies: dict[str, Int8Vectors] = {}
        self._refreshing = threading.Lock()
        self._building = threading.Lock()
        self._lost: dict[str, tuple[int, str]] = {}  # caches that cannot be used, by model
        self._not_built: set[str] = set()  # models whose cache this process cannot write
        self._looked_at: dict[str, int] = {}
        self._worker: Worker | None = None
        self._due: set[str] = set()
        self._next_try_s: dict[str, float] = {}

    def ask(self, model: str, ask: Callable[[Int8Vectors], T]) -> T | None:
        """Search the vectors of a model; None if it has none. A cache whose damage is found only now is
        no longer used, and the search is repeated."""
        copy = self.refreshed(model)
        if copy is None:
            return None
        from scrubjay.storage.sqlite.cache.file import DamagedCache

        try:
            return ask(copy)
        except DamagedCache as damage:
            self._lose(model, copy, damage)
        copy = self.refreshed(model)
        return None if copy is None else ask(copy)

    def refreshed(self, model: str) -> Int8Vectors | None:
        """Return the vectors of a model, in step with the file; None for an unknown model."""
        copy = self._loaded(model)
        if copy is not None and (model in self._lost or (self._may_cache and _is_behind(copy))):
            self._build_later(model)
        return copy

    def _loaded(self, model: str) -> Int8Vectors | None:
        from scrubjay.storage.sqlite.int8 import catch_up

        with self._refreshing, self._db.read() as db:
            row = db.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is None:
                return None
            if not is_width(row[1]):
                raise Unavailable(
                    "the width of its vectors is damaged; run:"
                    f" {to_type('doctor --repair', self._db.path)}"
                )
            copy = self._copies[model] = self._current(db, model, *row)
            catch_up(copy, db, self._db.codec, row[0])
        return copy

    def loaded(self, model: str) -> Int8Vectors | None:
        """Return what is in memory of a model."""
        return self._copies.get(model)

    def release(self, model: str) -> None:
        with self._refreshing:
            self._copies.pop(model, None)

    def note(self, model: str) -> CacheNote | None:
        """Return what the store knows of the cache of a model."""
        with self._db.read() as db:
            row = db.execute("SELECT n FROM models WHERE name = ?", (model,)).fetchone()
            return None if row is None else notes(db).get(row[0])

    def build_is_due(self, model: str, added: int) -> bool:
        """True when a cache may lack many of the vectors added until now; cheap."""
        if not self._may_cache or model in self._not_built or added < MIN_CACHED:
            return False
        known = self.note(model)
        seen = max(self._looked_at.get(model, 0), 0 if known is None else known.added)
        return added - seen >= (MIN_CACHED if known is None else _most_behind(known.rows))

    def build(self, model: str, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Write the cache of a model, if it has many vectors that are in none; True if it did."""
        with self._building:  # of the threads of this process; of other processes there is a lease
            return self._build(model, stopped)

    def _build(self, model: str, stopped: Callable[[], bool]) -> bool:
        from scrubjay.storage.sqlite.cache.build import build, snapshot
        from scrubjay.storage.sqlite.cache.file import DamagedCache

        if lost := self._lost.get(model):
            forget_cache(self._db, self._db.path, *lost)
            del self._lost[model]  # not before: a search would look for the file
        copy = self._loaded(model)
        if copy is None:
            return False
        self._looked_at[model] = copy.seen_added
        if not (self._may_cache and _is_behind(copy)):
            return False
        try:
            with self._refreshing:
                taken = snapshot(copy)
            with self._db.read() as db:
                (n,) = db.execute("SELECT n FROM models WHERE name = ?", (model,)).fetchone()
            done = build(self._db, self._db.path, n, taken, stopped)
        except DamagedCache as damage:
            self._lose(model, copy, damage)
            return False
        except OSError as error:
            self._not_built.add(model)
            _report("no vector cache is made", error)
            return False
        if done:
            self._loaded(model)
        return done

    def wait(self) -> None:
        """Wait for a cache that is being built."""
        if self._worker is not None:
            self._worker.join()

    def _current(self, db: Connection, model: str, n: int, dims: int) -> Int8Vectors:
        """Return the vectors as this process has them, or as the newest cache has them."""
        from scrubjay.storage.sqlite.int8 import Int8Vectors

        copy = self._copies.get(model)
        if copy is not None and copy.dims != dims:  # its index was removed and made again
            copy = None
        known = notes(db).get(n) if self._may_cache else None
        if known is not None and model not in self._lost:
            from scrubjay.storage.sqlite.cache.file import DamagedCache
            from scrubjay.storage.sqlite.cache.mapped import CachedVectors

            path = cache_path(self._db.path, known.file)
            if isinstance(copy, CachedVectors) and copy.file.path == path:
                return copy
            try:
                return CachedVectors(open_cache(self._db.path, db, n, model, dims))
            except (DamagedCache, OSError) as error:
                self._lost[model] = (n, path)
                _report("vectors are read from the store", error)
        return Int8Vectors(dims) if copy is None else copy

    def _lose(self, model: str, copy: Int8Vectors, damage: Exception) -> None:
        from scrubjay.storage.sqlite.cache.mapped import CachedVectors

        _report("vectors are read from the store", damage)
        with self._refreshing, self._db.read() as db:
            if self._copies.get(model) is copy and isinstance(copy, CachedVectors):
                del self._copies[model]
                row = db.execute("SELECT n FROM models WHERE name = ?", (model,)).fetchone()
                if row is not None:
                    self._lost[model] = (row[0], copy.file.path)

    def _build_later(self, model: str) -> None:
        if model in self._not_built or self._db.in_write:
            return
        if self._worker is None:
            from scrubjay.runtime.worker import Worker

            self._worker = Worker("vector-cache", self._step, owner=None)
        now = time.monotonic()
        if now >= self._next_try_s.get(model, 0.0):  # another process may be building for a while
            self._next_try_s[model] = now + _RETRY_S
            self._due.add(model)
            self._worker.wake()

    def _step(self) -> float | None:
        while self._due:
            model = self._due.pop()
            try:
                self.build(model, lambda: self._db.closed)
            except StoreError:  # the store was closed, or cannot be written
                self._not_built.add(model)
        return None


def _report(consequence: str, why: Exception) -> None:
    import logging  # a search by words must not pay for it

    logging.getLogger(__name__).warning("%s: %s", consequence, why)


def _is_behind(copy: Int8Vectors) -> bool:
    """True when a new cache would spare every process much reading, or the file much space."""
    from scrubjay.storage.sqlite.cache.mapped import CachedVectors

    if not isinstance(copy, CachedVectors):
        return len(copy) >= MIN_CACHED
    rows = len(copy.file)
    return copy.in_memory >= _most_behind(rows) or copy.unused > rows * _SHARE_UNUSED


def _most_behind(rows: int) -> int:
    return max(MIN_BEHIND, int(rows * _SHARE_BEHIND))
