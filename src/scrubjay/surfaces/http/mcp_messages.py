"""What comes to `/mcp` is a message of JSON-RPC, or is told so in a sentence."""

from __future__ import annotations

import json

from scrubjay.surfaces.http.problems import Problem

_MOST_LOOKED_AT_BYTES = 65_536  # what is longer is somebody's memory, and the SDK reads it anyway
_PARTS = ("method", "result", "error")


def check_message(body: bytes) -> None:
    """Refuse JSON that is no message; of what is no JSON the SDK says so itself, but of this at length."""
    if len(body) > _MOST_LOOKED_AT_BYTES:
        return
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return
    if isinstance(read, dict) and read.get("jsonrpc") == "2.0" and _has_a_part(read):
        return
    raise Problem(
        "malformed",
        "this is no message of MCP; send one JSON object with jsonrpc, method, and an id where an answer"
        ' is wanted, such as {"jsonrpc": "2.0", "id": 1, "method": "ping"}',
    )


def _has_a_part(read: dict[str, object]) -> bool:
    if "method" in read and not isinstance(read["method"], str):
        return False
    return any(one in read for one in _PARTS)
