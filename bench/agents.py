"""What ten agents cost in memory: with a process each, with one server, and with models of their own."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from statistics import median

import psutil

from bench.corpus import generate
from bench.door_processes import EMPTY, SCRUBJAY, Piped, Served, environment, lacks_meaning
from bench.measure import percentile
from bench.report import Row, size, times
from bench.systems import fill_scrubjay, open_scrubjay
from scrubjay.models.download.pull import MINILM
from scrubjay.models.process import caller
from scrubjay.models.process.place import VARIABLE
from scrubjay.models.registry import load_embedder
from scrubjay.runtime.paths import cache_dir

CLIENTS = 10
MEMORY_GOAL, LATENCY_GOAL = 2.0, 1.3
_ROUNDS, _TURN = 400, 20
_SETTLE_S = 3.0  # the reader of notes is loaded in the background


def measure(home: Path, say: Callable[[str], None], *, quick: bool) -> list[Row]:
    """Let ten clients search, in each of the ways, and weigh the processes with those they started."""
    home.mkdir(parents=True, exist_ok=True)
    corpus = generate(100 if quick else 300)
    database, queries = home / "memories.db", corpus.queries
    say(f"agents: writing {len(corpus.texts):,} memories with their vectors")
    with open_scrubjay(database, None) as store:
        fill_scrubjay(store, corpus.texts)
    env = environment(home / "bytecode")
    say("agents: one server for all")
    with Served(database, {**env, **_own_cache(home / "served")}) as served:
        one_server = asyncio.run(_through(served, queries))
    say("agents: a process each, with and without the model process")
    shared = {**env, **_own_cache(home / "shared")}
    one, ten = _processes(database, shared, queries)
    alone, all_alone = _processes(database, {**shared, VARIABLE: "0"}, queries)
    empty = _empty(env)
    said = f"memory ({_KIND}) of {CLIENTS} `scrubjay mcp` processes that have each searched once"
    return [
        Row(
            f"{said}, with their model process, beside one with its",
            f"{times(ten / one)} ({size(ten)} and {size(one)})",
            f"at most {MEMORY_GOAL:.0f}x",
            ten <= MEMORY_GOAL * one,
        ),
        Row(
            f"the same of {CLIENTS} empty servers on the same SDK, beside that one",
            f"{times(empty / one)} ({size(empty)})",
        ),
        Row(
            f"{said}, each with models of its own (`{VARIABLE}=0`), beside one",
            f"{times(all_alone / alone)} ({size(all_alone)} and {size(alone)})",
        ),
        Row(
            f"{said}, with their model process, beside one `scrubjay serve` with {CLIENTS} MCP clients"
            " that have",
            f"{times(ten / one_server)} ({size(ten)} and {size(one_server)})",
        ),
        _latency(shared, queries),
    ]


def _processes(database: Path, env: Mapping[str, str], queries: Sequence[str]) -> tuple[int, int]:
    """Return what one process weighs after its search, and what ten weigh after theirs."""
    command = (*SCRUBJAY, "mcp", "--db", str(database))
    with ExitStack() as stack:
        pids: list[int] = []
        one = 0
        for query in queries[:CLIENTS]:
            piped = stack.enter_context(Piped(command, env))
            piped.initialize()
            piped.search(query)
            pids.append(piped.pid)
            if not one:
                time.sleep(_SETTLE_S)
                one = _bytes(piped.pid)
        time.sleep(_SETTLE_S)
        return one, sum(map(_bytes, pids))


def _empty(env: Mapping[str, str]) -> int:
    """Return what ten servers weigh that have nothing of scrubjay."""
    with ExitStack() as stack:
        command = (sys.executable, "-c", EMPTY)
        piped = [stack.enter_context(Piped(command, env)) for _ in range(CLIENTS)]
        for one in piped:
            one.initialize()
        return sum(_bytes(one.pid) for one in piped)


def _latency(env: Mapping[str, str], queries: Sequence[str]) -> Row:
    """Embed questions in the model process and in this one, by turns of twenty."""
    before = dict(os.environ)
    os.environ.update({"SCRUBJAY_CACHE": env["SCRUBJAY_CACHE"], VARIABLE: "1"})
    try:
        caller.start_when_needed()
        there, here = load_embedder(MINILM.name), load_embedder(MINILM.name)
        there.embed(queries[:1], as_query=True)
        there_state = caller.status()
        os.environ[VARIABLE] = "0"
        here.embed(queries[:1], as_query=True)
        os.environ[VARIABLE] = "1"
        assert there_state is not None
        process = psutil.Process(there_state["pid"])
        wall: dict[bool, list[float]] = {True: [], False: []}
        cpu = {True: 0.0, False: 0.0}
        for turn in range(2 * _ROUNDS // _TURN):
            is_there = turn % 2 == 0
            began_s = _cpu_s(process)
            for query in queries[:_TURN]:
                began = time.perf_counter()
                (there if is_there else here).embed([f"{query} {turn}"], as_query=True)
                wall[is_there].append(time.perf_counter() - began)
            cpu[is_there] += _cpu_s(process) - began_s
    finally:
        caller.hang_up()
        os.environ.clear()
        os.environ.update(before)
    # Where other programs want the cores, two processes wait for one twice as often as one process: the
    # fastest tenth found them free.
    free = percentile(wall[True], 0.1) / percentile(wall[False], 0.1)
    ratio = median(wall[True]) / median(wall[False])
    return Row(
        "embedding one question in the model process, beside in the process that asks, wall, fastest tenth"
        f" of {len(wall[True])}",
        f"{times(free)} (median {times(ratio)}, CPU of both processes {times(cpu[True] / cpu[False])})",
        f"at most {LATENCY_GOAL}x",
        free <= LATENCY_GOAL,
    )


def _cpu_s(process: psutil.Process) -> float:
    """Return the CPU seconds of this process and of another one."""
    used = process.cpu_times()
    return time.process_time() + float(used.user + used.system)


def _own_cache(folder: Path) -> dict[str, str]:
    """Return an environment with the models of this machine, and a model process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    models = folder / "models"
    if not models.is_symlink():
        models.symlink_to(Path(cache_dir()) / "models")
    return {"SCRUBJAY_CACHE": str(folder), VARIABLE: "1"}


async def _through(served: Served, queries: Sequence[str]) -> int:
    """Return what the server weighs while all clients are connected and have searched."""
    from mcp.client.client import Client

    async with AsyncExitStack() as stack:
        for query, _ in zip(queries, range(CLIENTS), strict=False):
            client = await stack.enter_async_context(Client(f"{served.url}/mcp"))
            while True:
                answer = await client.call_tool("memory_search", {"query": query})
                if not lacks_meaning(answer.model_dump(mode="json")):
                    break
                await asyncio.sleep(0.05)
        return _bytes(served.pid)


# Pages of libraries and of the store are shared: counting them for each process in
# full, as RSS does, would flatter the one server.
_KIND = "PSS" if hasattr(psutil.Process().memory_full_info(), "pss") else "USS"


def _bytes(pid: int) -> int:
    """Return the memory of a process and its children, among them the model process that it started;
    shared pages count in parts, or not at all."""
    top = psutil.Process(pid)
    every = [one.memory_full_info() for one in (top, *top.children(recursive=True))]
    return sum(int(getattr(one, _KIND.lower())) for one in every)
