"""Spans of requests, searches and stages, and nothing of what was asked or found."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from otlp import receiver

import scrubjay
from scrubjay.surfaces.telemetry import Telemetry, start
from scrubjay.types import Results, Step

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, SPAN = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331


@pytest.fixture
def kept() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def telemetry(kept: InMemorySpanExporter) -> Iterator[Telemetry]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    made = Telemetry(provider)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in [one for one in os.environ if one.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def test_one_span_a_request_and_under_it_one_for_each_stage(telemetry, kept, memory):
    """Each with its own times, in the order in which they ran, inside those of the request."""
    memory.add("The kettle whistles", id="kettle")
    memory.pending(wait=True)
    memory.on_search = telemetry.searched
    before = time.time_ns()
    with telemetry.request("POST", {"Traceparent": PARENT}) as request:
        found = memory.search("secret kettle")
        request.answered("POST", "/v1/{verb}", 200)
    after = time.time_ns()

    spans = {one.name: one for one in kept.get_finished_spans()}
    asked, search = spans["POST /v1/{verb}"], spans["search"]
    assert (asked.context.trace_id, asked.parent.span_id) == (TRACE, SPAN)
    assert {one.context.trace_id for one in spans.values()} == {TRACE}
    assert dict(asked.attributes) == {
        "http.request.method": "POST",
        "http.route": "/v1/{verb}",
        "http.response.status_code": 200,
    }
    assert search.parent.span_id == asked.context.span_id
    assert dict(search.attributes) == {
        "scrubjay.profile": "default",
        "scrubjay.hits": 1,
        "scrubjay.degraded": 0,
    }
    last = before - 1_000_000
    for step in found.trace:
        span = spans[step.stage]
        assert span.parent.span_id == search.context.span_id
        assert span.attributes["scrubjay.stage"] == step.stage
        assert span.attributes["scrubjay.went_in"] == step.went_in
        assert span.attributes["scrubjay.came_out"] == step.came_out
        took_us = (span.end_time - span.start_time) // 1000
        assert took_us == pytest.approx(step.took_ms * 1000, abs=2) or step.branches
        assert last <= span.start_time <= span.end_time <= after + 1_000_000
        last = span.start_time
    inside = {step.stage: one.stage for one in found.trace for step in one.branches}
    assert inside["keyword"] == inside["vector"] == "recall"
    for stage, outer in inside.items():
        assert spans[stage].parent.span_id == spans[outer].context.span_id


def test_neither_what_was_asked_nor_what_was_found_is_in_a_span(telemetry, kept, memory):
    """Not even where a server repeats it in its complaint."""
    memory.add("The zanzibar kettle whistles")
    memory.on_search = telemetry.searched
    with telemetry.request("GET", {}) as request:
        memory.search("zanzibar")
        request.answered("GET", "/v1/{verb}", 200)
    lost = "the model does not answer: cannot embed 'zanzibar'"
    telemetry.searched(Results("zanzibar", "default", trace=(Step("embed", 1.0, lost=lost),)))
    said = "".join(one.to_json() for one in kept.get_finished_spans())
    assert json.dumps("the model does not answer: cannot embed '…'") in said
    assert "zanzibar" not in said
    assert "whistles" not in said


def test_a_failure_is_marked_and_its_text_is_not_sent(telemetry, kept):
    def fail() -> None:
        with telemetry.request("POST", {"traceparent": "nonsense"}) as request:
            request.answered("POST", "/v1/{verb}", 503)
            raise RuntimeError("about zanzibar")

    with pytest.raises(RuntimeError):
        fail()
    (span,) = kept.get_finished_spans()
    assert (span.status.status_code.name, span.parent, span.events) == ("ERROR", None, ())


def test_without_settings_nothing_is_imported_and_nothing_made():
    """Not even by the file itself; a search and a request go on as ever."""
    code = """
import sys
from scrubjay.surfaces.telemetry import start
telemetry = start()
with telemetry.request("GET", {}) as request:
    request.answered("GET", "/", 200)
telemetry.searched(None)
telemetry.close()
print(telemetry.on, [name for name in sys.modules if "opentelemetry" in name])
"""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("False []\n", "")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "supports otlp and console"),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "supports http/protobuf",
        ),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, None),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, None),
        ({"OTEL_TRACES_EXPORTER": ""}, None),
    ],
)
def test_what_cannot_be_is_said_once_and_nothing_is_sent(settings, says, monkeypatch, caplog):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert not start().on
    assert [one.message for one in caplog.records if "no traces" in one.message] == [
        one.message for one in caplog.records if says and says in one.message
    ]
    assert len(caplog.records) == (says is not None)


def test_a_missing_package_is_named_with_its_command(monkeypatch, caplog):
    """One warning; the server goes on."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    assert not start().on
    (said,) = [one.message for one in caplog.records]
    assert 'pip install "scrubjay[telemetry]"' in said


ASKED = """
import sys
import anyio
import mcp.types as types
import scrubjay
from mcp.client.client import Client
from mcp.server.lowlevel import Server
from scrubjay.surfaces.telemetry import start

telemetry = start()
store = scrubjay.open(sys.argv[1], embedder=False)
store.add("The zanzibar kettle whistles")
store.on_search = telemetry.searched

async def call(ctx, params):
    found = await anyio.to_thread.run_sync(store.search, params.arguments["query"])
    text = types.TextContent(type="text", text=str(len(found)))
    return types.CallToolResult(content=[text])

async def tools(ctx, params):
    return types.ListToolsResult(tools=[])

async def main():
    server = Server("test", on_call_tool=call, on_list_tools=tools)
    async with Client(server) as client:
        meta = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        said = await client.call_tool("memory_search", {"query": "zanzibar"}, meta=meta)
        print(said.content[0].text)

anyio.run(main)
with telemetry.request("GET", {}) as request:
    store.search("zanzibar")
    request.answered("GET", "/v1/{verb}", 200)
store.close()
telemetry.close()
"""


UNSAID = """
import sys
import anyio
import scrubjay
from mcp import Client, MCPError
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.mcp.server import make_server

kept = InMemorySpanExporter()
provider = TracerProvider(shutdown_on_exit=False)
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)

async def main(store):
    server = make_server(OpenStores(lambda _: store), lambda _: Principal())
    async with Client(server) as client:
        await client.call_tool("memory_search", {"query": "zanzibar"})
        await client.call_tool("memory_search", {"zanzibar": 1})
        for ask in (
            lambda: client.call_tool("zanzibar", {}),
            lambda: client.read_resource("scrubjay://memory/zanzibar"),
            lambda: client.get_prompt("zanzibar", {}),
            lambda: client.get_prompt("recap", {"zanzibar": "x"}),
        ):
            try:
                await ask()
            except MCPError:
                continue
            sys.exit("nothing was refused")

with scrubjay.open(sys.argv[1], embedder=False) as store:
    store.add("The zanzibar kettle whistles")
    anyio.run(main, store)
for one in kept.get_finished_spans():
    if one.kind == trace.SpanKind.SERVER:
        print(one.name, one.status.status_code.name, one.attributes.get("error.type"), sep=";")
print("zanzibar" in "".join(one.to_json() for one in kept.get_finished_spans()))
"""


def test_a_span_of_mcp_has_neither_texts_of_errors_nor_names_that_nobody_knows(tmp_path):
    """They hold what was asked; which kind of error it was is said."""
    done = subprocess.run(
        [sys.executable, "-c", UNSAID, str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    *spans, leaked = done.stdout.splitlines()
    assert leaked == "False"
    assert [one for one in spans if "/list" not in one and not one.startswith("server/")] == [
        "tools/call memory_search;UNSET;None",
        "tools/call memory_search;ERROR;tool_error",
        "tools/call;ERROR;-32602",
        "resources/read;ERROR;-32602",
        "prompts/get;ERROR;-32602",
        "prompts/get recap;ERROR;-32602",
    ]


def test_over_the_wire_from_mcp_and_http(tmp_path):
    """The SDK's own span, with the client's traceparent, is the parent of our stages; all come in time."""
    with receiver() as received:
        done = subprocess.run(
            [sys.executable, "-c", ASKED, str(tmp_path / "a.db")],
            env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": received.url},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
    assert received.services == {"scrubjay"}
    assert b"zanzibar" not in received.raw
    searches = {one.parent_span_id: one.trace_id for one in received.spans if one.name == "search"}
    by_id = {one.span_id: one for one in received.spans}
    assert {by_id[one].name for one in searches} == {
        "tools/call memory_search",
        "GET /v1/{verb}",
    }
    of_mcp, of_http = sorted(searches.values(), key=lambda one: one != TRACE.to_bytes(16, "big"))
    assert of_mcp == TRACE.to_bytes(16, "big")
    assert of_http != of_mcp
    stages = [one for one in received.spans if by_id.get(one.parent_span_id, one).name == "search"]
    assert {one.name for one in stages} >= {"keywords", "recall"}
    assert all(one.end_time_unix_nano >= one.start_time_unix_nano > 0 for one in stages)


def test_a_receiver_that_does_not_answer_is_not_waited_for(tmp_path):
    """A server stops all the same, within its bound."""
    code = """
import time
from scrubjay.surfaces.telemetry import start
telemetry = start()
with telemetry.request("GET", {}) as request:
    request.answered("GET", "/", 200)
began = time.monotonic()
telemetry.close(0.3)
print(time.monotonic() - began < 5)
"""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": url},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert (done.stdout, done.returncode) == ("True\n", 0)


def test_a_search_is_not_failed_by_what_watches_it(words_only: scrubjay.Store, caplog):
    """It is said in the log, without what was asked."""

    def broken(found: Results) -> None:
        raise ValueError(f"cannot cope with {found.query}")

    words_only.add("The kettle whistles", id="kettle")
    words_only.on_search = broken
    assert [hit.id for hit in words_only.search("kettle")] == ["kettle"]
    (said,) = [one.getMessage() for one in caplog.records]
    assert said.endswith(": ValueError")
