"""What may be typed after `serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.options.mcp import TOOL_SETS

if TYPE_CHECKING:
    from argparse import ArgumentParser


def serve_options(command: ArgumentParser) -> None:
    """Add the options of `serve`."""
    command.description = (
        "Serve the store over HTTP (/v1), over MCP (/mcp) and as a page, whose link it prints, until Ctrl-C."
        " Only this machine can reach it, unless --host says otherwise, which needs a token: scrubjay token"
        " create NAME, with the same --db and --tenant. With --tenant it serves that tenant alone, and takes"
        " only tokens for it."
    )
    for name, of, told in (
        ("--host", "HOST", "an address or a name of this machine (127.0.0.1)"),
        ("--port", "PORT", "0: any that is free (8765)"),
        ("--tools", "SET", f"tools of /mcp: {', '.join(TOOL_SETS)} (default)"),
        ("--rate", "N", "requests a second of one token (100; without tokens: any number)"),
        ("--max-body-mb", "MB", "the largest request (10)"),
    ):
        command.add_argument(name, metavar=of, default=None, help=told)
    command.add_argument(
        "--allow-host",
        action="append",
        dest="allow_hosts",
        metavar="NAME",
        default=None,
        help="another name of this server, as in a browser's address; repeatable",
    )
