"""What a reader of a foreign format yields: records, what it cannot read, and what it leaves out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from scrubjay.text.analysis import valid_unicode
from scrubjay.text.front_matter import parse_date
from scrubjay.times import from_timestamp
from scrubjay.write.fields import valid_topics

ORIGIN = "imported"  # the key in the metadata of a memory that says where it came from
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_DIGITS = 20


class Record(NamedTuple):
    """One memory of another product. `key` is its id there, the same at every reading; `fields` are
    arguments of `add`."""

    where: str
    key: str
    fields: dict[str, Any]


class Broken(NamedTuple):
    """A place that cannot be read, and why; the rest is imported."""

    where: str
    reason: str


class LeftOut(NamedTuple):
    """Something that is no memory, such as the output of a tool; counted by reason."""

    reason: str


Item = Record | Broken | LeftOut


class Format(NamedTuple):
    """A foreign format: its files at a path, in the order to read them, and what is in each."""

    name: str
    files: Callable[[str], list[str]]
    read: Callable[[str], Iterator[Item]]


def memory_id(format: str, key: str) -> str:
    """Return the id of an imported memory: its own if that is a UUID, else one made from it."""
    if _UUID.fullmatch(key):
        return key.lower()
    return f"{format}-{sha256(key.encode()).hexdigest()[:_DIGITS]}"


def fields_of(format: str, file: str, record: Record) -> dict[str, Any]:
    """Return the arguments of `add` for a record, with its id and origin.

    The origin has a digest of what was read. A later import compares it, and not the memory, so that an
    edit made here stays until the source changes.
    """
    fields = {name: value for name, value in record.fields.items() if value not in (None, "", ())}
    fields["text"] = clean(fields.get("text"))
    fields["topics"] = valid_topics(fields.get("topics", ()))
    own = fields.pop("metadata", {})
    metadata = {name: value for name, value in own.items() if value not in (None, "", [], {})}
    content = json.dumps([fields, metadata], sort_keys=True, default=str)
    digest = sha256(content.encode()).hexdigest()[:_DIGITS]
    origin = {"from": format, "id": record.key, "file": clean(file), "digest": digest}
    id_ = memory_id(format, record.key)
    return {**fields, "id": id_, "metadata": {**metadata, ORIGIN: origin}}


def clean(value: object) -> str:
    """Return a text without what cannot be stored; "" for anything else."""
    return valid_unicode(value.replace("\0", "")) if isinstance(value, str) else ""


def text_in(value: Mapping[str, Any], *keys: str) -> str:
    """Return the first of these values that is a text and not empty."""
    texts = (clean(value.get(key)).strip() for key in keys)
    return next(filter(None, texts), "")


def time_in(value: Mapping[str, Any], *keys: str) -> datetime | None:
    """Return the first of these values that is a time: ISO text, or a number since 1970."""
    return next((at for key in keys if (at := _time(value.get(key))) is not None), None)


def _time(value: object) -> datetime | None:
    if isinstance(value, bool):
        return None
    return from_timestamp(value) if isinstance(value, int | float) else parse_date(value)
