"""What a tool is: a verb of the store, as an agent is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.surfaces.mcp.coerce import loosened, with_whole_ids
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.render.redaction import shown
from scrubjay.surfaces.verbs import Given, Param, Verb, checked, schema_of

if TYPE_CHECKING:
    from scrubjay.store import Store

OBJECT: Json = {"type": "object"}


def object_of(*required: str, **properties: Json) -> Json:
    """Return the schema of an object with these properties, some of which are always there."""
    shape: Json = {"type": "object", "properties": properties}
    return {**shape, "required": list(required)} if required else shape


class Hints(NamedTuple):
    """What a client may want to know before it lets a tool be called."""

    reads: bool = False
    destroys: bool = False
    repeatable: bool = False  # a second call with the same arguments changes nothing more


class Answer(NamedTuple):
    """What a tool answers: the values for a program, and the same in words for a model."""

    structured: Json
    text: str


class Tool(NamedTuple):
    """A verb with the words that teach an agent to use it.

    `listed` are the parameters that agents are told of, and how; a verb takes its others as well. Without
    any, all are listed. `more` are parameters of the tool alone. `lean` makes the answer small, `said` puts
    it into words, and `answer` is the schema of what `lean` returns.
    """

    name: str
    title: str
    told: str
    verb: Verb
    lean: Callable[[Json, Given], Json]
    said: Callable[[Json, Given], str]
    answer: Json = OBJECT
    hints: Hints = Hints()
    listed: Mapping[str, str] = {}
    more: tuple[Param, ...] = ()
    aliases: Mapping[str, str] = {}

    def input_schema(self) -> Json:
        """Return the schema of the parameters that are listed."""
        params = (*self.verb.params, *self.more)
        if not self.listed:
            return schema_of(params)
        known = {one.name: one for one in params}
        shape = schema_of(tuple(known[name] for name in self.listed))
        for name, told in self.listed.items():
            brief = _of_what_type(known[name].kind.schema)
            shape["properties"][name] = {**brief, "description": told} if told else brief
        return shape

    def ask(self, store: Store, given: Mapping[str, object], *, told_all: bool = True) -> Answer:
        """Do what the verb does with what was given, once that is checked.

        Without `told_all` it does not say where the store is.
        """
        params = (*self.verb.params, *self.more)
        aliases = {**self.verb.aliases, **self.aliases}
        taken = checked(self.name, params, aliases, loosened(params, aliases, given))
        taken = with_whole_ids(store, self.verb.name, taken)
        own = {one.name for one in self.more}
        asked = {name: value for name, value in taken.items() if name not in own}
        answered = shown(self.verb.call(store, asked), self.verb.answer, told_all=told_all)
        structured = self.lean(answered, taken)
        return Answer(structured, self.said(structured, taken))


def _of_what_type(schema: Json) -> Json:
    """Return a schema as an agent is told of it; bounds are said when one is broken."""
    if "anyOf" in schema and "type" not in schema:
        types = [one.get("type") for one in schema["anyOf"]]
        if types == ["string", "object"]:
            return {"type": types}
        # The last of several forms is the one that holds more.
        return _of_what_type(schema["anyOf"][-1])
    kept: Json = {name: one for name, one in schema.items() if name in ("type", "enum")}
    if "items" in schema:
        kept["items"] = _of_what_type(schema["items"])
    return kept
