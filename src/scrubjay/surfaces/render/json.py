"""JSON of results, memories and reports, as described by `schemas/`."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

from scrubjay.text.lines import cut_lines, parse_range

if TYPE_CHECKING:
    from scrubjay.errors import ScrubjayError
    from scrubjay.ops.doctor import Finding, Repair
    from scrubjay.search.profiles import Profile
    from scrubjay.store import Store
    from scrubjay.types import Hit, Memories, Memory, Messages, Results, Stored
    from scrubjay.types.changes import Likely
    from scrubjay.types.reports import Covered, Ingested, Version

Json = dict[str, Any]
STATES = ("failed", "skipped", "indexed")  # of a file; the first need attention
_LONG_CHARS = 2048
_SET_ANYWAY = (
    "updated_at",
    "links",
    "content_hash",
    "language",
)  # also where nothing else changes


def plain(value: object) -> Any:
    """Turn data into JSON values: times become ISO strings, tuples become lists, NaN becomes null."""
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


def dumps(shape: Json | list[Any], *, indent: int | None = 2) -> str:
    """Write JSON for people and programs: indented, not escaped to ASCII, safe to print."""
    text = json.dumps(shape, ensure_ascii=False, indent=indent, allow_nan=False)
    # DEL and C1, which a terminal may obey; `str.translate` takes longer than the JSON.
    return re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text)


def line(shape: Json) -> str:
    return dumps(shape, indent=None)


def results(
    found: Results, *, mode: str, explain: bool, full: bool, tokens: int | None = None
) -> Json:
    """Return the results of a search; trace, marks, long texts and passages only if requested.
    Entries are whole: only a long document among them is shown by its passage."""
    from scrubjay.surfaces.render.entries import has_entries, is_brief, is_whole

    # Converting the trace is most of the work, and rarely requested.
    hidden = ("_explain", "_now") if explain else ("_explain", "_now", "trace")
    fields = {name: value for name, value in vars(found).items() if name not in hidden}
    said = {"verdict": found.verdict, "summary": found.summary, "searched": found.searched}
    shape: Json = plain({**fields, "mode": mode, **said})
    of_entries, full = has_entries(found), full or is_whole(found)
    if of_entries:
        shape["entries"] = "brief" if is_brief(found) else "whole"
    for hit, original in zip(shape["hits"], found.hits, strict=True):
        whole = full or (of_entries and hit["type"] != "document")
        if not whole and len(hit["text"]) > _LONG_CHARS:
            hit["text"] = hit["snippet"]
        if explain:
            hit["sum"] = plain(found.explain(original))
            hit["marks"] = _marks(original, found.terms)
    if tokens is not None:
        shape["passages"] = plain(found.passages(tokens))
    return shape


def _marks(hit: Hit, terms: tuple[str, ...]) -> dict[str, list[list[int]]]:
    """Return the positions of query terms of a hit, in UTF-16 units, as JavaScript counts."""
    from scrubjay.text.snippets import TermMatcher

    matcher = TermMatcher(terms, hit.language)
    marks = {}
    for field in ("title", "snippet"):
        text = getattr(hit, field)
        wide = [at for at, sign in enumerate(text) if sign > "\uffff"]  # two units of UTF-16
        spans = [(start, stop) for start, stop, _ in matcher.places(text)]
        marks[field] = [[at + bisect_left(wide, at) for at in span] for span in spans]
    return marks


def ingested(path: str | None, done: Ingested) -> Json:
    return {"path": path, **reasons(plain(done), "skipped", "failed", "notes")}


def reasons(shape: Json, *keys: str) -> Json:
    named = {key: [{"path": where, "reason": why} for where, why in shape[key]] for key in keys}
    return {**shape, **named}


def listing(name: str, items: Sequence[object], **more: object) -> Json:
    return {name: [plain(one) for one in items], **{key: plain(one) for key, one in more.items()}}


def failure(error: ScrubjayError, message: str = "") -> Json:
    return {"error": {"kind": type(error).__name__, "message": message or str(error)}}


def _searchable(left: int | None, why: str) -> Json:
    """Return how stored text can be found now: `left` chunks are not embedded yet, because of `why`."""
    stored = {"stored": True, "keyword_indexed": True}
    return {**stored, "embedded": left == 0, "pending": left, "why_pending": why}


def added(
    memory: Memory,
    left: int | None,
    why: str,
    known: Sequence[str] = (),
    likely: Sequence[Likely] = (),
) -> Json:
    stored = {"memory": plain(memory), **_searchable(left, why), "known": list(known)}
    return {**stored, "likely_changes": [plain(one) for one in likely]}


def changed_back(before: Memory, memory: Memory, left: int | None, why: str) -> Json:
    return {**added(memory, left, why), "changed": changed_fields(before, memory)}


def changed_fields(before: Memory, after: Memory) -> list[str]:
    """Return the names of the fields that differ, without those that every change sets."""
    pairs = zip(before._fields, before, after, strict=True)
    return [name for name, old, new in pairs if name not in _SET_ANYWAY and old != new]


def added_many(
    memories: Stored, left: int | None, why: str, likely: Sequence[Likely] = ()
) -> Json:
    state = _searchable(left, why)
    return listing("memories", memories, **state, known=memories.known, likely_changes=likely)


def messages(stored: Messages, left: int | None, why: str) -> Json:
    return listing("messages", stored, warnings=stored.warnings, **_searchable(left, why))


def got(found: Memories, history: Mapping[str, Sequence[Version]]) -> Json:
    more = {"missing": found.missing, "unasked": found.unasked, "tiers": found.tiers}
    return listing("memories", found, **more, history=history)


def with_lines(shape: Json, wanted: Sequence[tuple[str, str]]) -> Json:
    """Return memories as `wanted` names them: id, and a range such as 10-40, or "" for the whole text."""
    by_id = {memory["id"]: memory for memory in shape["memories"]}
    memories = []
    for id_, lines in dict.fromkeys(wanted):
        if id_ not in by_id:
            continue
        memory = by_id[id_]
        if lines:
            part = cut_lines(id_, memory["text"], *parse_range(lines))
            bounds = {"lines": [part.first, part.last], "line_count": part.total}
            memory = {**memory, "text": part.text, **bounds}
        memories.append(memory)
    return {**shape, "memories": memories}


def listed(found: Sequence[Memory]) -> Json:
    return listing("memories", found, missing=())


def of_tiers(found: Memories) -> Json:
    """Return memories of every tier; the tiers are named only if there are several."""
    if not found.tiers and not found.unasked:
        return listed(found)
    return listing("memories", found, missing=(), unasked=found.unasked, tiers=found.tiers)


def forgotten(
    found: Sequence[Memory],
    facts: Sequence[Memory],
    missing: Sequence[str],
    count: int,
    *,
    done: bool,
) -> Json:
    return {
        "forgotten": count,
        "matched": [memory.id for memory in found],
        "facts": [memory.id for memory in facts],
        "missing": list(missing),
        "done": done,
    }


def linked(id: str, other: str, done: str) -> Json:
    return {"id": id, "neighbors": [], "done": done, "other": other}


def neighbors(store: Store, id: str, *, depth: int, limit: int | None = None) -> Json:
    near = store.neighbors(id, depth=depth, limit=limit)
    kinds: dict[str, list[str]] = {neighbor.id: [] for neighbor in near}
    for link in store.get(id).links:
        kinds.setdefault(link.to, []).append(link.kind)
    shapes = [
        {"id": one.id, "score": one.score, "depth": one.depth, "kinds": kinds[one.id]}
        for one in near
    ]
    return {"id": id, "neighbors": shapes, "done": "shown", "other": None}


def profiles(known: Sequence[Profile]) -> Json:
    shapes = [
        {
            "name": profile.name,
            "summary": profile.summary,
            "stages": [
                {"name": part.name, "text": str(part), "numbers": plain(part.numbers)}
                for part in profile.stages
            ],
            "settings": dict(profile.settings),
        }
        for profile in known
    ]
    return {"profiles": shapes}


def findings(found: Sequence[Finding], repairs: Sequence[Repair] | None = None) -> Json:
    """Return what `doctor` found; with `repairs` also what `--repair` did before."""
    states = {finding.state for finding in found} | {repair.state for repair in repairs or ()}
    shape = {} if repairs is None else listing("repairs", repairs)
    return {"ok": "failed" not in states, **listing("findings", found), **shape}


def in_order(files: Sequence[Covered]) -> list[Covered]:
    return sorted(files, key=lambda file: (STATES.index(file.state), file.path))


def counts(files: Sequence[Covered]) -> dict[str, int]:
    found = Counter(file.state for file in files)
    return {state: found[state] for state in reversed(STATES)}


def coverage(files: Sequence[Covered], shown: Sequence[Covered]) -> Json:
    return listing("files", shown, counts=counts(files))
