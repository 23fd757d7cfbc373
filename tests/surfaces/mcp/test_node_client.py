"""The same server, asked by a client that shares no code with it: the SDK for TypeScript, in Node.js."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tools.servers import CannotRun
from tools.servers.programs import mcp_client, on_linux_x64

SCRIPT = Path(__file__).with_name("client.mjs")
PATIENCE_S = 120


@pytest.fixture(scope="module")
def node() -> list[str]:
    """The command that asks a server; where Node.js cannot be had this is skipped, but never in CI."""
    try:
        folder = mcp_client()
    except CannotRun as error:
        if "CI" in os.environ or on_linux_x64():
            raise
        pytest.skip(str(error))
    return [str(shutil.which("node")), str(SCRIPT), str(folder)]


def said_to(node: list[str], era: str, where: list[str], environment: dict[str, str]) -> Any:
    """Ask everything of a server that is started by a command, or that is at a URL."""
    done = subprocess.run(
        [*node, era, *where],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(said: Any, era: str) -> None:
    """Every answer is what it should be, and was valid under the schemas that were listed."""
    assert said["version"] == era
    assert len(said["tools"]) == 8
    (hit,) = said["found"]["structuredContent"]["hits"]
    assert hit["id"] == said["stored"]["structuredContent"]["memory"]["id"]
    assert hit["text"] == "The kettle whistles at eight"
    assert hit["why"]
    assert said["found"]["structuredContent"]["trace"]
    assert said["refused"]["isError"] is True
    assert "did you mean 'query'" in said["refused"]["content"][0]["text"]
    assert "memory_search" in said["unknown"]
    assert "scrubjay://status" in said["resources"]
    assert "The kettle whistles at eight" in said["memory"]["contents"][0]["text"]
    assert "The kettle whistles at eight" in said["prompt"]["messages"][0]["content"]["text"]
    assert said["forgotten"]["structuredContent"]["forgotten"] == 1


@pytest.fixture
def url(tmp_path: Path, process_environment: dict[str, str]) -> Iterator[str]:
    """The address of `/mcp` on a server that is there for one test."""
    pytest.importorskip("scrubjay.surfaces.cli.serve")
    words = ["serve", "--no-auth", "--port", "0", "--json", "--db", str(tmp_path / "served.db")]
    with subprocess.Popen(
        [sys.executable, "-m", "scrubjay", *words],
        env=process_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdout
        yield json.loads(server.stdout.readline())["url"] + "/mcp"
        server.terminate()


@pytest.mark.slow
def test_both_clients_get_the_same_over_http(node, url, process_environment, era):
    """The SDK's own and the other one, in both eras, at one server."""
    check(said_to(node, era, [url], process_environment), era)

    async def talk() -> None:
        async with Client(url, mode="legacy" if era < "2026" else "auto") as client:
            assert client.protocol_version == era
            await client.call_tool("memory_store", {"text": "Ann drinks tea"})
            found = await client.call_tool("memory_search", {"query": "tea"})
            assert found.structured_content["hits"][0]["text"] == "Ann drinks tea"

    anyio.run(talk)


@pytest.mark.slow
def test_another_client_gets_the_same_over_pipes(node, command, process_environment, era):
    """In both eras."""
    check(said_to(node, era, command, process_environment), era)
