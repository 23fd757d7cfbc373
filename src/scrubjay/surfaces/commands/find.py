"""`search`, `vsearch` and `query`: one function, because they differ in the mode only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.session import (
    fetch_model,
    open_store,
    overrides_of,
    profile_of,
    settings_of,
    words_of,
)
from scrubjay.surfaces.terminal import out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.terminal import Screen

_MODES = {"search": "keyword", "vsearch": "vector"}
_NOTHING_FOUND = 3


def find(args: Namespace, screen: Screen) -> int:
    """Search and show the hits; the exit code says whether there are any."""
    settings = settings_of(args)
    mode = _MODES.get(args.command) or args.mode
    # `search` and `vsearch` are modes of the default profile; a configured one has its own words.
    profile = args.profile or ("default" if args.command in _MODES else settings.profile)
    overrides = overrides_of(args.sets)
    profile_of(profile, overrides, mode=mode)  # a typing error is said before anything is fetched
    with open_store(args.db) as store:
        if mode != "keyword":
            fetch_model(settings)  # what is missing afterwards is in the answer's own notes
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
            min_score=args.min_score,
            overrides=overrides,
        )
    if args.json:
        from scrubjay.surfaces.shapes import dumps, results

        out(dumps(results(found, mode=mode or "default", explain=args.explain, full=args.full)))
    else:
        from scrubjay.surfaces import render

        out(render.results(found, screen, explain=args.explain, whole=args.full))
    return 0 if len(found) else _NOTHING_FOUND
