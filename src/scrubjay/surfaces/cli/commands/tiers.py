"""`tiers`: the databases that are searched together, and how each is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import tier_states
from scrubjay.surfaces.render.layout import indent, table
from scrubjay.surfaces.render.terminal import one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import TierState


def tiers(args: Namespace, screen: Screen) -> int:
    """List the tiers, the highest first, and say why one cannot be searched."""
    known = tier_states(args.db, args.user, args.tier)
    if args.json:
        from scrubjay.surfaces.render.json import dumps, listing

        out(dumps(listing("tiers", known)))
        return 0
    head, *lines = table([("tier", "weight", "memories", "file"), *map(_row, known)])
    out("\n".join((screen.bold(head), *lines)))
    for one in known:
        if one.reason:
            why = one_line(f"{one.name} is {one.state}: {one.reason}")
            out(screen.yellow(indent(why, screen.width, 0)))
    return 0


def _row(one: TierState) -> tuple[str, ...]:
    count = "–" if one.memories is None else f"{one.memories:,}"
    mark = "  (written to)" if one.own and one.state == "open" else ""
    return (one_line(one.name), f"{one.weight:g}", count, f"{one_line(one.path)}{mark}")
