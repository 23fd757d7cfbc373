"""The two pipes of a client: nothing but the protocol goes out, whatever a library prints.

Only the standard library is imported here: the pipes are taken before anything else may print.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_CHUNK_BYTES = 65_536


class Wire(NamedTuple):
    """The descriptors of what a client writes, and of what it reads."""

    reads: int
    writes: int

    def lines(self) -> Iterator[str]:
        """Yield each line that the client writes, until it closes its end.

        Python's own reader would be locked by a thread that waits, and a process that ends meanwhile
        would end with a fatal error.
        """
        parts: list[bytes] = []
        while chunk := os.read(self.reads, _CHUNK_BYTES):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                yield b"".join((*parts, line)).decode("utf-8", errors="replace")
                parts = []
            if rest:
                parts.append(rest)
        if parts:
            yield b"".join(parts).decode("utf-8", errors="replace")

    def write(self, line: bytes) -> None:
        """Write all of a line; OSError where nobody reads."""
        left = memoryview(line)
        while left:
            left = left[os.write(self.writes, left) :]


def take() -> Wire:
    """Return the pipes of this process, and leave it others in their place.

    What is printed from now on goes where errors go, also from C and from children; what reads standard
    input finds its end.
    """
    sys.stdout.flush()
    wire = Wire(os.dup(_STDIN), os.dup(_STDOUT))
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, _STDIN)
    os.close(nowhere)
    os.dup2(_STDERR, _STDOUT)
    if sys.platform == "win32":  # descriptors are opened as text there, and a line would grow a CR
        import msvcrt

        for descriptor in wire:
            msvcrt.setmode(descriptor, os.O_BINARY)
    return wire
