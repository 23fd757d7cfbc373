"""A tool: a verb with the description, compact answer and text that agents get.
Agents send numbers as text, URIs for ids and the first characters of ids. Tools accept those, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import NotFound
from scrubjay.surfaces.mcp.compact import id_in
from scrubjay.surfaces.mcp.structured_tags import with_tags
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.render.redaction import redact
from scrubjay.surfaces.verbs import Given, Param, Verb, checked, schema_of
from scrubjay.text.lines import split_id

if TYPE_CHECKING:
    from scrubjay.store import Store

OBJECT: Json = {"type": "object"}
_PARSED_FROM_TEXT = ("integer", "number", "boolean")
_ID_PARAMETERS = ("id", "ids", "a", "b")
_ADDING = ("add", "add_many", "add_message", "add_messages")
_WHOLE_IDS_ONLY = ("forget",)  # what an abbreviated id deleted could not be restored


def object_schema(*required: str, **properties: Json) -> Json:
    schema: Json = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


class Hints(NamedTuple):
    """What a client may check before it calls a tool."""

    reads: bool = False
    destroys: bool = False
    repeatable: bool = False  # a second call with the same arguments changes nothing more


class Answer(NamedTuple):
    """Answer of a tool: JSON for a program, and the same as text for a model."""

    structured: Json
    text: str


class Tool(NamedTuple):
    """A verb as a tool.
    `listed` are the parameters in the tool's schema with their descriptions, by default all of the
    verb; the others are accepted as well. `extra` are parameters of the tool alone. `compact`
    shortens the verb's answer to `output_schema`, `to_text` turns that into text, with the parts of the
    answer that are in `only_in_text`."""

    name: str
    title: str
    description: str
    verb: Verb
    compact: Callable[[Json, Given], Json]
    to_text: Callable[[Json, Given], str]
    output_schema: Json = OBJECT
    hints: Hints = Hints()
    listed: Mapping[str, str] = {}
    extra: tuple[Param, ...] = ()
    only_in_text: tuple[str, ...] = ()
    text_is_json: bool = False  # the text is the structured content, as a client expects it

    def input_schema(self) -> Json:
        params = (*self.verb.params, *self.extra)
        if not self.listed:
            return schema_of(params)
        by_name = {param.name: param for param in params}
        schema = schema_of(tuple(by_name[name] for name in self.listed))
        for name, description in self.listed.items():
            described = {"description": description} if description else {}
            schema["properties"][name] = {**_brief_schema(by_name[name].kind.schema), **described}
        return schema

    def call(
        self,
        store: Store,
        given: Mapping[str, object],
        *,
        is_admin: bool = True,
        tag_all: bool = False,
    ) -> Answer:
        """Check the arguments and call the verb; without `is_admin` no paths are shown.
        With `tag_all` stored text has recall tags in the structured content, too."""
        params = (*self.verb.params, *self.extra)
        parsed = _parse_texts(params, self.verb.aliases, given)
        taken = checked(self.name, params, self.verb.aliases, parsed)
        taken = _with_whole_ids(store, self.verb.name, taken)
        own = {param.name for param in self.extra}
        for_verb = {name: value for name, value in taken.items() if name not in own}
        answer = self.verb.call(store, for_verb)
        answer = redact(answer, self.verb.answer, is_admin=is_admin, store=store)
        structured = self.compact(answer, taken)
        shown = {name: answer[name] for name in self.only_in_text if name in answer}
        if not tag_all:
            return Answer(structured, self.to_text({**structured, **shown}, taken))
        tagged = with_tags(structured)
        in_text = tagged if self.text_is_json else {**structured, **shown}
        return Answer(tagged, self.to_text(in_text, taken))


def _brief_schema(schema: Json) -> Json:
    """Return only the types of a schema; errors name its limits when one is exceeded."""
    if "anyOf" in schema and "type" not in schema:
        types = [form.get("type") for form in schema["anyOf"]]
        if types == ["string", "object"]:
            return {"type": types}
        return _brief_schema(schema["anyOf"][-1])  # the last form is the most general
    brief: Json = {name: value for name, value in schema.items() if name in ("type", "enum")}
    if "items" in schema:
        brief["items"] = _brief_schema(schema["items"])
    return brief


def _parse_texts(
    params: tuple[Param, ...], aliases: Mapping[str, str], given: Mapping[str, object]
) -> dict[str, object]:
    """Return the arguments, with numbers and flags that came as text parsed."""
    kinds = {param.name: param.kind for param in params}
    parsed: dict[str, object] = {}
    for name, value in given.items():
        kind = kinds.get(name) or kinds.get(aliases.get(name, name))
        is_text = isinstance(value, str) and bool(value.strip())
        if kind is not None and is_text and kind.schema.get("type") in _PARSED_FROM_TEXT:
            value = kind.read([str(value).strip()])
        parsed[name] = value
    return parsed


def _with_whole_ids(store: Store, verb: str, taken: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with complete ids instead of URIs and of first characters (at least four).
    The id of something new stays as it is. InvalidInput where several ids begin like that."""

    def whole(id_: str) -> str:
        named = id_in(id_).strip()
        if verb in _WHOLE_IDS_ONLY or store.holds(named):
            return named
        try:
            return store.resolve(named)
        except NotFound:  # the verb reports it
            own, lines = split_id(named)
            return f"{whole(own)}:{lines}" if lines else named

    def whole_link(link: Any) -> Any:
        return whole(link) if isinstance(link, str) else {**link, "to": whole(link["to"])}

    def whole_memory(memory: Any) -> Any:
        return _with_whole_ids(store, verb, memory)

    changes: Mapping[str, Callable[[Any], Any]] = dict.fromkeys(_ID_PARAMETERS, whole)
    if verb in _ADDING:
        changes = {"links": whole_link, "memories": whole_memory}
    replaced: dict[str, Any] = {}
    for name in changes.keys() & taken.keys():
        value, change = taken[name], changes[name]
        replaced[name] = list(map(change, value)) if isinstance(value, list) else change(value)
    return {**taken, **replaced}
