"""`share`, `unshare`, `publish` and `unpublish`: who is in a collection, and what they see there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import NotFound
from scrubjay.surfaces.cli.commands.read import resolve
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.terminal import one_line, out
from scrubjay.types import READER

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen


def share(args: Namespace, screen: Screen) -> int:
    """Invite somebody, or give them another role, or remove them."""
    with open_store(args.db, args.user) as store:
        if args.command == "share":
            # Without a role, who has one keeps it.
            role = args.role or store.members(args.collection).get(args.person.strip(), READER)
            members, did = store.share(args.collection, args.person, role), "shared"
        else:
            members, did = store.unshare(args.collection, args.person), "unshared"
    show_members(args, screen, args.collection, members, did)
    return 0


def show_members(
    args: Namespace, screen: Screen, name: str, members: Mapping[str, str], did: str
) -> None:
    """Print who belongs to a collection now."""
    if args.json:
        from scrubjay.surfaces.render import json_lists as shapes_kept
        from scrubjay.surfaces.render.json import dumps

        out(dumps(shapes_kept.members(name, members, did)))
        return
    if did != "listed":
        out(f"{screen.green(did)} {one_line(name)}")
    head, *lines = table([("person", "role"), *((one_line(p), r) for p, r in members.items())])
    out("\n".join((screen.bold(head), *lines)))


def publish(args: Namespace, screen: Screen) -> int:
    """Copy a memory into a collection, or take the copy away again."""
    with open_store(args.db, args.user) as store:
        id_ = _resolved(store, args.id)
        if args.command == "unpublish":
            store.unpublish(id_, args.collection)
            copy = None
        else:
            copy = store.publish(id_, args.collection)
            store.pending()
    if args.json:
        from scrubjay.surfaces.render import json_lists as shapes_kept
        from scrubjay.surfaces.render.json import dumps

        out(dumps(shapes_kept.published(id_, args.collection, copy)))
    elif copy is None:
        out(f"{screen.green('unpublished')} {id_} from {one_line(args.collection)}")
    else:
        out(f"{screen.green('published')} {id_} in {one_line(args.collection)}")
        out(stored.memories([copy], screen))
    return 0


def _resolved(store: Store, typed: str) -> str:
    ids, _ = resolve(store, [typed])
    if not ids:
        raise NotFound(f"no memory has the id {typed!r}", of="memory")
    return ids[0]
