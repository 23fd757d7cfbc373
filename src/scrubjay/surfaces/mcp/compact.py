"""Compact answers for agents: the JSON of `--json` without empty values, within a limit of characters.
A model pays for every word. Nulls and empty values are left out, and so is what only `explain`
needs; long texts become a passage. Fields that the output schema requires are always there. A size
counts the characters of names and values, not the JSON syntax."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import Given

MAX_ANSWER_CHARS = 60_000
MAX_TEXT_CHARS = 30_000  # of all texts of one answer: about 7,500 tokens
_LONG_CHARS = 2_000  # a longer text is shown by its passage
_PASSAGE_FIELDS = ("id", "ids", "source", "lines", "heading", "cut")
_BRIEF_CHARS = 200  # of each text for which no room is left
_FIELDS_CHARS = 2_000  # of all other fields of a hit, or of a memory in a list
_MAX_ITEM_CHARS = 6_000  # of an item in any other list
_SHORT_CHARS = 100  # never cut: dates, types, names
_NEVER_CUT = ("id", "uri", "score", "text", "snippet", "next_offset", "chars")
_MEMORY_URI = "scrubjay://memory/"
_EXPLAIN_FIELDS = ("query", "counts", "terms", "took_ms", "topics", "summary")
_EXPLAIN_HIT_FIELDS = ("why", "found", "cosine", "rerank_score", "passages")
# A scan is for choosing by length; a whole entry comes with the breakdown of its score.
_ENTRY_FIELDS: dict[str | None, tuple[str, ...]] = {
    "brief": ("token_estimate",),
    "whole": ("why",),
}
_WITH_PREVIEWS = ("counts", "topics", "summary")
_NOT_IN_PREVIEWS = ("text", "context", "heading")
_NOISE = (
    "change_dates",
    "content_hash",
    "language",
    "token_estimate",
    "complete",
    "snippet",
    "marks",
    "span",
)


def uri_of(id: str) -> str:
    return _MEMORY_URI + quote(id, safe="")


def id_in(uri: str) -> str:
    """Return the id in the URI of a memory; an id is returned as it is."""
    return unquote(uri.removeprefix(_MEMORY_URI)) if uri.startswith(_MEMORY_URI) else uri


def without_empty(value: Any) -> Any:
    """Return a value without nulls, empty texts, lists and objects, at any depth."""
    if isinstance(value, dict):
        inner = {key: without_empty(part) for key, part in value.items()}
        return {key: part for key, part in inner.items() if part not in (None, "", [], {})}
    return [without_empty(part) for part in value] if isinstance(value, list) else value


def results(shape: Json, given: Given) -> Json:
    explain, entries = given.get("explain", False), shape.get("entries")
    kept = _without(shape, ("trace",) if explain else ("trace", *_EXPLAIN_FIELDS))
    fields = _ENTRY_FIELDS.get(entries, ()) + (_EXPLAIN_HIT_FIELDS if explain else ())
    passages = kept.pop("passages", None)
    if shows_previews(shape, given):
        passages = None
        kept |= {name: shape[name] for name in _WITH_PREVIEWS}
        kept["hits"] = _previews(shape["hits"], explain=explain)
    elif passages is None:
        kept["hits"] = _hits(shape["hits"], fields, full=given.get("full", False), entries=entries)
    else:
        kept["hits"] = _hits_with(passages, shape["hits"], fields)
    answer: Json = {"hits": [], **without_empty(kept)}
    if explain:  # unchanged, to compare it with the library's
        answer["trace"] = shape["trace"]
    room = sum(len(passage["text"]) for passage in passages or ())
    return fit(answer, MAX_ANSWER_CHARS + max(room - MAX_TEXT_CHARS, 0), whole=("trace",))


def shows_previews(answer: Json, given: Given) -> bool:
    """True for results whose profile has bands, unless the caller asks for whole texts or passages."""
    with_bands = answer.get("searched") or any(hit.get("band") for hit in answer["hits"])
    return bool(with_bands) and not (given.get("full") or given.get("tokens"))


def memories(shape: Json, given: Given) -> Json:
    start, most = given.get("offset", 0), given.get("max_chars", MAX_TEXT_CHARS)
    room = left = max(MAX_TEXT_CHARS, most)
    shown: list[Json] = []
    for memory in shape["memories"]:
        whole = memory["text"]
        text = whole[start : start + min(most, max(left, _BRIEF_CHARS))]
        left -= len(text)
        kept = without_empty(_without(_unusual(memory), ("text",)))
        kept = shorten_fields(kept, max(left, _FIELDS_CHARS))
        left -= size_of(kept)
        kept |= {"uri": uri_of(memory["id"]), "text": text}
        if start + len(text) < len(whole):
            kept |= {"next_offset": start + len(text), "chars": len(whole)}
        shown.append({"id": memory["id"], **kept})
    history = {
        id_: [
            _earlier(id_, version) for version in versions[1:]
        ]  # the first one is the memory itself
        for id_, versions in shape.get("history", {}).items()
    }
    answer = {**without_empty({**shape, "history": history}), "memories": shown}
    return fit(answer, MAX_ANSWER_CHARS - MAX_TEXT_CHARS + room)


def _earlier(id: str, version: Json) -> Json:
    return {**version, "id": id, "text": cut(version["text"], _LONG_CHARS)}


def stored(shape: Json, _: Given) -> Json:
    """Return what was written, with the beginnings of the texts: the caller has them."""
    answer: Json = without_empty(_without(shape, ("memory", "memories", "messages")))
    if "memory" in shape:
        return fit({**answer, "memory": _written(shape["memory"])}, whole=("memory",))
    name = "messages" if "messages" in shape else "memories"
    return fit({**answer, name: [_written(memory) for memory in shape[name]]})


def listed(shape: Json, given: Given) -> Json:
    """Return a list of memories, which is there even when it is empty."""
    brief = [_listed(memory) for memory in shape["memories"]]
    return {"memories": [], **anything({**shape, "memories": brief}, given)}


def anything(shape: Json, _: Given) -> Json:
    answer: Json = _cut_texts(without_empty(shape))
    for items in answer.values():
        if isinstance(items, list):
            items[:] = [
                shorten_fields(item, _MAX_ITEM_CHARS) if isinstance(item, dict) else item
                for item in items
            ]
    return fit(answer)


def context(shape: Json, _: Given) -> Json:
    """Return the text with what it shows, so that a program finds the places."""
    places = [
        {name: passage[name] for name in _PASSAGE_FIELDS if passage[name]}
        for passage in shape.get("passages", ())
    ]
    for place in places:
        if place["ids"] == [place["id"]]:
            del place["ids"]
    return {**without_empty({**shape, "passages": places}), "text": shape["text"]}


def _listed(memory: Json) -> Json:
    kept = shorten_fields(without_empty(_unusual(memory)), _FIELDS_CHARS)
    return {"id": memory["id"], "uri": uri_of(memory["id"]), **kept}


def _written(memory: Json) -> Json:
    return {**_listed(memory), "text": cut(memory["text"], _BRIEF_CHARS)}


def _hits(
    hits: list[Json], fields: tuple[str, ...], *, full: bool, entries: str | None
) -> list[Json]:
    """Return hits with either `text`, which is complete, or `snippet`, which is a passage or, of a
    brief entry, its beginning."""
    left = MAX_TEXT_CHARS
    shown: list[Json] = []
    for hit in hits:
        brief = _fields_of(hit, fields)
        if not brief["source"]:  # line numbers without a file
            del brief["lines"]
        text, snippet = brief.pop("text"), hit["snippet"]
        is_passage = text == snippet and not hit["complete"]
        is_long = len(text) > _LONG_CHARS and entries is None
        is_whole = entries != "brief" and (full or not (is_passage or is_long))
        if is_whole and len(text) <= left:
            brief["text"] = text
            left -= len(text)
        else:
            brief["snippet"] = snippet if len(snippet) <= left else cut(snippet, _BRIEF_CHARS)
            left = max(left - len(brief["snippet"]), 0)
        room = min(max(left, _BRIEF_CHARS), _FIELDS_CHARS)
        brief = shorten_fields(brief, room, _EXPLAIN_HIT_FIELDS)
        shown.append({"id": hit["id"], "uri": uri_of(hit["id"]), **brief})
    return shown


def _fields_of(hit: Json, fields: tuple[str, ...]) -> Json:
    """Return what is usual in a hit, and these further fields."""
    usual = _without(_unusual(hit), _EXPLAIN_HIT_FIELDS)
    return {name: value for name, value in hit.items() if name in usual or name in fields}


def _hits_with(passages: list[Json], hits: list[Json], fields: tuple[str, ...]) -> list[Json]:
    """Return hits with the passages that show them: as `text` where it is the whole one, else as
    `snippet` with its lines. A hit of which nothing fits has a brief snippet."""
    own = {passage["id"]: passage for passage in passages}
    others = {id_: passage["id"] for passage in passages for id_ in passage["ids"]}
    shown: list[Json] = []
    for hit in hits:
        id_ = hit["id"]
        brief = _without(_fields_of(hit, fields), ("text", "lines"))
        if (passage := own.get(id_)) is not None:
            brief["text" if passage["complete"] else "snippet"] = passage["text"]
            brief["lines"] = passage["lines"]
            brief["passage_cut"] = passage["cut"] or None
        elif id_ in others:
            brief["shown_with"] = others[id_]
        else:
            brief["snippet"] = cut(hit["snippet"], _BRIEF_CHARS)
            brief["lines"] = hit["lines"] if hit["source"] else None
        brief = shorten_fields(brief, _FIELDS_CHARS, _EXPLAIN_HIT_FIELDS)
        shown.append({"id": id_, "uri": uri_of(id_), **brief})
    return shown


def _previews(hits: list[Json], *, explain: bool) -> list[Json]:
    """Return hits with preview, cosine, score of the reranker, and whether the preview is complete."""
    shown: list[Json] = []
    for hit in hits:
        brief = _without(_unusual(hit), _NOT_IN_PREVIEWS)
        if not explain:
            brief = _without(brief, _EXPLAIN_HIT_FIELDS)
        if not brief["source"]:  # line numbers without a file
            del brief["lines"]
        scores = {"cosine": hit["cosine"], "rerank_score": hit["rerank_score"]}
        brief |= {"snippet": hit["snippet"], "complete": hit["complete"], **scores}
        brief = shorten_fields(brief, _FIELDS_CHARS, _EXPLAIN_HIT_FIELDS)
        shown.append({"id": hit["id"], "uri": uri_of(hit["id"]), **brief})
    return shown


def _cut_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cut_texts(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_cut_texts(part) for part in value]
    return cut(value, _LONG_CHARS) if isinstance(value, str) else value


def _unusual(memory: Json) -> Json:
    """Return a memory without noise, the default namespace, and the time of a change that never was."""
    usual = ("namespace",) if memory["namespace"] == "default" else ()
    unchanged = ("updated_at",) if memory["updated_at"] == memory["created_at"] else ()
    return _without(memory, (*_NOISE, *usual, *unchanged))


def _without(shape: Json, names: tuple[str, ...]) -> Json:
    return {key: value for key, value in shape.items() if key not in names}


def cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def size_of(value: Any) -> int:
    if isinstance(value, dict):
        return sum(len(key) + size_of(part) for key, part in value.items())
    if isinstance(value, list):
        return sum(size_of(part) + 1 for part in value)
    return len(str(value))


def shorten(value: Any, max_chars: int) -> Any:
    """Return the beginning of a text, or the first items of a list or object that fit."""
    if isinstance(value, str):
        return cut(value, max(max_chars, 1))
    if isinstance(value, dict):
        sizes = [len(key) + size_of(part) for key, part in value.items()]
        return dict(_first(list(value.items()), sizes, max_chars))
    if isinstance(value, list):
        return _first(value, [size_of(part) + 1 for part in value], max_chars)
    return value


def _first(items: list[Any], sizes: list[int], max_chars: int) -> list[Any]:
    left = max_chars
    for count, size in enumerate(sizes):
        left -= size
        if left < 0:
            return items[:count]
    return items


def shorten_fields(memory: Json, max_chars: int, whole: tuple[str, ...] = ()) -> Json:
    """Return a memory whose title, topics, context, metadata and the like fit together.
    `cut` names the shortened fields. The id, the text, short fields and those in `whole` stay as
    they are."""
    left = max_chars
    kept: Json = {}
    shortened: list[str] = []
    for name, value in memory.items():
        size = size_of(value)
        if name in _NEVER_CUT or name in whole or size <= _SHORT_CHARS:
            kept[name] = value
            continue
        short = value if size <= left else shorten(value, max(left, _SHORT_CHARS))
        if size > left:
            shortened.append(name)
        if short:
            kept[name] = short
        left -= size_of(short)
    return {**kept, "cut": shortened} if shortened else kept


def fit(answer: Json, max_chars: int = MAX_ANSWER_CHARS, whole: tuple[str, ...] = ()) -> Json:
    """Return an answer with its longest lists shortened to fit; `not_shown` counts what is missing."""
    shown = dict(answer)
    sizes = {
        name: size_of(value)
        for name, value in answer.items()
        if isinstance(value, list | dict) and value and name not in whole
    }
    too_much = sum(size_of(value) for name, value in shown.items() if name not in whole)
    too_much -= max_chars
    missing = 0
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if too_much <= 0:
            break
        least = shown[name][:1] if isinstance(shown[name], list) else {}
        less = shorten(shown[name], sizes[name] - too_much) or least
        missing += len(shown[name]) - len(less)
        too_much -= sizes[name] - size_of(less)
        shown[name] = less
    return {**shown, "not_shown": missing} if missing else shown
