"""What ten agents cost in memory: with one server for all of them, and with a process each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import psutil

from bench.door_processes import SCRUBJAY, Piped, Served, lacks_meaning
from bench.report import Row, size, times

CLIENTS = 10


def measure(database: Path, env: Mapping[str, str], queries: Sequence[str]) -> list[Row]:
    """Let ten clients search, through one server and through ten, and weigh the processes."""
    with Served(database, env) as served:
        one_server = asyncio.run(_through(served, queries))
    with ExitStack() as stack:
        command = (*SCRUBJAY, "mcp", "--db", str(database))
        piped = [stack.enter_context(Piped(command, env)) for _ in range(CLIENTS)]
        for one, query in zip(piped, queries, strict=False):
            one.initialize()
            one.search(query)
        each = [_bytes(one.pid) for one in piped]
    ratio = sum(each) / one_server
    return [
        Row(
            f"memory ({_KIND}) of {CLIENTS} `scrubjay mcp` processes that have each searched once,"
            f" beside one `scrubjay serve` with {CLIENTS} MCP clients that have",
            f"{times(ratio)} ({size(sum(each))} and {size(one_server)})",
        )
    ]


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
    """Return the memory of a process and its children; shared pages count in parts, or not at all."""
    top = psutil.Process(pid)
    every = [one.memory_full_info() for one in (top, *top.children(recursive=True))]
    return sum(int(getattr(one, _KIND.lower())) for one in every)
