"""What a store has yet to do beside its vectors: links to make, servers to tell; and what that waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.render.results import plural
from scrubjay.surfaces.render.terminal import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.types.reports import ServerState, Status


def waiting(state: Status, db: str | None) -> Iterator[str]:
    """Say which servers do not know everything yet, and which memories wait for their links."""
    behind = [one for one in state.servers if one.behind]
    for one in behind:
        yield f"{untold(one)}; the next command with this server tells it, once it answers"
    if state.unlinked:
        yield unlinked(state, db)


def untold(one: ServerState) -> str:
    """Say what a server has yet to be told, and why."""
    why = f" ({one_line(one.reason)})" if one.reason else ""
    changes = plural(one.behind, "change")
    return f"{one.tier}: {one_line(one.place)} has yet to be told of {changes}{why}"


def unlinked(state: Status, db: str | None) -> str:
    """Say how many memories wait for their links, and for what: a server finds what they are like."""
    wait = "waits for its" if state.unlinked == 1 else "wait for their"
    said = f"{plural(state.unlinked, 'memory')} {wait} links"
    if state.pending:
        return f"{said}, which come after the vectors"
    if any(one.tier == "vectors" and one.behind for one in state.servers):
        return f"{said} until the server of the vectors knows them"
    return f"{said}; makes them: {to_type('models pull', db)}"
