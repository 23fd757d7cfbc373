"""Recall tags in structured content: stored text in the JSON of a tool is marked as data, too.

By default only the text of an answer has the tags, and structured content has stored texts unchanged, for
programs. With `--recall-tags all` a client that shows the JSON to its model gets the tags there as well.
"""

from __future__ import annotations

from typing import Any

from scrubjay.surfaces.render.json import Json
from scrubjay.text.recall_tags import without_tags, wrap_recalled

_FREE_TEXTS = ("text", "snippet", "title", "heading", "context", "before", "after")
_OWN_WORDS = ("next_offset", "trace")


def with_tags(answer: Json) -> Json:
    """Return an answer with its stored texts inside recall tags; in no other value and in no key, such as
    the name of a collection or of a field of metadata, can a tag stand."""
    if "question" in answer:  # the text of a context has the tags of each memory
        return {**_marked(answer, ""), "text": answer["text"]}
    if "id" not in answer and isinstance(answer.get("text"), str):
        text = wrap_recalled(answer["text"], "landscape", keep_lines=True)
        return {**_marked(answer, ""), "text": text}
    return _marked(answer, "")


def _marked(fields: Json, id: str) -> Json:
    own = fields.get("id")
    id = own if isinstance(own, str) else id
    return {without_tags(name): _value(name, value, id) for name, value in fields.items()}


def _value(name: str, value: Any, id: str) -> Any:
    if name in _OWN_WORDS:
        return value
    if isinstance(value, dict):
        return _leaf(value, id) if name == "metadata" else _marked(value, id)
    if isinstance(value, list):
        return [_value(name, part, id) for part in value]
    if isinstance(value, str):
        is_free = id and name in _FREE_TEXTS
        return wrap_recalled(value, id, keep_lines=True) if is_free else without_tags(value)
    return value


def _leaf(value: Any, id: str) -> Any:
    if isinstance(value, dict):
        return {without_tags(key): _leaf(part, id) for key, part in value.items()}
    if isinstance(value, list):
        return [_leaf(part, id) for part in value]
    return wrap_recalled(value, id, keep_lines=True) if isinstance(value, str) else value
