"""The pipes to an MCP client: only the protocol goes to standard output, whatever a library prints.
Imports the standard library only: the pipes are taken before anything else can print."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_CHUNK_BYTES = 65_536


class Pipes(NamedTuple):
    """File descriptors to read from and write to the client."""

    reads: int
    writes: int

    def lines(self) -> Iterator[str]:
        """Yield each line from the client until it closes its end.
        Python's own reader would be locked by the waiting thread, and a process that exits
        meanwhile would die with a fatal error."""
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
        """Write a whole line; OSError if the client has closed its end."""
        left = memoryview(line)
        while left:
            left = left[os.write(self.writes, left) :]


def take_pipes() -> Pipes:
    """Return the process's standard input and output, and replace them.
    From now on prints go to standard error, also from C and from children. Standard input is
    empty."""
    sys.stdout.flush()
    pipes = Pipes(os.dup(_STDIN), os.dup(_STDOUT))
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, _STDIN)
    os.close(devnull)
    os.dup2(_STDERR, _STDOUT)
    if sys.platform == "win32":  # in text mode each newline would become CR LF
        import msvcrt

        for descriptor in pipes:
            msvcrt.setmode(descriptor, os.O_BINARY)
    return pipes
