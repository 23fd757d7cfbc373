"""What may be typed after `token`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def token_options(command: ArgumentParser) -> None:
    """Take what to do, and what a new token is for."""
    command.description = (
        "Make a token for whoever asks a server over HTTP or MCP, list the tokens, or revoke one. The"
        " secret of a new one is shown once. With --tenant it opens that tenant's store, with --user it"
        " sees what that person sees; list shows only such ones then. Tokens of all tenants are kept in"
        " the store without one, unless the settings name a tenant. Once there was a token, servers go on"
        " asking, also when the last is revoked; open lets whoever is on this machine in without again."
    )
    command.add_argument("action", choices=("create", "list", "revoke", "open"))
    command.add_argument("name", nargs="?", default=None, help="what it is called: laptop, ci")
    command.add_argument(
        "--scope",
        action="append",
        metavar="SCOPE",
        help="with create: read, write (and read) or admin (everything) (read)",
    )
    command.add_argument(
        "--expires",
        metavar="TIME",
        default=None,
        help="with create: 12h, 90d, 2w or a date (never)",
    )
