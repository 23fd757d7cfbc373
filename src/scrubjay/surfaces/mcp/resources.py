"""Resources that a client reads without a tool: status, landscape, profiles, one memory, one profile."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import mcp_types as types

from scrubjay.errors import NotFound
from scrubjay.surfaces.mcp import text
from scrubjay.surfaces.mcp.compact import memories, without_empty
from scrubjay.surfaces.render.json import Json, line, plain
from scrubjay.surfaces.render.redaction import redact
from scrubjay.surfaces.verbs.table import VERBS

if TYPE_CHECKING:
    from scrubjay.store import Store

_JSON, _MARKDOWN = "application/json", "text/markdown"
_MAX_COMPLETIONS = 100
_RESOURCES = {
    "status": (_JSON, "Status", "How much is stored, which model is used, and what is pending."),
    "landscape": (_MARKDOWN, "Landscape", "A short overview of what is stored, to start with."),
    "profiles": (_JSON, "Profiles", "The search profiles, each with a summary."),
}
_PROFILE_TEMPLATE = "scrubjay://profile/{name}"
_TEMPLATES = {
    "scrubjay://memory/{id}": (_MARKDOWN, "A memory", "One whole memory, by its id."),
    _PROFILE_TEMPLATE: (_JSON, "A profile", "The stages of one profile, with their parameters."),
}


def list_resources() -> list[types.Resource]:
    return [
        types.Resource(
            uri=f"scrubjay://{name}",
            name=name,
            title=title,
            description=description,
            mime_type=media_type,
        )
        for name, (media_type, title, description) in _RESOURCES.items()
    ]


def list_templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(
            uri_template=template,
            name=title.removeprefix("A "),
            title=title,
            description=description,
            mime_type=media_type,
        )
        for template, (media_type, title, description) in _TEMPLATES.items()
    ]


def read(store: Store, *, uri: str, is_admin: bool = True) -> types.TextResourceContents:
    """Return a resource; NotFound for an unknown URI. Without `is_admin` no paths are shown."""
    kind, _, name = uri.removeprefix("scrubjay://").partition("/")
    if not uri.startswith("scrubjay://") or bool(name) != (kind in ("memory", "profile")):
        kind = ""
    media_type = _JSON
    match kind:
        case "memory":
            media_type, content = _MARKDOWN, _memory(store, unquote(name), is_admin=is_admin)
        case "landscape":
            media_type, content = _MARKDOWN, text.landscape(store)
        case "profile":
            (profile,) = _profiles(store, name=unquote(name))
            content = line({**profile, "stages": [stage["text"] for stage in profile["stages"]]})
        case "status":
            status = redact(plain(store.status()), "status", is_admin=is_admin)
            content = line(without_empty(status))
        case "profiles":
            names = ("name", "summary")
            brief = [{name: profile[name] for name in names} for profile in _profiles(store)]
            content = line({"profiles": brief})
        case _:
            raise NotFound(f"no resource {uri[:100]!r}; see resources/list")
    return types.TextResourceContents(uri=uri, mime_type=media_type, text=content)


def complete(store: Store, *, params: types.CompleteRequestParams) -> list[str]:
    """Return the names of profiles with this prefix; nothing else is completed."""
    of_template = getattr(params.ref, "uri", "") == _PROFILE_TEMPLATE
    if not of_template and params.argument.name != "profile":
        return []
    names = [profile["name"] for profile in _profiles(store)]
    return [name for name in names if name.startswith(params.argument.value)][:_MAX_COMPLETIONS]


def _memory(store: Store, id_: str, *, is_admin: bool) -> str:
    memory = plain(store.get(id_))
    whole = {"max_chars": len(memory["text"]) or 1}
    shown = redact({"memories": [memory]}, "memories", is_admin=is_admin, store=store)
    return text.memories(memories(shown, whole), {})


def _profiles(store: Store, **given: str) -> list[Json]:
    profiles: list[Json] = VERBS["profiles"].call(store, given)["profiles"]
    return profiles
