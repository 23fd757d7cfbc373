"""The library that watches the file calls of a process (calls.c): built once, controlled by ctypes."""

from __future__ import annotations

import ctypes
import errno
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("calls.c")
HEAD = struct.Struct("<8sQqQQ")


class Mode(IntEnum):
    """What happens at the calls that change files; the numbers are those of calls.c."""

    OFF = 0
    COUNT = 1
    KILL = 2
    FAIL = 3
    FAIL_ON = 4
    RECORD = 5


class Call(NamedTuple):
    """One recorded call."""

    kind: str  # m: a mark; c: create; w: write; t: truncate; s, d: sync; r: rename; l: link; u: unlink
    inode: int
    offset: int
    name: str
    data: bytes


def build(folder: Path) -> Path | None:
    """Compile the library; None where it cannot be had: no Linux, or no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if sys.platform != "linux" or compiler is None:
        return None
    library = folder / "calls.so"
    line: list[str | Path] = [
        compiler,
        "-O1",
        "-shared",
        "-fPIC",
        "-o",
        library,
        SOURCE,
        "-ldl",
        "-lpthread",
    ]
    return (
        library if subprocess.run(line, check=False, capture_output=True).returncode == 0 else None
    )


def watch(mode: Mode, at: int, root: str, log: str, error: int = errno.EIO) -> None:
    """Begin to watch in this process, into which the library was loaded."""
    loaded = ctypes.CDLL(None)
    loaded.soak_watch(
        ctypes.c_int(mode), ctypes.c_long(at), ctypes.c_int(error), root.encode(), log.encode()
    )


def mark(line: str) -> None:
    """Write a line into the record."""
    ctypes.CDLL(None).soak_mark(line.encode())


def count() -> int:
    """Return the number of calls since `watch`."""
    asked = ctypes.CDLL(None).soak_calls
    asked.restype = ctypes.c_long
    return int(asked())


def read_record(log: Path) -> Iterator[Call]:
    """Yield the recorded calls in order."""
    data = log.read_bytes()
    at = 0
    while at < len(data):
        kind, inode, offset, name_size, size = HEAD.unpack_from(data, at)
        at += HEAD.size
        name = data[at : at + name_size].decode()
        at += name_size
        yield Call(kind[:1].decode(), inode, offset, name, data[at : at + size])
        at += size
