"""HTTP and MCP: whatever is sent, an answer comes, and no answer hides a bug of ours."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import unquote

import anyio

import scrubjay
from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.http.app import ServerContext, make_app
from scrubjay.surfaces.http.auth import ApiKeyLookup
from scrubjay.surfaces.http.metrics import Monitoring
from scrubjay.surfaces.http.problems import MEDIA_TYPE
from scrubjay.surfaces.http.settings import ServerSettings
from scrubjay.surfaces.mcp import stdio
from scrubjay.surfaces.mcp.pipes import Pipes
from scrubjay.surfaces.mcp.server import make_server
from tools.fuzz.target import Check, Target

_NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)
_ANSWERS_S = 20.0
_HANDSHAKE = (
    b'{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",'
    b'"capabilities":{},"clientInfo":{"name":"fuzz","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)
_RAW = b"!"  # before an input without handshake


class _Errors(logging.Handler):
    """Collects the tracebacks that a server wrote into its log instead of its answer."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.raised: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the error of a record."""
        error = record.exc_info[1] if record.exc_info else None
        self.raised.append(error or AssertionError(record.getMessage()))

    def check(self) -> None:
        """Raise the first of them."""
        raised, self.raised = self.raised, []
        if raised:
            raise raised[0]


@contextmanager
def _errors() -> Iterator[_Errors]:
    log, access = logging.getLogger("scrubjay"), logging.getLogger("scrubjay.access")
    collected = _Errors()
    before = log.propagate, access.disabled
    log.addHandler(collected)
    log.propagate, access.disabled = False, True
    try:
        yield collected
    finally:
        log.removeHandler(collected)
        log.propagate, access.disabled = before


def _open(_: Principal) -> scrubjay.Store:
    store = scrubjay.open(":memory:", embedder=False, clock=lambda: _NOW)
    store.add("a note about the budget", id="n1", topics=["money"], session="s")
    store.add("a task for Monday", id="n2", type="task", links=["n1"])
    return store


@contextmanager
def _http() -> Iterator[Check]:
    """Send requests to the app without a socket."""
    stores = OpenStores(_open)
    find = ApiKeyLookup(stores, loopback=True, no_auth=True)
    context = ServerContext.create(stores, find, ServerSettings(rate_per_s=1e9), Monitoring())
    app = make_app(context)
    with _errors() as errors, asyncio.Runner() as runner:

        def check(data: bytes) -> None:
            for request in data.split(b"\n\n\n"):
                method, sent = runner.run(asyncio.wait_for(_request(app, request), _ANSWERS_S))
                errors.check()
                _check_response(method, sent)

        try:
            yield check
        finally:
            context.workers.close(_ANSWERS_S)
            context.auth_workers.close(_ANSWERS_S)
            stores.close()


async def _request(
    app: Callable[..., Any], data: bytes
) -> tuple[str, list[MutableMapping[str, Any]]]:
    """Send one request: a line with method and address, lines of headers, an empty line, a body."""
    head, _, body = data.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, address = first.partition(b" ")
    path, _, query = address.partition(b"?")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(b":") for line in lines)
    }
    headers = {b"host": b"localhost"} | headers
    if body:
        headers.setdefault(b"content-type", b"application/json")
    scope: MutableMapping[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method.decode("latin-1").upper() or "GET",
        "scheme": "http",
        "path": unquote(path.decode("latin-1")),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": list(headers.items()),
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    received = iter([{"type": "http.request", "body": body, "more_body": False}])
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return next(received, {"type": "http.disconnect"})

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return scope["method"], sent


def _check_response(method: str, sent: list[MutableMapping[str, Any]]) -> None:
    start, *parts = sent
    status = start["status"]
    kind = dict(start["headers"]).get(b"content-type", b"").decode()
    body = b"".join(part.get("body", b"") for part in parts)
    # There is no model here, which some verbs need.
    assert status < 500 or (status == 503 and b"embedder" in body), (status, body)
    if status >= 400 and method != "HEAD":
        assert kind == MEDIA_TYPE, (status, kind)
        assert json.loads(body)["detail"], body
    elif kind == "application/json" and method != "HEAD":
        json.loads(body)


class _Fed(stdio._Client):
    """The client of `scrubjay mcp`, fed with lines instead of a pipe; its threads end."""

    def __init__(self, data: bytes, scope: anyio.CancelScope) -> None:
        self.answers: list[bytes] = []
        self._data = data
        super().__init__(Pipes(-1, -1), scope)

    def _read_lines(self) -> None:
        lines = self._data.split(b"\n")
        for line in lines:
            text = line.decode("utf-8", errors="replace")
            asyncio.run_coroutine_threadsafe(self._line_in.send(text), self._loop).result()
        self._loop.call_soon_threadsafe(self._line_in.close)

    def _write_lines(self) -> None:
        """Return at once: `send` keeps what would be written."""

    async def send(self) -> None:
        async for outgoing in self._sending:
            line = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True)
            self.answers.append(line.encode("utf-8"))
            self._answered(getattr(outgoing.message, "id", None))

    def close(self) -> None:
        """Close both ends of every stream."""
        for stream in (self._line_in, self._lines, self._pass_on, self.received):
            stream.close()
        self.to_send.close()
        self._sending.close()

    @property
    def unanswered(self) -> set[str | int]:
        return self._open_requests


@contextmanager
def _mcp() -> Iterator[Check]:
    """Send lines to the MCP server of `scrubjay mcp`, after a handshake."""
    stores = OpenStores(_open)
    server = make_server(stores, lambda _: Principal(), "full")

    async def run(data: bytes) -> None:
        async with anyio.create_task_group() as tasks:
            client = _Fed(data, tasks.cancel_scope)
            tasks.start_soon(client.receive)
            tasks.start_soon(client.send)
            options = server.create_initialization_options()
            await server.run(client.received, client.to_send, options)
        client.close()
        assert not client.unanswered, client.unanswered
        for answer in map(json.loads, client.answers):
            code = answer.get("error", {}).get("code")
            assert code != -32603, answer
            assert answer["jsonrpc"] == "2.0", answer

    with _errors() as errors, asyncio.Runner() as runner:

        def check(data: bytes) -> None:
            whole = data.removeprefix(_RAW) if data.startswith(_RAW) else _HANDSHAKE + data
            runner.run(asyncio.wait_for(run(whole), _ANSWERS_S))
            errors.check()

        try:
            yield check
        finally:
            stores.close()


_call = partial('{{"jsonrpc":"2.0","id":{},"method":{},"params":{}}}'.format)
HTTP = Target(
    "http",
    _http,
    (
        *("surfaces/http/request_input.py", "surfaces/http/v1.py", "surfaces/http/app.py"),
        *("surfaces/http/middleware.py", "surfaces/http/origin_check.py", "surfaces/http/auth.py"),
        *("surfaces/verbs/kinds.py", "surfaces/verbs/params.py", "surfaces/verbs/__init__.py"),
        *("surfaces/verbs/read.py", "surfaces/verbs/write.py", "surfaces/verbs/search.py"),
    ),
    (
        b"GET /v1/search?query=budget&limit=3&explain=true",
        b'POST /v1/search\n\n{"query": "budget", "topics": ["money"], "overrides": {"rrf.k": 30}}',
        b'POST /v1/add\n\n{"text": "x", "topics": ["a"], "links": [{"to": "n1"}], "metadata": {"a": 1}}',
        b'POST /v1/add_many\n\n{"memories": [{"text": "x"}, {"text": "y", "id": "n3"}]}',
        b'POST /v1/update\n\n{"id": "n1", "text": "z", "severity": ""}\n\n\nGET /v1/history?id=n1',
        b'POST /v1/link\n\n{"a": "n1", "b": "n2", "strength": 0.5}\n\n\nGET /v1/neighbors?id=n1',
        b'POST /v1/add_messages\n\n{"session": "s", "messages": [{"role": "user", "content": "hi"}]}',
        b'POST /v1/feedback\n\n{"query": "q", "id": "n1", "action": "good"}\n\n\nGET /v1/weights',
        b"GET /v1/map?query=a&limit=5&points=true\n\n\nGET /v1/surroundings?id=n1&depth=2",
        b"GET /v1/ls?types=task,fact&since=2026-01-01&offset=1\n\n\nGET /v1/landscape?tokens=100",
        b"GET /v1/context?question=what&tokens=200&namespaces=a&namespaces=b",
        b"GET /v1/profiles?name=default&overrides=%7B%22rrf.k%22%3A1%7D\n\n\nGET /v1/hits?since=2026-01-01",
        b'POST /v1/create_collection\n\n{"name": "c"}\n\n\nPOST /v1/publish\n\n{"id": "n1", "name": "c"}',
        b"GET /\naccept: text/html\n\n\nGET /ui/%2e%2e/x\n\n\nGET /metrics\n\n\nOPTIONS /v1/get",
        b"HEAD /v1/get?id=n1\norigin: http://localhost\nauthorization: Bearer x",
        b"GET /v1/expiring?within=3d",
    ),
    (
        *("GET ", "POST ", "DELETE ", "/v1/", "?query=", "&limit=", "%00", "%ff", "%22", "\n\n\n"),
        *("search", "add", "update", "forget", "ls", "get_many", "map", "context", "coverage"),
        *(
            "extract",
            "undo",
            "undo_feedback",
            "freeze_weights",
            "rename_topic",
            "share",
            "reindex",
            "around",
        ),
        *(
            '"id"',
            '"text"',
            '"query"',
            '"limit"',
            '"weights"',
            '"overrides"',
            '"since"',
            '"links"',
        ),
        *(
            '"metadata"',
            '"topics"',
            "null",
            "true",
            "1e308",
            "-1",
            "[]",
            "{}",
            "\\u0000",
            "\\ud800",
        ),
        *("9999-12-31", "0001-01-01", "n1", "9007199254740993", "content-type: ", "cookie: "),
    ),
    renewed=300,
)
MCP = Target(
    "mcp",
    _mcp,
    (
        *("surfaces/mcp/server.py", "surfaces/mcp/stdio.py", "surfaces/mcp/tool.py"),
        *("surfaces/mcp/compact.py", "surfaces/mcp/default_tools.py", "surfaces/mcp/resources.py"),
        *("surfaces/mcp/prompts.py", "surfaces/mcp/text.py", "surfaces/mcp/toolsets.py"),
    ),
    (
        _call(1, '"tools/list"', "{}").encode() + b"\n" + _call(2, '"ping"', "{}").encode(),
        _call(
            1, '"tools/call"', '{"name":"memory_search","arguments":{"query":"budget","limit":2}}'
        ).encode(),
        _call(
            1, '"tools/call"', '{"name":"memory_store","arguments":{"text":"x","topics":["a"]}}'
        ).encode(),
        _call(
            1, '"tools/call"', '{"name":"memory_update","arguments":{"id":"n1","text":"y"}}'
        ).encode(),
        _call(
            1, '"tools/call"', '{"name":"memory_ls","arguments":{"limit":3,"types":["task"]}}'
        ).encode(),
        _call(1, '"resources/list"', "{}").encode()
        + b"\n"
        + _call(2, '"resources/read"', '{"uri":"scrubjay://memory/n1"}').encode(),
        _call(1, '"resources/templates/list"', "{}").encode(),
        _call(1, '"prompts/list"', "{}").encode()
        + b"\n"
        + _call(2, '"prompts/get"', '{"name":"recall","arguments":{"question":"x"}}').encode(),
        _call(
            1,
            '"completion/complete"',
            '{"ref":{"type":"ref/resource","uri":"scrubjay://memory/{id}"},'
            '"argument":{"name":"id","value":"n"}}',
        ).encode(),
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\nx\n[]\n{}',
        _RAW + _call(1, '"tools/list"', "{}").encode(),
        _RAW + b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":'
        b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
    ),
    (
        *('"jsonrpc"', '"2.0"', '"id"', '"method"', '"params"', '"name"', '"arguments"', '"uri"'),
        *('"tools/call"', '"resources/read"', '"prompts/get"', '"completion/complete"', '"_meta"'),
        *(
            '"search"',
            '"add"',
            '"forget"',
            '"link"',
            '"context"',
            '"map"',
            '"feedback"',
            '"query"',
        ),
        *("null", "1e308", "-1", "[]", "{}", "\\u0000", "\\ud800", "scrubjay://", "n1", "\n"),
    ),
    renewed=300,
    max_bytes=400,
)
