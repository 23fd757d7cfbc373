"""`collections`: which there are; make one to share, give one another name, or remove it with all in it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.surfaces.cli.commands.share import show_members
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.terminal import err, one_line, out, path_line

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Collection

_USAGE, _NOTHING_FOUND = 2, 3
_HEAD = ("name", "memories", "documents", "last indexed", "folders", "members")
_MOST_NAMES = 3
# How many names each takes, and how that looks.
_WORDS = {
    "list": (0, "collections"),
    "create": (1, "collections create NAME"),
    "members": (1, "collections members NAME"),
    "rename": (2, "collections rename OLD NEW"),
    "remove": (1, "collections remove NAME"),
}


def collections(args: Namespace, screen: Screen) -> int:
    """List the collections, or make, rename or remove one, or say who is in it."""
    _check(args)
    with open_store(args.db, args.user, make=args.action == "create") as store:
        if args.action == "create":
            return _create(store, args, screen)
        if args.action == "members":
            show_members(args, screen, args.name, store.members(args.name), "listed")
            return 0
        if args.action == "rename":
            return _rename(store, args, screen)
        if args.action == "remove":
            return _remove(store, args, screen)
        return _list(store, args, screen)


def _check(args: Namespace) -> None:
    """Say what a command line lacks, or has too much of."""
    given = sum(one is not None for one in (args.name, args.new_name))
    wanted, usage = _WORDS[args.action]
    if given != wanted:
        raise InvalidInput(f"Too few or too many names; this is right: scrubjay {usage}")
    if args.yes and args.action != "remove":
        raise InvalidInput("--yes goes with remove: scrubjay collections remove NAME --yes")


def _list(store: Store, args: Namespace, screen: Screen) -> int:
    known = store.collections()
    if args.json:
        _say_json(known, "listed", 0)
    elif known:
        head, *lines = _table(known)
        out("\n".join((screen.bold(head), *lines)))
    else:
        out("There is no collection yet; this makes one: scrubjay ingest PATH")
        out("and this makes one to share: scrubjay collections create NAME")
    return 0 if known else _NOTHING_FOUND


def _create(store: Store, args: Namespace, screen: Screen) -> int:
    from shlex import quote

    made = store.create_collection(args.name)
    if args.json:
        _say_json(store.collections(), "created", 0)
    else:
        out(f"{screen.green('created')} {one_line(made.name)}")
        out(screen.dim(f"invite people with: scrubjay share {quote(made.name)} NAME"))
    return 0


def _rename(store: Store, args: Namespace, screen: Screen) -> int:
    old = _named(store, args.name)
    count = store.rename_collection(old.name, args.new_name, namespace=args.namespace)
    if args.json:
        _say_json(store.collections(), "renamed", count)
        return 0
    names = f"{one_line(old.name)} to {one_line(args.new_name)}"
    out(f"{screen.green('renamed')} {names}  {screen.dim(render.plural(count, 'memory'))}")
    return 0


def _remove(store: Store, args: Namespace, screen: Screen) -> int:
    doomed = _named(store, args.name)
    if not args.json:
        err("\n".join(_table([doomed])))
    agreed = args.yes or _agreed(args, doomed)
    count = store.remove_collection(doomed.name, namespace=args.namespace) if agreed else 0
    if args.json:
        _say_json(store.collections(), "removed" if agreed else "kept", count)
    elif agreed:
        told = screen.dim("the files themselves stay")
        out(f"{screen.green('removed')} {render.plural(count, 'memory')}  {told}")
    if not agreed:
        err("scrubjay: nothing was removed; to remove it add: --yes")
    return 0 if agreed else _USAGE


def _agreed(args: Namespace, doomed: Collection) -> bool:
    if args.json or not sys.stdin.isatty():
        return False
    what = render.plural(doomed.memories, "memory")
    err(f"Remove {one_line(doomed.name)} with {what} for good? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _named(store: Store, name: str) -> Collection:
    """Return a collection, or say which names are close to the one that was typed."""
    known = {one.name: one for one in store.collections()}
    if name in known:
        return known[name]
    from difflib import get_close_matches

    near = get_close_matches(name, known, _MOST_NAMES) or sorted(known)[:_MOST_NAMES]
    hint = f"; near it: {', '.join(near)}" if near else "; there are none yet"
    raise NotFound(f"there is no collection {name!r}{hint}; see: scrubjay collections")


def _table(known: list[Collection]) -> list[str]:
    now = datetime.now(UTC)
    people = any(one.shared for one in known)
    rows = [
        (
            one_line(one.name),
            f"{one.memories:,}",
            f"{one.documents:,}",
            facts.age(one.indexed_at, now),
            ", ".join(map(path_line, one.folders)),
            ", ".join(f"{one_line(who)} ({role})" for who, role in one.members.items()),
        )
        for one in known
    ]
    # Who works alone need not read that nobody else is there.
    return table([row[: len(_HEAD) if people else -1] for row in (_HEAD, *rows)])


def _say_json(known: list[Collection], done: str, count: int) -> None:
    from scrubjay.surfaces.render import json_lists as shapes_kept
    from scrubjay.surfaces.render.json import dumps

    out(dumps(shapes_kept.collections(known, done, count)))
