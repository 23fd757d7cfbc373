"""JSON of mem0's `get_all`: a list of memories, or an object with the list `results`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrubjay.write.importers.json_list import entries_in
from scrubjay.write.importers.record import (
    Broken,
    Format,
    Item,
    Record,
    text_in,
    time_in,
)

NAME = "mem0"
_READ = (
    "id",
    "memory",
    "user_id",
    "agent_id",
    "run_id",
    "role",
    "created_at",
    "updated_at",
    "score",
)
_LISTS = ("", "results", "memories")


def _files(path: str) -> list[str]:
    return [path]


def _read(path: str) -> Iterator[Item]:
    with open(path, "rb") as file:
        for entry in entries_in(file, path):
            if isinstance(entry, Broken):
                yield entry
            elif entry.list in _LISTS:
                yield _memory(entry.where, entry.value)
            elif entry.list == "relations":
                yield _relation(entry.where, entry.value)
            else:
                yield Broken(entry.where, f"the list {entry.list!r} is not of get_all")


def _memory(where: str, value: dict[str, Any]) -> Record | Broken:
    id_, text = value.get("id"), text_in(value, "memory", "data", "text")
    if not isinstance(id_, str | int) or not text:
        return Broken(where, "it has no id, or no text in `memory`")
    given = value.get("metadata")
    own = {key: one for key, one in value.items() if key not in (*_READ, "metadata", "categories")}
    until = value.get("expiration_date")
    fields = {
        "text": text,
        "owner": text_in(value, "user_id"),
        "agent": text_in(value, "agent_id"),
        "session": text_in(value, "run_id"),
        "role": text_in(value, "role"),
        "topics": _texts(value.get("categories")),
        "created_at": time_in(value, "created_at"),
        "updated_at": time_in(value, "updated_at", "created_at"),
        "valid_until": until if isinstance(until, str) else None,
        "metadata": {**own, **(given if isinstance(given, dict) else {})},
    }
    return Record(where, str(id_), fields)


def _relation(where: str, value: dict[str, Any]) -> Record | Broken:
    """Read an edge of mem0's graph. It names no memory, so it is a sentence and not a link."""
    ends = [text_in(value, *names) for names in (("source",), ("target", "destination"))]
    kind = text_in(value, "relationship", "relation")
    if not all((*ends, kind)):
        return Broken(where, "the relation has no source, relationship or target")
    text = f"{ends[0]} {kind.replace('_', ' ')} {ends[1]}"
    return Record(
        where, " | ".join((ends[0], kind, ends[1])), {"text": text, "topics": tuple(ends)}
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


FORMAT = Format(NAME, _files, _read)
