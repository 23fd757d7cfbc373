"""`link`: connect two memories, take a connection away, or show what is connected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render.layout import pad, width
from scrubjay.surfaces.render.terminal import one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen

_NOTHING_FOUND = 3


def link(args: Namespace, screen: Screen) -> int:
    """Connect `id` and `other`, or, with `--show` or `id` alone, list the neighbours of `id`."""
    if args.other is None and args.unlink:
        raise InvalidInput("Say which two memories to take apart: scrubjay link --unlink ID OTHER")
    if args.other is not None and args.show:
        raise InvalidInput("--show takes one memory: scrubjay link --show ID")
    with open_store(args.db, args.user) as store:
        start = store.resolve(args.id)
        if args.other is None:
            return _show(store, start, args, screen)
        end = store.resolve(args.other)
        if args.unlink:
            store.unlink(start, end, kind=args.kind)
        else:
            store.link(start, end, strength=args.strength, kind=args.kind or "related")
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import linked

        out(dumps(linked(start, end, "unlinked" if args.unlink else "linked")))
        return 0
    word = "no longer linked with" if args.unlink else "linked with"
    out(f"{facts.short_id(start)} {screen.green(word)} {facts.short_id(end)}")
    return 0


def _show(store: Store, start: str, args: Namespace, screen: Screen) -> int:
    from scrubjay.surfaces.render.json_memories import neighbors

    shape = neighbors(store, start, depth=args.depth)
    near = shape["neighbors"]
    if args.json:
        from scrubjay.surfaces.render.json import dumps

        out(dumps(shape))
        return 0 if near else _NOTHING_FOUND
    if not near:
        out(f"Nothing is linked with {facts.short_id(start)}.")
        return _NOTHING_FOUND
    known = {one.id: one for one in store.get_many([one["id"] for one in near])}
    shown = [one for one in near if one["id"] in known]
    said = {one["id"]: ", ".join(map(one_line, one["kinds"])) for one in shown}
    column = max(map(width, said.values()), default=0)
    lines = stored.memories([known[one["id"]] for one in shown], screen).split("\n")
    for one, line in zip(shown, lines, strict=True):
        out(f"{one['score']:.2f}  {pad(said[one['id']], column)}  {line}")
    return 0
