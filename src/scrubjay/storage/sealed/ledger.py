"""Ledger of a sealed store: a tag of each memory's row, so that an older row cannot be put back unnoticed.

Nothing is wrong with an older row as such: it was sealed for this place. So there is a keyed tag of each row
as it was last written, in sealed blocks. A block is bound to its version, and the versions of all blocks are
in one sealed root. Only the whole file can be put back, which no file can tell by itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from scrubjay.errors import StoreError
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.codec import DamagedValue
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sealed.primitives import bound

TABLE = "ledger"
_ROOT = -1
_ROWS = 256  # of a block: 3 KB, which a write of one memory writes again
_TAG_BYTES = 12
_ABSENT = bytes(_TAG_BYTES)
_VERSION = "I"  # type of an array
# All of `memories`, so that no filter can be changed either.
_COLUMNS = """n id namespace type text title context topics metadata collection session role owner agent
severity domain domain_label source language content_hash created_us updated_us event_us event_until_us
valid_from_us valid_until_us""".split()
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM memories WHERE"
_MAX_VALUES = 500

Seal = Callable[[bytes, str, str], bytes]
Open = Callable[[Any, str, str], bytes]


def create_table(db: Connection) -> None:
    """Create the empty ledger of a new store."""
    db.execute(f"CREATE TABLE {TABLE} (block INTEGER PRIMARY KEY, sealed BLOB NOT NULL)")


class Ledger:
    """The table `ledger`, written with every write and compared with what is read."""

    def __init__(
        self, db: Database, seal: Seal, open_: Open, tag: Callable[[bytes], bytes]
    ) -> None:
        self._db = db
        self._seal, self._open, self._tag = seal, open_, tag

    def write_begins(self, db: Connection) -> None:
        """Let the connection note the numbers of the memories that it writes, until it is closed."""
        db.execute("CREATE TEMP TABLE IF NOT EXISTS touched (n INTEGER PRIMARY KEY)")
        for event, rows in (("INSERT", "new"), ("UPDATE", "new old"), ("DELETE", "old")):
            noted = "".join(
                f" INSERT OR IGNORE INTO touched VALUES ({row}.n);" for row in rows.split()
            )
            db.execute(
                f"CREATE TEMP TRIGGER IF NOT EXISTS touch_{event.lower()} AFTER {event}"
                f" ON main.memories BEGIN{noted} END"
            )

    def write_ends(self, db: Connection) -> None:
        """Write the tags of the memories that this write has touched."""
        touched = [n for (n,) in db.execute("SELECT n FROM touched ORDER BY n")]
        if not touched:
            return
        db.execute("DELETE FROM touched")
        tags = dict.fromkeys(touched, _ABSENT)
        tags.update((row[0], self._tag_of(row)) for row in _rows(db, "n", touched))
        versions = self._versions(db)
        for block, numbers in _by_block(touched).items():
            data = bytearray(self._block(db, versions, block))
            for n in numbers:
                at = n % _ROWS * _TAG_BYTES
                data[at : at + _TAG_BYTES] = tags[n]
            versions.extend([0] * (block + 1 - len(versions)))
            versions[block] += 1
            self._put(db, block, bytes(data), versions[block])
        self._put(db, _ROOT, versions.tobytes(), 0)

    def not_as_written(self, ids: Collection[str]) -> set[str]:
        """Return those of these memories whose rows differ from what was last written."""
        if not ids:
            return set()
        # One state: otherwise a row and its tag may be of two writes.
        with self._db.one_state(), self._db.read() as db:
            rows = {row[0]: row for row in _rows(db, "id", list(ids))}
            if self._db.in_write:  # this write has not tagged its own rows yet
                for (n,) in db.execute("SELECT n FROM touched"):
                    rows.pop(n, None)
            expected = self._tags(db, rows)
            return {str(row[1]) for n, row in rows.items() if self._tag_of(row) != expected.get(n)}

    def differences(self) -> Iterator[str]:
        """Yield each difference between the ledger and all memories, in words."""
        with self._db.one_state(), self._db.read() as db:
            try:
                versions = self._versions(db)
            except DamagedValue:
                yield "the root of the ledger is damaged"
                return
            (last,) = db.execute("SELECT coalesce(max(n), 0) FROM memories").fetchone()
            for block in range(max(len(versions), last // _ROWS + 1)):
                numbers = range(block * _ROWS, (block + 1) * _ROWS)
                rows = {row[0]: row for row in _rows(db, "n", numbers)}
                tags = self._tags(db, numbers)
                if not tags:
                    yield f"the tags of memories {numbers[0]} to {numbers[-1]} are damaged"
                    continue
                for n in numbers:
                    if n not in rows and tags[n] != _ABSENT:
                        yield f"memory {n} is missing"
                    elif n in rows and tags[n] != self._tag_of(rows[n]):
                        yield f"memory {n} ({rows[n][1]}) is not as it was written"

    def _tags(self, db: Connection, numbers: Iterable[int]) -> Mapping[int, bytes]:
        """Return the tags of memories, without those whose block is damaged."""
        tags: dict[int, bytes] = {}
        try:
            versions = self._versions(db)
        except DamagedValue:
            return tags
        for block, several in _by_block(numbers).items():
            try:
                data = self._block(db, versions, block)
            except DamagedValue:
                continue
            for n in several:
                at = n % _ROWS * _TAG_BYTES
                tags[n] = data[at : at + _TAG_BYTES]
        return tags

    def _tag_of(self, row: Sequence[Any]) -> bytes:
        return self._tag(bound(*(part for value in row for part in _typed(value))))

    def _versions(self, db: Connection) -> array[int]:
        versions = array(_VERSION)
        if (stored := self._stored(db, _ROOT)) is not None:
            versions.frombytes(self._open(stored, TABLE, _owner(_ROOT, 0)))
        elif db.execute(f"SELECT 1 FROM {TABLE} LIMIT 1").fetchone() is not None:
            raise DamagedValue("the root of the ledger is missing")
        return versions

    def _block(self, db: Connection, versions: array[int], block: int) -> bytes:
        version = versions[block] if block < len(versions) else 0
        stored = self._stored(db, block)
        if not version and stored is None:
            return _ABSENT * _ROWS
        data = self._open(stored, TABLE, _owner(block, version))
        if len(data) != _ROWS * _TAG_BYTES:
            raise DamagedValue("a block of the ledger has the wrong length")
        return data

    def _stored(self, db: Connection, block: int) -> Any:
        row = db.execute(f"SELECT sealed FROM {TABLE} WHERE block = ?", (block,)).fetchone()
        return None if row is None else row[0]

    def _put(self, db: Connection, block: int, data: bytes, version: int) -> None:
        db.execute(
            f"INSERT INTO {TABLE} (block, sealed) VALUES (?, ?)"
            " ON CONFLICT (block) DO UPDATE SET sealed = excluded.sealed",
            (block, self._seal(data, TABLE, _owner(block, version))),
        )

    def damaged(self, error: DamagedValue) -> StoreError:
        """Return what a write raises that finds the ledger damaged."""
        return StoreError(
            f"the ledger of {self._db.path} is damaged ({error}), and nothing was written;"
            f" run: {to_type('verify', self._db.path)}"
        )


def _owner(block: int, version: int) -> str:
    return f"{block} {version}"


def _by_block(numbers: Iterable[int]) -> dict[int, list[int]]:
    blocks: dict[int, list[int]] = {}
    for n in numbers:
        blocks.setdefault(n // _ROWS, []).append(n)
    return blocks


def _rows(db: Connection, column: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(values), _MAX_VALUES):
        part = list(values[start : start + _MAX_VALUES])
        yield from db.execute(f"{_SELECT} {column} IN ({', '.join('?' * len(part))})", part)


def _typed(value: Any) -> tuple[str, str | bytes]:
    """Return a value after its type: 1 and "1" are two values."""
    return type(value).__name__, value if isinstance(value, str | bytes) else str(value)
