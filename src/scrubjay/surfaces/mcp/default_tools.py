"""The eight tools that an agent is given by default, with the words that teach it to use them.

Every word here is read by a model in every conversation: `python -m tools.mcp_tokens` counts them.
"""

from __future__ import annotations

from scrubjay.surfaces.mcp import compact as lean
from scrubjay.surfaces.mcp import text as told
from scrubjay.surfaces.mcp import text_done as told_done
from scrubjay.surfaces.mcp.adapters import FORGET, STORE
from scrubjay.surfaces.mcp.tool import Hints, Tool, object_of
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import Param
from scrubjay.surfaces.verbs.kinds import OFFSET, whole
from scrubjay.surfaces.verbs.table import VERBS

_STRING: Json = {"type": "string"}
_NUMBER: Json = {"type": "number"}
_WHOLE: Json = {"type": "integer"}
_FLAG: Json = {"type": "boolean"}
_MOST_GET_CHARS = 1_000_000


def _list_of(shape: Json) -> Json:
    return {"type": "array", "items": shape}


EIGHT = (
    Tool(
        "memory_search",
        "Search memory",
        "Find what was stored, by word, meaning, topic and time; best first. Use it before you answer"
        " from earlier conversations, documents or decisions, and before you store. A long text comes"
        " as snippet: memory_get gives the whole. degraded says what the answer lacks; a low confidence,"
        " that it may not be stored.",
        VERBS["search"],
        lean.results,
        told.results,
        object_of(
            "hits",
            hits=_list_of(
                object_of(
                    "id",
                    "score",
                    id=_STRING,
                    uri=_STRING,
                    score=_NUMBER,
                    type=_STRING,
                    text=_STRING,
                    snippet=_STRING,
                    source=_STRING,
                    created_at=_STRING,
                )
            ),
            confidence=_NUMBER,
            degraded=_list_of(_STRING),
        ),
        Hints(reads=True),
        {
            "query": "a question, or words",
            "limit": "most hits",
            "mode": "fast, thorough, keyword or vector",
            "profile": "engine: default, gnosis, gno, vault, cognis, novamem",
            "topics": "any of",
            "types": "any of, such as fact, preference, decision, task, message, document",
            "namespace": "only there; `project/` for all below",
            "collection": "",
            "session": "only this conversation",
            "since": "stored or said since: date or ISO time",
            "until": "",
            "include_expired": "what is not valid now, too",
            "explain": "with the parts of each score, and every stage",
            "full": "long texts whole",
        },
    ),
    Tool(
        "memory_get",
        "Read memories",
        "Return memories whole, by id. A very long text goes on at next_offset.",
        VERBS["get_many"],
        lean.memories,
        told.memories,
        object_of(
            "memories",
            memories=_list_of(
                object_of("id", "text", id=_STRING, text=_STRING, next_offset=_WHOLE)
            ),
            missing=_list_of(_STRING),
        ),
        Hints(reads=True),
        {"ids": "as found by a search", "offset": "first character", "max_chars": "of each text"},
        (
            Param("offset", OFFSET, "first character of each text"),
            Param("max_chars", whole(1, _MOST_GET_CHARS), "of each text"),
        ),
    ),
    Tool(
        "memory_store",
        "Store a memory",
        "Remember something that will matter later: a preference, decision, fact, task or lesson. One fact"
        " a memory, in full sentences that are clear without this conversation: names instead of pronouns,"
        " dates instead of 'yesterday'. Search first; where it is known already, use memory_update rather"
        " than storing it twice. Never store passwords or keys. It is durable when this answers, found by"
        " word at once, and by meaning when embedded.",
        STORE,
        lean.stored,
        told_done.stored,
        object_of(
            "stored",
            stored=_FLAG,
            keyword_indexed=_FLAG,
            embedded=_FLAG,
            why_pending=_STRING,
            known=_list_of(_STRING),
            memory=object_of("id", id=_STRING),
            memories=_list_of(object_of("id", id=_STRING)),
        ),
        Hints(repeatable=True),
        {
            "text": "the fact",
            "memories": "or several: texts, or objects with the other fields here",
            "type": "fact (default), preference, decision, task, summary, …",
            "topics": "one to three words each",
            "title": "",
            "namespace": "such as project/notes",
            "collection": "",
            "session": "",
            "event_time": "when it happened",
            "valid_until": "no longer found after",
            "source": "file or URL it is from",
            "context": "what helps to understand it",
            "links": "ids of related memories, or {to, kind, strength}",
        },
    ),
    Tool(
        "memory_update",
        "Change a memory",
        "Correct or complete a memory: what is given replaces the old, the rest stays, '' removes a field."
        " To keep what was true before, set its valid_until and store the new fact.",
        VERBS["update"],
        lean.stored,
        told_done.changed,
        object_of("stored", stored=_FLAG, embedded=_FLAG, memory=object_of("id", id=_STRING)),
        Hints(destroys=True, repeatable=True),
        {
            "id": "",
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
        "Remove memories for good, with their vectors and links. Only for what is wrong, or what the user"
        " wants gone; look with memory_get first.",
        FORGET,
        lean.anything,
        told_done.forgotten,
        object_of(
            "forgotten", forgotten=_WHOLE, matched=_list_of(_STRING), missing=_list_of(_STRING)
        ),
        Hints(destroys=True, repeatable=True),
        {"ids": ""},
    ),
    Tool(
        "memory_context",
        "What is known",
        "With a question: the best memories on it as text, within a number of tokens. Without: what is"
        " stored at all (topics, preferences, open tasks, decisions); good to begin a conversation with.",
        VERBS["context"],
        lean.anything_whole,
        told.context,
        object_of(
            "text",
            text=_STRING,
            ids=_list_of(_STRING),
            scores=_list_of(_NUMBER),
            confidence=_NUMBER,
            left_out=_WHOLE,
        ),
        Hints(reads=True),
        {"question": "", "tokens": "at most (800)", "namespace": "", "topics": "", "since": ""},
    ),
    Tool(
        "memory_feedback",
        "Rate a result",
        "Say what became of a search result, so that later searches rank better.",
        VERBS["feedback"],
        lean.anything,
        told_done.feedback,
        object_of("done", done=_STRING, count=_WHOLE),
        Hints(),
        {"query": "what was searched", "id": "which result", "action": ""},
    ),
    Tool(
        "memory_status",
        "Status of memory",
        "How much is stored, which model is used, and what is pending or failed.",
        VERBS["status"],
        lean.anything,
        told_done.status,
        object_of("memories", memories=_WHOLE, pending=_WHOLE, why_pending=_STRING, failed=_WHOLE),
        Hints(reads=True),
    ),
)
# Verbs that one of the eight does already.
COVERED = (*(one.verb.name for one in EIGHT), "get", "add_many", "landscape")
