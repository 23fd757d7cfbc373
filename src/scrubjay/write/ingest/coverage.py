"""What became of every file: indexed, skipped or failed, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.types.reports import Covered

if TYPE_CHECKING:
    from scrubjay.storage.sql.files import SqlFiles
    from scrubjay.types import Scope

STATES = ("indexed", "skipped", "failed")


def coverage(files: SqlFiles, scope: Scope, state: str | None) -> list[Covered]:
    """Return the files that a scope may see, by path; `state` narrows them."""
    if state is not None and state not in STATES:
        raise InvalidInput(f"state is {state!r}; it must be one of {', '.join(STATES)}")
    indexed: dict[str, Covered] = {}
    for one in files.seen(scope):
        before = indexed.get(one.path)
        ids = (*before.ids, one.memory) if before else (one.memory,)
        indexed[one.path] = Covered(one.path, "indexed", "", one.collection, ids, one.size)
    left = [
        Covered(one.path, one.state, one.reason, one.collection, (), one.size)
        for one in files.left_out(None, scope._replace(reader=None, writer=scope.reader))
        if scope.collection in (None, one.collection)
    ]
    # A file that fails to be read anew keeps what was read before: the failure is what a reader must know.
    again = {one.path: indexed.pop(one.path).ids for one in left if one.path in indexed}
    everything = [*indexed.values(), *(one._replace(ids=again.get(one.path, ())) for one in left)]
    return sorted(one for one in everything if state in (None, one.state))
