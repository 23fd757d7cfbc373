"""`--tier`: other databases to search, on the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrubjay.config import named_tier
from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from scrubjay.config import TierSetting

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")


def tier_option(command: ArgumentParser) -> None:
    """Let a command look into other databases as well."""
    command.add_argument(
        "--tier",
        action="append",
        metavar="NAME=FILE",
        help="agent, project, team, or a vault NAME=FILE@PRIORITY; repeatable",
    )


def tiers_of(given: list[str] | None) -> tuple[TierSetting, ...]:
    """Read the `--tier` options: `team=FILE`, or `handbook=FILE@0.7` for a vault with a priority."""
    return tuple(map(_tier, given or ()))


def _tier(given: str) -> TierSetting:
    name, equals, path = given.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise InvalidInput(f"--tier {given!r} is not of the form NAME=FILE or NAME=FILE@PRIORITY")
    file, at, number = path.rpartition("@")
    # A path may hold an @ itself.
    if not at or not _NUMBER.fullmatch(number):
        return named_tier(name.strip(), path)
    return named_tier(name.strip(), file, float(number))
