"""Serve one client over the pipes of this process, until it hangs up or somebody ends us."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from scrubjay.surfaces.mcp.wire import Wire

_READ_AHEAD = 64  # lines; who writes faster waits


def serve(server: Server[Any], wire: Wire) -> None:
    """Answer a client until it closes its end, or until SIGTERM."""
    asyncio.run(_serve(server, wire))


async def _serve(server: Server[Any], wire: Wire) -> None:
    with anyio.CancelScope() as scope, _ended_by_a_signal(scope):
        # They are no files: those of the SDK would wait in a thread for a line that may never come, and
        # then neither a signal nor a client that is gone could end this process.
        lines, answers = cast("Any", _Lines(wire)), cast("Any", _Answers(wire, scope))
        async with stdio_server(lines, answers) as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())


@contextmanager
def _ended_by_a_signal(scope: anyio.CancelScope) -> Iterator[None]:
    """Let SIGTERM end what is served, so that the store is closed after it."""
    loop = asyncio.get_running_loop()
    before = signal.signal(
        signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(scope.cancel) and None
    )
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Lines:
    """The lines that a client writes, read by a thread that does not keep the process from ending."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._send, self._receive = anyio.create_memory_object_stream[str](_READ_AHEAD)
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="scrubjay-mcp-reader", daemon=True).start()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    def _read(self) -> None:
        # An error of the pipe is its end; the others say that the loop has ended first.
        with suppress(RuntimeError, CancelledError, anyio.BrokenResourceError):
            with suppress(OSError):
                for line in self._wire.lines():
                    asyncio.run_coroutine_threadsafe(self._send.send(line), self._loop).result()
            self._loop.call_soon_threadsafe(self._send.close)


class _Answers:
    """What a client reads; when it no longer does, there is nobody left to serve."""

    def __init__(self, wire: Wire, scope: anyio.CancelScope) -> None:
        self._wire = wire
        self._scope = scope

    async def write(self, text: str) -> None:
        line = text.encode("utf-8", errors="replace")
        try:
            await anyio.to_thread.run_sync(self._wire.write, line)
        except OSError:
            self._scope.cancel()

    async def flush(self) -> None:
        """Every line is written out at once."""
