"""Clients of the MCP server: the SDK's own, in this process, and as a process with pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fakes import HashingEmbedder
from mcp import Client

import scrubjay
from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.mcp.server import make_server

UNRESTRICTED = Principal()
SRC = str(Path(scrubjay.__file__).parent.parent)


class Asked:
    """A client of the SDK, asked without `await`."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)
        return lambda *given, **named: self.portal.call(lambda: method(*given, **named))

    def call(self, name: str, **arguments: Any) -> Any:
        """Call a tool that must not fail, and return its structured content."""
        answer = self.call_tool(name, arguments)
        assert not answer.is_error, answer.content[0].text
        return answer.structured_content

    def told(self, name: str, **arguments: Any) -> str:
        """Call a tool that must not fail, and return its words."""
        answer = self.call_tool(name, arguments)
        assert not answer.is_error, answer.content[0].text
        return str(answer.content[0].text)

    def refused(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool that must fail, and return why."""
        answer = self.call_tool(name, arguments)
        assert answer.is_error
        assert answer.structured_content is None
        return str(answer.content[0].text)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[scrubjay.Store]:
    """The store that clients in this process are served from."""
    with scrubjay.open(tmp_path / "served.db", embedder=HashingEmbedder()) as opened:
        yield opened


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    """A loop in a thread of its own."""
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture(params=["2026-07-28", "2025-11-25"])
def era(request: pytest.FixtureRequest) -> str:
    """Both versions of the protocol."""
    return str(request.param)


@pytest.fixture
def connect(store: scrubjay.Store, portal: BlockingPortal) -> Iterator[Callable[..., Asked]]:
    """Connect a client to a server with some tools, as somebody, in an era."""
    with ExitStack() as opened:

        def connected(
            tools: str = "default", who: Principal = UNRESTRICTED, era: str = "2026-07-28"
        ) -> Asked:
            server = make_server(OpenStores(lambda _: store), lambda _: who, tools)
            client = Client(server, mode="legacy" if era < "2026" else "auto")
            made = opened.enter_context(portal.wrap_async_context_manager(client))
            assert made.protocol_version == era
            return Asked(portal, made)

        yield connected


@pytest.fixture
def asked(connect: Callable[..., Asked]) -> Asked:
    """A client with the default tools."""
    return connect()


@pytest.fixture
def full(connect: Callable[..., Asked]) -> Asked:
    """A client with every tool."""
    return connect("full")


@pytest.fixture
def process_environment(home: Path) -> dict[str, str]:
    """Where a `scrubjay mcp` of a test lives."""
    path = os.pathsep.join([SRC, os.environ["PYTHONPATH"]])
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "ascii"}


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """A `scrubjay mcp` with a store of its own."""
    return [sys.executable, "-m", "scrubjay", "mcp", "--db", str(tmp_path / "piped.db")]
