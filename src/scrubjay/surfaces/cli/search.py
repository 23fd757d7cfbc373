"""`search`, `vsearch`, `query`, `landscape` and `profiles`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.search.profiles import Profile
from scrubjay.surfaces.cli.session import (
    NOTHING_FOUND,
    filters_of,
    open_store,
    parse_overrides,
    profile_of,
    settings_of,
    text_of,
    warn,
)
from scrubjay.surfaces.render.terminal import Screen, clean, one_line, out
from scrubjay.types import Results

_MODES = {"search": "keyword", "vsearch": "vector"}
_MODE_FLAGS = ("fast", "thorough", "deep", "scan")


def search(args: Namespace, screen: Screen) -> int:
    flags = (flag for flag in _MODE_FLAGS if getattr(args, flag))
    mode: str | None = _MODES.get(args.command) or args.mode or next(flags, None)
    _check_form(args, mode)
    settings = settings_of(args)
    # `search` and `vsearch` are modes of the default profile; a configured profile has other modes.
    profile = args.profile or ("default" if args.command in _MODES else settings.profile)
    overrides = parse_overrides(args.sets)
    if _lacks_mode(args, profile, mode):
        overrides, mode = _keyword_only(args, profile, overrides), None
    overrides = _without_stages(args, profile, mode, overrides)
    # A typing error is reported before anything is downloaded.
    weights, chosen = _weighed(profile_of(profile, overrides, mode=mode), args.weights)
    with open_store(args.db, args.user, tiers=getattr(args, "tiers", None)) as store:
        if chosen.uses("embed_query") or chosen.uses("cross_encoder"):
            from scrubjay.surfaces.cli.vectors import fetch_model, fetch_reranker

            if chosen.uses("embed_query"):
                fetch_model(settings)  # the results report what is missing
            if chosen.uses("cross_encoder"):
                fetch_reranker(settings)
        found = store.search(
            text_of(args.query),
            profile=profile,
            mode=mode,
            limit=args.limit,
            tags=getattr(args, "tags", None),
            domain=getattr(args, "domain", None),
            min_score=args.min_score,
            weights=weights,
            overrides=overrides,
            **filters_of(args),
        )
    _show(found, _MODES.get(args.command) or mode or "default", args, screen)
    return 0 if len(found) else NOTHING_FOUND


def _weighed(chosen: Profile, typed: str | None) -> tuple[str | dict[str, float] | None, Profile]:
    """Return the weights of `--weights`, and the profile with them; the store refuses wrong ones."""
    if typed is None:
        return None, chosen
    from scrubjay.search.profiles.overrides import FUSE, parse_weights, weighed

    weights = parse_weights(typed)
    return weights, weighed(chosen, weights) if chosen.uses(FUSE) else chosen


def _lacks_mode(args: Namespace, profile: str, mode: str | None) -> bool:
    if args.command not in _MODES or args.profile is None:
        return False
    from scrubjay.search.profiles import names

    return profile in names() and f"{profile}:{mode}" not in names()


def _keyword_only(
    args: Namespace, profile: str, overrides: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return overrides with which a profile searches by keyword alone, without embedding the query."""
    known = profile_of(profile, None)
    if args.command == "vsearch" or not known.uses("keyword"):
        way = "meaning" if args.command == "vsearch" else "keyword"
        raise InvalidInput(
            f"profile {profile} cannot search by {way} alone; this searches in its own way:"
            f" scrubjay query --profile {profile}"
        )
    return {**(overrides or {}), "embed_query": False} if known.uses("embed_query") else overrides


def _without_stages(
    args: Namespace, profile: str, mode: str | None, overrides: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return overrides without the stages of `--no-expand` and `--no-rerank`, if the mode has them."""
    stages = [stage for stage in ("expand", "rerank") if getattr(args, f"no_{stage}", False)]
    if not stages:
        return overrides
    known = profile_of(profile, None, mode=mode)
    return {**(overrides or {}), **{stage: False for stage in stages if known.uses(stage)}}


def _check_form(args: Namespace, mode: str | None) -> None:
    if args.json + args.files + args.md > 1:
        raise InvalidInput("--json, --files and --md are three forms of output; choose one")
    if args.explain and (args.files or args.md):
        raise InvalidInput("--explain does not go with --files or --md; --json has everything")
    if args.full and mode == "scan":
        raise InvalidInput("--scan shows how entries begin, --full all of them; choose one")
    if args.full and args.files:
        raise InvalidInput("--full shows texts, --files only where they are; choose one")


def _show(found: Results, mode: str, args: Namespace, screen: Screen) -> None:
    if args.json:
        from scrubjay.surfaces.render.json import dumps, results

        out(dumps(results(found, mode=mode, explain=args.explain, full=args.full)))
    elif args.files:
        from scrubjay.surfaces.render.facts import file_lines
        from scrubjay.surfaces.render.results import lacks

        for line in file_lines(found):
            out(line)
        warn(lacks(found, args.db))
    elif args.md:
        from scrubjay.surfaces.render import markdown

        out(markdown.results(found, whole=args.full, db=args.db))
    else:
        from scrubjay.surfaces.render import results as render

        out(render.results(found, screen, explain=args.explain, whole=args.full, db=args.db))


def landscape(args: Namespace, screen: Screen) -> int:
    from scrubjay.surfaces.render.json import dumps, plain

    if args.question:
        return _on_question(args)
    with open_store(args.db, args.user) as store:
        seen = store.landscape(tokens=args.tokens, namespace=args.namespace)
    # Without colours: it is meant to be pasted.
    out(dumps(plain(seen)) if args.json else clean(seen.text))
    return 0 if seen.memories else NOTHING_FOUND


def _on_question(args: Namespace) -> int:
    from scrubjay.insight.landscape import check_tokens
    from scrubjay.surfaces.context import question_context

    check_tokens(args.tokens)
    settings = settings_of(args)
    with open_store(args.db, args.user) as store:
        if profile_of(settings.profile, None).uses("embed_query"):
            from scrubjay.surfaces.cli.vectors import fetch_model

            fetch_model(settings)  # the results report what is missing
        where = {} if args.namespace is None else {"namespace": args.namespace}
        shape = question_context(store, text_of(args.question), args.tokens, where)
    if args.json:
        from scrubjay.surfaces.render.json import dumps

        out(dumps(shape))
    elif shape["text"]:
        out(clean(shape["text"]))
    warn(shape["degraded"])
    return 0 if shape["ids"] else NOTHING_FOUND


def profiles(args: Namespace, screen: Screen) -> int:
    from scrubjay.search.profiles import get, names
    from scrubjay.surfaces.render.json import dumps
    from scrubjay.surfaces.render.json import profiles as shape
    from scrubjay.surfaces.render.layout import indent, table

    if args.name is None and args.sets:
        raise InvalidInput("--set changes one profile: scrubjay profiles NAME --set rrf.k=30")
    if args.name is None:
        known, configured = [get(name) for name in names()], settings_of(args).profile
        rows = [
            ("*" if profile.name == configured else " ", profile.name, one_line(profile.summary))
            for profile in known
        ]
        hint = screen.dim("* is configured; stages and numbers of one: scrubjay profiles NAME")
        out(dumps(shape(known)) if args.json else "\n".join((*table(rows), hint)))
        return 0
    profile = profile_of(args.name, parse_overrides(args.sets))
    if args.json:
        out(dumps(shape([profile])))
        return 0
    stages = "\n".join(indent(str(part), screen.width, 2) for part in profile.stages)
    out(f"{screen.bold(profile.name)}  {one_line(profile.summary)}\n{stages}")
    if profile.settings:
        out(screen.dim("settings by name, for --set as well:"))
        out("\n".join(table([("", *setting) for setting in profile.settings.items()])))
    return 0
