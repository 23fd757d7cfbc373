"""Formats of other products that can be imported and exported, by name."""

from __future__ import annotations

from difflib import get_close_matches

from scrubjay.errors import InvalidInput

# Folders of Markdown are followed, as every ingested folder is.
FOLDERS = {
    "obsidian": "a vault of Obsidian",
    "basic-memory": "a project of Basic Memory",
}
FORMATS = {
    "mcp-memory": "memory.jsonl of the reference MCP memory server",
    "mem0": "JSON of mem0's get_all",
    "claude-code": "transcripts of Claude Code, such as ~/.claude/projects",
    "codex": "transcripts of Codex, such as ~/.codex/sessions",
    "chatgpt": "the export of ChatGPT, as ZIP, folder or conversations.json",
    "claude": "the export of Claude, as ZIP, folder or conversations.json",
    "claude-mem": "the database of claude-mem, such as ~/.claude-mem",
    "chroma": "a local Chroma database, also of MemPalace",
    **FOLDERS,
}
EXPORTED = ("jsonl", "md", "mem0")


def check_format(name: object) -> str:
    """Return the name of a format to import; refuse an unknown one."""
    if isinstance(name, str) and name in FORMATS:
        return name
    near = get_close_matches(str(name), FORMATS, 1)
    hint = f"did you mean {near[0]}?" if near else f"formats are {', '.join(FORMATS)}"
    raise InvalidInput(f"there is no format {name!r} to import; {hint}")
