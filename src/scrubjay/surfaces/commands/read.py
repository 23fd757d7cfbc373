"""`get` and `ls`: memories as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import NotFound
from scrubjay.surfaces import render
from scrubjay.surfaces.session import open_store
from scrubjay.surfaces.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.service import Store
    from scrubjay.surfaces.terminal import Screen

_NOTHING_FOUND = 3


def get(args: Namespace, screen: Screen) -> int:
    """Show memories in full; a missing one is named, and the others are shown all the same."""
    with open_store(args.db) as store:
        ids, missing = resolve(store, args.id)
        found = store.get_many(ids)
    missing = [*missing, *found.missing]
    if args.json:
        from scrubjay.surfaces.shapes import dumps, listing

        out(dumps(listing("memories", found, missing=missing)))
    elif found:
        rule = "\n\n" + screen.dim("─" * screen.width) + "\n\n"
        out(rule.join(render.memory(one, screen) for one in found))
    for one in missing:
        err(f"scrubjay: there is no memory with the id {one_line(one)!r}; see: scrubjay ls")
    return _NOTHING_FOUND if missing else 0


def ls(args: Namespace, screen: Screen) -> int:
    """List what is stored, newest first."""
    with open_store(args.db) as store:
        found = store.ls(
            namespace=args.namespace,
            types=args.type,
            topics=args.topic,
            collection=args.collection,
            limit=args.limit,
            offset=args.offset,
        )
    if args.json:
        from scrubjay.surfaces.shapes import dumps, listing

        out(dumps(listing("memories", found, missing=())))
    elif found:
        out(render.memories(found, screen))
    else:
        out("Nothing that is stored fits.")
    return 0 if found else _NOTHING_FOUND


def resolve(store: Store, given: list[str]) -> tuple[list[str], list[str]]:
    """Return full ids for what was typed, and what leads to none."""
    ids, missing = [], []
    for one in given:
        try:
            ids.append(store.resolve(one))
        except NotFound:  # each is answered for itself
            missing.append(one)
    return list(dict.fromkeys(ids)), missing
