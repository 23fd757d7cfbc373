"""`topics`: which there are and how many memories have each; give one another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.terminal import one_line, out

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen

_NOTHING_FOUND = 3


def topics(args: Namespace, screen: Screen) -> int:
    """List the topics, most used first, or rename one."""
    _check(args)
    with open_store(args.db, args.user) as store:
        if args.action == "rename":
            return _rename(store, args, screen)
        known = store.topics(namespace=args.namespace, limit=args.limit)
    if args.json:
        _say_json(known, "listed", 0)
    elif known:
        head, *lines = table(
            [("topic", "memories"), *((one_line(one), f"{n:,}") for one, n in known.items())]
        )
        out("\n".join((screen.bold(head), *lines)))
    else:
        out("There is no topic yet; this gives one: scrubjay add TEXT --topic TOPIC")
    return 0 if known else _NOTHING_FOUND


def _check(args: Namespace) -> None:
    """Say what a command line lacks, or has too much of."""
    given = sum(one is not None for one in (args.old, args.new))
    if args.action == "list" and given:
        raise InvalidInput("list takes no names; this is right: scrubjay topics list")
    if args.action == "rename" and given != 2:
        raise InvalidInput("rename takes two names; this is right: scrubjay topics rename OLD NEW")
    if args.action == "rename" and (args.namespace is not None or args.limit is not None):
        raise InvalidInput("--namespace and --limit go with list: scrubjay topics --limit 10")


def _rename(store: Store, args: Namespace, screen: Screen) -> int:
    count = store.rename_topic(args.old, args.new)
    if args.json:
        _say_json(store.topics(), "renamed", count)
        return 0
    names = f"{one_line(args.old)} to {one_line(args.new)}"
    out(f"{screen.green('renamed')} {names}  {screen.dim(render.plural(count, 'memory'))}")
    return 0


def _say_json(known: Mapping[str, int], done: str, count: int) -> None:
    from scrubjay.surfaces.render import json_lists as shapes_kept
    from scrubjay.surfaces.render.json import dumps

    out(dumps(shapes_kept.topics(known, done, count)))
