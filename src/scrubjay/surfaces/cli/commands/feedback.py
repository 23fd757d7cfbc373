"""`feedback`: say what became of a result, list what was said, take it back, let weights stand still."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.options.feedback import ACTIONS
from scrubjay.surfaces.cli.session import open_store, settings_of
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.layout import cut, pad, table, width
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import FeedbackGiven

_USAGE, _NOTHING_FOUND = 2, 3
_LIMIT = 50
_QUERY_COLUMNS = 10  # at least
_WIDE = 80


def feedback(args: Namespace, screen: Screen) -> int:
    """Do what was asked for with the caller's feedback."""
    _check(args)
    with open_store(args.db, args.user, embed=False, tiers=args.tier) as store:
        if args.action in ACTIONS:
            return _give(store, args, screen)
        if args.action == "list":
            return _list(store, args, screen)
        if args.action == "undo":
            return _undo(store, args, screen)
        if args.action == "reset":
            return _reset(store, args, screen)
        return _freeze(store, args, screen)


def _check(args: Namespace) -> None:
    """Say what a command line lacks, or has too much of."""
    action = args.action
    if action in ACTIONS and (args.what is None or not (args.query or "").strip()):
        raise InvalidInput(
            f"{action} takes an id and the query that found it; this is right:"
            f' scrubjay feedback {action} ID --query "…"'
        )
    if action not in (*ACTIONS, "undo") and args.what is not None:
        raise InvalidInput(f"{action} takes no id; this is right: scrubjay feedback {action}")
    if action not in ACTIONS and args.query is not None:
        raise InvalidInput("--query goes with accepted, modified and dismissed")
    if action != "list" and args.limit is not None:
        raise InvalidInput("--limit goes with list: scrubjay feedback list --limit 10")
    if action != "reset" and args.yes:
        raise InvalidInput("--yes goes with reset: scrubjay feedback reset --yes")
    if action not in ("undo", "reset") and args.of is not None:
        raise InvalidInput("--of goes with undo and reset: scrubjay feedback undo 3 --of team")
    if action == "undo" and args.what is not None and not args.what.isdecimal():
        raise InvalidInput(
            f"undo takes a number, not {args.what!r}; `scrubjay feedback list` has them"
        )


def _give(store: Store, args: Namespace, screen: Screen) -> int:
    id_ = store.resolve(args.what)
    given = store.feedback(args.query, id_, args.action)
    if args.json:
        _say_json([given], args.action, 1)
    else:
        out(f"{screen.green(args.action)} {facts.short_id(id_)}")
    return 0


def _list(store: Store, args: Namespace, screen: Screen) -> int:
    given = store.feedbacks(limit=_LIMIT if args.limit is None else args.limit)
    if args.json:
        _say_json(given, "listed", len(given))
    elif given:
        several = any(one.tier for one in given)
        titles = ("number", *(("tier",) if several else ()), "when", "action", "memory")
        # Without its minute, a moment leaves room for the query.
        when = "%Y-%m-%d" if screen.width < _WIDE else "%Y-%m-%d %H:%M"
        rows = table([(*titles, ""), *((*_row(one, several, when), "") for one in given)])
        column = max(map(width, rows)) + 2
        room = max(screen.width - column, _QUERY_COLUMNS)
        queries = ("query", *(cut(one_line(one.query), room) for one in given))
        head, *lines = (pad(row, column) + query for row, query in zip(rows, queries, strict=True))
        out("\n".join((screen.bold(head), *lines)))
    else:
        out('There is no feedback yet; this gives some: scrubjay feedback accepted ID --query "…"')
    for why in given.unasked:
        err(f"scrubjay: {one_line(why)}")
    return 0 if given else _NOTHING_FOUND


def _row(one: FeedbackGiven, several: bool, when: str) -> tuple[str, ...]:
    tier = (one_line(one.tier or ""),) if several else ()
    return (str(one.number), *tier, one.at.strftime(when), one.action, facts.short_id(one.id))


def _undo(store: Store, args: Namespace, screen: Screen) -> int:
    gone = store.undo_feedback(None if args.what is None else int(args.what), tier=args.of)
    if args.json:
        _say_json([gone], "undone", 1)
    else:
        what = f"{gone.number}: {gone.action} {facts.short_id(gone.id)}"
        out(f"{screen.green('took back')} {what}")
    return 0


def _reset(store: Store, args: Namespace, screen: Screen) -> int:
    agreed = args.yes or _agreed(args)
    count = store.reset_feedback(tier=args.of) if agreed else 0
    if args.json:
        _say_json([], "reset" if agreed else "nothing", count)
    elif agreed:
        out(
            f"{screen.green('removed')} {render.plural(count, 'feedback')}{_of_which(store, args)}"
        )
    if not agreed:
        err("scrubjay: nothing was removed; to remove all feedback add: --yes")
    return 0 if agreed else _USAGE


def _of_which(store: Store, args: Namespace) -> str:
    """Say whose feedback went where there are several files, and how to remove the others'."""
    names = {one.name: one.path for one in store.tiers()}
    if len(names) < 2:
        return ""
    own = next(one.name for one in store.tiers() if one.own)
    this = args.of or own
    others = ", ".join(f"--of {one_line(name)}" for name in names if name != this)
    return f" of tier {one_line(this)}, {one_line(names[this])}; the others': {others}"


def _agreed(args: Namespace) -> bool:
    if args.json or not sys.stdin.isatty():
        return False
    err("Remove all feedback for good? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _freeze(store: Store, args: Namespace, screen: Screen) -> int:
    if args.action == "thaw":
        changed, done = store.thaw_weights(), "thawed"
        said = (
            "the weights follow the feedback again" if changed else "the weights were not frozen"
        )
    else:
        moved, done = store.freeze_weights(settings_of(args).profile), "frozen"
        said = f"the weights stay as they are, {moved:+.3f} for the text"
    if args.json:
        _say_json([], done, 0)
    else:
        out(f"{screen.green(done)}: {said}")
    return 0


def _say_json(given: Sequence[FeedbackGiven], done: str, count: int) -> None:
    from scrubjay.surfaces.render import json_lists as shapes_kept
    from scrubjay.surfaces.render.json import dumps

    out(dumps(shapes_kept.feedback(given, done, count)))
