"""The doors as processes of their own: an MCP server on its pipes, and a server over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

_PATIENCE_S = 60.0
_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    }
}
# The least that the SDK can be: no tool, no store, nothing of ours.
EMPTY = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult

async def no_tools(context, params):
    return ListToolsResult(tools=[])

async def main():
    server = Server("empty", on_list_tools=no_tools)
    async with stdio_server() as (heard, said):
        await server.run(heard, said, server.create_initialization_options())

anyio.run(main)
"""


class Piped:
    """An MCP server that one client talks to over pipes."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
        )
        self.pid = self._popen.pid
        self._asked = 0

    def initialize(self) -> Any:
        """Shake hands as clients before 2026-07-28 do."""
        answer = self.ask("initialize", _HELLO)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def discover(self) -> Any:
        """Ask what the server is, as clients since 2026-07-28 do."""
        return self.ask("server/discover", _ENVELOPE)

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send a request and return its result."""
        self._asked += 1
        sent: dict[str, Any] = {"jsonrpc": "2.0", "id": self._asked, "method": method}
        self._write(sent | ({} if params is None else {"params": params}))
        assert self._popen.stdout is not None
        while line := self._popen.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._asked:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
        raise RuntimeError(f"the server ended before it answered {method}")

    def search(self, query: str) -> None:
        """Search by meaning: again, as long as the model is being loaded."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            asked = {"name": "memory_search", "arguments": {"query": query}}
            if not lacks_meaning(self.ask("tools/call", asked)):
                return
            if time.monotonic() > until:
                raise RuntimeError("the model was not loaded")
            time.sleep(0.05)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.close()
        try:
            self._popen.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._popen.stdout.close()

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._popen.stdin is not None
        self._popen.stdin.write(json.dumps(message).encode() + b"\n")
        self._popen.stdin.flush()


class Served:
    """`scrubjay serve` over one store, on any free port."""

    def __init__(self, database: Path, env: Mapping[str, str]) -> None:
        self._popen = subprocess.Popen(
            [*SCRUBJAY, "serve", "--no-auth", "--port", "0", "--json", "--db", str(database)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
        )
        assert self._popen.stdout is not None
        told = json.loads(self._popen.stdout.readline())
        self.url: str = told["url"]
        self.pid: int = told["pid"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._popen.stdout is not None
        self._popen.terminate()
        try:
            self._popen.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._popen.stdout.close()


SCRUBJAY = (sys.executable, "-m", "scrubjay")


def lacks_meaning(answer: object) -> bool:
    """True where an answer says that a model is not there yet."""
    said = json.dumps(answer)
    # By static vectors, a search without the model has a meaning, but not that of the model.
    return "searched by word" in said or "is being loaded" in said


def environment(bytecode: Path) -> dict[str, str]:
    """Return an environment in which byte code is kept, as it is for an installed package."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(bytecode)}
