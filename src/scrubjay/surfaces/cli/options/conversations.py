"""What may be typed after `say` and `sessions`, and who said something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def say_options(command: ArgumentParser) -> None:
    """Take what was said, where, when and by whom."""
    from scrubjay.surfaces.cli.options.write import no_embed

    command.description = (
        "Keep a message of a conversation. With - standard input is read: where it begins with { or"
        " [, it is JSON, a message a line or a list of them; anything else is one message. What a"
        " message says itself stands above the options."
    )
    command.add_argument("text", nargs="+", help="what was said; - reads it")
    command.add_argument("--session", default=None, help="in which conversation")
    command.add_argument("--role", default=None, help="who speaks: user, assistant, … (user)")
    command.add_argument("--at", metavar="TIME", default=None, help="when it was said (now)")
    speakers(command, "whose conversation it is", "which agent takes part")
    no_embed(command)


def sessions_options(command: ArgumentParser) -> None:
    """Take which sessions are listed."""
    command.add_argument("--namespace", default=None, help="only those there")
    speakers(command, "only those of this person", "only those with this agent")
    command.add_argument("-n", "--limit", type=int, default=50, help="at most so many (50)")
    command.add_argument("--offset", type=int, default=0, help="skip so many")


def speakers(command: ArgumentParser, owner: str, agent: str) -> None:
    """Take an owner and an agent, each with what that means here."""
    command.add_argument("--owner", metavar="NAME", default=None, help=owner)
    command.add_argument("--agent", metavar="NAME", default=None, help=agent)
