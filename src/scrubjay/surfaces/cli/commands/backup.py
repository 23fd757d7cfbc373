"""`backup`: the whole store in another file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.terminal import out, path_line

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen


def backup(args: Namespace, screen: Screen) -> int:
    """Copy the store, and say what the copy holds."""
    from scrubjay.runtime.progress import ProgressBar

    with open_store(args.db, args.user, embed=False) as store, ProgressBar("copying") as bar:
        done = store.backup(args.path, force=args.force, progress=bar)
    if args.json:
        from scrubjay.surfaces.render.json import dumps, plain

        out(dumps(plain(done)))
    else:
        held = f"{render.plural(done.memories, 'memory')}, {render.size(done.bytes)}"
        out(f"{screen.bold(path_line(done.path))}  {held}")
    return 0
