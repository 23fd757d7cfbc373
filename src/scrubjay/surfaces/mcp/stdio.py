"""Serve one client over the pipes of this process, until it hangs up or somebody ends us.

The SDK's own transport waits in a thread for a line that may never come, so that no signal could end the
process. It also leaves a line that it cannot read without an answer, and drops what is under way when a
client closes its end after its last question.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from scrubjay.surfaces.mcp.pipes import Wire

_READ_AHEAD = 64  # lines; who writes faster waits
_LAST_ANSWERS_S = 10.0  # for what was asked before the client closed its end


def serve(server: Server[Any], wire: Wire) -> None:
    """Answer a client until it closes its end, or until SIGTERM."""
    asyncio.run(_serve(server, wire))


async def _serve(server: Server[Any], wire: Wire) -> None:
    async with anyio.create_task_group() as tasks:
        with _ended_by_a_signal(tasks.cancel_scope):
            client = _Client(wire, tasks.cancel_scope)
            tasks.start_soon(client.listen)
            tasks.start_soon(client.speak)
            await server.run(client.heard, client.said, server.create_initialization_options())


@contextmanager
def _ended_by_a_signal(scope: anyio.CancelScope) -> Iterator[None]:
    """Let SIGTERM end what is served, so that the store is closed after it."""
    loop = asyncio.get_running_loop()
    try:
        # A plain handler runs when the main thread wakes up, which a signal to another thread does not do.
        loop.add_signal_handler(signal.SIGTERM, scope.cancel)
    except NotImplementedError:  # on Windows every signal wakes the loop

        def end(*_: object) -> None:
            loop.call_soon_threadsafe(scope.cancel)

        before = signal.signal(signal.SIGTERM, end)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


class _Client:
    """Who is at the other end: what they say is `heard`, and what is `said` goes to them."""

    def __init__(self, wire: Wire, scope: anyio.CancelScope) -> None:
        self._wire = wire
        self._scope = scope
        self._asked: set[str | int] = set()
        self._all_answered = anyio.Event()
        self._line_in, self._lines = anyio.create_memory_object_stream[str](_READ_AHEAD)
        self._hear, self.heard = anyio.create_memory_object_stream[SessionMessage | Exception]()
        self.said, self._saying = anyio.create_memory_object_stream[SessionMessage](_READ_AHEAD)
        self._loop = asyncio.get_running_loop()
        self._to_write: SimpleQueue[tuple[bytes, Future[None]]] = SimpleQueue()
        # Daemons: they wait for a client that may neither write nor read, and nobody waits for them.
        for work in (self._read, self._write):
            threading.Thread(target=work, name="scrubjay-mcp-pipe", daemon=True).start()

    async def listen(self) -> None:
        """Pass on each message, and at the end wait until all were answered."""
        async with self._hear:
            async for line in self._lines:
                if line.strip():
                    await self._hear_line(line)
            with anyio.move_on_after(_LAST_ANSWERS_S):
                while self._asked:
                    self._all_answered = anyio.Event()
                    await self._all_answered.wait()

    async def speak(self) -> None:
        """Write each message; when nobody reads any more, there is nobody left to serve."""
        async for one in self._saying:
            line = one.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
            written: Future[None] = Future()
            self._to_write.put((line.encode("utf-8"), written))
            try:
                await asyncio.wrap_future(written)
            except OSError:
                self._scope.cancel()
            if isinstance(one.message, JSONRPCResponse | JSONRPCError):
                self._answered(one.message.id)

    async def _hear_line(self, line: str) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await self._refuse(line)
            return
        if isinstance(message, JSONRPCRequest):
            self._asked.add(message.id)
        await self._hear.send(SessionMessage(message))
        if (
            isinstance(message, JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            self._answered((message.params or {}).get("requestId"))  # it never will be

    def _answered(self, id_: object) -> None:
        if isinstance(id_, str | int):
            self._asked.discard(id_)
        if not self._asked:
            self._all_answered.set()

    async def _refuse(self, line: str) -> None:
        """Answer a line that is no message, so that nobody waits for another answer."""
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            code, id_ = PARSE_ERROR, None
        else:
            is_object = isinstance(given, dict)
            if is_object and "method" in given and "id" not in given:
                return  # of a notification nobody wants an answer
            code, id_ = INVALID_REQUEST, given.get("id") if is_object else None
        known = id_ if type(id_) in (str, int) else None
        why = "this line is no JSON-RPC 2.0 message in whole characters of UTF-8"
        error = JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=why))
        await self.said.send(SessionMessage(error))

    def _write(self) -> None:
        while True:
            line, written = self._to_write.get()
            if not written.set_running_or_notify_cancel():
                continue
            try:
                self._wire.write(line)
            except OSError as gone:
                written.set_exception(gone)
            else:
                written.set_result(None)

    def _read(self) -> None:
        # An error of the pipe is its end; the others say that the loop has ended first.
        with suppress(RuntimeError, CancelledError, anyio.BrokenResourceError):
            with suppress(OSError):
                for line in self._wire.lines():
                    asyncio.run_coroutine_threadsafe(self._line_in.send(line), self._loop).result()
            self._loop.call_soon_threadsafe(self._line_in.close)
