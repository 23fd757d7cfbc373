"""What may be typed after `search`, `vsearch` and `query`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser

ONLY_THERE = "only there; PROJECT/ is all of a project"


def find_options(command: ArgumentParser) -> None:
    """Add what every way of searching takes."""
    command.add_argument("query", nargs="+", help="what to look for; - reads it")
    command.add_argument(
        "-n",
        "--limit",
        type=int,
        default=None,
        help="at most so many hits (10; gnosis 32; vault up to 49)",
    )
    command.add_argument("--explain", action="store_true", help="show why, stage by stage")
    command.add_argument(
        "--full", action="store_true", help="whole texts, not passages of long ones"
    )
    command.add_argument("--files", action="store_true", help="paths with lines, for scripts")
    command.add_argument("--md", action="store_true", help="answer in Markdown, to paste")
    command.add_argument("--profile", default=None, help="see: scrubjay profiles")
    command.add_argument(
        "--set", action="append", dest="sets", metavar="STAGE.NUMBER=VALUE", help="repeatable"
    )
    command.add_argument(
        "--min-score",
        type=float,
        default=None,
        metavar="SCORE",
        help="drop what scores less, such as 0.2",
    )
    command.add_argument(
        "--weights",
        default=None,
        metavar="NAME=NUMBER,…",
        help="of keyword, vector, graph, or exact_id, semantic, roaming (profile novamem)",
    )
    command.add_argument("--only-domain", metavar="DOMAIN", default=None, help="nothing else")
    _filters(command)


def search_options(command: ArgumentParser) -> None:
    """Add what goes with words: what else raises a hit."""
    find_options(command)
    command.add_argument(
        "--tag",
        action="append",
        metavar="TAG",
        help="raise what has it (profile vault); repeatable",
    )
    command.add_argument("--domain", default=None, help="raise what is of it (profile vault)")


def vsearch_options(command: ArgumentParser) -> None:
    """Add nothing more: no profile that takes tags searches by meaning alone."""
    find_options(command)
    command.set_defaults(tag=None, domain=None)


def query_options(command: ArgumentParser) -> None:
    """Add what `query` takes besides: modes, and other databases."""
    search_options(command)
    mode = command.add_mutually_exclusive_group()
    mode.add_argument("--mode", default=None, help="a mode of the profile")
    mode.add_argument(
        "--fast", action="store_const", dest="mode", const="fast", help="no second look"
    )
    mode.add_argument(
        "--thorough",
        action="store_const",
        dest="mode",
        const="thorough",
        help="read deeper, and ask the language model if there is one",
    )
    mode.add_argument(
        "--deep",
        action="store_const",
        dest="mode",
        const="deep",
        help="all there is about something (profile gnosis)",
    )
    mode.add_argument(
        "--scan",
        action="store_const",
        dest="mode",
        const="scan",
        help="the first words only, to choose from (profile vault)",
    )
    command.add_argument(
        "--no-expand", action="store_true", help="ask no language model for other words"
    )
    command.add_argument("--no-rerank", action="store_true", help="no second look at the best")
    from scrubjay.surfaces.cli.options.tiers import tier_option

    tier_option(command)


def _filters(command: ArgumentParser) -> None:
    places(command, ONLY_THERE)
    command.add_argument("--type", action="append", metavar="TYPE", help="repeatable")
    command.add_argument("--topic", action="append", metavar="TOPIC", help="any of; repeatable")
    command.add_argument(
        "--session",
        default=None,
        help="only what was said there; with cognis: this conversation first",
    )
    command.add_argument("--owner", metavar="NAME", default=None, help="only of this person")
    command.add_argument("--agent", metavar="NAME", default=None, help="only of this agent")
    command.add_argument("--since", metavar="TIME", default=None, help="a date or an ISO time")
    command.add_argument("--until", metavar="TIME", default=None, help="that day included")
    command.add_argument(
        "--include-expired", action="store_true", help="also what is not valid now"
    )


def places(command: ArgumentParser, namespace: str | None = None) -> None:
    """Add where a memory is; `namespace` says what that option does."""
    command.add_argument("--namespace", default=None, help=namespace)
    command.add_argument("--collection", default=None)
