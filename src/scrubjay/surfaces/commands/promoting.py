"""`promote` and `demote`: a store from a file to Postgres, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces import render
from scrubjay.surfaces.session import settings_of
from scrubjay.surfaces.terminal import one_line, out, path_line

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.reports import Moved
    from scrubjay.surfaces.terminal import Screen

_FAILED = 1


def move(args: Namespace, screen: Screen) -> int:
    """Move the store, and say what was moved and compared."""
    from scrubjay.progress import ProgressBar
    from scrubjay.promoting import demote, promote

    settings = settings_of(args)
    with ProgressBar("copying") as bar:
        done = (promote if args.command == "promote" else demote)(
            settings.db,
            args.to,
            keep=args.keep,
            tenant=settings.tenant,
            vectors=settings.vectors,
            graph=settings.graph,
            progress=lambda count, total, _: bar(count, total),
        )
    if args.json:
        from scrubjay.surfaces.shapes import dumps, plain

        out(dumps(plain(done)))
    else:
        out("\n".join(_lines(done, args.command, screen)))
    return _FAILED if done.unfed else 0


def _lines(done: Moved, command: str, screen: Screen) -> list[str]:
    lines = [
        f"{screen.bold(f'{command}d')}  {path_line(done.source)} → {path_line(done.target)}",
        f"  {render.plural(done.memories, 'memory')}: {done.rows:,} rows in {done.tables} tables are"
        f" the same by count and hash, {done.searches:,} searches found the same",
    ]
    if done.aside is None:
        lines.append(
            f"  {path_line(done.source)} was kept: a copy from now on, what is added there stays there"
        )
    else:
        lines.append(f"  the old store is {path_line(done.aside)} now; remove it when you like")
    lines += (
        f"  {tier}: {render.plural(known, 'memory')} on the server"
        for tier, known in done.servers.items()
        if tier not in done.unfed
    )
    lines += (
        screen.yellow(f"  {tier}: not all of it yet: {one_line(why)}")
        for tier, why in done.unfed.items()
    )
    return [*lines, f"  from now on: --db {path_line(done.target)}, or SCRUBJAY_DB"]
