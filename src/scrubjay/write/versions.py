"""Versions of a memory: keep what a change replaces, list the versions, take a change back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.storage.sql.scope import personal_namespace
from scrubjay.storage.sql.versions import CREATED, DONE, EDITED, UNDONE
from scrubjay.text.analysis import content_hash
from scrubjay.times import micros, moment
from scrubjay.types import SHARED_PREFIX, Memory
from scrubjay.types.reports import Version
from scrubjay.write.fields import done_type, open_type

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from scrubjay.storage.sql.versions import Replaced
    from scrubjay.write.context import WriteContext

_PERSONAL_PREFIX = personal_namespace("")


def keep_version(
    context: WriteContext, before: Memory | None, after: Memory, what: str, agent: str
) -> None:
    """Keep what a write replaced, inside its transaction."""
    if before is not None:
        what = what or _what_happened(before, after)
        context.versions.add(before, after, micros(context.clock()), what, context.user or agent)
    elif context.user and after.namespace.startswith(SHARED_PREFIX):
        # Elsewhere the memory itself says who wrote it.
        context.versions.add_first(after, micros(context.clock()), context.user)


def _what_happened(before: Memory, after: Memory) -> str:
    if before.type != after.type:
        if after.type == done_type(before.type):
            return DONE
        if after.type == open_type(before.type):
            return UNDONE
    return EDITED


def versions_of(memory: Memory, changes: Sequence[Replaced]) -> list[Version]:
    """Return the versions of a memory, newest first, from its changes, newest first."""
    fields = memory._asdict()
    versions = []
    for change in changes:
        created = change.what == CREATED
        at = fields["created_at"] if created else _moment(change.at_us)
        changed = {name: fields[name] for name in change.earlier if name != "text"}
        versions.append(_version(fields, at, change.person, change.what, changed))
        if created or not change.is_visible:
            return versions
        fields |= change.earlier
    by = _writer_of(fields["namespace"]) or fields["owner"] or fields["agent"] or ""
    return [*versions, _version(fields, fields["created_at"], by, CREATED, {})]


def _version(
    fields: dict[str, Any], at: datetime, by: str, what: str, changed: dict[str, Any]
) -> Version:
    return Version(fields["text"], at, by, what, fields["title"], changed)


def _moment(at_us: int) -> datetime:
    at = moment(at_us)
    assert at is not None  # there is a number
    return at


def _writer_of(namespace: str) -> str:
    """Return the user whose personal namespace this is; "" for any other."""
    is_personal = namespace.startswith(_PERSONAL_PREFIX)
    return namespace.removeprefix(_PERSONAL_PREFIX) if is_personal else ""


def last_change(id_: str, changes: Sequence[Replaced]) -> Replaced:
    """Return the last change that can be taken back and was not yet."""
    change = next((change for change in changes if change.can_undo), None)
    if change is None:
        raise NotFound(
            f"{id_} has no change to undo: it is as it was created, or every change was undone;"
            f" `scrubjay history {id_}` lists its versions"
        )
    if not change.is_visible:
        raise InvalidInput(
            f"the last change moved {id_} from a namespace that you may not see; only who may"
            " write there can undo it"
        )
    return change


def as_before(memory: Memory, change: Replaced, now: datetime) -> Memory:
    """Return a memory with the fields that a change replaced."""
    before = memory._replace(**change.earlier, links=(), updated_at=now)
    return before._replace(content_hash=content_hash(before.text))
