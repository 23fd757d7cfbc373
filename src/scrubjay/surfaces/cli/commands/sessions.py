"""`sessions`: the conversations that are stored, the one with the newest message first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.terminal import one_line, out

if TYPE_CHECKING:
    from argparse import Namespace
    from datetime import datetime

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Session

_NOTHING_FOUND = 3


def sessions(args: Namespace, screen: Screen) -> int:
    """List the sessions with how much was said in each, when, and whose they are."""
    with open_store(args.db, args.user) as store:
        found = store.sessions(
            namespace=args.namespace,
            owner=args.owner,
            agent=args.agent,
            limit=args.limit,
            offset=args.offset,
        )
    if args.json:
        from scrubjay.surfaces.render.json import dumps, listing

        out(dumps(listing("sessions", found)))
    elif found:
        now = facts.here()
        head, *lines = table(
            [
                ("session", "messages", "first", "last", "owner", "agent"),
                *(_row(one, now) for one in found),
            ]
        )
        out("\n".join((screen.bold(head), *lines)))
    else:
        out("No session fits; this begins one: scrubjay say TEXT --session NAME")
    return 0 if found else _NOTHING_FOUND


def _row(one: Session, now: datetime) -> tuple[str, ...]:
    times = (f"{facts.stamp(at, now)}, {facts.age(at, now)}" for at in (one.first_at, one.last_at))
    whose = (one_line(", ".join(names)) for names in (one.owners, one.agents))
    return (one_line(one.session), f"{one.messages:,}", *times, *whose)
