"""Sets of memories as arrays, kept until anybody commits to the file.

Which memories a scope may see can change by any commit of any process: a membership ends, a memory
moves. So nothing is kept beyond one, and inside a write nothing is kept at all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.storage.sql.scope import in_parts, where
from scrubjay.types import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.database import Connection, Database

_MOST_BYTES = 64_000_000
_ENTRY_BYTES = 256  # a topic that nobody has takes room as well
_AGES = "ages"
# A set that holds one memory of so many is kept as a flag for each of all, otherwise as a list.
_DENSE = 8

# A scope, a topic's hash, or `_AGES`.
Key = Scope | bytes | str


class Unchanged:
    """Which memories a scope sees, which have a topic, and how old all are, by their numbers."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._number: int | None = None
        self._kept: OrderedDict[Key, NDArray[Any]] = OrderedDict()
        self._bytes = 0

    def seen_by(self, scope: Scope) -> NDArray[np.bool_] | None:
        """Return a flag for each memory, by its number, the last one False; None for everything."""
        return None if scope.everything else self._of((scope,))[scope]

    def with_topics(
        self, hashes: Sequence[bytes], scope: Scope
    ) -> tuple[list[NDArray[Any]], NDArray[np.bool_] | None]:
        """Return who has each topic, as flags or as a list of numbers, and who is seen, as flags."""
        # In one go: both are of one state of the file, so flags have one length.
        found = self._of(hashes if scope.everything else (*hashes, scope))
        return [found[one] for one in hashes], found.get(scope)

    def ages(self) -> NDArray[np.int64]:
        """Return when each memory was updated, in microseconds, by its number."""
        return self._of((_AGES,))[_AGES]

    def _of(self, keys: Sequence[Key]) -> dict[Key, NDArray[Any]]:
        with self._db.watched() as (db, number):
            if number is None:
                return self._read(db, keys)
            if number != self._number:
                self._kept.clear()
                self._number, self._bytes = number, 0
            missing = [key for key in keys if key not in self._kept]
            for key, array in self._read(db, missing).items() if missing else ():
                self._kept[key] = array
                self._bytes += array.nbytes + _ENTRY_BYTES
            found = {key: self._kept[key] for key in keys}
            for key in keys:
                self._kept.move_to_end(key)
            while self._bytes > _MOST_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes + _ENTRY_BYTES
            return found

    def _read(self, db: Connection, keys: Sequence[Key]) -> dict[Key, NDArray[Any]]:
        """Read what is asked for, each number once."""
        import numpy as np

        (newest,) = db.execute("SELECT coalesce(max(n), 0) FROM memories").fetchone()
        size = newest + 2
        found: dict[Key, NDArray[Any]] = {}
        hashes = [key for key in keys if isinstance(key, bytes)]
        for several, part in in_parts(hashes):
            rows = db.execute(
                "SELECT hash, group_concat(memory) FROM topic_hashes"
                f" WHERE hash IN ({several}) GROUP BY hash",
                part,
            )
            for hash_, joined in rows:
                numbers = _numbers(joined)
                dense = len(numbers) * _DENSE > size
                found[hash_] = _flags(numbers, size) if dense else numbers
        for hash_ in hashes:
            found.setdefault(hash_, np.empty(0, np.int64))
        for key in keys:
            if isinstance(key, Scope):
                condition, arguments = where(key, self._db)
                (joined,) = db.execute(
                    f"SELECT group_concat(m.n) FROM memories AS m WHERE {condition}", arguments
                ).fetchone()
                found[key] = _flags(_numbers(joined), size)
            elif key == _AGES:
                row = db.execute(
                    "SELECT group_concat(n), group_concat(updated_us) FROM memories"
                ).fetchone()
                ages = np.zeros(size, np.int64)
                ages[_numbers(row[0])] = _numbers(row[1])
                found[key] = ages
        return found


def _numbers(joined: str | None) -> NDArray[np.int64]:
    # A text of all numbers: as rows of their own, they take four times as long.
    import numpy as np

    return np.fromstring(joined or "", dtype=np.int64, sep=",")


def _flags(numbers: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    import numpy as np

    flags = np.zeros(size, np.bool_)
    flags[numbers] = True
    return flags
