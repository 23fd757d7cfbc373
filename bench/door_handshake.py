"""How soon an MCP server answers, beside an empty one on the same SDK and beside bare Python."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.door_processes import EMPTY, SCRUBJAY, Piped
from bench.measure import children_s, middle
from bench.report import Row, times

GOAL = 1.3

Env = Mapping[str, str]


class _Spent(NamedTuple):
    """Seconds on the wall until the answer, and of CPU until the end of the process."""

    wall_s: float
    cpu_s: float


def measure(database: Path, env: Env, runs: int) -> list[Row]:
    """Time both handshakes and the list of tools, in turns with an empty server and bare Python."""
    ours = (*SCRUBJAY, "mcp", "--db", str(database))
    empty = (sys.executable, "-c", EMPTY)
    ways: dict[str, Callable[[Piped], object]] = {
        "initialize": Piped.initialize,
        "server/discover": Piped.discover,
        "initialize and tools/list": lambda one: (one.initialize(), one.ask("tools/list")),
    }
    for command in (ours, empty):  # so that byte code is compiled and files are in memory
        _piped(command, env, Piped.initialize)
    rows = []
    for name, way in ways.items():
        taken = [
            (_piped(ours, env, way), _piped(empty, env, way), _bare(env)) for _ in range(runs)
        ]
        first, second, bare = (_middle(column) for column in zip(*taken, strict=True))
        ratio = first.wall_s / second.wall_s
        what = f"MCP over stdio, process start to the answer of {name}"
        rows += [
            Row(
                f"{what}: `scrubjay mcp` beside an empty server on the same SDK, wall",
                f"{times(ratio)} (CPU of the whole process {times(first.cpu_s / second.cpu_s)})",
                f"at most {GOAL}x",
                ratio <= GOAL,
            ),
            Row(
                f"{what}: `scrubjay mcp` beside `python -c pass`, wall",
                f"{times(first.wall_s / bare.wall_s)}"
                f" (the empty server {times(second.wall_s / bare.wall_s)})",
            ),
        ]
    return rows


def _piped(command: tuple[str, ...], env: Env, way: Callable[[Piped], object]) -> _Spent:
    cpu, wall = children_s(), time.perf_counter()
    with Piped(command, env) as one:
        way(one)
        wall_s = time.perf_counter() - wall
    return _Spent(wall_s, children_s() - cpu)


def _bare(env: Env) -> _Spent:
    cpu, wall = children_s(), time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], env=env, check=True)
    return _Spent(time.perf_counter() - wall, children_s() - cpu)


def _middle(column: tuple[_Spent, ...]) -> _Spent:
    return _Spent(middle([one.wall_s for one in column]), middle([one.cpu_s for one in column]))
