"""Progress of a long task: a bar on a terminal; elsewhere nothing, or a line now and then."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from scrubjay.runtime.pace import Pace, duration, per_second

Progress = Callable[[int, int], None]
"""Called with (done, total); total is 0 while it is not known."""
_WIDTH, _WIDTH_WITH_RATE, _LEAST_WIDTH = 24, 16, 6
_COLUMNS = 80  # of a terminal that does not say
_REDRAW_SECONDS = 0.1
_FIRST_LINE_S = 5.0  # also the shortest time between two lines
_NEXT_LINE_S = 30.0


def silent(done: int, total: int) -> None:
    """Report nothing."""


class ProgressBar:
    """A `Progress` that draws a bar on stderr where that is a terminal.

    With a `unit`, such as "passages", rate and time left are shown too, and where stderr is no terminal a
    line is written after five seconds, then at each tenth or every half minute. `done` and `total` are the
    last counts.

    >>> with ProgressBar("reading") as bar:
    ...     bar(1, 2)
    """

    def __init__(
        self,
        label: str,
        *,
        in_bytes: bool = False,
        unit: str = "",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._in_bytes = in_bytes
        self._unit = unit
        # Under pythonw there is no stderr at all.
        self._stream: TextIO | None = sys.stderr if stream is None else stream
        self._live = self._stream is not None and self._stream.isatty()
        self._clock = clock
        self._pace = Pace(clock)
        self._drawn_at: float | None = None
        self._drawn = 0
        self._written_at = clock()
        self._tenth: int | None = None  # of the last line
        self.done = self.total = 0

    def __call__(self, done: int, total: int, item: object = None) -> None:
        """Show the counts, at most ten times a second and always at the end; the item is not shown."""
        self.done, self.total = done, total
        self._pace.add(done)
        if self._stream is None:
            return
        if self._live:
            self._draw(self._stream)
        elif self._unit and self._line_is_due():
            self._stream.write(f"scrubjay: {self._label}: {self._text()}\n")
            self._stream.flush()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Erase the bar, so that only the output of the task stays."""
        if self._drawn and self._stream is not None:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

    def _draw(self, stream: TextIO) -> None:
        now = self._clock()
        early = self._drawn_at is not None and now - self._drawn_at < _REDRAW_SECONDS
        if early and self.done != self.total:
            return
        self._drawn_at = now
        line = self._bar(_columns(stream) - 1)  # one that wraps could not be erased
        stream.write("\r" + line.ljust(self._drawn))
        stream.flush()
        self._drawn = len(line)

    def _bar(self, room: int) -> str:
        if self.total <= 0:
            return f"{self._label} {self._text()}"[:room]
        text = f"{self._share():4.0%}  {self._text()}"
        most = _WIDTH_WITH_RATE if self._unit else _WIDTH
        cells = min(room - len(f"{self._label} [] {text}"), most)
        if cells < _LEAST_WIDTH:
            return f"{self._label} {text}"[:room]
        full = round(self._share() * cells)
        return f"{self._label} [{'#' * full}{'-' * (cells - full)}] {text}"

    def _line_is_due(self) -> bool:
        """True after five seconds, then at each tenth or after half a minute; the end is no news."""
        now, tenth = self._clock(), int(self._share() * 10)
        quiet_s = now - self._written_at
        if quiet_s < _FIRST_LINE_S or self.done >= self.total:
            return False
        if tenth == self._tenth and quiet_s < _NEXT_LINE_S:
            return False
        self._written_at, self._tenth = now, tenth
        return True

    def _share(self) -> float:
        return min(max(self.done / self.total, 0.0), 1.0) if self.total > 0 else 0.0

    def _text(self) -> str:
        """Return the counts and, with a unit, the rate and the time left."""
        amount = self._count(self.done)
        if self.total > 0:
            amount += f" of {self._count(self.total)}"
        if not self._unit:
            return amount
        rate = self._pace.rate()
        left_s = self._pace.left_s(self.total - self.done)
        parts = [f"{amount} {self._unit}"]
        if rate:
            parts.append(per_second(rate))
        if left_s:
            parts.append(f"{duration(max(round(left_s), 1))} left")
        return ", ".join(parts)

    def _count(self, number: int) -> str:
        return f"{number / 1e6:.1f} MB" if self._in_bytes else f"{number:,}"


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _COLUMNS
    except (OSError, ValueError):  # a stream without a file
        return _COLUMNS
