"""`promote` and `demote`: a store from a file to Postgres, and back."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import settings_of
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.terminal import one_line, out, path_line
from scrubjay.text.urls import FALKORDB, POSTGRES, QDRANT, is_server_url, parse_server_url

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.config import Settings
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.text.urls import ServerKind
    from scrubjay.types.reports import Moved

_FAILED = 1


def move(args: Namespace, screen: Screen) -> int:
    """Move the store, and say what was moved and compared."""
    from scrubjay.ops.promote.run import demote, promote
    from scrubjay.runtime.progress import ProgressBar

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
        from scrubjay.surfaces.render.json import dumps, plain

        out(dumps(plain(done)))
    else:
        lines = _lines(done, args.command, screen)
        out("\n".join((*lines, *_from_now_on(settings._replace(db=args.to)))))
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
        remove = f'DROP SCHEMA "{done.aside}" CASCADE'  # of Postgres
        if command == "promote":
            remove = f"{'del' if os.name == 'nt' else 'rm'} {quote(done.aside)}"
        lines.append(
            f"  the old store is {path_line(done.aside)} now; this removes it, when you like:"
            f" {path_line(remove)}"
        )
    lines += (
        f"  {tier}: {render.plural(known, 'memory')} on the server"
        for tier, known in done.servers.items()
        if tier not in done.unfed
    )
    lines += (
        screen.yellow(f"  {tier}: not all of it yet: {one_line(why)}")
        for tier, why in done.unfed.items()
    )
    return lines


def _from_now_on(settings: Settings) -> list[str]:
    """Say how the store is named where it is now: to be typed, and for the settings; without passwords."""
    here = settings.db
    if not is_server_url(here):
        here = os.path.abspath(os.path.expanduser(here))
    places = {
        "db": _shown(here, POSTGRES),
        "vectors": _shown(settings.vectors, QDRANT),
        "graph": _shown(settings.graph, FALKORDB),
        "tenant": settings.tenant,
    }
    named = {name: path_line(place) for name, place in places.items() if place is not None}
    typed = " ".join(f"--{name} {quote(place)}" for name, place in named.items())
    return [
        f"  from now on: {typed}",
        "  or in scrubjay.toml:",
        *(f"    {name} = {_toml(place)}" for name, place in named.items()),
    ]


def _shown(place: str | None, kind: ServerKind) -> str | None:
    return (
        place
        if place is None or not is_server_url(place)
        else parse_server_url(place, kind, "").shown
    )


def _toml(text: str) -> str:
    from json import dumps

    return dumps(text, ensure_ascii=False)
