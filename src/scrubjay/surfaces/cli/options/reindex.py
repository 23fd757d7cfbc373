"""What `reindex` takes."""

from __future__ import annotations

import argparse


def reindex(command: argparse.ArgumentParser) -> None:
    """Name an index, or the server that is no longer told."""
    command.add_argument(
        "what", nargs="?", choices=("words", "vectors", "graph"), help="one of them (all)"
    )
    command.add_argument(
        "--drop", action="store_true", help="tell the server of that tier nothing any more"
    )
