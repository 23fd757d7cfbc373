"""What an agent gets of an answer: the names of `--json`, without what says nothing.

An agent pays for every word. Nulls and what is empty are left out, and so is what only `explain` asks
for; long texts are a passage, and all texts together have a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from scrubjay.surfaces.shapes import line

if TYPE_CHECKING:
    from scrubjay.surfaces.shapes import Json
    from scrubjay.surfaces.verbs import Given

MOST_TEXT_CHARS = 30_000  # of all texts of one answer; it is some 7,500 tokens
_LONG_CHARS = 2_000  # a text that is longer is shown by its passage
_MOST_ANSWER_CHARS = 60_000  # of an answer that is no search
_BRIEF_CHARS = 200  # of each text that no longer fits
_OF_A_MEMORY = "scrubjay://memory/"
_EXPLAINING = ("query", "counts", "terms", "took_ms", "topics")
_EXPLAINING_HIT = ("why", "found", "cosine", "rerank_score", "passages")
_NOISE = ("content_hash", "language", "token_estimate", "complete", "snippet")


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
    return answer


def memories(shape: Json, given: Given) -> Json:
    """Return memories with their texts from `offset` on, `max_chars` of each, and where they go on."""
    start, most = given.get("offset", 0), given.get("max_chars", MOST_TEXT_CHARS)
    left = MOST_TEXT_CHARS if most <= MOST_TEXT_CHARS else most
    shown: list[Json] = []
    for one in shape["memories"]:
        whole = one["text"]
        text = whole[start : start + min(most, max(left, _BRIEF_CHARS))]
        left -= len(text)
        kept = _unusual(_without(one, _NOISE))
        kept |= {"uri": uri_of(one["id"]), "text": text}
        if start + len(text) < len(whole):
            kept |= {"next_offset": start + len(text), "chars": len(whole)}
        shown.append({"id": one["id"], **lean(kept)})
    return {**lean(shape), "memories": shown}


def stored(shape: Json, _: Given) -> Json:
    """Return what was written: enough to recognise it, for whoever wrote it has it."""
    answer: Json = lean(_without(shape, ("memory", "memories", "messages")))
    if "memory" in shape:
        return {**answer, "memory": _written(shape["memory"])}
    name = "messages" if "messages" in shape else "memories"
    return {**answer, name: [_written(one) for one in shape[name]]}


def listed(shape: Json, given: Given) -> Json:
    """Return a list of memories, each without what is usual; the list is there when it is empty, too."""
    kept = [_listed(one) for one in shape["memories"]]
    return {"memories": [], **anything({**shape, "memories": kept}, given)}


def anything(shape: Json, _: Given) -> Json:
    """Return any other answer, with its long texts cut, and its longest list, where that is too long."""
    answer: Json = _with_short_texts(lean(shape))
    lists = {name: one for name, one in answer.items() if isinstance(one, list)}
    if not lists or len(line(answer)) <= _MOST_ANSWER_CHARS:
        return answer
    longest = max(lists, key=lambda name: len(line({name: lists[name]})))
    kept = _beginning(lists[longest])
    return {**answer, longest: kept, "not_shown": len(lists[longest]) - len(kept)}


def anything_whole(shape: Json, _: Given) -> Json:
    """Return an answer that has a bound of its own."""
    answer: Json = lean(shape)
    return {**answer, "text": shape["text"]}


def _listed(one: Json) -> Json:
    return {"id": one["id"], "uri": uri_of(one["id"]), **_unusual(_without(one, _NOISE))}


def _written(one: Json) -> Json:
    kept = lean(_unusual(_without(one, _NOISE)))
    kept["text"] = _cut(one["text"], _BRIEF_CHARS)
    return {"id": one["id"], "uri": uri_of(one["id"]), **kept}


def _hits(hits: list[Json], *, explain: bool, full: bool) -> list[Json]:
    """Return hits with either `text`, which is whole, or `snippet`, which is a passage."""
    left = MOST_TEXT_CHARS
    shown: list[Json] = []
    for hit in hits:
        cut = hit["text"] == hit["snippet"] and not hit["complete"]
        noise = _NOISE if explain else (*_NOISE, *_EXPLAINING_HIT)
        brief = _unusual(_without(hit, noise))
        if not brief["source"]:  # lines of no file
            del brief["lines"]
        text = brief.pop("text")
        if not full and (cut or len(text) > _LONG_CHARS):
            brief["snippet"] = hit["snippet"]
        elif len(text) <= left:
            brief["text"] = text
        else:
            brief["snippet"] = hit["snippet"]
        if "snippet" in brief and len(brief["snippet"]) > left:
            brief["snippet"] = _cut(brief["snippet"], _BRIEF_CHARS)
        left = max(left - len(brief.get("text", "")) - len(brief.get("snippet", "")), 0)
        shown.append({"id": hit["id"], "uri": uri_of(hit["id"]), **brief})
    return shown


def _beginning(items: list[Any]) -> list[Any]:
    """Return as many of the first as have room in an answer, and at least one."""
    left = _MOST_ANSWER_CHARS
    for count, one in enumerate(items):
        left -= len(line({"": one}))
        if left < 0:
            return items[: max(count, 1)]
    return items


def _with_short_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_short_texts(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_short_texts(one) for one in value]
    return _cut(value, _LONG_CHARS) if isinstance(value, str) else value


def _cut(text: str, most_chars: int) -> str:
    return text if len(text) <= most_chars else f"{text[: most_chars - 1]}…"


def _unusual(one: Json) -> Json:
    """Return something without what is usual: the default namespace, and a change that never was."""
    usual = ("namespace",) if one["namespace"] == "default" else ()
    unchanged = ("updated_at",) if one["updated_at"] == one["created_at"] else ()
    return _without(one, (*usual, *unchanged))


def _without(shape: Json, names: tuple[str, ...]) -> Json:
    return {key: one for key, one in shape.items() if key not in names}


def _says_something(value: object) -> bool:
    return value is not None and value != "" and value != [] and value != {}
