"""Every verb of a store as data: its parameters, who may use it, and the JSON that it answers.

HTTP and MCP are made from this table, so that a verb is named, checked and answered the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs.kinds import Kind

if TYPE_CHECKING:
    from scrubjay.service import Store
    from scrubjay.surfaces.shapes import Json

Given = Mapping[str, Any]

READ, WRITE, ADMIN = SCOPES = ("read", "write", "admin")


class Param(NamedTuple):
    """What a verb may be told: a name, what kind of value it takes, and what that means."""

    name: str
    kind: Kind
    told: str
    required: bool = False


class Verb(NamedTuple):
    """Something that can be asked of a store.

    `answer` names the committed schema of what `call` returns. `aliases` are names that people know from
    elsewhere, and what they are called here.
    """

    name: str
    told: str
    scope: str
    params: tuple[Param, ...]
    answer: str
    call: Callable[[Store, Given], Json]
    aliases: Mapping[str, str] = {}


def checked(
    verb: str, params: tuple[Param, ...], aliases: Mapping[str, str], given: Mapping[str, object]
) -> dict[str, Any]:
    """Return what was given under the names of the parameters; null means that nothing was.

    An unknown name is refused: what is ignored would be believed to have had an effect.
    """
    known = {one.name: one for one in params}
    taken: dict[str, Any] = {}
    for name, value in given.items():
        own = name if name in known else aliases.get(name, name)
        if own not in known:
            from scrubjay.naming import nearest

            takes = ", ".join(known) or "none"
            raise InvalidInput(
                f"{verb} has no parameter {name!r}{nearest(name, [*known, *aliases])}; it takes: {takes}"
            )
        if value is None:
            continue
        if own in taken:
            raise InvalidInput(f"{name} and {own} mean the same to {verb}; give one of them")
        taken[own] = known[own].kind.take(own, value)
    for one in params:
        if one.required and one.name not in taken:
            raise InvalidInput(f"{verb} needs {one.name}: {one.told}")
    return taken


def schema_of(params: tuple[Param, ...]) -> Json:
    """Return the JSON schema of an object with these parameters and no others."""
    shape: Json = {
        "type": "object",
        "properties": {one.name: {**one.kind.schema, "description": one.told} for one in params},
        "additionalProperties": False,
    }
    if required := [one.name for one in params if one.required]:
        shape["required"] = required
    return shape
