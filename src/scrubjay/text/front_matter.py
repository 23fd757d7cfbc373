"""What a document says of itself in front: YAML, TOML or plain lines into plain values."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import readable
from scrubjay.text.markdown import front_matter
from scrubjay.times import parse

MOST_CHARS = 64 * 1024
_DEEPEST = 32
_LARGEST = 2**63
TOPIC_KEYS = ("tags", "tag", "topics", "keywords", "categories")
_CREATED_KEYS = ("date", "created", "created_at")
_UPDATED_KEYS = ("updated", "modified", "updated_at", "lastmod")
DATE_KEYS = (*_CREATED_KEYS, *_UPDATED_KEYS)


def properties(text: str) -> dict[str, Any]:
    """Return the front matter of a text as values that JSON can hold, keys as written; {} when none."""
    block, _ = front_matter(text)
    if not block.strip() or len(block) > MOST_CHARS:
        return {}
    is_toml = text.lstrip("\ufeff").startswith("+++")
    found = _toml(block) if is_toml else _yaml(block)
    if found is None:
        found = dict(_plain_lines(block, "=" if is_toml else ":"))
    return {readable(str(key)): _plain(value, 0) for key, value in found.items()}


def title_in(front: Mapping[str, Any]) -> str:
    """Return the title that front matter gives, else nothing."""
    value = first_of(front, ("title",))
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def topics_in(front: Mapping[str, Any]) -> Iterator[str]:
    """Yield the topics of front matter, from a list or from words with commas or spaces between."""
    lowered = {key.lower(): value for key, value in front.items()}
    for key in TOPIC_KEYS:
        yield from topics_from(lowered.get(key))


def topics_from(value: object) -> Iterator[str]:
    """Yield the topics of one value: a list, or a text with commas, semicolons or spaces between."""
    if isinstance(value, list):
        for one in value:
            if isinstance(one, str | int | float) and not isinstance(one, bool):
                yield from _topic(str(one))
    elif isinstance(value, str):
        bare = value.strip().strip("[]")
        for one in re.split("[,;]", bare) if re.search("[,;]", bare) else bare.split():
            yield from _topic(one)


def created_in(front: Mapping[str, Any]) -> datetime | None:
    """Return when front matter says the document was written."""
    return _moment(front, _CREATED_KEYS)


def updated_in(front: Mapping[str, Any]) -> datetime | None:
    """Return when front matter says the document was last changed."""
    return _moment(front, _UPDATED_KEYS)


def moment_of(value: object) -> datetime | None:
    """Read a date or a time as ISO text; naive means UTC, nonsense is none."""
    if not isinstance(value, str):
        return None
    try:
        return parse(value, "date")
    except InvalidInput:
        return None


def _topic(raw: str) -> Iterator[str]:
    bare = " ".join(raw.strip().strip("\"'").lstrip("#").split())
    if bare:
        yield bare


def _moment(front: Mapping[str, Any], keys: tuple[str, ...]) -> datetime | None:
    return moment_of(first_of(front, keys))


def first_of(front: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Return the first value under one of these keys, however they are spelt in capitals."""
    lowered = {key.lower(): value for key, value in front.items()}
    return next((lowered[key] for key in keys if lowered.get(key) is not None), None)


def _toml(block: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(block.replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        return None


def _yaml(block: str) -> Mapping[Any, Any] | None:
    """Return the mapping, {} when it is something else, None when it is not YAML that we trust."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if not is_tame(block, loader):
            return None
        found = yaml.load(block, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else {}


def is_tame(block: str, loader: Any) -> bool:
    """True without aliases, which grow without bound, without tags, and without endless nesting."""
    import yaml

    depth = 0
    for event in yaml.parse(block, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST or isinstance(event, yaml.AliasEvent):
            return False
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            return False
    return True


def _plain_lines(block: str, between: str) -> Iterator[tuple[str, str]]:
    for line in block.splitlines():
        key, found, value = line.partition(between)
        if found and key.strip() and not key.startswith((" ", "\t", "#", "-")):
            yield key.strip(), value.strip(" \t\"'")


def _plain(value: object, depth: int) -> Any:
    """Return a value as JSON knows it; what it does not know becomes text."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {readable(str(key)): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, int) and abs(value) >= _LARGEST:
        return f"{value:#x}"  # in decimals, Python refuses to print a very large one
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, bool | int | float | None) else readable(str(value))
