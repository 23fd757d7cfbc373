"""The status of a memory is part of its type: a task that is done is a `task_done`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.search.stages.adjust import DONE
from scrubjay.times import micros, moment

if TYPE_CHECKING:
    from scrubjay.storage.sql.records import SqlHistory
    from scrubjay.types import Memory


class Change(NamedTuple):
    """One change of a memory: when, of which field, from what, to what."""

    at: datetime
    field: str
    before: str
    after: str


def done_type(type_: str) -> str:
    """Return the type of what is done; what is done already stays."""
    return type_ if type_.endswith(DONE) else type_ + DONE


def open_type(type_: str) -> str:
    """Return the type of what is to be done again."""
    return type_.removesuffix(DONE)


def checked_status(memory: Memory) -> Memory:
    """Return the memory; refuse a type that says it is done, but not what it is."""
    if not open_type(memory.type):
        raise InvalidInput(f"type is {memory.type!r}; say what is done, such as 'task{DONE}'")
    return memory


def note_status(history: SqlHistory, before: Memory, after: Memory, now: datetime) -> None:
    """Keep a change of type. Texts are not kept: who rewrites one may want to be rid of what it said."""
    if before.type != after.type:
        history.note(after.id, micros(now), "type", before.type, after.type)


def changes(history: SqlHistory, id_: str) -> list[Change]:
    """Return the changes of a memory, oldest first."""
    told = ((moment(at_us), rest) for at_us, *rest in history.of(id_))
    return [Change(at, *rest) for at, rest in told if at is not None]
