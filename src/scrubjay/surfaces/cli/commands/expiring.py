"""`expiring`: what is soon no longer valid, or what is not already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen

_NOTHING_FOUND = 3


def expiring(args: Namespace, screen: Screen) -> int:
    """List memories by the end of their window, the soonest first; `--expired`: the latest first."""
    with open_store(args.db, args.user, embed=False, tiers=args.tier) as store:
        found = store.expiring(args.within, expired=args.expired)
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import of_tiers

        out(dumps(of_tiers(found)))
    elif found:
        out(stored.memories(found, screen, ends=True))
        out(screen.dim("longer: scrubjay update ID --valid-until DATE"))
    elif args.expired:
        out("Nothing that is stored has expired.")
    else:
        out(f"Nothing expires within {args.within or '30d'}.")
    for why in found.unasked:
        err(f"scrubjay: {one_line(why)}")
    return 0 if found else _NOTHING_FOUND
