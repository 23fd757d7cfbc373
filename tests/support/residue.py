"""Finds pieces of forgotten texts in the raw files of a store, and says where in the file they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

PIECE = 16  # bytes; shorter ones are found by chance
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)
_BLOCK = 1 << 22


class Residue(NamedTuple):
    """A piece of a text that should be gone."""

    file: str
    at: int
    piece: bytes


def residues(folder: Path, forgotten: Iterable[str], alive: Iterable[str]) -> list[Residue]:
    """Return the pieces of forgotten texts, and of no text that is still there, in all files."""
    wanted = np.setdiff1d(_pieces(forgotten), _pieces(alive))
    if not wanted.size:
        return []
    left = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        for start in range(0, max(len(data) - PIECE + 1, 0), _BLOCK):
            block = data[start : start + _BLOCK + PIECE - 1]
            found = _hashes(block)
            near = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
            left += [
                Residue(file.name, start + at, block[at : at + PIECE])
                for at in np.nonzero(wanted[near] == found)[0].tolist()
            ]
    return left


def _pieces(texts: Iterable[str]) -> np.ndarray:
    """Return the hashes of every run of `PIECE` bytes in texts."""
    encoded = (text.encode() for text in texts)
    hashes = [_hashes(data) for data in encoded if len(data) >= PIECE]
    return np.concatenate([np.empty(0, np.uint64), *hashes])


def _hashes(data: bytes) -> np.ndarray:
    """Return a hash of the `PIECE` bytes at every place."""
    places = len(data) - PIECE + 1
    halves = np.empty(places + 8, np.uint64)
    for shift in range(8):
        numbers = np.frombuffer(data, "<u8", (len(data) - shift) // 8, shift)
        halves[shift::8] = numbers[: len(halves[shift::8])]
    return (halves[:places] * _MIX) ^ halves[8:]


def areas(path: Path, places: Iterable[int]) -> Iterator[str]:
    """Say of places in a database file to which table and which part of a page they belong."""
    data = path.read_bytes()
    size = int.from_bytes(data[16:18], "big")
    with closing(sqlite3.connect(path)) as db:
        tables = dict(db.execute("SELECT pageno, name || ' ' || pagetype FROM dbstat"))
    for place in places:
        number, at = place // size + 1, place % size
        page = data[(number - 1) * size : number * size]
        yield f"{tables.get(number, 'free page')}: {_part(page, at, 100 if number == 1 else 0)}"


def _part(page: bytes, at: int, header: int) -> str:
    if page[header] not in (2, 5, 10, 13):
        return "overflow"
    cells = int.from_bytes(page[header + 3 : header + 5], "big")
    content = int.from_bytes(page[header + 5 : header + 7], "big")
    if at < content:
        return "gap" if at >= header + (12 if page[header] < 8 else 8) + 2 * cells else "header"
    free = int.from_bytes(page[header + 1 : header + 3], "big")
    while free:
        after = int.from_bytes(page[free : free + 2], "big")
        if free <= at < free + int.from_bytes(page[free + 2 : free + 4], "big"):
            return "free block"
        free = after
    return "cell"
