"""`profiles`: the ways of searching, as the lists of stages that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import overrides_of, profile_of, settings_of
from scrubjay.surfaces.render import json_lists as shapes_kept
from scrubjay.surfaces.render.json import dumps
from scrubjay.surfaces.render.layout import indent, table
from scrubjay.surfaces.render.terminal import one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.search.profiles import Profile
    from scrubjay.surfaces.render.terminal import Screen


def profiles(args: Namespace, screen: Screen) -> int:
    """List the profiles, or show one with every number that `--set` can change."""
    if args.name is None:
        if args.sets:
            raise InvalidInput("--set changes one profile: scrubjay profiles NAME --set rrf.k=30")
        from scrubjay.search.profiles import get, names

        chosen = settings_of(args).profile
        return _list([get(name) for name in names()], args.json, chosen, screen)
    profile = profile_of(args.name, overrides_of(args.sets))
    if args.json:
        out(dumps(shapes_kept.profiles([profile])))
        return 0
    stages = "\n".join(indent(str(part), screen.width, 2) for part in profile.stages)
    out(f"{screen.bold(profile.name)}  {one_line(profile.summary)}\n{stages}")
    if profile.settings:
        out(screen.dim("settings by name, for --set as well:"))
        out("\n".join(table([("", *one) for one in profile.settings.items()])))
    return 0


def _list(known: list[Profile], as_json: bool, chosen: str, screen: Screen) -> int:
    if as_json:
        out(dumps(shapes_kept.profiles(known)))
        return 0
    rows = [("*" if one.name == chosen else " ", one.name, one_line(one.summary)) for one in known]
    out("\n".join(table(rows)))
    out(screen.dim("* is in force; stages and numbers of one: scrubjay profiles NAME"))
    return 0
