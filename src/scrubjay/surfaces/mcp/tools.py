"""The sets of tools that an agent may be given."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.mcp.chatgpt import FETCH, SEARCH
from scrubjay.surfaces.mcp.eight import COVERED, EIGHT
from scrubjay.surfaces.mcp.rest import rest
from scrubjay.surfaces.mcp.tool import Tool
from scrubjay.surfaces.options_mcp import TOOL_SETS

DEFAULT = TOOL_SETS[0]


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
