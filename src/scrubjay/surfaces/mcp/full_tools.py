"""Every other verb of the store as a tool, for agents that are to do all that a person can."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scrubjay.surfaces.mcp import compact as lean
from scrubjay.surfaces.mcp import text as told
from scrubjay.surfaces.mcp import text_done as told_done
from scrubjay.surfaces.mcp.tool import Hints, Tool
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import READ, Given, Verb
from scrubjay.surfaces.verbs.table import VERBS

# By what a verb answers: how that is made small, and put into words.
_FORMS: dict[str, tuple[Callable[[Json, Given], Json], Callable[[Json, Given], str]]] = {
    "memories": (lean.listed, told.listed),
    "marked": (lean.listed, told.listed),
    "said": (lean.stored, told_done.stored),
}


def rest(taken: Iterable[str]) -> list[Tool]:
    """Return a tool for each verb that has none yet, in the order of their table."""
    has_one = set(taken)
    return [_tool(verb) for name, verb in VERBS.items() if name not in has_one]


def _tool(verb: Verb) -> Tool:
    words = verb.name.replace("_", " ").replace("/", " ")
    return Tool(
        f"memory_{verb.name.replace('/', '_')}",
        words.capitalize(),
        verb.told,
        verb,
        *_FORMS.get(verb.answer, (lean.anything, told.data)),
        # Of a verb that writes, a client had better ask: nothing here says what it takes away.
        hints=Hints(reads=verb.scope == READ, destroys=verb.scope != READ),
    )
