"""`search`, `vsearch`, `query` and `landscape`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.search.profiles import Profile, names
from scrubjay.store import Store
from scrubjay.surfaces.cli import common
from scrubjay.surfaces.cli.common import open_store, profile_of, text_of
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.terminal import Screen, clean, out
from scrubjay.surfaces.verbs.params import FILTER_NAMES
from scrubjay.surfaces.verbs.search import LEAST_TOKENS, MOST_TOKENS, SEARCH_TOKENS
from scrubjay.types import Results

_Overrides = Mapping[str, Any] | None
_MODES = {"search": "keyword", "vsearch": "vector"}
_MODE_FLAGS = ("fast", "thorough", "deep", "scan")


def search(args: Namespace, screen: Screen) -> int:
    flags = (flag for flag in _MODE_FLAGS if getattr(args, flag))
    mode: str | None = _MODES.get(args.command) or args.mode or next(flags, None)
    _check_form(args, mode)
    tokens = _tokens(args)
    settings = common.settings_of(args)
    # `search` and `vsearch` are modes of the default profile; a configured profile has other modes.
    profile = args.profile or ("default" if args.command in _MODES else settings.profile)
    overrides = common.parse_overrides(args.sets)
    if _lacks_mode(args, profile, mode):
        overrides, mode = _keyword_only(args, profile, overrides), None
    overrides = _without_stages(args, profile, mode, overrides)
    # A typing error is reported before anything is downloaded.
    weights, chosen = _weighed(profile_of(profile, overrides, mode=mode), args.weights)
    with open_store(args.db, args.user, tiers=getattr(args, "tiers", None)) as store:
        if chosen.uses("embed_query") or chosen.uses("cross_encoder"):
            from scrubjay.surfaces.cli.vectors import fetch_model, fetch_reranker

            if chosen.uses("embed_query"):
                fetch_model(settings, store)  # the results report what is missing
            if chosen.uses("cross_encoder"):
                fetch_reranker(settings)
        found = store.search(
            text_of(args.query),
            profile=profile,
            mode=mode,
            limit=args.limit,
            min_score=args.min_score,
            weights=weights,
            overrides=overrides,
            **common.options_of(args, ("tags", "domain", *FILTER_NAMES)),
        )
    _show(found, _MODES.get(args.command) or mode or "default", tokens, args, screen)
    return 0 if len(found) else common.NOTHING_FOUND


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
    return profile in names() and f"{profile}:{mode}" not in names()


def _keyword_only(args: Namespace, profile: str, overrides: _Overrides) -> _Overrides:
    """Return overrides with which a profile searches by keyword alone, without embedding the query."""
    known = profile_of(profile)
    if args.command == "vsearch" or not known.uses("keyword"):
        way = "meaning" if args.command == "vsearch" else "keyword"
        raise InvalidInput(
            f"profile {profile} cannot search by {way} alone; this searches in its own way:"
            f" scrubjay query --profile {profile}"
        )
    return {**(overrides or {}), "embed_query": False} if known.uses("embed_query") else overrides


def _without_stages(
    args: Namespace, profile: str, mode: str | None, overrides: _Overrides
) -> _Overrides:
    """Return overrides without the stages of `--no-expand` and `--no-rerank`, if the mode has them."""
    stages = [stage for stage in ("expand", "rerank") if getattr(args, f"no_{stage}", False)]
    if not stages:
        return overrides
    known = profile_of(profile, mode=mode)
    return {**(overrides or {}), **{stage: False for stage in stages if known.uses(stage)}}


def _check_form(args: Namespace, mode: str | None) -> None:
    if args.json + args.files + args.md > 1:
        raise InvalidInput("--json, --files and --md are three forms of output; choose one")
    _check_compact(args)
    if args.explain and (args.files or args.md):
        raise InvalidInput("--explain does not go with --files or --md; --json has everything")
    if args.full and mode == "scan":
        raise InvalidInput("--scan shows how entries begin, --full all of them; choose one")
    if args.context is not None and (args.files or args.md or args.explain or args.full):
        raise InvalidInput(
            "--context goes with --json, not with --files, --md, --explain or --full"
        )
    if args.full and args.files:
        raise InvalidInput("--full shows texts, --files only where they are; choose one")


def _check_compact(args: Namespace) -> None:
    others = ("files", "md", "explain", "full", "context")
    if args.compact and any(getattr(args, name) not in (None, False) for name in others):
        raise InvalidInput(
            "--compact goes with --json, not with --files, --md, --explain, --full or --context"
        )


def _tokens(args: Namespace) -> int | None:
    """Return the tokens of `--context`, None without it."""
    if args.context is None:
        return None
    if args.context is True:
        return SEARCH_TOKENS
    if not LEAST_TOKENS <= args.context <= MOST_TOKENS:
        raise InvalidInput(
            f"--context is {args.context}; give {LEAST_TOKENS} to {MOST_TOKENS} tokens"
        )
    return int(args.context)


def _show(found: Results, mode: str, tokens: int | None, args: Namespace, screen: Screen) -> None:
    if args.compact:
        from scrubjay.surfaces.render.compact import compact
        from scrubjay.surfaces.render.json import dumps

        out(dumps(found.compact(), indent=None) if args.json else compact(found, screen))
        common.warn(facts.lacks(found, args.db))
    elif args.json:
        from scrubjay.surfaces.render.json import dumps, results

        shown = results(found, mode=mode, explain=args.explain, full=args.full, tokens=tokens)
        out(dumps(shown))
    elif tokens is not None:
        if len(found):
            out(clean(found.recalled(tokens=tokens)))  # without colours: it is meant to be pasted
        common.warn(facts.lacks(found, args.db))
    elif args.files:
        for line in facts.file_lines(found):
            out(line)
        common.warn(facts.lacks(found, args.db))
    elif args.md:
        from scrubjay.surfaces.render import markdown

        out(markdown.results(found, whole=args.full, db=args.db))
    else:
        from scrubjay.surfaces.render import results as render

        out(render.results(found, screen, explain=args.explain, whole=args.full, db=args.db))


def landscape(args: Namespace, screen: Screen) -> int:
    from scrubjay.surfaces.render.json import dumps, plain

    with open_store(args.db, args.user) as store:
        if args.question:
            shape = _on_question(store, args)
        else:
            shape = plain(store.landscape(tokens=args.tokens, namespace=args.namespace))
    if args.json:
        out(dumps(shape))
    elif shape["text"]:
        out(clean(shape["text"]))  # without colours: it is meant to be pasted
    common.warn(shape.get("degraded", ()))
    return 0 if shape["ids" if args.question else "memories"] else common.NOTHING_FOUND


def _on_question(store: Store, args: Namespace) -> dict[str, Any]:
    from scrubjay.insight.landscape import check_tokens
    from scrubjay.surfaces.context import question_context

    check_tokens(args.tokens)
    settings = common.settings_of(args)
    if profile_of(settings.profile).uses("embed_query"):
        from scrubjay.surfaces.cli.vectors import fetch_model

        fetch_model(settings, store)  # the results report what is missing
    where = {} if args.namespace is None else {"namespace": args.namespace}
    return question_context(store, text_of(args.question), args.tokens, where)
