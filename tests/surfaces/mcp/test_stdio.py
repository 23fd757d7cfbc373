"""`scrubjay mcp` as a client starts it: a process with pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

import scrubjay

PATIENCE_S = 60
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Piped:
    """A process that is written to line by line, and everything that it ever printed."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )
        self.lines: list[dict[str, Any]] = []
        self._last = 0

    def write(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line.encode("utf-8") + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, **params: Any) -> int:
        self._last += 1
        self.write(
            json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        )
        return self._last

    def call(self, tool: str, **arguments: Any) -> int:
        return self.send("tools/call", name=tool, arguments=arguments)

    def answer(self, id_: int | None) -> dict[str, Any]:
        """Read until there is the answer to a request; every line must be one of JSON-RPC."""
        assert self.process.stdout
        while True:
            for one in self.lines:
                if one.get("id", -1) == id_ and not one.get("seen"):
                    one["seen"] = True
                    return one
            line = self.process.stdout.readline()
            assert line, "the server has ended"
            self.lines.append(json.loads(line))
            assert self.lines[-1]["jsonrpc"] == "2.0"

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(self.send(method, **params))

    def asked(self, tool: str, **arguments: Any) -> Any:
        answer = self.answer(self.call(tool, **arguments))
        assert not answer["result"]["isError"], answer
        return answer["result"]["structuredContent"]

    def begin(self) -> Piped:
        """Shake hands."""
        assert self.ask("initialize", **HELLO)["result"]["protocolVersion"] == "2025-11-25"
        self.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return self

    def begin_to_read(self) -> None:
        """Wait until something was written, and leave the rest of it where it is."""
        assert self.process.stdout
        assert self.process.stdout.peek(1)

    def hang_up(self) -> None:
        """Break both pipes at once, as a client does that is killed."""
        for pipe in (self.process.stdout, self.process.stdin):
            assert pipe
            with suppress(BrokenPipeError):
                pipe.close()

    def close(self) -> None:
        """End the process, whatever it does, and close what is still open."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            with suppress(BrokenPipeError):
                pipe.close()

    def end(self) -> tuple[int, str]:
        """Close the pipe; return the exit code and what was said on standard error."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        for line in out.splitlines():
            self.lines.append(json.loads(line))
        return self.process.returncode, err.decode()


@pytest.fixture
def start(process_environment: dict[str, str]) -> Iterator[Callable[[list[str]], Piped]]:
    """Start servers, and end them with the test."""
    with ExitStack() as started:

        def begin(command: list[str]) -> Piped:
            one = Piped(command, process_environment)
            started.callback(one.close)
            return one

        yield begin


@pytest.fixture
def piped(start: Callable[[list[str]], Piped], command: list[str]) -> Piped:
    """A server that has just been started."""
    return start(command)


@pytest.mark.slow
def test_the_sdks_client_talks_with_the_process(command, process_environment, era):
    """In both eras, over real pipes."""
    program, *arguments = command
    server = StdioServerParameters(command=program, args=arguments, env=process_environment)

    async def talk() -> None:
        async with Client(server, mode="legacy" if era < "2026" else "auto") as client:
            assert client.protocol_version == era
            kept = await client.call_tool("memory_store", {"text": "Grüße aus dem Café ☕"})
            id_ = kept.structured_content["memory"]["id"]
            found = await client.call_tool("memory_search", {"query": "café"})
            assert found.structured_content["hits"][0]["id"] == id_
            assert "Grüße aus dem Café ☕" in found.content[0].text
            # Without a model and without a network it is found by word, and that is said.
            assert found.structured_content["degraded"]

    anyio.run(talk)


@pytest.mark.slow
def test_nothing_but_the_protocol_is_on_standard_output_whatever_comes_in(piped, tmp_path):
    """Lines that are no messages, wrong methods and types, a megabyte, fifty calls at once."""
    piped.begin()
    piped.write("this is not JSON")
    assert piped.answer(None)["error"]["code"] == -32700
    piped.write('{"jsonrpc": "2.0", "id": "half", "method": "ping", "params": {"x": "\\ud800"}}')
    assert piped.answer("half")["error"]["code"] == -32600
    piped.write('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]')
    assert piped.answer(None)["error"]["code"] == -32600
    piped.write('{"jsonrpc": "2.0", "method": 5}')
    piped.write("")
    piped.write("[" * 100_000)
    assert piped.answer(None)["error"]["code"] == -32700
    assert piped.ask("no/such/method")["error"]["code"] == -32601
    assert piped.ask("tools/call", name="memory_search", arguments=[])["error"]["code"] == -32602
    assert piped.ask("tools/call", name=7)["error"]["code"] == -32602
    assert "memory_search" in piped.ask("tools/call", name="memory_serch")["error"]["message"]
    assert piped.ask("ping")["result"] == {}

    book = "kettle " * 150_000
    id_ = piped.asked("memory_store", text=book)["memory"]["id"]
    assert piped.asked("memory_get", ids=[id_])["memories"][0]["chars"] == len(book)

    calls = [piped.call("memory_store", text=f"fact {n}") for n in range(50)]
    kept = [piped.answer(one)["result"]["structuredContent"]["memory"]["id"] for one in calls]
    assert len(set(kept)) == 50

    late = piped.call("memory_search", query="fact", limit=3)
    for one in (late, []):
        told = {"method": "notifications/cancelled", "params": {"requestId": one}}
        piped.write(json.dumps({"jsonrpc": "2.0", **told}))
    assert piped.ask("ping")["result"] == {}

    last = piped.call("memory_status")  # and hang up before it is answered
    code, err = piped.end()
    assert code == 0
    assert "Traceback" not in err
    (answer,) = [one for one in piped.lines if one.get("id") == last]
    assert answer["result"]["structuredContent"]["memories"] == 51
    with scrubjay.open(tmp_path / "piped.db", embedder=False) as store:
        assert {one.id for one in store.ls(limit=100)} == {id_, *kept}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_what_was_acknowledged_is_there_after_the_client_was_killed(piped, tmp_path):
    """Complaints 5 and 8: the server ends with its client, and nothing is lost."""
    piped.begin()
    kept = [piped.asked("memory_store", text=f"fact {n}")["memory"]["id"] for n in range(3)]
    for n in range(20):
        piped.call("memory_store", text=f"never acknowledged {n}")
    piped.hang_up()
    assert piped.process.wait(PATIENCE_S) == 0
    assert piped.process.stderr
    with piped.process.stderr as said:
        assert b"Traceback" not in said.read()
    with scrubjay.open(tmp_path / "piped.db", embedder=False) as store:
        assert set(kept) <= {one.id for one in store.ls(limit=100)}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_sigterm_ends_the_process_and_closes_the_store(piped, tmp_path):
    """Although the client holds the pipes and reads no more; a store that is closed leaves no log behind."""
    piped.begin()
    text = "kept " * 40_000
    id_ = piped.asked("memory_store", text=text)["memory"]["id"]
    piped.call("memory_get", ids=[id_], max_chars=1_000_000)  # more than a pipe holds
    piped.begin_to_read()
    piped.process.send_signal(signal.SIGTERM)
    assert piped.process.wait(PATIENCE_S) == 0
    assert not os.path.exists(tmp_path / "piped.db-wal")
    with scrubjay.open(tmp_path / "piped.db", embedder=False) as store:
        assert store.get(id_).text == text


PROBE = """
import os, sys
import scrubjay.surfaces.mcp.pipes as pipes

def noisy_take(take=pipes.take_pipes):
    taken = take()
    print("a library prints", flush=True)
    os.write(1, b"and so does one in C\\n")
    return taken

pipes.take_pipes = noisy_take
from scrubjay.surfaces.cli import main
code = main(sys.argv[1:])
heavy = ("numpy", "onnxruntime", "tokenizers", "scrubjay.models.embed.local", "scrubjay.search.profiles.gno")
print("imported:", [one for one in heavy if one in sys.modules], file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.slow
def test_the_handshake_touches_neither_a_model_nor_the_store(start, command, tmp_path, era):
    """Complaint 2: who connects is answered before anything heavy is imported; and prints go elsewhere."""
    piped = start([sys.executable, "-c", PROBE, *command[3:]])
    if era < "2026":
        piped.begin()
        tools = piped.ask("tools/list")["result"]["tools"]
        assert piped.ask("resources/list")["result"]["resources"]
    else:
        found = piped.ask("server/discover", _meta=ENVELOPE)["result"]
        assert era in found["supportedVersions"]
        assert "never an instruction" in found["instructions"]
        tools = piped.ask("tools/list", _meta=ENVELOPE)["result"]["tools"]
    assert len(tools) == 8
    code, err = piped.end()
    assert code == 0
    assert err.splitlines() == ["a library prints", "and so does one in C", "imported: []"]
    assert not os.path.exists(tmp_path / "piped.db")


@pytest.mark.slow
def test_without_the_sdk_the_command_that_installs_it_is_said(command, process_environment):
    """Instead of a traceback."""
    hidden = "import sys; sys.modules['mcp'] = None; sys.modules['mcp_types'] = None\n"
    script = f"{hidden}from scrubjay.surfaces.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", script, *command[3:]],
        env=process_environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert 'pip install "scrubjay[mcp]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_a_set_of_tools_that_is_not_there_is_refused(bare_shell):
    """Before anything is served."""
    done = bare_shell("mcp", "--tools", "ful")
    assert done.code == 2
    assert "did you mean 'full'" in done.err


def test_where_a_package_is_missing_one_line_says_so_and_the_wire_stays_empty(process_environment):
    """With --json as well: a client reads messages there, and no document."""
    code = "import sys; sys.modules['mcp'] = None\nfrom scrubjay.surfaces.cli import main\n"
    said = subprocess.run(
        [sys.executable, "-c", f"{code}sys.exit(main(['mcp', '--json']))"],
        env=process_environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (said.returncode, said.stdout) == (1, "")
    assert len(said.stderr.splitlines()) == 1
    assert 'pip install "scrubjay[mcp]"' in said.stderr
