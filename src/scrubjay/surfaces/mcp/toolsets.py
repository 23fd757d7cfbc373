"""The sets of tools that an agent may be given."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.mcp.chatgpt import FETCH, SEARCH
from scrubjay.surfaces.mcp.default_tools import COVERED, EIGHT
from scrubjay.surfaces.mcp.full_tools import rest
from scrubjay.surfaces.mcp.tool import Tool
from scrubjay.surfaces.verbs.operate import TOOL_SETS
from scrubjay.text.validation import did_you_mean

DEFAULT = TOOL_SETS[0]
# What tools of other memories are called, and which of ours does that.
_MEANT = {
    "memory_search": "search recall find query lookup retrieve",
    "memory_get": "get read fetch show open",
    "memory_store": "store add save remember create write put insert new",
    "memory_update": "update edit change modify correct replace",
    "memory_forget": "forget delete remove erase drop",
    "memory_context": "context landscape overview list ls",
    "memory_feedback": "feedback rate rating",
    "memory_status": "status info stats health",
}


def tools_of(name: str) -> list[Tool]:
    """Return the tools of a set, always in the same order: a model that has read them reads them once."""
    match name:
        case "default":
            return list(EIGHT)
        case "read":
            return [one for one in EIGHT if one.hints.reads]
        case "chatgpt":
            return [SEARCH, FETCH]
        case "full":
            return [*EIGHT, SEARCH, FETCH, *rest(COVERED)]
    raise InvalidInput(f"there is no set of tools {name!r}; the sets are {', '.join(TOOL_SETS)}")


def no_tool(name: str, known: list[str]) -> str:
    """Say that there is no such tool, and which was probably meant, or which set has it."""
    asked = name[:100]
    said = f"there is no tool {asked!r}"
    meant = _meant(asked, known)
    if meant:
        return f"{said} (did you mean {meant!r}?); see tools/list"
    if any(asked == one.name for one in tools_of("full")):
        return f"{said} here; the set full has it (scrubjay mcp --tools full)"
    return f"{said}{did_you_mean(asked, known)}; see tools/list"


def _meant(name: str, known: list[str]) -> str:
    words = name.lower().replace("-", "_").split("_")
    for ours, others in _MEANT.items():
        if ours in known and any(word in others.split() for word in words):
            return "memory_ls" if {"list", "ls"} & set(words) and "memory_ls" in known else ours
    return ""
