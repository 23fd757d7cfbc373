"""What may be typed after `add` and `update`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.options.find import places

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_options(command: ArgumentParser) -> None:
    """Take a text with its fields, or files and folders."""
    command.add_argument("text", nargs="+", help="the text; - reads it; a path is ingested")
    command.add_argument("--text", dest="as_text", action="store_true", help="never a path")
    command.add_argument("--id", default=None, help="replace what has this id")
    command.add_argument("--title", default=None)
    command.add_argument("--type", default=None, help="fact, preference, decision, … (fact)")
    command.add_argument(
        "--topic", "--tag", dest="topic", action="append", metavar="TOPIC", help="repeatable"
    )
    places(command)
    command.add_argument("--session", default=None)
    _entry_options(command)
    command.add_argument("--at", metavar="TIME", default=None, help="when it was said (now)")
    no_embed(command)


def update_options(command: ArgumentParser) -> None:
    """Take a memory and what is to change of it."""
    command.description = (
        'Change what is given of a memory; the rest stays. An empty value, as in --severity "",'
        " takes one away."
    )
    command.add_argument("id", help="a memory, or the first four or more letters of its id")
    command.add_argument("--text", default=None, help="the new text; - reads it")
    command.add_argument("--title", default=None)
    command.add_argument("--type", default=None, help="fact, preference, decision, …")
    command.add_argument(
        *("--topic", "--tag"),
        dest="topic",
        action="append",
        metavar="TOPIC",
        help="in place of those it has; repeatable",
    )
    command.add_argument(
        *("--add-topic", "--add-tag"),
        dest="add_topic",
        action="append",
        metavar="TOPIC",
        help="beside those it has; repeatable",
    )
    _entry_options(command)
    no_embed(command)


def no_embed(command: ArgumentParser) -> None:
    """Take the wish not to wait for vectors."""
    command.add_argument(
        "--no-embed", action="store_true", help="leave the vectors for later (by word at once)"
    )


def _entry_options(command: ArgumentParser) -> None:
    command.add_argument(
        "--severity",
        default=None,
        help="critical, warning or suggestion; none counts as a suggestion",
    )
    command.add_argument("--domain", default=None, help="the field it belongs to")
    command.add_argument("--context", default=None, help="what helps to understand it")
    command.add_argument("--valid-from", metavar="TIME", default=None, help="not found before")
    command.add_argument(
        "--valid-until", metavar="TIME", default=None, help="not found after; that day included"
    )
    command.add_argument("--source", default=None, help="where it comes from")
