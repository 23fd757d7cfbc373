"""The JSON of every command: our own data types as plain values, pinned by `schemas/*.json`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrubjay.errors import ScrubjayError
    from scrubjay.types import Results
    from scrubjay.types.reports import Ingested

Json = dict[str, Any]


def plain(value: object) -> Any:
    """Turn our data into what JSON knows: times become ISO strings, tuples lists, no NaN."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "_fields"):
        named = zip(value._fields, value, strict=True)  # type: ignore[call-overload]
        return {name: plain(one) for name, one in named}
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    return str(value)


def dumps(shape: Json) -> str:
    """Write JSON for people and programs alike: indented, in its own script, safe to print."""
    import json

    return _safe(json.dumps(shape, ensure_ascii=False, indent=2, allow_nan=False))


def line(shape: Json) -> str:
    """Write JSON on one line, for a program that reads one document a line."""
    import json

    return _safe(json.dumps(shape, ensure_ascii=False, allow_nan=False))


def _safe(text: str) -> str:
    """Escape DEL and C1: a terminal may obey them inside JSON, too, where an escape means the same.

    `str.translate` took three times as long as making the JSON did.
    """
    import re

    return re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text)


_LONG_CHARS = 2048


def results(found: Results, *, mode: str, explain: bool, full: bool) -> Json:
    """Return the answer of a search; trace, marks and long texts only where they were asked for.

    A document of a whole book would fill the context of an agent that only wanted to know where.
    """
    # The trace is most of the work, and mostly nobody asks for it.
    told = {name: one for name, one in vars(found).items() if explain or name != "trace"}
    shape: Json = plain(told)
    shape["mode"] = mode
    if explain:
        _take_apart(shape["hits"], found)
    for hit in shape["hits"]:
        if not full and len(hit["text"]) > _LONG_CHARS:
            hit["text"] = hit["snippet"]
    if explain:
        from scrubjay.surfaces.render.marks import marks

        for hit, one in zip(shape["hits"], found.hits, strict=True):
            hit["marks"] = marks(one, found.terms)
    return shape


def _take_apart(shapes: list[Json], found: Results) -> None:
    """Give each hit the sum behind its score, in the words of the shell."""
    from scrubjay.surfaces.render.explain_sum import sum_of

    for shape, hit in zip(shapes, found.hits, strict=True):
        shape["sum"] = plain(sum_of(hit, found))


def ingested(path: str | None, done: Ingested) -> Json:
    """Return what one ingest did, with the files it could not read and why.

    Without a path it was everything that had been read before.
    """
    return {"path": path, **reasons(plain(done), "skipped", "failed", "notes")}


def reasons(shape: Json, *keys: str) -> Json:
    """Return a shape in which each pair of a path and a reason says which is which."""
    named = {key: [{"path": where, "reason": why} for where, why in shape[key]] for key in keys}
    return {**shape, **named}


def listing(name: str, items: Sequence[object], **more: object) -> Json:
    """Return a list under its name, with what else there is to say."""
    return {name: [plain(one) for one in items], **{key: plain(one) for key, one in more.items()}}


def failure(error: ScrubjayError, said: str = "") -> Json:
    """Return an error as JSON, so that a program reads the same sentence as a person."""
    return {"error": {"kind": type(error).__name__, "message": said or str(error)}}
