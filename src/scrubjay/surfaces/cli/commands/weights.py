"""`weights`: what feedback has made of a profile's weights, and from which counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import open_store, profile_of, settings_of
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Learned

_LEARNS = "vault"


def weights(args: Namespace, screen: Screen) -> int:
    """Show each weight now and before anything was learned, and how that came about."""
    configured = settings_of(args).profile
    profile = profile_of(args.profile, None).name if args.profile else learning_profile(configured)
    with open_store(args.db, args.user, tiers=args.tier) as store:
        learned = store.learned(profile)
    if args.json:
        from scrubjay.surfaces.render.json import dumps, plain

        out(dumps(plain(learned)))
    else:
        out("\n".join((*_table(learned, screen), *_said(learned))))
        for why in learned.unasked:
            err(f"scrubjay: not counted: {one_line(why)}")
    return 0


def learning_profile(configured: str) -> str:
    """Return the configured profile if it weighs signals, else the one of ours that does."""
    return configured if profile_of(configured, None).uses("signals") else _LEARNS


def _table(learned: Learned, screen: Screen) -> list[str]:
    if not learned.weights:
        return [f"The profile {learned.profile} weighs nothing."]
    rows = [
        (name, f"{weight:.3f}", f"{learned.base[name]:.3f}")
        for name, weight in learned.weights.items()
    ]
    head, *lines = table([("weight", "now", "before learning"), *rows])
    return [screen.bold(head), *lines]


def _said(learned: Learned) -> list[str]:
    """Say what the weights follow from, and what they wait for."""
    if learned.needed is None:
        return [f"profile {learned.profile}, which does not learn from feedback"]
    given = learned.accepted + learned.modified + learned.dismissed
    rate = "" if learned.rate is None else f" · rate {learned.rate:.3f}"
    lines = [
        f"profile {learned.profile} · {learned.accepted} accepted, {learned.modified} modified,"
        f" {learned.dismissed} dismissed{rate} · shift {learned.shift:+.3f}"
    ]
    if learned.frozen:
        return [*lines, "frozen: they stay as they are until `scrubjay feedback thaw`"]
    if given < learned.needed:
        more = render.plural(learned.needed - given, "feedback")
        return [*lines, f"{more} more until the weights move (from {learned.needed} on)"]
    return lines
