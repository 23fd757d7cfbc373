"""What `mcp` takes."""

from __future__ import annotations

import argparse

TOOL_SETS = ("default", "read", "chatgpt", "full")


def mcp_options(command: argparse.ArgumentParser) -> None:
    """Choose which tools an agent is given."""
    command.description = (
        "Serve the store to an agent, as tools over standard input and output, until it hangs up."
    )
    tools_option(command)


def tools_option(command: argparse.ArgumentParser) -> None:
    """Name a set of tools."""
    command.add_argument(
        "--tools",
        choices=TOOL_SETS,
        default="default",
        help="eight of them; those that only read; search and fetch alone; or every verb (default)",
    )
