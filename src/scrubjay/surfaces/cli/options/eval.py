"""What may be typed after `eval`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def eval_options(command: ArgumentParser) -> None:
    """Take the questions, and what they are asked with."""
    command.add_argument(
        "questions",
        help='a file with lines such as {"query": "…", "expect": ["id"]}, or a folder with'
        " corpus.jsonl, queries.jsonl and qrels.tsv",
    )
    command.add_argument(
        "--profile",
        action="append",
        dest="profiles",
        metavar="NAME[:MODE]",
        help="the configured one; repeatable, the others are compared with the first",
    )
    command.add_argument(
        "--set", action="append", dest="sets", metavar="STAGE.NUMBER=VALUE", help="repeatable"
    )
    command.add_argument(
        "-n", "--limit", type=int, default=10, help="measure so many hits of each question (10)"
    )
    command.add_argument(
        "--misses", type=int, default=5, metavar="N", help="show so many that were missed (5)"
    )
    command.add_argument(
        "--at-least",
        type=float,
        default=None,
        metavar="NDCG",
        help="fail where a profile has less, such as 0.8",
    )
    command.add_argument(
        "--keep", metavar="FILE", default=None, help="with a corpus: keep the store made of it"
    )
