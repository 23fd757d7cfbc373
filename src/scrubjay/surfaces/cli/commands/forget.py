"""`forget`: remove memories for good, after showing which."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.commands.read import resolve
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types import Memories, Memory

_USAGE, _NOTHING_FOUND = 2, 3
_ALL = 1_000_000_000


def forget(args: Namespace, screen: Screen) -> int:
    """Forget by id, what a query finds, or a session; asks on a terminal, and only ids need no yes."""
    if bool(args.id) + (args.query is not None) + (args.session is not None) != 1:
        raise InvalidInput("Say which memories: either ids, --query with words, or --session")
    with open_store(args.db, args.user) as store:
        ids, missing = resolve(store, args.id) if args.id else (_matches(store, args), [])
        found = store.get_many(ids)
        drawn = store.only_of([one.id for one in found])
        if found and not args.json:
            err(stored.memories([*found, *drawn], screen))
        agreed = bool(found) and (args.yes or _agreed(args, len(found) + len(drawn)))
        count = store.forget([one.id for one in found]) if agreed else 0
    return _report(args, screen, found, drawn, missing, count, agreed)


def _matches(store: Store, args: Namespace) -> list[str]:
    if args.session is not None:
        found = store.ls(session=args.session, namespace=args.namespace, limit=_ALL)
        return [one.id for one in found]
    # By word only: a search by meaning always finds something, and this removes what it finds. What
    # is no longer valid is stored all the same.
    hits = store.search(
        args.query,
        profile="default",
        mode="keyword",
        limit=args.limit,
        namespace=args.namespace,
        include_expired=True,
    )
    return [hit.id for hit in hits]


def _agreed(args: Namespace, count: int) -> bool:
    if args.json or not sys.stdin.isatty():
        return bool(args.id)
    err(f"Forget {'this memory' if count == 1 else f'these {count} memories'} for good? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _report(
    args: Namespace,
    screen: Screen,
    found: Memories,
    drawn: list[Memory],
    missing: list[str],
    count: int,
    agreed: bool,
) -> int:
    missing = [*missing, *found.missing]
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import forgotten

        out(dumps(forgotten(found, drawn, missing, count, done=agreed)))
    elif agreed:
        whose = "it" if count == 1 else "them"
        more = f" and {render.plural(len(drawn), 'fact')} drawn from {whose}" if drawn else ""
        out(f"{screen.green('forgot')} {render.plural(count, 'memory')}{more}")
        if any(one.type == "document" and one.source for one in found):
            err("scrubjay: a file that is still there comes back with the next `scrubjay ingest`;")
            err("scrubjay: name it in a .scrubjayignore to keep it out")
    for one in missing:
        err(f"scrubjay: there is no memory with the id {one_line(one)!r}; see: scrubjay ls")
    if not found:
        if not missing:
            err("scrubjay: nothing matches, nothing was forgotten")
        return _NOTHING_FOUND
    if not agreed:
        err("scrubjay: nothing was forgotten; to forget them add: --yes")
        return _USAGE
    return _NOTHING_FOUND if missing else 0
