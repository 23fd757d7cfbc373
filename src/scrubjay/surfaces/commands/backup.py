"""`backup`: the whole store in another file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces import render
from scrubjay.surfaces.session import open_store
from scrubjay.surfaces.terminal import out, path_line

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.terminal import Screen


def backup(args: Namespace, screen: Screen) -> int:
    """Copy the store, and say what the copy holds."""
    from scrubjay.progress import ProgressBar

    with open_store(args.db, args.user, embed=False) as store, ProgressBar("copying") as bar:
        done = store.backup(args.path, force=args.force, progress=bar)
    if args.json:
        from scrubjay.surfaces.shapes import dumps, plain

        out(dumps(plain(done)))
    else:
        held = f"{render.plural(done.memories, 'memory')}, {render.size(done.bytes)}"
        out(f"{screen.bold(path_line(done.path))}  {held}")
    return 0
