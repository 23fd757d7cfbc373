"""Progress bar of a long task: one line on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

Progress = Callable[[int, int], None]
"""Called with (done, total); total is 0 while it is not known."""
_WIDTH = 24
_REDRAW_SECONDS = 0.1


def silent(done: int, total: int) -> None:
    """Report nothing."""


class ProgressBar:
    """A `Progress` that draws on stderr, and only where stderr is a terminal.

    >>> with ProgressBar("reading") as bar:
    ...     bar(1, 2)
    """

    def __init__(
        self, label: str, *, in_bytes: bool = False, stream: TextIO | None = None
    ) -> None:
        self._label = label
        self._in_bytes = in_bytes
        self._stream = sys.stderr if stream is None else stream
        # Under pythonw there is no stderr at all.
        self._live = self._stream is not None and self._stream.isatty()
        self._drawn_at = 0.0
        self._drawn = 0

    def __call__(self, done: int, total: int, item: object = None) -> None:
        """Redraw, at most ten times a second and always at the end; the item is not drawn."""
        now = time.monotonic()
        if not self._live or (now - self._drawn_at < _REDRAW_SECONDS and done != total):
            return
        self._drawn_at = now
        line = self._line(done, total)
        self._stream.write("\r" + line.ljust(self._drawn))
        self._stream.flush()
        self._drawn = len(line)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Erase the line, so that only the output of the task stays."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

    def _line(self, done: int, total: int) -> str:
        if total <= 0:
            return f"{self._label} {self._count(done)}"
        share = min(max(done / total, 0.0), 1.0)
        full = round(share * _WIDTH)
        bar = "#" * full + "-" * (_WIDTH - full)
        return f"{self._label} [{bar}] {share:4.0%}  {self._count(done)} of {self._count(total)}"

    def _count(self, number: int) -> str:
        return f"{number / 1e6:.1f} MB" if self._in_bytes else f"{number:,}"
