"""One process per system, asked over a pipe: no system pays for another's threads or memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from bench.corpus import Corpus, Vectors
from bench.measure import peak_bytes
from bench.peers import SYSTEMS
from bench.systems import System

# Spawned, not forked: a forked child would share the parent's memory and its native threads.
_SPAWN = get_context("spawn")
_AT_ONCE = 2

Kind = Literal["hybrid", "nearest"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The ids that one query brought back, and its cost to the worker, all threads counted."""

    ids: list[str]
    cpu_s: float
    wall_s: float


class Worker:
    """A system opened in a process of its own. `peak` is known once it is closed."""

    def __init__(self, system: System, home: Path) -> None:
        self.system = system
        self.peak: int | None = None
        self._pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(
            target=_serve, args=(theirs, system.name, home / system.folder), daemon=True
        )
        self._process.start()
        theirs.close()
        self._receive()

    def ask(self, kind: Kind, text: str, vector: Vectors) -> Answer:
        """Have one query answered."""
        self._pipe.send((kind, text, vector))
        answer: Answer = self._receive()
        return answer

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if error is None:
            self._pipe.send(None)
            self.peak = self._receive()
            self._process.join()
        else:
            self._process.kill()
        self._pipe.close()

    def _receive(self) -> Any:
        try:
            return self._pipe.recv()
        except EOFError:
            raise RuntimeError(f"{self.system.name} stopped; its own message is above") from None


def _serve(pipe: Connection, name: str, folder: Path) -> None:
    """Answer queries until None arrives, then tell the peak memory."""
    searcher = SYSTEMS[name].open(folder)
    pipe.send("ready")
    while (asked := pipe.recv()) is not None:
        kind, text, vector = asked
        search = searcher.hybrid if kind == "hybrid" else searcher.nearest
        wall, cpu = time.perf_counter(), time.process_time()
        ids = search(text, vector)
        pipe.send(Answer(ids, time.process_time() - cpu, time.perf_counter() - wall))
    pipe.send(peak_bytes())


def build(systems: Sequence[System], corpus: Path, home: Path) -> None:
    """Fill one folder a store, two at a time, each in a fresh process."""
    # Backwards: Chroma's index takes longest to build, so the others are built beside it.
    wanted = {system.folder: system.name for system in reversed(systems)}
    with ProcessPoolExecutor(_AT_ONCE, mp_context=_SPAWN, max_tasks_per_child=1) as pool:
        for done in [pool.submit(_build, name, corpus, home) for name in wanted.values()]:
            done.result()


def _build(name: str, corpus: Path, home: Path) -> None:
    system = SYSTEMS[name]
    folder = home / system.folder
    folder.mkdir(parents=True)
    system.build(Corpus.load(corpus), folder)
