"""Which lines follow which in the files of a target: its coverage, and the inputs worth keeping."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import scrubjay
from tools.fuzz.target import Target

PACKAGE = Path(scrubjay.__file__).parent
Arc = tuple[str, int, int]  # file, line before, line


class Arcs:
    """The arcs that were run in some files, in any thread."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = {str(PACKAGE / file) for file in files}
        self.seen: set[Arc] = set()

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record what runs meanwhile."""
        before = sys.gettrace()
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        if file not in self._files:
            return None
        last = 0
        seen = self.seen

        def step(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "line":
                seen.add((file, last, frame.f_lineno))
                last = frame.f_lineno
            return step

        return step


def smallest(target: Target, inputs: Iterable[bytes], most_bytes: int) -> list[bytes]:
    """Return the inputs that pass and run an arc that no shorter one runs, up to a size in all."""
    arcs = Arcs(target.parts)
    kept: list[bytes] = []
    size = 0
    with target.open() as check:
        for data in sorted(set(inputs), key=lambda one: (len(one), one)):
            known = len(arcs.seen)
            try:
                with arcs.recorded():
                    check(data)
            except (Exception, RecursionError):  # noqa: BLE001 - it is reported where it was found
                continue
            if len(arcs.seen) > known and size + len(data) <= most_bytes:
                kept.append(data)
                size += len(data)
    return kept


def line_coverage(target: Target, inputs: Iterable[bytes]) -> tuple[int, int]:
    """Return how many lines of a target's files its inputs run, of how many inside functions."""
    arcs = Arcs(target.parts)
    with target.open() as check:
        for data in inputs:
            with arcs.recorded():
                check(data)
    lines = {(str(PACKAGE / file), line) for file in target.parts for line in _lines(file)}
    return len(lines & {(file, line) for file, _, line in arcs.seen}), len(lines)


def _lines(file: str) -> set[int]:
    path = PACKAGE / file
    whole = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    found: set[int] = set()
    waiting = [one for one in whole.co_consts if isinstance(one, CodeType)]
    while waiting:
        code = waiting.pop()
        inner = [one for one in code.co_consts if isinstance(one, CodeType)]
        waiting += inner
        is_class = "__qualname__" in code.co_names
        if not is_class:
            lines = {line for _, _, line in code.co_lines() if line}
            found |= lines - {code.co_firstlineno}
    return found
