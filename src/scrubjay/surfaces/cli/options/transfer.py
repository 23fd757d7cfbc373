"""What may be typed after `export`, `import` and `backup`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def export(command: ArgumentParser) -> None:
    """Add the options of `export`."""
    form = command.add_mutually_exclusive_group()
    form.add_argument(
        "--md", metavar="DIR", default=None, help="one Markdown file each, in this folder"
    )
    form.add_argument(
        "--jsonl", metavar="FILE", default=None, help="lines of JSON (to standard output)"
    )
    command.add_argument("--namespace", default=None)
    command.add_argument("--collection", default=None)
    command.add_argument("--type", action="append", metavar="TYPE", help="repeatable")
    command.add_argument("--topic", action="append", metavar="TOPIC", help="any of; repeatable")
    command.add_argument("--session", default=None, help="only what was said there")
    command.add_argument(
        "--force", action="store_true", help="replace files in the way, also those changed by hand"
    )
    command.add_argument(
        "--prune", action="store_true", help="with --md: remove files of entries not among these"
    )


def import_(command: ArgumentParser) -> None:
    """Add the options of `import`."""
    command.add_argument(
        "path", nargs="+", help="folders of Markdown, .md and .jsonl files; - reads JSON lines"
    )
    command.add_argument("--dry-run", action="store_true", help="check everything, store nothing")
    command.add_argument("--namespace", default=None, help="put all of them there")
    command.add_argument("--collection", default=None, help="put all of them there")
    command.add_argument(
        "--no-embed", action="store_true", help="leave the vectors for later (by word at once)"
    )


def backup(command: ArgumentParser) -> None:
    """Add the options of `backup`."""
    command.add_argument("path", help="the file to write, a store like any other")
    command.add_argument("--force", action="store_true", help="replace a file in the way")
