"""`ls --coverage`: every file that `ingest` met, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import json_lists as shapes_kept
from scrubjay.surfaces.render.files import near
from scrubjay.surfaces.render.layout import pad
from scrubjay.surfaces.render.terminal import one_line, out, path_line

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Covered

_NOTHING_FOUND = 3


def coverage(args: Namespace, screen: Screen) -> int:
    """List files by state, failed ones first; the exit code says whether there are any."""
    _refuse_options_of_memories(args)
    with open_store(args.db, args.user) as store:
        files = store.coverage(
            state=args.state, collection=args.collection, namespace=args.namespace
        )
        ever = bool(files) or bool(store.coverage())
    files = shapes_kept.in_order(files)
    stop = None if args.limit is None else args.offset + args.limit
    shown = files[args.offset : stop]
    if args.json:
        from scrubjay.surfaces.render.json import dumps

        out(dumps(shapes_kept.coverage(files, shown)))
    elif not files:
        out(
            "No file that was read fits."
            if ever
            else "No file was read so far; this reads some: scrubjay ingest PATH"
        )
    else:
        out("\n".join([*(_line(one, screen) for one in shown), screen.dim(_summary(files))]))
    return 0 if files else _NOTHING_FOUND


def _refuse_options_of_memories(args: Namespace) -> None:
    """Say which option would be ignored: a file has no type and no topics."""
    for name in ("type", "topic"):
        if getattr(args, name):
            raise InvalidInput(f"--{name} does not go with --coverage, which lists files")
    if args.offset < 0 or (args.limit is not None and args.limit < 1):
        raise InvalidInput(f"limit is {args.limit} and offset {args.offset}; at least 1 and 0")


def _line(one: Covered, screen: Screen) -> str:
    paint = {"failed": screen.red, "skipped": screen.yellow}.get(one.state, screen.green)
    about = screen.dim(_ids(one.ids)) if one.state == "indexed" else one_line(one.reason)
    return f"{paint(pad(one.state, 7))}  {path_line(near(one.path))}  {about}".rstrip()


def _ids(ids: tuple[str, ...]) -> str:
    """Show the id; of a file with very many memories, the first and how many more there are."""
    if len(ids) < 2:
        return one_line("".join(ids))
    return f"{one_line(ids[0])} and {len(ids) - 1:,} more"


def _summary(files: list[Covered]) -> str:
    return ", ".join(
        f"{count:,} {state}" for state, count in shapes_kept.counts(files).items() if count
    )
