"""`memory.jsonl` of the reference MCP memory server: entities with observations, and relations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.validation import check_name
from scrubjay.types import Link
from scrubjay.write.importers.json_lines import Line, lines_of
from scrubjay.write.importers.record import (
    Broken,
    Format,
    Item,
    Record,
    clean,
    memory_id,
    text_in,
)

NAME = "mcp-memory"
_NAMES = ("memory.jsonl", "memory.json")  # in 2024 the same lines were in memory.json
_DIGITS = 16


def _files(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    inside = [os.path.join(path, name) for name in _NAMES]
    found = [one for one in inside if os.path.isfile(one)][:1]
    if not found:
        raise InvalidInput(
            f"there is no {_NAMES[0]} in {path}; give the folder or file that has it"
        )
    return found


def _read(path: str) -> Iterator[Item]:
    """Yield a memory for each observation. The relations, which stand at the end, are read first: the
    first memory of an entity has its links."""
    first: dict[str, str] = {}  # id of the first memory of each entity
    relations: list[Line] = []
    for line in lines_of(path):
        if isinstance(line, Broken):
            continue  # reported by the second pass
        kind, name = line.value.get("type"), text_in(line.value, "name")
        if kind == "entity" and name:
            key = _key(name, next(iter(_observations(line.value)), ""))
            first.setdefault(name, memory_id(NAME, key))
        elif kind == "relation":
            relations.append(line)
    links: dict[str, list[Link]] = {}
    for line in relations:
        found = _link(line, first)
        if isinstance(found, Broken):
            yield found
        else:
            links.setdefault(found[0], []).append(found[1])
    for line in lines_of(path):
        if isinstance(line, Broken):
            yield line
        elif line.value.get("type") == "entity":
            yield from _entity(line, links)
        elif line.value.get("type") != "relation":
            yield Broken(line.where, "neither an entity nor a relation")


def _link(line: Line, first: dict[str, str]) -> tuple[str, Link] | Broken:
    ends = [text_in(line.value, end) for end in ("from", "to")]
    for name in ends:
        if name not in first:
            return Broken(line.where, f"the relation names {name!r}, and no entity has that name")
    if ends[0] == ends[1]:
        return Broken(line.where, f"{ends[0]!r} is related to itself, which a link cannot say")
    try:
        kind = check_name("relationType", line.value.get("relationType"), "works_at")
    except InvalidInput as error:
        return Broken(line.where, str(error))
    return ends[0], Link(first[ends[1]], kind=kind)


def _entity(line: Line, links: dict[str, list[Link]]) -> Iterator[Item]:
    name, kind = text_in(line.value, "name"), text_in(line.value, "entityType")
    if not name:
        yield Broken(line.where, "the entity has no name")
        return
    given = line.value.get("observations", [])
    if not isinstance(given, list):
        yield Broken(line.where, f"the observations of {name!r} are not a list")
        given = []
    texts = list(_observations(line.value))
    if len(texts) < len(given):
        yield Broken(line.where, f"{len(given) - len(texts)} observations of {name!r} are no text")
    for text in texts or [""]:
        named = text if name.casefold() in text.casefold() else f"{name}: {text}"
        alone = f"{name} ({kind})" if kind else name
        metadata = {"entity": name, "entity_type": kind}
        # Popped: only the first memory of the entity has the links.
        fields = {
            "text": named if text else alone,
            "topics": (name, kind),
            "links": tuple(links.pop(name, ())),
            "metadata": metadata,
        }
        yield Record(line.where, _key(name, text), fields)


def _observations(entity: dict[str, Any]) -> Iterator[str]:
    given = entity.get("observations")
    for one in given if isinstance(given, list) else ():
        if text := clean(one).strip():
            yield text


def _key(entity: str, observation: str) -> str:
    return f"{entity}#{sha256(observation.encode()).hexdigest()[:_DIGITS]}"


FORMAT = Format(NAME, _files, _read)
