"""Short int8 copies of a model's vectors, by which a search makes its shortlist.

A rotation that was fitted anew is taken over by a thread of its own: until its copy is whole, the old
one answers, or whole vectors do, and then they are swapped. Both follow the file all the while.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import StoreError
from scrubjay.storage.sqlite.int8 import Codes
from scrubjay.storage.sqlite.rotations import SqliteRotations, Turn
from scrubjay.storage.sqlite.vector_cache import catch_up

if TYPE_CHECKING:
    from scrubjay.storage.database import Database

_AT_ONCE = 4096

# A model's name, and how short its vectors are wanted.
Key = tuple[str, int | None]


class Short(NamedTuple):
    """A copy, and what makes a vector as short as those in it."""

    model: int
    turn: Turn
    codes: Codes


class ShortCodes:
    """The short copies of one file."""

    def __init__(self, db: Database, rotations: SqliteRotations) -> None:
        self._db = db
        self._rotations = rotations
        self._kept: dict[Key, Short] = {}
        self._refreshing = threading.Lock()
        self._building: dict[Key, threading.Thread] = {}

    def fresh(self, model: str, short_dims: int | None) -> Short | None:
        """Return a copy in step with the file; None where there is no good rotation, or no copy yet."""
        key = (model, short_dims)
        with self._refreshing, self._db.read() as db:
            row = db.execute("SELECT n FROM models WHERE name = ?", (model,)).fetchone()
            newest = None if row is None else self._rotations.good_version(db, row[0])
            if newest is None:
                return None
            kept = self._kept.get(key)
            if (kept is None or kept.turn.version != newest) and key not in self._building:
                turn = self._rotations.turn(db, row[0], short_dims)
                if turn is not None:
                    self._begin(key, Short(row[0], turn, Codes(turn.dims)))
            if kept is not None:
                catch_up(kept.codes, db, self._db.codec, kept.model, kept.turn)
            return kept

    def wait(self) -> None:
        """Wait until every copy that is being made is whole."""
        for thread in list(self._building.values()):
            thread.join()

    def _begin(self, key: Key, new: Short) -> None:
        """Fill a new copy in the background, and swap it in when it is whole."""
        thread = threading.Thread(
            target=self._fill, args=(key, new), name="scrubjay-short", daemon=True
        )
        self._building[key] = thread
        thread.start()

    def _fill(self, key: Key, new: Short) -> None:
        try:
            left = True
            while left:  # a little at a time: whoever closes the store need not wait for all
                with self._db.read() as db:
                    left = catch_up(new.codes, db, self._db.codec, new.model, new.turn, _AT_ONCE)
            with self._refreshing:
                self._kept[key] = new
        except StoreError:
            return  # the store was closed; nothing was changed
        finally:
            self._building.pop(key, None)
