"""Agents that scrubjay can be connected to: their settings, instructions, and form of an MCP entry.

Checked against Claude Code 2.1, Codex 0.169, OpenCode 1.18 and Gemini CLI 0.61, which list an entry that is
written here; the others by their documentation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Entry = dict[str, Any]


class Machine(NamedTuple):
    """What decides where settings are: the platform, the home folder, the environment."""

    platform: str
    home: str
    env: Mapping[str, str]

    def at_home(self, *parts: str) -> str:
        return os.path.join(self.home, *parts)

    def chosen(self, variable: str, *default: str) -> str:
        """Return the folder that a variable names, or one below the home folder."""
        return os.path.expanduser(self.env.get(variable) or self.at_home(*default))

    def xdg(self, *parts: str) -> str:
        """Return a path in the folder for settings that programs for Linux use, on every platform."""
        chosen = self.env.get("XDG_CONFIG_HOME", "")
        base = chosen if os.path.isabs(chosen) else self.at_home(".config")
        return os.path.join(base, *parts)

    def of_apps(self, *parts: str) -> str:
        """Return a path in the folder for settings of desktop programs."""
        if self.platform == "win32":
            roaming = self.env.get("APPDATA") or self.at_home("AppData", "Roaming")
            return os.path.join(roaming, *parts)
        if self.platform == "darwin":
            return self.at_home("Library", "Application Support", *parts)
        return self.xdg(*parts)


class Agent(NamedTuple):
    """One agent. It is present if one of `signs` exists. `key` holds its MCP servers in its settings, which
    are JSON, or TOML by their ending. `instructions` is a file that it reads in every conversation."""

    name: str
    title: str
    signs: tuple[str, ...]
    settings: str
    key: str
    entry: Callable[[Sequence[str]], Entry]
    instructions: str | None = None

    @property
    def is_present(self) -> bool:
        return any(map(os.path.exists, self.signs))


def this_machine() -> Machine:
    return Machine(sys.platform, os.path.expanduser("~"), os.environ)


def agents(machine: Machine) -> dict[str, Agent]:
    """Return every agent by its name, with its paths on a machine."""
    codex = machine.chosen("CODEX_HOME", ".codex")
    cursor = machine.at_home(".cursor")
    desktop, code = machine.of_apps("Claude"), machine.of_apps("Code")
    gemini = machine.at_home(".gemini")
    opencode = machine.xdg("opencode")
    windsurf = machine.at_home(".codeium", "windsurf")
    # On macOS, too.
    zed = machine.of_apps("Zed") if machine.platform == "win32" else machine.xdg("zed")
    found = (
        _claude_code(machine),
        Agent(
            "claude-desktop",
            "Claude Desktop",
            (desktop,),
            os.path.join(desktop, "claude_desktop_config.json"),
            "mcpServers",
            _plain,
        ),
        Agent(
            "codex",
            "Codex",
            (codex,),
            os.path.join(codex, "config.toml"),
            "mcp_servers",
            _plain,
            os.path.join(codex, "AGENTS.md"),
        ),
        Agent(
            "cursor", "Cursor", (cursor,), os.path.join(cursor, "mcp.json"), "mcpServers", _plain
        ),
        Agent(
            "vscode",
            "VS Code",
            (code,),
            os.path.join(code, "User", "mcp.json"),
            "servers",
            _typed,
        ),
        Agent(
            "windsurf",
            "Windsurf",
            (windsurf,),
            os.path.join(windsurf, "mcp_config.json"),
            "mcpServers",
            _plain,
            os.path.join(windsurf, "memories", "global_rules.md"),
        ),
        Agent(
            "zed",
            "Zed",
            (zed,),
            os.path.join(zed, "settings.json"),
            "context_servers",
            _custom,
            os.path.join(zed, "AGENTS.md"),
        ),
        Agent(
            "opencode",
            "OpenCode",
            (opencode,),
            _first_of(opencode, "opencode.jsonc", "opencode.json"),
            "mcp",
            _local,
            os.path.join(opencode, "AGENTS.md"),
        ),
        Agent(
            "gemini",
            "Gemini CLI",
            (gemini,),
            os.path.join(gemini, "settings.json"),
            "mcpServers",
            _plain,
            os.path.join(gemini, "GEMINI.md"),
        ),
    )
    return {agent.name: agent for agent in found}


def _claude_code(machine: Machine) -> Agent:
    folder = machine.chosen("CLAUDE_CONFIG_DIR", ".claude")
    moved = bool(machine.env.get("CLAUDE_CONFIG_DIR"))
    settings = os.path.join(folder if moved else machine.home, ".claude.json")
    earlier = os.path.join(folder, ".config.json")  # it is still read where it exists
    settings = earlier if os.path.exists(earlier) else settings
    instructions = os.path.join(folder, "CLAUDE.md")
    signs = (folder, settings)
    return Agent("claude-code", "Claude Code", signs, settings, "mcpServers", _typed, instructions)


def _first_of(folder: str, *names: str) -> str:
    """Return the first of these files that exists, else the last."""
    paths = [os.path.join(folder, name) for name in names]
    return next((path for path in paths if os.path.exists(path)), paths[-1])


def _plain(command: Sequence[str]) -> Entry:
    return {"command": command[0], "args": [*command[1:]]}


def _typed(command: Sequence[str]) -> Entry:
    return {"type": "stdio", **_plain(command)}


def _custom(command: Sequence[str]) -> Entry:
    return {"source": "custom", **_plain(command), "env": {}}


def _local(command: Sequence[str]) -> Entry:
    return {"type": "local", "command": [*command], "enabled": True}
