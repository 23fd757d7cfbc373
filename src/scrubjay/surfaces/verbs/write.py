"""Verbs that write: add, update, link, forget, messages; and the commands of writing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.store import Store
from scrubjay.surfaces.render import json as render
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import ADMIN, WRITE, Command, Given, Param, params, schema_of, verb
from scrubjay.surfaces.verbs.kinds import (
    FLAG,
    IDS,
    LIMIT,
    MOST_IDS,
    NAME,
    NON_EMPTY,
    TEXT,
    TEXTS,
    TIME,
    choice,
    objects,
    texts,
)
from scrubjay.types import Memory, Stored
from scrubjay.types.formats import FORMATS

if TYPE_CHECKING:
    from scrubjay.types.changes import Likely

MOST_ENTRIES = 10_000


class Marked(NamedTuple):
    """Memories before and after they were marked as done or not done, and ids that do not exist."""

    before: Sequence[Memory]
    after: Sequence[Memory]
    missing: Sequence[str] = ()


def marked_json(marked: Marked) -> Json:
    pairs = zip(marked.before, marked.after, strict=True)
    changed = [new.id for old, new in pairs if old.type != new.type]
    return render.listing("memories", marked.after, changed=changed, missing=marked.missing)


def _likely(store: Store, stored: Stored) -> Sequence[Likely]:
    """Return what the new ones of these memories probably update or repeat."""
    return store.likely_changes([one for one in stored if one.id not in stored.known])


def _messages(store: Store, messages: list[Any], shared: dict[str, Any]) -> Json:
    stored = store.add_messages(messages, **shared)
    return render.messages(stored, store.unembedded(), store.why_unembedded())


def _entries(name: str, value: list[Any]) -> list[dict[str, Any]]:
    return [
        params.checked_item(
            f"{name}[{n}]",
            params.ADD_PARAMS,
            params.ADD_ALIASES,
            {"text": entry} if isinstance(entry, str) else entry,
        )
        for n, entry in enumerate(value)
    ]


_ONE_OR_MANY = texts(NAME, 1, MOST_IDS, "an id, or a list of ids", between="")
_ONE_OR_MANY = _ONE_OR_MANY._replace(schema={"anyOf": [NAME.schema, _ONE_OR_MANY.schema]})
_ENTRY = schema_of(params.ADD_PARAMS)
_ENTRIES = objects(
    "texts, or objects with the fields of add", _ENTRY, MOST_ENTRIES, _entries, or_text=NON_EMPTY
)
_ENDS = (
    Param("a", NAME, "the id of a memory", required=True),
    Param("b", NAME, "the id of the other memory", required=True),
)
_ENDS_ALIASES = {"id": "a", "other": "b", "from": "a", "to": "b", "source": "a", "target": "b"}
_ENDS_ALIASES |= {"relation": "kind", "type": "kind"}
_SESSION = Param("session", NAME, "the session of the message")
_MESSAGE_PARAMS = (
    Param("role", NAME, "who speaks: user, assistant, … (default: user)"),
    Param("at", TIME, "when it was said (default: now)", usage="--at TIME"),
)
_SPEAKERS = (
    Param("owner", NAME, "the person in the session", usage="--owner NAME"),
    Param("agent", NAME, "the agent in the session", usage="--agent NAME"),
)
_MESSAGE_ALIASES = {name: own for name, own in params.SCOPE_ALIASES.items() if own != "namespace"}
# What a caller should send; the names of chat programs are accepted as well.
_MESSAGE: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {
        "text": NON_EMPTY.schema,
        "role": NAME.schema,
        "at": TIME.schema,
        **dict.fromkeys(("session", "owner", "agent"), NAME.schema),
    },
}
# The store checks them, and reports which message is wrong.
_MESSAGES = objects("objects such as {'role': 'user', 'text': …}", _MESSAGE, MOST_ENTRIES)
_EXTRACT_PARAMS = (
    Param("session", NAME, "only messages of this session"),
    Param("retry", FLAG, "also messages that were given up after failures"),
)


@verb(WRITE, "added", *params.ADD_PARAMS, aliases=params.ADD_ALIASES)
def add(store: Store, given: Given) -> Json:
    """Store a text. It is durable when this returns, and keyword search finds it."""
    stored = store.add_many([given])
    state = store.unembedded(), store.why_unembedded()
    return render.added(stored[0], *state, stored.known, _likely(store, stored))


@verb(
    WRITE,
    "added_many",
    Param("memories", _ENTRIES, "texts, or objects with the fields of add", required=True),
    aliases={"entries": "memories", "items": "memories", "texts": "memories"},
)
def add_many(store: Store, given: Given) -> Json:
    """Store many texts; all of them are checked before the first is stored."""
    stored = store.add_many(given["memories"])
    state = store.unembedded(), store.why_unembedded()
    return render.added_many(stored, *state, _likely(store, stored))


@verb(
    WRITE,
    "added",
    params.THE_ID,
    *map(params.changeable, (params.THE_TEXT._replace(kind=TEXT, required=False), *params.FIELDS)),
    aliases=params.ADD_ALIASES,
)
def update(store: Store, given: Given) -> Json:
    """Change fields of a memory; others stay, and an empty text removes a value."""
    changes = {
        name: None if value == "" else value for name, value in given.items() if name != "id"
    }
    if not changes:
        raise InvalidInput("no change was given; name a field, such as text or valid_until")
    for name in ("text", "type"):
        if name in changes and changes[name] is None:
            raise InvalidInput(f"{name} is empty; every memory has one")
    memory = store.update(given["id"], **changes)
    return render.added(memory, store.unembedded(), store.why_unembedded())


@verb(WRITE, "added", params.THE_ID, aliases=params.ID_ALIASES)
def undo(store: Store, given: Given) -> Json:
    """Take the last change of a memory back."""
    before = store.get(given["id"])
    memory = store.undo(given["id"])
    return render.changed_back(before, memory, store.unembedded(), store.why_unembedded())


@verb(
    WRITE,
    "forgotten",
    Param("id", _ONE_OR_MANY, "an id, or a list of ids", required=True),
    aliases=params.ID_ALIASES | {"ids": "id", "memory_ids": "id"},
)
def forget(store: Store, given: Given) -> Json:
    """Delete memories permanently, with their vectors, links and copies."""
    found = store.get_many(list(dict.fromkeys(given["id"])))
    ids = [memory.id for memory in found]
    extracted = store.only_of(ids)
    count = store.forget(ids)
    return render.forgotten(found, extracted, found.missing, count, done=True)


@verb(WRITE, "marked", params.THE_ID, aliases=params.ID_ALIASES, shape=marked_json)
def done(store: Store, given: Given) -> Marked:
    """Mark a memory as done."""
    return Marked([store.get(given["id"])], [store.done(given["id"])])


@verb(WRITE, "marked", params.THE_ID, aliases=params.ID_ALIASES, shape=marked_json)
def undone(store: Store, given: Given) -> Marked:
    """Mark a memory as not done."""
    return Marked([store.get(given["id"])], [store.undone(given["id"])])


@verb(
    WRITE, "links", *_ENDS, *params.LINK_PARAMS[1:], aliases=_ENDS_ALIASES | {"weight": "strength"}
)
def link(store: Store, given: Given) -> Json:
    """Link two memories."""
    store.link(**given)
    return render.linked(given["a"], given["b"], "linked")


@verb(
    WRITE,
    "links",
    *_ENDS,
    Param("kind", NAME, "only links of this kind (default: all)"),
    aliases=_ENDS_ALIASES,
)
def unlink(store: Store, given: Given) -> Json:
    """Remove the links between two memories."""
    store.unlink(**given)
    return render.linked(given["a"], given["b"], "unlinked")


@verb(
    WRITE,
    "said",
    Param("text", NON_EMPTY, "the text of the message", required=True),
    _SESSION._replace(required=True),
    *_MESSAGE_PARAMS,
    *_SPEAKERS,
    aliases=_MESSAGE_ALIASES
    | {"content": "text", "message": "text", "timestamp": "at", "created_at": "at"},
)
def add_message(store: Store, given: Given) -> Json:
    """Store one message of a session unchanged."""
    return _messages(store, [dict(given)], {})


@verb(
    WRITE,
    "said",
    Param(
        "messages",
        _MESSAGES,
        "objects with text, role, at, and the other parameters of add_message",
        required=True,
    ),
    _SESSION._replace(help="the session of messages that name none"),
    *_SPEAKERS,
    aliases=_MESSAGE_ALIASES | {"conversation": "messages", "turns": "messages"},
)
def add_messages(store: Store, given: Given) -> Json:
    """Store messages of sessions in their order; all are checked before the first is stored."""
    rest = dict(given)
    return _messages(store, rest.pop("messages"), rest)


@verb(
    ADMIN,
    "extracted",
    *_EXTRACT_PARAMS,
    aliases={name: own for name, own in params.SESSION_ALIASES.items() if name != "thread_id"},
)
def extract(store: Store, given: Given) -> Any:
    """Extract facts from the messages in the queue, with the configured language model."""
    return store.extract(**given)


_ENTRY_FIELDS = params.fields("severity domain context valid_from valid_until")
_ADD_OPTIONS = (
    Param("text", TEXTS, "the text; - reads standard input; paths are ingested", usage="text..."),
    Param("as_text", FLAG, "never treat the text as a path", usage="--text"),
    *params.fields("id title type topics namespace collection session"),
    *_ENTRY_FIELDS,
    *params.fields("source created_at"),
    params.NO_EMBED,
)
_IDS = Param("ids", IDS, params.PREFIXES, usage="id...")
COMMANDS = (
    Command("add", "store a text, or ingest files and folders", _ADD_OPTIONS, run="write:add"),
    Command("remember", "alias for add", _ADD_OPTIONS, run="write:add"),
    Command(
        "update",
        "change fields of a memory",
        (
            Param(
                "id", NAME, "a memory, or the first four or more characters of its id", usage="id"
            ),
            Param("words", TEXTS, "the new text; - reads standard input", usage="[text...]"),
            Param("text", TEXT, "the new text, if it does not follow the id", usage="--text TEXT"),
            *params.fields("title type"),
            *(params.fields("topics")[0]._replace(help="replace its topics"),),
            Param("add_topics", TEXTS, "add this topic", usage="--add-topic --add-tag TOPIC"),
            *_ENTRY_FIELDS,
            *params.fields("source"),
            params.NO_EMBED,
        ),
        run="write:update",
        description='Change fields of a memory. Other fields stay; an empty value, as in --severity "",'
        " removes a value.",
    ),
    Command(
        "undo",
        "take the last change of a memory back",
        (
            Param(
                "id", NAME, "a memory, or the first four or more characters of its id", usage="id"
            ),
            params.NO_EMBED,
        ),
        run="write:undo",
        description="Take the last change of a memory back: its text and other fields, done or undone. A"
        " second time, it takes the change before that back. `scrubjay history` shows all versions.",
    ),
    Command(
        "say",
        "store a message of a session",
        (
            Param("text", TEXTS, "the message; - reads standard input", usage="text..."),
            _SESSION,
            *_MESSAGE_PARAMS,
            *_SPEAKERS,
            params.NO_EMBED,
        ),
        run="write:say",
        description="Store a message of a session. With -, standard input is read: if it begins with { or"
        " [, it is JSON, one message a line or a list of messages; otherwise it is one message. Fields of"
        " a message override the options.",
    ),
    Command(
        "ingest",
        "read files and folders, and follow their changes",
        (
            Param(
                "paths", TEXTS, "files and folders (default: all read before)", usage="[path...]"
            ),
            Param("watch", FLAG, "follow changes until Ctrl-C"),
            *params.fields("namespace collection"),
            params.NO_EMBED,
        ),
        run="ingest:ingest",
    ),
    Command(
        "extract",
        "extract facts from messages, with the configured language model",
        _EXTRACT_PARAMS,
        run="write:extract",
    ),
    Command(
        "import",
        "import what export wrote, or with --from what another product stored",
        (
            Param(
                "paths",
                TEXTS,
                "folders of Markdown, .md and .jsonl files; - reads JSON lines; with --from, files"
                " and folders of that product",
                usage="path...",
            ),
            Param("format", choice(*FORMATS), ", ".join(FORMATS), usage="--from NAME"),
            Param("dry_run", FLAG, "check everything, store nothing"),
            Param("namespace", NAME, "store all entries in this namespace"),
            Param("collection", NAME, "store all entries in this collection"),
            params.NO_EMBED,
        ),
        run="import_:import_",
        description="Import entries from Markdown files or JSON lines, as `export` writes them. With --from,"
        " import what another product stored. Ids are made from those of the source: a second run changes"
        " nothing, and continues one that was stopped. What cannot be read is listed with file and line, and"
        " the rest is imported.",
    ),
    Command("done", "mark memories as done", (_IDS,), run="write:done"),
    Command("undone", "mark memories as not done", (_IDS,), run="write:done"),
    Command(
        "forget",
        "delete memories permanently",
        (
            _IDS._replace(usage="[id...]"),
            Param("query", TEXT, "delete what a keyword search for this finds"),
            Param("session", NAME, "delete all messages of this session"),
            params.limit(10, LIMIT, "with --query: maximum number of memories"),
            Param("namespace", NAME, "with --query or --session: only this namespace"),
            params.YES,
        ),
        run="write:forget",
        description="Delete memories permanently. On a terminal it asks first. Without a terminal, and with"
        " --json, it deletes the memories of the given ids without asking; --query and --session need"
        " --yes there.",
    ),
)
