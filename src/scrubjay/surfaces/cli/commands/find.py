"""`search`, `vsearch` and `query`: one function, because they differ in the mode only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import (
    fetch_model,
    fetch_reranker,
    open_store,
    overrides_of,
    profile_of,
    settings_of,
    words_of,
)
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

    from scrubjay.search.profiles import Profile
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types import Results

_MODES = {"search": "keyword", "vsearch": "vector"}
_NOTHING_FOUND = 3


def find(args: Namespace, screen: Screen) -> int:
    """Search and show the hits; the exit code says whether there are any."""
    _check_form(args)
    settings = settings_of(args)
    mode = _MODES.get(args.command) or args.mode
    # `search` and `vsearch` are modes of the default profile; a configured one has its own words.
    profile = args.profile or ("default" if args.command in _MODES else settings.profile)
    overrides = overrides_of(args.sets)
    if _lacks_mode(args, profile, mode):
        overrides, mode = _by_word(args, profile, overrides), None
    overrides = _left_out(args, profile, mode, overrides)
    # A typing error is said before anything is fetched.
    weights, chosen = _weighed(profile_of(profile, overrides, mode=mode), args.weights)
    with open_store(args.db, args.user, tiers=getattr(args, "tier", None)) as store:
        if chosen.uses("embed_query"):
            fetch_model(settings)  # what is missing afterwards is in the answer's own notes
        if chosen.uses("cross_encoder"):
            fetch_reranker(settings)
        found = store.search(
            words_of(args.query),
            profile=profile,
            mode=mode,
            limit=args.limit,
            namespace=args.namespace,
            collection=args.collection,
            topics=args.topic,
            types=args.type,
            since=args.since,
            until=args.until,
            session=args.session,
            owner=args.owner,
            agent=args.agent,
            tags=args.tag,
            domain=args.domain,
            only_domain=args.only_domain,
            min_score=args.min_score,
            weights=weights,
            overrides=overrides,
            include_expired=args.include_expired,
        )
    _show(found, _MODES.get(args.command) or mode or "default", args, screen)
    return 0 if len(found) else _NOTHING_FOUND


def _weighed(chosen: Profile, typed: str | None) -> tuple[str | dict[str, float] | None, Profile]:
    """Return what `--weights` says, and the profile that it makes; one that takes none is refused later."""
    if typed is None:
        return None, chosen
    from scrubjay.search.profiles.overrides import FUSE, parse_weights, weighed

    weights = parse_weights(typed)
    return weights, weighed(chosen, weights) if chosen.uses(FUSE) else chosen


def _lacks_mode(args: Namespace, profile: str, mode: str | None) -> bool:
    """True when `search` or `vsearch` is asked for in a profile that has no such mode."""
    if args.command not in _MODES or args.profile is None:
        return False
    from scrubjay.search.profiles import names

    return profile in names() and f"{profile}:{mode}" not in names()


def _by_word(
    args: Namespace, profile: str, overrides: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return overrides that let a profile search by word alone: no vector is made of the query."""
    known = profile_of(profile, None)
    if args.command == "vsearch" or not known.uses("keyword"):
        way = "meaning" if args.command == "vsearch" else "word"
        raise InvalidInput(
            f"profile {profile} has no search by {way} alone; this asks it in its own way:"
            f" scrubjay query --profile {profile}"
        )
    return {**(overrides or {}), "embed_query": False} if known.uses("embed_query") else overrides


def _left_out(
    args: Namespace, profile: str, mode: str | None, overrides: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return overrides that also leave out what `--no-expand` and `--no-rerank` name.

    A mode that does not have the stage has nothing to leave out.
    """
    wanted = [one for one in ("expand", "rerank") if getattr(args, f"no_{one}", False)]
    if not wanted:
        return overrides
    known = profile_of(profile, None, mode=mode)
    return {**(overrides or {}), **{one: False for one in wanted if known.uses(one)}}


def _check_form(args: Namespace) -> None:
    """Refuse two forms of one answer, and what a form has no place for."""
    if args.json + args.files + args.md > 1:
        raise InvalidInput("--json, --files and --md are three forms of an answer; choose one")
    if args.explain and (args.files or args.md):
        raise InvalidInput("--explain does not go with --files or --md; --json has it all")
    if args.full and getattr(args, "mode", None) == "scan":
        raise InvalidInput("--scan shows how entries begin, --full all of them; choose one")
    if args.full and args.files:
        raise InvalidInput("--full shows texts, --files only where they are; choose one")


def _show(found: Results, mode: str, args: Namespace, screen: Screen) -> None:
    if args.json:
        from scrubjay.surfaces.render.json import dumps, results

        out(dumps(results(found, mode=mode, explain=args.explain, full=args.full)))
    elif args.files:
        _show_files(found, args.db)
    elif args.md:
        from scrubjay.surfaces.render import markdown

        out(markdown.results(found, whole=args.full, db=args.db))
    else:
        from scrubjay.surfaces.render import results as render

        out(render.results(found, screen, explain=args.explain, whole=args.full, db=args.db))


def _show_files(found: Results, db: str | None) -> None:
    """Write paths and nothing else; what the answer lacks is for the person."""
    from scrubjay.surfaces.render.files import files
    from scrubjay.surfaces.render.results import lacks

    for line in files(found):
        out(line)
    for why in lacks(found, db):
        err(f"scrubjay: {one_line(why)}")
