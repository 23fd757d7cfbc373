"""Verbs of a store and commands of the CLI as data: parameters, help, permissions, and the JSON returned.

HTTP, MCP, the command line and the reference pages are made from these records. A verb is added in one of
the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs.kinds import Kind, check_plain, or_null, short_repr
from scrubjay.types.key_scopes import ADMIN as ADMIN
from scrubjay.types.key_scopes import READ as READ
from scrubjay.types.key_scopes import WRITE as WRITE

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

Given = Mapping[str, Any]

_FILTER_NAMES = ("filter", "filters", "where")
_MOST_NAME_CHARS = 100  # of an unknown parameter, when the nearest is searched


class Param(NamedTuple):
    """A parameter of a verb: its name, the kind of value it takes, and its help.

    `usage` is its spelling on the command line: "-n --limit N" is an option, "id..." an argument that is
    repeated, "[name]" one that may be left out. Without it the option is `--name`. `default` is shown
    in the help, and is what the command line passes.
    """

    name: str
    kind: Kind
    help: str
    required: bool = False
    default: Any = None
    usage: str = ""

    @property
    def description(self) -> str:
        return f"{self.help} (default: {self.default})" if self.default else self.help


class Verb(NamedTuple):
    """A verb of a store, made by the decorator `verb`.

    `run` calls the store. `shape` turns a result into JSON, and `answer` names the committed schema of that
    JSON. `aliases` are names of parameters known from other programs. If `found` is false of a result, the
    command line exits with 3.
    """

    name: str
    help: str
    scope: str
    params: tuple[Param, ...]
    answer: str
    run: Callable[[Store, Given], Any]
    aliases: Mapping[str, str] = {}
    shape: Callable[[Any], Json] | None = None
    found: Callable[[Any], object] | None = None

    def call(self, store: Store, given: Given) -> Json:
        return self.json(self.run(store, given))

    def json(self, result: Any) -> Json:
        if self.shape is not None:
            return self.shape(result)
        if isinstance(result, dict):
            return result
        from scrubjay.surfaces.render.json import plain

        shape: Json = plain(result)
        return shape


def verb(
    scope: str,
    answer: str,
    *params: Param,
    aliases: Mapping[str, str] = {},
    shape: Callable[[Any], Json] | None = None,
    found: Callable[[Any], object] | None = None,
) -> Callable[[Callable[[Store, Given], Any]], Verb]:
    """Make a verb of a function: its name is the function's, its help the docstring."""

    def made(run: Callable[[Store, Given], Any]) -> Verb:
        help = run.__doc__ or ""
        return Verb(run.__name__, help, scope, params, answer, run, aliases, shape, found)

    return made


def verbs_in(module: ModuleType) -> list[Verb]:
    return [value for value in vars(module).values() if isinstance(value, Verb)]


class Action(NamedTuple):
    """A word after a command that chooses the verb, and the options that only the command line has."""

    verb: Verb
    params: tuple[Param, ...] = ()


class Command(NamedTuple):
    """A command of the CLI: its help, its parameters, and what runs it.

    With `actions`, its first argument chooses one. The only action of a plain command is called "". `run` is
    "module:function" below `surfaces.cli`; by default the verb of the action is run and its result is
    rendered. At most one parameter of each group in `exclusive` may be given.
    """

    name: str
    help: str
    params: tuple[Param, ...] = ()
    actions: Mapping[str, Action] = {}
    default_action: str = ""
    run: str = "verbs:run"
    description: str = ""
    exclusive: tuple[tuple[str, ...], ...] = ()
    embed: bool = True  # whether the store may make vectors while it is open


def command_of(verb: Verb, *params: Param, name: str = "", **more: Any) -> Command:
    help = verb.help[:1].lower() + verb.help[1:].rstrip(".")
    return Command(name or verb.name, help, actions={"": Action(verb, params)}, **more)


def checked(
    verb: str, params: tuple[Param, ...], aliases: Mapping[str, str], given: Mapping[str, object]
) -> dict[str, Any]:
    """Return the given values by parameter, without nulls; an unknown name is refused."""
    known = {param.name: param for param in params}
    taken: dict[str, Any] = {}
    for name, value in given.items():
        own = name if name in known else aliases.get(name, name)
        if own not in known:
            raise InvalidInput(_unknown(verb, name, known, aliases))
        if value is None:
            continue
        if own in taken:
            both = [other for other in given if other == own or aliases.get(other) == own]
            raise InvalidInput(f"{' and '.join(both)} mean the same to {verb}; give one of them")
        check_plain(name, value)
        taken[own] = known[own].kind.take(name, value)
    for param in params:
        if param.required and param.name not in taken:
            raise InvalidInput(f"{verb} needs {param.name}: {param.help}")
    return taken


def _unknown(
    verb: str, name: object, known: Mapping[str, Param], aliases: Mapping[str, str]
) -> str:
    from scrubjay.text.validation import did_you_mean

    takes = ", ".join(known) or "none"
    asked = str(name)[:_MOST_NAME_CHARS]
    hint = did_you_mean(asked, [*known, *aliases])
    if asked in _FILTER_NAMES and "topics" in known:
        hint = " (each filter is a separate parameter, such as topics, types or since)"
    return f"{verb} has no parameter {short_repr(name)}{hint}; it takes: {takes}"


def schema_of(params: tuple[Param, ...], *, all_forms: bool = False) -> Json:
    """Return the JSON schema of an object with these parameters and no others.

    It describes what a caller should send. With `all_forms` it describes all that is accepted: null for a
    parameter that is left out, and a text with commas for a list.
    """
    shape: Json = {
        "type": "object",
        "properties": {
            param.name: {
                **(_all_forms(param) if all_forms else param.kind.schema),
                "description": param.description,
            }
            for param in params
        },
        "additionalProperties": False,
    }
    if required := [param.name for param in params if param.required]:
        shape["required"] = required
    return shape


def _all_forms(param: Param) -> Json:
    whole = param.kind.whole_schema
    return whole if param.required else or_null(whole)
