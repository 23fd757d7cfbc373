"""Commands made from the table: call the verb with the options, print its result as JSON or text."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from scrubjay.errors import NotFound
from scrubjay.store import Store
from scrubjay.surfaces.cli import common
from scrubjay.surfaces.cli.parser import dest
from scrubjay.surfaces.render import facts, reports
from scrubjay.surfaces.render.json import dumps
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out
from scrubjay.surfaces.verbs.feedback import Feedback
from scrubjay.surfaces.verbs.share import Collections
from scrubjay.types.reports import Collection

_MOST_NAMES = 3
_LEARNING_PROFILE = "vault"


def run(args: Namespace, screen: Screen) -> int:
    verb = args.verb
    given = {param.name: getattr(args, dest(param)) for param in verb.params}
    check = _CHECKS.get(verb.name)
    with common.open_store(
        args.db,
        args.user,
        embed=args.record.embed,
        make=verb.name == "create_collection",
        tiers=getattr(args, "tiers", None),
    ) as store:
        if "id" in given:
            args.id = given["id"] = store.resolve(given["id"])
        refused = None if check is None else check(store, args, given)
        result = verb.run(store, given) if refused is None else refused
        if verb.name == "publish":
            store.pending()
        if args.json:
            out(dumps(verb.json(result)))
        elif refused is None:
            out(getattr(reports, verb.name)(result, args, screen, store))
    common.warn(getattr(result, "unasked", ()) if verb.name != "weights" else ())
    if refused is not None:
        err("scrubjay: nothing was removed; to remove it add: --yes")
        return common.USAGE
    return 0 if verb.found is None or verb.found(result) else common.NOTHING_FOUND


def _existing(store: Store, args: Namespace, given: dict[str, Any]) -> None:
    _collection_named(store, given["name"])


def _confirm_removal(store: Store, args: Namespace, given: dict[str, Any]) -> Any:
    collection = _collection_named(store, given["name"])
    if not args.json:
        err("\n".join(table(reports.collection_rows([collection]))))
    count = facts.plural(collection.memories, "memory")
    if common.confirmed(args, f"Remove {one_line(collection.name)} with {count} for good?"):
        return None
    return Collections(store.collections(), "kept")


def _confirm_reset(store: Store, args: Namespace, given: dict[str, Any]) -> Any:
    refused = Feedback([], "nothing", 0)
    return None if common.confirmed(args, "Remove all feedback for good?") else refused


def _default_profile(store: Store, args: Namespace, given: dict[str, Any]) -> None:
    """Choose the profile whose weights are shown: the configured one if it learns, else vault."""
    if args.profile:
        given["profile"] = common.profile_of(args.profile).name
        return
    configured = common.settings_of(args).profile
    learns = common.profile_of(configured).uses("signals")
    given["profile"] = configured if learns else _LEARNING_PROFILE


def _collection_named(store: Store, name: str) -> Collection:
    known = {collection.name: collection for collection in store.collections()}
    if name in known:
        return known[name]
    from difflib import get_close_matches

    near = get_close_matches(name, known, _MOST_NAMES) or sorted(known)[:_MOST_NAMES]
    hint = f"; did you mean: {', '.join(near)}" if near else "; there are none yet"
    raise NotFound(f"there is no collection {name!r}{hint}; see: scrubjay collections")


# Before the verb: check or complete the parameters, or return the result of a refusal.
_CHECKS: dict[str, Callable[[Store, Namespace, dict[str, Any]], Any]] = {
    "rename_collection": _existing,
    "remove_collection": _confirm_removal,
    "reset_feedback": _confirm_reset,
    "weights": _default_profile,
}
