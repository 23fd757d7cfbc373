"""`hits`: which tier found what, as a small chart, in all and by the hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.facts import here, stamp
from scrubjay.surfaces.render.layout import bar, table
from scrubjay.surfaces.render.terminal import one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Hits

_NOTHING_FOUND = 3
_MOST_HOURS = 24
_CELLS = 24


def hits(args: Namespace, screen: Screen) -> int:
    """Show how many results each tier found."""
    with open_store(args.db, args.user, embed=False) as store:
        counted = store.hits(since=args.since)
    if args.json:
        from scrubjay.surfaces.render.json import dumps, plain

        out(dumps(plain(counted)))
    elif counted.searches:
        out("\n".join((*_chart(counted, screen), "", *_by_hour(counted, screen))))
    else:
        out("No search was counted; those of profile novamem are: query TEXT --profile novamem")
    return 0 if counted.searches else _NOTHING_FOUND


def _chart(counted: Hits, screen: Screen) -> list[str]:
    most = max(counted.tiers.values(), default=0) or 1
    rows = [
        (one_line(tier), f"{count:,}", bar(count / most, _CELLS))
        for tier, count in counted.tiers.items()
    ]
    head = f"{render.plural(counted.searches, 'search')}, results by tier"
    return [screen.bold(head), *table(rows)]


def _by_hour(counted: Hits, screen: Screen) -> list[str]:
    now, tiers = here(), list(counted.tiers)
    rows = [("hour", "searches", *map(one_line, tiers))]
    rows += [
        (
            stamp(one.at, now),
            f"{one.searches:,}",
            *(f"{one.tiers.get(tier, 0):,}" for tier in tiers),
        )
        for one in counted.hours[-_MOST_HOURS:]
    ]
    head, *lines = table(rows)
    more = len(counted.hours) - _MOST_HOURS
    said = [screen.dim(f"… and {more:,} hours before; --json has all")] if more > 0 else []
    return [screen.bold(head), *lines, *said]
