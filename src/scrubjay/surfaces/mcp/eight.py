"""The eight tools that an agent is given by default, with the words that teach it to use them.

Every word here is read by a model in every conversation: `python -m tools.mcp_tokens` counts them.
"""

from __future__ import annotations

from scrubjay.surfaces.mcp import lean, told
from scrubjay.surfaces.mcp.tool import OBJECT, Hints, Tool
from scrubjay.surfaces.shapes import Json
from scrubjay.surfaces.verbs import Param
from scrubjay.surfaces.verbs.kinds import WHOLE
from scrubjay.surfaces.verbs.table import VERBS

_TEXTS: Json = {"type": "array", "items": {"type": "string"}}
_STRING: Json = {"type": "string"}
_NUMBER: Json = {"type": "number"}
_FLAG: Json = {"type": "boolean"}


def _object(*required: str, **properties: Json) -> Json:
    shape: Json = {"type": "object", "properties": properties}
    return {**shape, "required": list(required)} if required else shape


def _list_of(shape: Json) -> Json:
    return {"type": "array", "items": shape}


_MEMORY = _object("id", id=_STRING, text=_STRING)

_SEARCH = Tool(
    "memory_search",
    "Search memory",
    "Search memory by word, meaning, topic and time; best hits first. Use it before answering from earlier"
    " conversations, documents or decisions, and before storing. A long text comes as a snippet; memory_get"
    " gives all of it. What makes an answer incomplete is in degraded.",
    VERBS["search"],
    lean.results,
    told.results,
    _object(
        "hits",
        hits=_list_of(
            _object(
                "id",
                "score",
                id=_STRING,
                score=_NUMBER,
                text=_STRING,
                snippet=_STRING,
                type=_STRING,
                created_at=_STRING,
            )
        ),
        degraded=_TEXTS,
    ),
    Hints(reads=True),
    {
        "query": "a question or words",
        "limit": "",
        "mode": "fast, thorough, keyword or vector; the profile's usual one without it",
        "profile": "engine: default, gnosis, gno, vault, cognis or novamem",
        "topics": "",
        "types": "such as fact, preference, decision, task, message, document",
        "namespace": "",
        "collection": "",
        "session": "only this conversation",
        "since": "a date or ISO time",
        "until": "",
        "include_expired": "",
        "explain": "with the parts of each score and the stages",
        "full": "long texts whole",
    },
)
EIGHT = (_SEARCH,)
