"""What a client may read without a tool: how the store is, what is in it, one memory, one profile."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import mcp_types as types

from scrubjay.errors import NotFound
from scrubjay.surfaces.mcp import text as told
from scrubjay.surfaces.mcp.compact import lean, memories
from scrubjay.surfaces.render.json import line, plain
from scrubjay.surfaces.render.redaction import shown

if TYPE_CHECKING:
    from scrubjay.store import Store

_JSON, _TEXT = "application/json", "text/markdown"
_MEMORY, _PROFILE = "scrubjay://memory/{id}", "scrubjay://profile/{name}"
_MOST_COMPLETED = 100
_KNOWN = {
    "status": (_JSON, "Status", "How much is stored, which model is used, and what is pending."),
    "landscape": (_TEXT, "Landscape", "What is stored, in few words, to begin with."),
    "profiles": (_JSON, "Profiles", "The ways of searching, each with a line on what it does."),
}


def listed() -> list[types.Resource]:
    """Return the resources that are always there."""
    return [
        types.Resource(
            uri=f"scrubjay://{name}", name=name, title=title, description=about, mime_type=kind
        )
        for name, (kind, title, about) in _KNOWN.items()
    ]


def templates() -> list[types.ResourceTemplate]:
    """Return how one memory and one profile are addressed."""
    return [
        types.ResourceTemplate(
            uri_template=_MEMORY,
            name="memory",
            title="A memory",
            description="The whole of one memory, by the id that a search gave.",
            mime_type=_TEXT,
        ),
        types.ResourceTemplate(
            uri_template=_PROFILE,
            name="profile",
            title="A profile",
            description="The stages of one way of searching, with their numbers.",
            mime_type=_JSON,
        ),
    ]


def read(store: Store, *, uri: str, told_all: bool = True) -> types.TextResourceContents:
    """Return what is at an address; NotFound where there is nothing.

    Without `told_all` the status does not say where the store is.
    """
    head, _, rest = uri.removeprefix("scrubjay://").partition("/")
    if not uri.startswith("scrubjay://") or bool(rest) != (head in ("memory", "profile")):
        raise NotFound(f"there is no resource {uri[:100]!r}; see resources/list")
    if head == "memory":
        return _contents(uri, _TEXT, _memory(store, unquote(rest)))
    if head == "profile":
        return _contents(uri, _JSON, _profile(unquote(rest)))
    if head == "landscape":
        return _contents(uri, _TEXT, told.landscape(store))
    if head == "status":
        return _contents(
            uri, _JSON, line(lean(shown(plain(store.status()), "status", told_all=told_all)))
        )
    if head == "profiles":
        return _contents(uri, _JSON, _profiles())
    raise NotFound(f"there is no resource {uri[:100]!r}; see resources/list")


def completed(params: types.CompleteRequestParams) -> list[str]:
    """Return the names of profiles that begin so; nothing else is completed."""
    is_profile = getattr(params.ref, "uri", "") == _PROFILE or params.argument.name == "profile"
    if not is_profile:
        return []
    from scrubjay.search.profiles import names

    found = [one for one in names() if one.startswith(params.argument.value)]
    return found[:_MOST_COMPLETED]


def _memory(store: Store, id_: str) -> str:
    shape = {"memories": [plain(store.get(id_))]}
    return told.memories(
        memories(shape, {"max_chars": len(shape["memories"][0]["text"]) or 1}), {}
    )


def _profile(name: str) -> str:
    from scrubjay.search.profiles import get

    one = get(name)
    stages = [str(part) for part in one.stages]
    return line({"name": one.name, "summary": one.summary, "stages": stages})


def _profiles() -> str:
    from scrubjay.search.profiles import get, names

    return line({"profiles": [{"name": name, "summary": get(name).summary} for name in names()]})


def _contents(uri: str, kind: str, text: str) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type=kind, text=text)
