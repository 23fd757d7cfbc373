"""`get` and `ls`: memories as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render.terminal import err, one_line, out
from scrubjay.types import Memories

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types import Memory
    from scrubjay.write.fields import Change

_NOTHING_FOUND = 3
_LIMIT = 50


def get(args: Namespace, screen: Screen) -> int:
    """Show memories in full; a missing one is named, and the others are shown all the same."""
    if args.json and args.md:
        raise InvalidInput("--json and --md are two forms of an answer; choose one")
    with open_store(args.db, args.user, tiers=args.tier) as store:
        found = store.get_many([one for some in resolve(store, args.id) for one in some])
        if args.around is not None:
            found = _with_turns(store, found, args.around)
        history = {one.id: changes for one in found if (changes := _history(store, one.id))}
    tier = found.tiers.get
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import got

        out(dumps(got(found, history)))
    elif args.md and found:
        from scrubjay.surfaces.render import markdown

        out("\n\n".join(markdown.memory(one, tier=tier(one.id)) for one in found))
    elif found:
        rule = "\n\n" + screen.dim("─" * screen.width) + "\n\n"
        out(
            rule.join(
                stored.memory(one, screen, history=history.get(one.id, ()), tier=tier(one.id))
                for one in found
            )
        )
    for one in found.missing:
        err(f"scrubjay: there is no memory with the id {one_line(one)!r}; see: scrubjay ls")
    for why in found.unasked:
        err(f"scrubjay: {one_line(why)}")
    return _NOTHING_FOUND if found.missing else 0


def _with_turns(store: Store, found: Memories, turns: int) -> Memories:
    """Put the turns around each message beside it; nothing is there twice, what is no message alone."""
    said: dict[str, Memory] = {}
    for one in found:
        is_turn = one.type == "message" and one.session is not None
        for turn in store.around(one.id, turns) if is_turn else [one]:
            said.setdefault(turn.id, turn)
    return Memories([*said.values()], found.missing, found.unasked, found.tiers)


def _history(store: Store, id_: str) -> Sequence[Change]:
    try:
        return store.history(id_)
    except StoreError as damaged:  # the memory itself could be read, and is shown
        err(f"scrubjay: {one_line(str(damaged))}")
        return ()


def ls(args: Namespace, screen: Screen) -> int:
    """List what is stored, newest first; with `--coverage`, the files that were read."""
    if args.coverage:
        from scrubjay.surfaces.cli.commands.coverage import coverage

        return coverage(args, screen)
    if args.state:
        raise InvalidInput("--state goes with --coverage: scrubjay ls --coverage --state failed")
    with open_store(args.db, args.user) as store:
        found = store.ls(
            namespace=args.namespace,
            types=args.type,
            topics=args.topic,
            collection=args.collection,
            session=args.session,
            owner=args.owner,
            agent=args.agent,
            limit=_LIMIT if args.limit is None else args.limit,
            offset=args.offset,
        )
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import listed

        out(dumps(listed(found)))
    elif found:
        out(stored.memories(found, screen))
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
