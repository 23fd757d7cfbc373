"""`done` and `undone`: mark memories as done, or take the mark away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.commands.read import resolve
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen

_NOTHING_FOUND = 3


def done(args: Namespace, screen: Screen) -> int:
    """Mark memories, and show them; a missing one is named, and the others are marked all the same."""
    with open_store(args.db, args.user) as store:
        ids, missing = resolve(store, args.id)
        mark = store.done if args.command == "done" else store.undone
        before = store.get_many(ids)
        after = [mark(one.id) for one in before]
    missing = [*missing, *before.missing]
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import marked

        out(dumps(marked(before, after, missing)))
    elif after:
        out(stored.memories(after, screen))
    for one in missing:
        err(f"scrubjay: there is no memory with the id {one_line(one)!r}; see: scrubjay ls")
    return _NOTHING_FOUND if missing else 0
