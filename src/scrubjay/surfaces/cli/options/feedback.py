"""What may be typed after `feedback`, `weights` and `expiring`."""

from __future__ import annotations

from argparse import ArgumentParser

from scrubjay.surfaces.cli.options.tiers import tier_option

# As in learning.py, which is not imported for a command line.
ACTIONS = ("accepted", "modified", "dismissed")
_VERBS = (*ACTIONS, "list", "undo", "reset", "freeze", "thaw")


def feedback_options(command: ArgumentParser) -> None:
    """Take what became of a result, or what to do with such feedback."""
    command.add_argument("action", choices=_VERBS, help="what became of it, or what to do")
    command.add_argument(
        "what",
        nargs="?",
        default=None,
        help="the id of the result; with undo: a number (the last)",
    )
    command.add_argument("--query", default=None, help="what was searched for, with an id")
    command.add_argument("-n", "--limit", type=int, default=None, help="with list: so many (50)")
    command.add_argument("--yes", action="store_true", help="with reset: do not ask")
    command.add_argument(
        "--of", metavar="TIER", default=None, help="with undo, reset: which tier's (the own)"
    )
    tier_option(command)


def weights_options(command: ArgumentParser) -> None:
    """Take the profile whose weights are shown."""
    command.add_argument(
        "--profile", default=None, help="which profile (the configured one if it learns, or vault)"
    )
    tier_option(command)


def expiring_options(command: ArgumentParser) -> None:
    """Take how soon, or how long ago."""
    command.add_argument(
        "--within", metavar="TIME", default=None, help="12h, 30d, 2w (30d; --expired: ever)"
    )
    command.add_argument("--expired", action="store_true", help="what is over already")
    tier_option(command)
