"""What an agent gets of an answer: the names of `--json`, without what says nothing.

An agent pays for every word. Nulls and what is empty are left out, and so is what only `explain` asks
for; long texts are a passage, and each answer has a bound. What a schema requires is there, empty or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from scrubjay.surfaces.mcp.limits import (
    MOST_ANSWER_CHARS,
    cut,
    fitted,
    size_of,
    with_short_fields,
)

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json
    from scrubjay.surfaces.verbs import Given

MOST_TEXT_CHARS = 30_000  # of all texts of one answer; it is some 7,500 tokens
_LONG_CHARS = 2_000  # a text that is longer is shown by its passage
_BRIEF_CHARS = 200  # of each text that no longer fits
_ABOUT_CHARS = 2_000  # of all other fields of a hit, or of a memory in a list
_MOST_ITEM_CHARS = 6_000  # of what is in a list and may be anything
_OF_A_MEMORY = "scrubjay://memory/"
_EXPLAINING = ("query", "counts", "terms", "took_ms", "topics")
_EXPLAINING_HIT = ("why", "found", "cosine", "rerank_score", "passages")
_NOISE = ("content_hash", "language", "token_estimate", "complete", "snippet", "marks")


def uri_of(id: str) -> str:
    """Return the address of a memory as a resource."""
    return _OF_A_MEMORY + quote(id, safe="")


def id_in(uri: str) -> str:
    """Return the id in the address of a memory; an id is one itself."""
    return unquote(uri.removeprefix(_OF_A_MEMORY)) if uri.startswith(_OF_A_MEMORY) else uri


def lean(value: Any) -> Any:
    """Return a value without nulls and without what is empty, at any depth."""
    if isinstance(value, dict):
        inner = {key: lean(one) for key, one in value.items()}
        return {key: one for key, one in inner.items() if _says_something(one)}
    if isinstance(value, list):
        return [lean(one) for one in value]
    return value


def results(shape: Json, given: Given) -> Json:
    """Return what was found; `trace` and the parts of each score are there with `explain` alone."""
    explain = given.get("explain", False)
    kept = {
        key: one
        for key, one in shape.items()
        if key != "trace" and (explain or key not in _EXPLAINING)
    }
    kept["hits"] = _hits(shape["hits"], explain=explain, full=given.get("full", False))
    answer: Json = {"hits": [], **lean(kept)}
    if explain:  # as the library has it, for whoever compares
        answer["trace"] = shape["trace"]
    return fitted(answer, whole=("trace",))


def memories(shape: Json, given: Given) -> Json:
    """Return memories with their texts from `offset` on, `max_chars` of each, and where they go on."""
    start, most = given.get("offset", 0), given.get("max_chars", MOST_TEXT_CHARS)
    room = left = max(MOST_TEXT_CHARS, most)
    shown: list[Json] = []
    for one in shape["memories"]:
        whole = one["text"]
        text = whole[start : start + min(most, max(left, _BRIEF_CHARS))]
        left -= len(text)
        kept = _unusual(_without(one, _NOISE))
        kept = with_short_fields(lean(_without(kept, ("text",))), max(left, _ABOUT_CHARS))
        left -= size_of(kept)
        kept |= {"uri": uri_of(one["id"]), "text": text}
        if start + len(text) < len(whole):
            kept |= {"next_offset": start + len(text), "chars": len(whole)}
        shown.append({"id": one["id"], **kept})
    return fitted({**lean(shape), "memories": shown}, MOST_ANSWER_CHARS - MOST_TEXT_CHARS + room)


def stored(shape: Json, _: Given) -> Json:
    """Return what was written: enough to recognise it, for whoever wrote it has it."""
    answer: Json = lean(_without(shape, ("memory", "memories", "messages")))
    if "memory" in shape:
        return fitted({**answer, "memory": _written(shape["memory"])}, whole=("memory",))
    name = "messages" if "messages" in shape else "memories"
    return fitted({**answer, name: [_written(one) for one in shape[name]]})


def listed(shape: Json, given: Given) -> Json:
    """Return a list of memories, each without what is usual; the list is there when it is empty, too."""
    kept = [_listed(one) for one in shape["memories"]]
    return {"memories": [], **anything({**shape, "memories": kept}, given)}


def anything(shape: Json, _: Given) -> Json:
    """Return any other answer, with its long texts cut, and its longest lists, where that is too long."""
    answer: Json = _with_short_texts(lean(shape))
    items = {name: one for name, one in answer.items() if isinstance(one, list)}
    return fitted(
        {**answer, **{name: [_bounded(each) for each in one] for name, one in items.items()}}
    )


def anything_whole(shape: Json, _: Given) -> Json:
    """Return an answer that has a bound of its own."""
    answer: Json = lean(shape)
    return {**answer, "text": shape["text"]}


def _bounded(one: Any) -> Any:
    return with_short_fields(one, _MOST_ITEM_CHARS) if isinstance(one, dict) else one


def _listed(one: Json) -> Json:
    kept = with_short_fields(lean(_unusual(_without(one, _NOISE))), _ABOUT_CHARS)
    return {"id": one["id"], "uri": uri_of(one["id"]), **kept}


def _written(one: Json) -> Json:
    kept = with_short_fields(lean(_unusual(_without(one, _NOISE))), _ABOUT_CHARS)
    kept["text"] = cut(one["text"], _BRIEF_CHARS)
    return {"id": one["id"], "uri": uri_of(one["id"]), **kept}


def _hits(hits: list[Json], *, explain: bool, full: bool) -> list[Json]:
    """Return hits with either `text`, which is whole, or `snippet`, which is a passage."""
    left = MOST_TEXT_CHARS
    shown: list[Json] = []
    for hit in hits:
        is_passage = hit["text"] == hit["snippet"] and not hit["complete"]
        noise = _NOISE if explain else (*_NOISE, *_EXPLAINING_HIT)
        brief = _unusual(_without(hit, noise))
        if not brief["source"]:  # lines of no file
            del brief["lines"]
        text = brief.pop("text")
        if not full and (is_passage or len(text) > _LONG_CHARS):
            brief["snippet"] = hit["snippet"]
        elif len(text) <= left:
            brief["text"] = text
        else:
            brief["snippet"] = hit["snippet"]
        if "snippet" in brief and len(brief["snippet"]) > left:
            brief["snippet"] = cut(brief["snippet"], _BRIEF_CHARS)
        left = max(left - len(brief.get("text", "")) - len(brief.get("snippet", "")), 0)
        brief = with_short_fields(
            brief, min(max(left, _BRIEF_CHARS), _ABOUT_CHARS), _EXPLAINING_HIT
        )
        shown.append({"id": hit["id"], "uri": uri_of(hit["id"]), **brief})
    return shown


def _with_short_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_short_texts(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_short_texts(one) for one in value]
    return cut(value, _LONG_CHARS) if isinstance(value, str) else value


def _unusual(one: Json) -> Json:
    """Return something without what is usual: the default namespace, and a change that never was."""
    usual = ("namespace",) if one["namespace"] == "default" else ()
    unchanged = ("updated_at",) if one["updated_at"] == one["created_at"] else ()
    return _without(one, (*usual, *unchanged))


def _without(shape: Json, names: tuple[str, ...]) -> Json:
    return {key: one for key, one in shape.items() if key not in names}


def _says_something(value: object) -> bool:
    return value is not None and value != "" and value != [] and value != {}
