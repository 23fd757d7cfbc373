"""Forms of an export in one file: JSON lines, and the JSON of mem0's `get_all`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from hashlib import md5
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.types import Memory
from scrubjay.write.import_export.format import from_line, to_line

_ORIGIN = "scrubjay"  # in mem0's metadata: the fields that it has no place for
_OF_MEM0 = (
    "id",
    "text",
    "owner",
    "agent",
    "session",
    "role",
    "topics",
    "created_at",
    "updated_at",
)


class Form(NamedTuple):
    """How entries stand in a file. `begins` tells from its first line whether a file is of this form."""

    what: str
    entry: Callable[[Memory], str]
    begins: Callable[[str], bool]
    before: str = ""
    between: str = ""
    after: str = ""


def pieces(form: Form, entries: Iterable[Memory]) -> Iterator[tuple[str, int]]:
    """Yield the text of an export in pieces, each with the number of entries so far."""
    count = 0
    for count, entry in enumerate(entries, 1):
        yield (form.before if count == 1 else form.between) + form.entry(entry), count
    if form.after:
        yield ("" if count else form.before) + form.after, count


def _line(memory: Memory) -> str:
    return to_line(memory) + "\n"


def _is_line(first: str) -> bool:
    try:
        return {"id", "text"} <= from_line(first).keys()
    except InvalidInput:
        return False


def _of_mem0(memory: Memory) -> str:
    """Return a memory as mem0 has it; what mem0 has no field for is in its metadata."""
    fields: dict[str, Any] = json.loads(to_line(memory))
    own = fields.pop("metadata", {})
    rest = {name: value for name, value in fields.items() if name not in _OF_MEM0}
    shown = {
        "id": memory.id,
        "memory": memory.text,
        "hash": md5(memory.text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": {**own, **({_ORIGIN: rest} if rest else {})} or None,
        "created_at": fields.get("created_at"),
        "updated_at": fields.get("updated_at"),
    }
    named = {
        "user_id": memory.owner,
        "agent_id": memory.agent,
        "run_id": memory.session,
        "role": memory.role,
        "categories": fields.get("topics"),
        "expiration_date": memory.valid_until and memory.valid_until.date().isoformat(),
    }
    given = {name: value for name, value in named.items() if value}
    return json.dumps({**shown, **given}, ensure_ascii=False)


LINES = Form("entries", _line, _is_line)
_MEM0_BEGINS = '{"results": ['
MEM0 = Form(
    "memories of mem0",
    _of_mem0,
    lambda first: first.startswith(_MEM0_BEGINS),
    before=f"{_MEM0_BEGINS}\n",
    between=",\n",
    after="\n]}\n",
)
