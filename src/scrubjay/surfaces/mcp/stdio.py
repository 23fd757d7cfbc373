"""Serve one MCP client over standard input and output, until it disconnects or SIGTERM.
The SDK's own transport waits in a thread for a line that may never come, so that no signal could
end the process. It also does not answer a line that it cannot parse, and drops calls in progress
when a client closes its end after its last request."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from anyio import create_memory_object_stream as create_stream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from scrubjay.surfaces.mcp.pipes import Pipes

_READ_AHEAD = 64  # lines; a faster client waits
_LAST_ANSWERS_S = 10.0  # for requests in progress when the client closes its end


def serve(server: Server[Any], pipes: Pipes) -> None:
    asyncio.run(_serve(server, pipes))


async def _serve(server: Server[Any], pipes: Pipes) -> None:
    async with anyio.create_task_group() as tasks:
        with _cancelled_by_sigterm(tasks.cancel_scope):
            client = _Client(pipes, tasks.cancel_scope)
            tasks.start_soon(client.receive)
            tasks.start_soon(client.send)
            options = server.create_initialization_options()
            await server.run(client.received, client.to_send, options)


@contextmanager
def _cancelled_by_sigterm(scope: anyio.CancelScope) -> Iterator[None]:
    """Let SIGTERM end the server, so that the store is closed afterwards."""
    loop = asyncio.get_running_loop()
    with ExitStack() as restored:
        try:
            # A plain handler runs when the main thread wakes up. Signals to other threads do not wake it.
            loop.add_signal_handler(signal.SIGTERM, scope.cancel)
            restored.callback(loop.remove_signal_handler, signal.SIGTERM)
        except NotImplementedError:  # on Windows every signal wakes the loop
            wake = loop.call_soon_threadsafe
            before = signal.signal(signal.SIGTERM, lambda *_: wake(scope.cancel))
            restored.callback(signal.signal, signal.SIGTERM, before)
        yield


class _Client:
    """The client as two streams: `received` from it, `to_send` to it."""

    def __init__(self, pipes: Pipes, scope: anyio.CancelScope) -> None:
        self._pipes = pipes
        self._scope = scope
        self._open_requests: set[str | int] = set()
        self._all_answered = anyio.Event()
        self._line_in, self._lines = create_stream[str](_READ_AHEAD)
        self._pass_on, self.received = create_stream[SessionMessage | Exception]()
        self.to_send, self._sending = create_stream[SessionMessage](_READ_AHEAD)
        self._loop = asyncio.get_running_loop()
        self._to_write: SimpleQueue[tuple[bytes, Future[None]]] = SimpleQueue()
        # Daemons, because they may wait for ever for a client that neither writes nor reads.
        for work in (self._read_lines, self._write_lines):
            threading.Thread(target=work, name="scrubjay-mcp-pipe", daemon=True).start()

    async def receive(self) -> None:
        """Pass on each message; at the end wait until all requests are answered."""
        async with self._pass_on:
            async for line in self._lines:
                if line.strip():
                    await self._receive_line(line)
            with anyio.move_on_after(_LAST_ANSWERS_S):
                while self._open_requests:
                    self._all_answered = anyio.Event()
                    await self._all_answered.wait()

    async def send(self) -> None:
        """Write each message; end the server when the client no longer reads."""
        async for outgoing in self._sending:
            line = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
            written: Future[None] = Future()
            self._to_write.put((line.encode("utf-8"), written))
            try:
                await asyncio.wrap_future(written)
            except OSError:
                self._scope.cancel()
            if isinstance(outgoing.message, types.JSONRPCResponse | types.JSONRPCError):
                self._answered(outgoing.message.id)

    async def _receive_line(self, line: str) -> None:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await self._refuse(line)
            return
        if isinstance(message, types.JSONRPCRequest):
            self._open_requests.add(message.id)
        await self._pass_on.send(SessionMessage(message))
        match message:
            case types.JSONRPCNotification(method="notifications/cancelled", params=params):
                self._answered((params or {}).get("requestId"))  # it gets no answer

    def _answered(self, id_: object) -> None:
        if isinstance(id_, str | int):
            self._open_requests.discard(id_)
        if not self._open_requests:
            self._all_answered.set()

    async def _refuse(self, line: str) -> None:
        """Answer a line that is not a message, so that the client does not wait."""
        try:
            parsed = json.loads(line)
        except (ValueError, RecursionError):
            code, id_ = types.PARSE_ERROR, None
        else:
            is_object = isinstance(parsed, dict)
            if is_object and "method" in parsed and "id" not in parsed:
                return  # a notification gets no answer
            code, id_ = types.INVALID_REQUEST, parsed.get("id") if is_object else None
        known = id_ if type(id_) in (str, int) else None
        why = "this line is not a JSON-RPC 2.0 message in valid UTF-8"
        data = types.ErrorData(code=code, message=why)
        await self.to_send.send(
            SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=known, error=data))
        )

    def _write_lines(self) -> None:
        while True:
            line, written = self._to_write.get()
            if not written.set_running_or_notify_cancel():
                continue
            try:
                self._pipes.write(line)
            except OSError as error:
                written.set_exception(error)
            else:
                written.set_result(None)

    def _read_lines(self) -> None:
        # OSError is the end of the pipe; the others mean that the loop has ended first.
        with suppress(RuntimeError, CancelledError, anyio.BrokenResourceError):
            with suppress(OSError):
                for line in self._pipes.lines():
                    asyncio.run_coroutine_threadsafe(self._line_in.send(line), self._loop).result()
            self._loop.call_soon_threadsafe(self._line_in.close)
