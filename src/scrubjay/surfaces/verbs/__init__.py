"""Every verb of a store as data: its parameters, who may use it, and the JSON that it answers.

HTTP and MCP are made from this table, so that a verb is named, checked and answered the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs.kinds import Kind, or_null
from scrubjay.surfaces.verbs.plain_json import check_plain, shown
from scrubjay.types.key_scopes import ADMIN as ADMIN
from scrubjay.types.key_scopes import READ as READ
from scrubjay.types.key_scopes import WRITE as WRITE

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

Given = Mapping[str, Any]

_FILTERING = ("filter", "filters", "where")
_MOST_NAME_CHARS = 100  # of an unknown parameter, when the nearest is looked for


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
            raise InvalidInput(_unknown(verb, name, known, aliases))
        if value is None:
            continue
        if own in taken:
            both = [one for one in given if one == own or aliases.get(one) == own]
            raise InvalidInput(f"{' and '.join(both)} mean the same to {verb}; give one of them")
        check_plain(name, value)
        taken[own] = known[own].kind.take(name, value)
    for one in params:
        if one.required and one.name not in taken:
            raise InvalidInput(f"{verb} needs {one.name}: {one.told}")
    return taken


def _unknown(
    verb: str, name: object, known: Mapping[str, Param], aliases: Mapping[str, str]
) -> str:
    from scrubjay.text.validation import nearest

    takes = ", ".join(known) or "none"
    asked = str(name)[:_MOST_NAME_CHARS]
    near = nearest(asked, [*known, *aliases])
    if asked in _FILTERING and "topics" in known:
        near = " (each filter is a parameter of its own, such as topics, types or since)"
    return f"{verb} has no parameter {shown(name)}{near}; it takes: {takes}"


def schema_of(params: tuple[Param, ...], *, all_forms: bool = False) -> Json:
    """Return the JSON schema of an object with these parameters and no others.

    It says what one should give. With `all_forms` it says what is taken: null for what is left out, and
    a text with commas for a list.
    """
    shape: Json = {
        "type": "object",
        "properties": {
            one.name: {
                **(_all_forms(one) if all_forms else one.kind.schema),
                "description": one.told,
            }
            for one in params
        },
        "additionalProperties": False,
    }
    if required := [one.name for one in params if one.required]:
        shape["required"] = required
    return shape


def _all_forms(param: Param) -> Json:
    whole = param.kind.whole_schema
    return whole if param.required else or_null(whole)
