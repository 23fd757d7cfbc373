"""`reindex`: make indexes anew from the records, here and on servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.cli.waiting import untold
from scrubjay.surfaces.render.json import dumps, plain
from scrubjay.surfaces.render.terminal import one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Reindexed


def reindex(args: Namespace, screen: Screen) -> int:
    """Make one index anew, or all; fails where a server could not be told everything."""
    from scrubjay.runtime.progress import ProgressBar

    with open_store(args.db, args.user, embed=False) as store, ProgressBar("telling") as bar:
        done = store.reindex(args.what, drop=args.drop, progress=bar)
    out(dumps(plain(done)) if args.json else _said(done, args.what, screen))
    return int(done.left > 0)


def _said(done: Reindexed, what: str | None, screen: Screen) -> str:
    if not done.done:
        dropped = f"the server of the {what} is told nothing any more"
        return (
            f"{dropped}; {one_line(done.note)}"
            if done.note
            else f"{dropped}, and knows nothing now"
        )
    lines = [f"made anew: {', '.join(done.done)}"]
    lines += [screen.yellow(untold(one)) for one in done.servers if one.behind]
    return "\n".join(lines)
