"""The eight default tools, with the descriptions that teach an agent to use them.
A model reads every word here in every conversation: `python -m tools.mcp_tokens` counts the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.mcp import compact, text
from scrubjay.surfaces.mcp.tool import Hints, Tool, object_schema
from scrubjay.surfaces.render import json as render
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import Given, Param
from scrubjay.surfaces.verbs.kinds import FLAG, NAME, NON_EMPTY, OFFSET, whole
from scrubjay.surfaces.verbs.search import SEARCH_TOKENS, search_with_passages
from scrubjay.surfaces.verbs.table import VERBS

if TYPE_CHECKING:
    from scrubjay.store import Store

_ADD, _ADD_MANY, _FORGET = VERBS["add"], VERBS["add_many"], VERBS["forget"]
_UPDATE, _UNDO = VERBS["update"], VERBS["undo"]
_UNDO_FLAG = Param("undo", FLAG, "take the last change back; no other field with it")
_UNLINK = Param("unlink", NAME, "a memory that this one does not update; no other field with it")
_STRING: Json = {"type": "string"}
_NUMBER: Json = {"type": "number"}
_INTEGER: Json = {"type": "integer"}
_BOOLEAN: Json = {"type": "boolean"}
_MAX_GET_CHARS = 1_000_000


def _list_of(schema: Json) -> Json:
    return {"type": "array", "items": schema}


_STRINGS = _list_of(_STRING)
_WITH_ID = object_schema("id", id=_STRING)
_LINES: Json = {"type": "array", "items": _INTEGER}
_WITH_TEXT = object_schema(
    "id",
    "text",
    **dict.fromkeys(("next_offset", "line_count"), _INTEGER),
    lines=_LINES,
    id=_STRING,
    text=_STRING,
)
_LIKELY = object_schema("new", "old", "kind", **dict.fromkeys(("new", "old", "kind"), _STRING))
_HIT_TEXTS = ("id", "uri", "type", "text", "snippet", "source", "created_at")
_HIT = object_schema(
    "id", "score", score=_NUMBER, lines=_LINES, **dict.fromkeys(_HIT_TEXTS, _STRING)
)


def _search(store: Store, given: Given) -> Json:
    """Search, with whole passages unless whole texts are requested or the profile shows entries."""
    answer = search_with_passages(store, given, SEARCH_TOKENS)
    entries = answer.get("entries")
    if entries == "brief" or (entries and "tokens" not in given):
        answer.pop("passages", None)
    return answer


def _store(store: Store, given: Given) -> Json:
    if "memories" not in given:
        if "text" not in given:
            raise InvalidInput("memory_store needs text, or several memories as memories")
        _refuse_to_replace(store, [given])
        return _ADD.call(store, given)
    if others := [name for name in given if name != "memories"]:
        raise InvalidInput(f"{others[0]} belongs into each of memories, or use no memories")
    _refuse_to_replace(store, given["memories"])
    return _ADD_MANY.call(store, given)


def _refuse_to_replace(store: Store, memories: Sequence[Given]) -> None:
    """Refuse ids that exist: the tool is described as adding only."""
    for memory in memories:
        if "id" in memory and store.holds(memory["id"].strip()):
            raise InvalidInput(
                f"the id {memory['id']!r} exists; change that memory with memory_update, or leave out the"
                " id to get a new one; nothing was stored"
            )


def _update(store: Store, given: Given) -> Json:
    if "unlink" in given:
        return _unlink(store, given)
    changes = {name: value for name, value in given.items() if name != "undo"}
    if not given.get("undo"):
        return _UPDATE.call(store, changes)
    if others := [name for name in changes if name != "id"]:
        raise InvalidInput(f"undo and {others[0]} are two changes; make one call for each")
    return _UNDO.call(store, changes)


def _unlink(store: Store, given: Given) -> Json:
    """Say that a memory does not update another one."""
    if others := [name for name in given if name not in ("id", "unlink")]:
        raise InvalidInput(f"unlink and {others[0]} are two changes; make one call for each")
    removed = store.unlink(given["id"], given["unlink"], kind="updates")
    (memory,) = store.get_all([given["id"]])
    shape = render.added(memory, store.unembedded(), store.why_unembedded())
    return {**shape, "unlinked": removed}


_TEXT = _ADD.params[0]._replace(
    kind=_ADD.params[0].kind._replace(right=f"{NON_EMPTY.right}; several go into memories")
)
STORE = _ADD._replace(
    params=tuple(
        param._replace(required=False) for param in (_TEXT, *_ADD.params[1:], _ADD_MANY.params[0])
    ),
    run=_store,
    aliases={**_ADD_MANY.aliases, **_ADD.aliases},
)
UPDATE = _UPDATE._replace(params=(*_UPDATE.params, _UNDO_FLAG, _UNLINK), run=_update)
FORGET = _FORGET._replace(
    params=(_FORGET.params[0]._replace(name="ids"),),
    run=lambda store, given: _FORGET.call(store, {"id": given["ids"]}),
    aliases={**dict.fromkeys(_FORGET.aliases, "ids"), "id": "ids"},
)

SEARCH = VERBS["search"]._replace(run=_search)
DEFAULT_TOOLS = (
    Tool(
        "memory_search",
        "Search memory",
        "Search memory by keyword, meaning, topic and time; best hits first. Use it before you answer from"
        " earlier conversations, documents or decisions, and before you store. Returns whole passages with"
        " source, lines and date; memory_get reads on. degraded lists what the results lack; verdict says"
        " whether the first hit answers: likely, unsure, or not stored.",
        SEARCH,
        compact.results,
        text.results,
        object_schema(
            "hits",
            hits=_list_of(_HIT),
            confidence=_NUMBER,
            verdict=_STRING,
            degraded=_STRINGS,
        ),
        Hints(reads=True),
        {
            "query": "a question, or keywords",
            "limit": "maximum number of hits",
            "tokens": f"of all passages ({SEARCH_TOKENS})",
            "mode": "fast, thorough, keyword or vector; of vault scan or full; of gnosis deep",
            "profile": "engine: default, gnosis, gno, vault, cognis, novamem",
            "tags": "vault: raise entries that have them",
            "domain": "vault: raises its entries",
            "topics": "any of these",
            "types": "any of these, such as fact, preference, decision, task, message, document",
            "namespace": "only this one; `project/` includes all below",
            "namespaces": "only these",
            "weights": "of keyword, vector, graph (novamem)",
            "collection": "",
            "session": "only this conversation",
            "since": "stored or said since: date, ISO time, or e.g. yesterday",
            "until": "",
            "include_expired": "also memories that are not valid now",
            "as_of": "what held then: date, ISO time",
            "history": "also superseded ones",
            "explain": "add the parts of each score and every stage",
            "full": "long texts in full",
        },
        only_in_text=("passages",),
    ),
    Tool(
        "memory_get",
        "Read memories",
        "Read memories in full, or lines of them, by id. A very long text continues at next_offset.",
        VERBS["get_many"],
        compact.memories,
        text.memories,
        object_schema("memories", memories=_list_of(_WITH_TEXT), missing=_STRINGS),
        Hints(reads=True),
        {
            "ids": "from a search",
            "lines": "such as 10-40",
            "history": "also earlier versions",
            "changes": "also what replaced what",
            "offset": "first character",
            "max_chars": "of each text",
        },
        (
            Param("offset", OFFSET, "first character of each text"),
            Param("max_chars", whole(1, _MAX_GET_CHARS), "of each text"),
        ),
    ),
    Tool(
        "memory_store",
        "Store a memory",
        "Remember something that will matter later: a preference, decision, fact, task or lesson. One fact"
        " per memory, in full sentences that are clear without this conversation: names instead of"
        " pronouns, dates instead of 'yesterday'. Search first; if it is stored already, use memory_update"
        " instead of storing it twice. Never store passwords or keys. It is durable when this returns, found"
        " by keyword and by meaning at once.",
        STORE,
        compact.stored,
        text.stored,
        object_schema(
            "stored",
            **dict.fromkeys(("stored", "keyword_indexed", "embedded"), _BOOLEAN),
            why_pending=_STRING,
            known=_STRINGS,
            likely_changes=_list_of(_LIKELY),
            memory=_WITH_ID,
            memories=_list_of(_WITH_ID),
        ),
        Hints(repeatable=True),
        {
            "text": "the fact",
            "memories": "or several: texts, or objects with the other fields here",
            "type": "fact (default), preference, decision, task, summary, …",
            "topics": "one to three words each",
            "title": "",
            "severity": "",
            "domain": "such as security",
            "namespace": "such as project/notes",
            "collection": "",
            "session": "",
            "event_time": "when it happened",
            "valid_until": "no longer found after",
            "source": "file or URL it comes from",
            "context": "what helps to understand it",
            "links": "ids of related memories, or {to, kind, strength}",
        },
    ),
    Tool(
        "memory_update",
        "Change a memory",
        "Correct or complete a memory: given fields replace the old ones, the others stay, '' removes a"
        " field. To keep what was true before, set its valid_until and store the new fact.",
        UPDATE,
        compact.stored,
        text.changed,
        object_schema("stored", stored=_BOOLEAN, embedded=_BOOLEAN, memory=_WITH_ID),
        Hints(destroys=True, repeatable=True),
        {
            "id": "",
            "undo": "take the last change back",
            "unlink": "id that it does not update",
            "text": "the whole new text",
            "title": "",
            "type": "",
            "topics": "all of them",
            "event_time": "",
            "valid_until": "",
            "context": "",
        },
    ),
    Tool(
        "memory_forget",
        "Forget memories",
        "Delete memories permanently, with their vectors and links. Only for what is wrong or what the user"
        " wants removed; check with memory_get first.",
        FORGET,
        compact.anything,
        text.forgotten,
        object_schema("forgotten", forgotten=_INTEGER, matched=_STRINGS, missing=_STRINGS),
        Hints(destroys=True, repeatable=True),
        {"ids": ""},
    ),
    Tool(
        "memory_context",
        "Get context",
        "With a question: the best passages on it as text, within a token limit. Without: an overview of"
        " what is stored (topics, preferences, open tasks, decisions), to start a conversation with.",
        VERBS["context"],
        compact.context,
        text.context,
        object_schema(
            "text",
            text=_STRING,
            ids=_STRINGS,
            scores=_list_of(_NUMBER),
            confidence=_NUMBER,
            verdict=_STRING,
            left_out=_INTEGER,
        ),
        Hints(reads=True),
        {"question": "", "tokens": "maximum (800)", "namespace": "", "topics": "", "since": ""},
    ),
    Tool(
        "memory_feedback",
        "Rate a result",
        "Record whether a search result helped, so that later searches rank better.",
        VERBS["feedback"],
        compact.anything,
        text.feedback,
        object_schema("done", done=_STRING, count=_INTEGER),
        Hints(),
        {"query": "what was searched", "id": "which result", "action": ""},
    ),
    Tool(
        "memory_status",
        "Status of memory",
        "How much is stored, which model is used, and what is pending or failed.",
        VERBS["status"],
        compact.anything,
        text.status,
        object_schema(
            "memories",
            **dict.fromkeys(("memories", "pending", "failed"), _INTEGER),
            why_pending=_STRING,
        ),
        Hints(reads=True),
    ),
)
# Verbs that need no further tool.
COVERED = (*(tool.verb.name for tool in DEFAULT_TOOLS), "get", "add_many", "landscape")
