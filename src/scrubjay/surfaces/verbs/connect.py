"""The command `connect`; it edits files of this machine, so it is no verb of a store."""

from __future__ import annotations

from scrubjay.surfaces.verbs import Command, Param
from scrubjay.surfaces.verbs.kinds import FLAG, choice

AGENTS = (
    *("claude-code", "claude-desktop", "codex", "cursor", "vscode", "windsurf", "zed", "opencode"),
    "gemini",
)
COMMANDS = (
    Command(
        "connect",
        "let an agent use your store: edit its settings and instructions",
        (
            Param("agent", choice(*AGENTS), ", ".join(AGENTS), usage="[agent]"),
            Param("list", FLAG, "list the agents, and which are on this machine and connected"),
            Param("undo", FLAG, "take back what connect added, and nothing else"),
            Param("dry_run", FLAG, "print the changes as a diff, and change nothing"),
        ),
        run="connect:connect",
        description="Let an agent use your store: add `scrubjay mcp` to the MCP servers in its settings, and"
        " lines to its CLAUDE.md or AGENTS.md that make it use its memory. Everything else in these files"
        " stays as it is, comments too, and a copy is kept beside each. With --db, --user or --tenant the"
        " agent gets that store.",
    ),
)
