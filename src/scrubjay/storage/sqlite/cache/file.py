"""The vector cache: a file beside the store with the int8 vectors of a model, mapped into memory.

It can be deleted at any time. Every byte is checksummed before it is used: the header and the tables when
the file is opened, the vectors in blocks when they are first scanned. The file is never renamed or replaced:
a new one has another name, and the store has the name of the one in use. In place, it changes in one way
alone: forgotten vectors are overwritten with zeros.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.runtime.private_files import copy_mode, open_private

BLOCK = 1024  # vectors with one checksum
FORMAT = 1
_MAGIC = b"SCJYVEC\n"
_HEADER_BYTES = 4096
_ALIGNED = 64
_CODES, _CHECKSUMS = "codes", "checksums"
# Another process may be erasing a vector, which takes two writes.
_TRIES, _PAUSE_S = 4, 0.02
_WRITTEN_AT_ONCE = 8 * BLOCK
_DENSE = 8  # with more than 1 of 8 memories, all vectors are looked through


class DamagedCache(Exception):
    """A cache file that cannot be used; the store has every vector."""


class About(NamedTuple):
    """What a cache was made of. `stamp` changes whenever a vector in it is erased.

    `store` and `model` say whose vectors they are, `added` and `gone` up to which number vectors were
    added and deleted, `erased` up to which deletion they were erased here. A search compares the vectors
    in the nearest `probed` cells; 0 for all. `damaged` are the memories of vectors that cannot be read, by
    the number of the vector.
    """

    store: str
    model: str
    dims: int
    rows: int
    memories: int
    stamp: str
    added: int
    gone: int
    erased: int
    probed: int
    max_scale: float
    damaged: Mapping[str, int]


class Contents(NamedTuple):
    """The tables of a cache. Vectors lie in an order of their own; `places` has number, memory and
    ordinal of each, `by_number` and `by_memory` their rows in the order of these.

    `starts` has, for each number of a memory, where in `by_memory` its rows begin; it is empty where
    numbers are much higher than there are vectors. `segments` are first row, row behind the last, and cell,
    by cell: a cell has a segment for each namespace.
    """

    places: NDArray[np.int64]
    scales: NDArray[np.float32]
    by_number: NDArray[np.uint32]
    by_memory: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    centroids: NDArray[np.float32]
    segments: NDArray[np.int64]


class VectorFile:
    """A cache file, mapped read-only."""

    def __init__(self, path: str) -> None:
        """Check the header and the tables; raises DamagedCache or OSError."""
        self.path = path
        self._bytes = _mapped(path, "r")
        header = _header(self._bytes)
        try:
            self.about = About(**header["about"])
            self._places_of = header["sections"]
            found = {name: self._section(name) for name in (*Contents._fields, _CHECKSUMS)}
            self._checksums = found.pop(_CHECKSUMS)
            self.contents = Contents(**found)
            self.codes = self._array(_CODES)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedCache(f"{path} has another form") from error
        self._unchecked = np.ones(len(self._checksums), np.bool_)
        self._any_unchecked = True

    def __len__(self) -> int:
        return len(self.codes)

    def rows_of(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the rows of vectors by number; those of unknown ones are left out."""
        wanted, by_number = np.asarray(numbers, np.int64), self.contents.by_number
        if not len(self):
            return np.empty(0, np.intp)
        here = self.contents.places[0]
        rows = by_number.take(np.searchsorted(here, wanted, sorter=by_number), mode="clip")
        found: NDArray[np.intp] = rows[here.take(rows) == wanted].astype(np.intp)
        return found

    def rows_of_memories(self, allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the rows of the memories whose flags are set, in order; the last flag is not."""
        starts, by_memory = self.contents.starts, self.contents.by_memory
        if not len(starts):
            return np.flatnonzero(allowed.take(self.contents.places[1], mode="clip"))
        numbers = np.flatnonzero(allowed[: len(starts) - 1])
        if len(numbers) * _DENSE > len(starts):
            return np.flatnonzero(allowed.take(self.contents.places[1], mode="clip"))
        rows = by_memory[ranges(starts[numbers], starts[numbers + 1])].astype(np.intp)
        rows.sort()
        return rows

    def check(self, rows: NDArray[np.intp] | slice) -> None:
        """Compare the vectors in these rows, or all from one to another, with their checksums."""
        if not self._any_unchecked:
            return
        if isinstance(rows, slice):
            first = rows.start // BLOCK
            due = first + np.flatnonzero(self._unchecked[first : -(-rows.stop // BLOCK)])
        else:
            touched = np.zeros(len(self._unchecked), np.bool_)
            touched[rows // BLOCK] = True
            due = np.flatnonzero(touched & self._unchecked)
        for block in due.tolist():
            self._check_block(block)
        if len(due):
            self._any_unchecked = bool(self._unchecked.any())

    def _check_block(self, block: int) -> None:
        for _ in range(_TRIES):
            if _checksum(self.codes, block) == self._checksums[block]:
                self._unchecked[block] = False
                return
            time.sleep(_PAUSE_S)
        raise DamagedCache(f"{self.path} is damaged in block {block}")

    def _array(self, name: str) -> NDArray[Any]:
        start, dtype, shape, _ = self._places_of[name]
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        array: NDArray[Any] = self._bytes[start : start + size].view(dtype).reshape(shape)
        return array

    def _section(self, name: str) -> NDArray[Any]:
        array = self._array(name)
        if zlib.crc32(array.data) != self._places_of[name][3]:
            raise DamagedCache(f"{self.path} is damaged in its {name}")
        return array


def write(
    path: str, like: str, about: About, contents: Contents, codes: Iterator[NDArray[np.int8]]
) -> None:
    """Write a new file, which gets the mode of the store; `codes` are the vectors in order, in batches
    of whole blocks. On failure nothing stays."""
    try:
        with open_private(path, "xb") as file:
            copy_mode(like, file)
            file.write(bytes(_HEADER_BYTES))
            sections: dict[str, list[Any]] = {}
            for name, array in contents._asdict().items():
                sections[name] = _written(file, np.ascontiguousarray(array))
            start = _aligned(file)
            checksums: list[int] = []
            for batch in codes:
                checksums += (_checksum(batch, n) for n in range(-(-len(batch) // BLOCK)))
                file.write(batch.data)
            sections[_CODES] = [start, "<i1", [about.rows, about.dims], 0]
            sections[_CHECKSUMS] = _written(file, np.array(checksums, "<u4"))
            # Not synced to the disk, which takes seconds: what a power cut loses, the checksums miss.
            file.seek(0)
            file.write(_header_bytes(about, sections))
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def ranges(starts: NDArray[Any], stops: NDArray[Any]) -> NDArray[np.intp]:
    """Return all numbers from each start to before its stop."""
    lengths = stops.astype(np.intp) - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def in_blocks(rows: int) -> Iterator[slice]:
    """Yield the slices in which vectors are written."""
    for start in range(0, rows, _WRITTEN_AT_ONCE):
        yield slice(start, min(start + _WRITTEN_AT_ONCE, rows))


def erase(path: str, vectors: Sequence[int], gone: int, stamp: str) -> None:
    """Overwrite vectors in a cache file, by number; unknown ones are ignored. `gone` counts the deleted
    vectors that are erased by then. Raises DamagedCache or OSError."""
    before = VectorFile(path)
    rows = before.rows_of(vectors)
    data = _mapped(path, "r+")
    sections = dict(_header(data)["sections"])
    start, _, shape, _ = sections[_CODES]
    codes = data[start : start + shape[0] * shape[1]].view(np.int8).reshape(shape)
    first, dtype, length, _ = sections[_CHECKSUMS]
    checksums = data[first : first + length[0] * 4].view(dtype)
    before.check(rows)  # a new checksum must not make a damaged block look sound
    codes[rows] = 0
    for block in np.unique(rows // BLOCK).tolist():
        checksums[block] = _checksum(codes, block)
    sections[_CHECKSUMS] = [first, dtype, length, zlib.crc32(checksums.data)]
    about = before.about._replace(stamp=stamp, erased=gone)
    data[:_HEADER_BYTES] = np.frombuffer(_header_bytes(about, sections), np.uint8)


def _mapped(path: str, mode: Literal["r", "r+"]) -> NDArray[np.uint8]:
    size = os.path.getsize(path)
    if size < _HEADER_BYTES:
        raise DamagedCache(f"{path} is too short")
    return np.memmap(path, np.uint8, mode=mode).view(np.ndarray)


def _header(data: NDArray[np.uint8]) -> Mapping[str, Any]:
    for last in reversed(range(_TRIES)):
        head = data[:_HEADER_BYTES].tobytes()
        size, checksum = (int.from_bytes(head[at : at + 4], "little") for at in (8, 12))
        text = head[16 : 16 + size]
        if head.startswith(_MAGIC) and zlib.crc32(text) == checksum:
            header: Mapping[str, Any] = json.loads(text)
            if header.get("format") != FORMAT or header.get("bytes") != len(data):
                break
            return header
        if last:
            time.sleep(_PAUSE_S)
    raise DamagedCache("the header of the vector cache is damaged, or of another version")


def _header_bytes(about: About, sections: Mapping[str, Sequence[Any]]) -> bytes:
    start, dtype, shape, _ = sections[_CHECKSUMS]
    size = start + int(np.prod(shape)) * np.dtype(dtype).itemsize
    header = {
        "format": FORMAT,
        "bytes": size,
        "about": about._asdict(),
        "sections": dict(sections),
    }
    text = json.dumps(header).encode()
    head = _MAGIC + len(text).to_bytes(4, "little") + zlib.crc32(text).to_bytes(4, "little") + text
    if len(head) > _HEADER_BYTES:
        raise OSError("the name of the model is too long for a vector cache")
    return head.ljust(_HEADER_BYTES, b"\0")


def _checksum(codes: NDArray[np.int8], block: int) -> int:
    return zlib.crc32(np.ascontiguousarray(codes[block * BLOCK : (block + 1) * BLOCK]).data)


def _aligned(file: Any) -> int:
    file.write(bytes(-file.tell() % _ALIGNED))
    return int(file.tell())


def _written(file: Any, array: NDArray[Any]) -> list[Any]:
    start = _aligned(file)
    file.write(array.data if array.size else b"")
    return [start, array.dtype.str, list(array.shape), zlib.crc32(array.data)]
