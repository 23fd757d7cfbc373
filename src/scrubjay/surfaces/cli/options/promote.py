"""What may be typed after `promote` and `demote`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def promote_options(command: ArgumentParser) -> None:
    """Add the options of `promote`."""
    command.description = (
        "Move the store from its file to Postgres while it is in use: copied, compared row by row and"
        " by searches, then switched. What was cut short goes on when it is run again."
    )
    command.add_argument(
        "--to", metavar="URL", required=True, help="postgres://user@host:5432/database"
    )
    command.add_argument(
        "--keep", action="store_true", help="leave the file as it is: a copy from then on"
    )


def demote_options(command: ArgumentParser) -> None:
    """Add the options of `demote`."""
    command.description = (
        "Move the store from Postgres into a file while it is in use: copied, compared row by row and"
        " by searches, then switched. What was cut short goes on when it is run again."
    )
    command.add_argument("--to", metavar="FILE", required=True, help="the file to make")
    command.add_argument(
        "--keep", action="store_true", help="leave the schema as it is: a copy from then on"
    )
