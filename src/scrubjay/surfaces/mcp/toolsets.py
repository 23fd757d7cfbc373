"""Tool sets that an agent may be given, and hints for wrong tool names."""

from __future__ import annotations

from collections.abc import Callable

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.mcp import compact, text
from scrubjay.surfaces.mcp.chatgpt import FETCH, SEARCH
from scrubjay.surfaces.mcp.default_tools import COVERED, DEFAULT_TOOLS
from scrubjay.surfaces.mcp.tool import Hints, Tool
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import READ, Given, Verb
from scrubjay.surfaces.verbs.operate import TOOL_SETS
from scrubjay.surfaces.verbs.table import VERBS
from scrubjay.text.validation import did_you_mean

DEFAULT = TOOL_SETS[0]
# Words in the names of other memories' tools, and our tool for them.
_SYNONYMS = {
    "memory_search": "search recall find query lookup retrieve",
    "memory_get": "get read fetch show open",
    "memory_store": "store add save remember create write put insert new",
    "memory_update": "update edit change modify correct replace",
    "memory_forget": "forget delete remove erase drop",
    "memory_context": "context landscape overview list ls",
    "memory_feedback": "feedback rate rating",
    "memory_status": "status info stats health",
}
# Compact form and text of the answers of further verbs, by their schema.
_FORMS: dict[str, tuple[Callable[[Json, Given], Json], Callable[[Json, Given], str]]] = {
    "memories": (compact.listed, text.listed),
    "marked": (compact.listed, text.listed),
    "said": (compact.stored, text.stored),
}


def tools_of(name: str) -> list[Tool]:
    """Return the tools of a set, always in the same order, so that a client can cache them."""
    match name:
        case "default":
            return list(DEFAULT_TOOLS)
        case "read":
            return [tool for tool in DEFAULT_TOOLS if tool.hints.reads]
        case "chatgpt":
            return [SEARCH, FETCH]
        case "full":
            others = [_tool_for(verb) for name, verb in VERBS.items() if name not in COVERED]
            return [*DEFAULT_TOOLS, SEARCH, FETCH, *others]
    raise InvalidInput(f"no tool set {name!r}; the tool sets are {', '.join(TOOL_SETS)}")


def _tool_for(verb: Verb) -> Tool:
    words = verb.name.replace("_", " ").replace("/", " ")
    return Tool(
        f"memory_{verb.name.replace('/', '_')}",
        words.capitalize(),
        verb.help,
        verb,
        *_FORMS.get(verb.answer, (compact.anything, text.data)),
        # Every verb that writes may delete something: the verb does not tell, so a client had better ask.
        hints=Hints(reads=verb.scope == READ, destroys=verb.scope != READ),
    )


def unknown_tool(name: str, known: list[str]) -> str:
    """Return the error for an unknown tool, with the name that was probably meant or the set that has it."""
    short = name[:100]
    if meant := _meant(short, known):
        return f"no tool {short!r} (did you mean {meant!r}?); see tools/list"
    if any(short == tool.name for tool in tools_of("full")):
        return f"no tool {short!r} here; the tool set full has it (scrubjay mcp --tools full)"
    return f"no tool {short!r}{did_you_mean(short, known)}; see tools/list"


def _meant(name: str, known: list[str]) -> str:
    words = name.lower().replace("-", "_").split("_")
    for ours, synonyms in _SYNONYMS.items():
        if ours in known and any(word in synonyms.split() for word in words):
            return "memory_ls" if {"list", "ls"} & set(words) and "memory_ls" in known else ours
    return ""
