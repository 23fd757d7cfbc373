"""What may be typed after `extract`."""

from __future__ import annotations

from argparse import ArgumentParser


def extract_options(command: ArgumentParser) -> None:
    """Take which messages."""
    command.add_argument("--session", default=None, help="only the turns of this one (all)")
    command.add_argument("--retry", action="store_true", help="also what was given up before")
