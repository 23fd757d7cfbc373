"""What agents send instead of what was asked for: numbers as texts, addresses and beginnings of ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrubjay.errors import NotFound
from scrubjay.surfaces.mcp.compact import id_in

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.verbs import Param

_READ_FROM_TEXT = ("integer", "number", "boolean")
_OF_IDS = ("id", "ids", "a", "b")
_NEW = ("add", "add_many", "add_message", "add_messages")
_WHOLE_ONLY = ("forget",)  # what a beginning of an id removed would be gone for good


def loosened(
    params: tuple[Param, ...], aliases: Mapping[str, str], given: Mapping[str, object]
) -> dict[str, object]:
    """Return what was given, with numbers and flags that came as texts read as those."""
    kinds = {one.name: one.kind for one in params}
    read: dict[str, object] = {}
    for name, value in given.items():
        kind = kinds.get(name) or kinds.get(aliases.get(name, name))
        is_text = isinstance(value, str) and bool(value.strip())
        if kind is not None and is_text and kind.schema.get("type") in _READ_FROM_TEXT:
            value = kind.read([str(value).strip()])
        read[name] = value
    return read


def with_whole_ids(store: Store, verb: str, taken: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given with the ids that addresses and beginnings of at least four letters mean.

    An id that is given to something new stays as it is. InvalidInput where a beginning is of several.
    """

    def whole(id_: str) -> str:
        named = id_in(id_).strip()
        if verb in _WHOLE_ONLY or store.holds(named):
            return named
        try:
            return store.resolve(named)
        except NotFound:  # the verb says what that means
            return named

    def every(value: Any) -> Any:
        return [whole(one) for one in value] if isinstance(value, list) else whole(value)

    if verb not in _NEW:
        return {name: every(one) if name in _OF_IDS else one for name, one in taken.items()}
    ids = {
        name: [_linked(one, whole) for one in taken[name]] for name in ("links",) if name in taken
    }
    if "memories" in taken:
        ids["memories"] = [with_whole_ids(store, verb, one) for one in taken["memories"]]
    return {**taken, **ids}


def _linked(one: Any, whole: Any) -> Any:
    return whole(one) if isinstance(one, str) else {**one, "to": whole(one["to"])}
