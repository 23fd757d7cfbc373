"""Paths of memories as files, and how files and folders are shown to an agent.

The texts are those of Anthropic's reference implementation of its memory tool: models know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from scrubjay.errors import InvalidInput
from scrubjay.text.validation import MAX_NAME_CHARS, check_text
from scrubjay.types.files import ROOT

MOST_LINES = 999_999
_NUMBER_WIDTH = len(str(MOST_LINES))
_LEVELS = 2  # of a folder that its listing shows
_UNITS = "BKMG"
_SEPARATORS = re.compile(r"[/\\]")


def parse_path(path: object) -> str:
    """Return a path below /memories in its one form; refuse one that leads elsewhere."""
    given = check_text("path", path)
    if given != ROOT and not given.startswith(f"{ROOT}/"):
        raise InvalidInput(f"Path must start with {ROOT}, got: {given}")
    # A backslash separates folders where a file is exported to Windows.
    if ".." in _SEPARATORS.split(given):
        raise InvalidInput(f"Path {given} would escape {ROOT} directory")
    if not given.isprintable() or len(given) > MAX_NAME_CHARS:
        raise InvalidInput(
            f"Path {given[:80]!r} is not a printable path of at most {MAX_NAME_CHARS} characters"
        )
    parts = (part for part in given.split("/") if part not in ("", "."))
    return "/" + "/".join(parts)


def is_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders that a file is in, the nearest first, without /memories itself."""
    while (path := path.rpartition("/")[0]) != ROOT:
        yield path


def show_file(path: str, text: str, first: int = 1, last: int = -1) -> str:
    """Return a file with numbers in front of its lines; `last` is -1 for all that follow."""
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise InvalidInput(f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines.")
    begin = max(1, first) - 1
    shown = lines[begin : len(lines) if last == -1 else last]
    return f"Here's the content of {path} with line numbers:\n{number(shown, begin + 1)}"


def show_change(text: str, line: int) -> str:
    """Return the lines around a change with their numbers."""
    lines = text.split("\n")
    begin = max(0, line - 3)
    return number(lines[begin : line + 2], begin + 1)


def number(lines: Iterable[str], first: int) -> str:
    numbered = enumerate(lines, start=first)
    return "\n".join(f"{n:>{_NUMBER_WIDTH}}\t{line}" for n, line in numbered)


def show_folder(path: str, folder: str, sizes: Iterable[tuple[str, int]]) -> str:
    """Return the listing of a folder from the paths and sizes in bytes of the files in it.

    `path` is the folder as it was asked for. A folder is as large as the files in it.
    """
    found: dict[str, int] = {}
    total = 0
    for file, size in sizes:
        total += size
        *above, name = file.removeprefix(f"{folder}/").split("/")
        for depth in range(1, len(above) + 1):
            key = "/".join(above[:depth]) + "/"
            found[key] = found.get(key, 0) + size
        found["/".join((*above, name))] = size
    rows = [
        f"{show_size(size)}\t{path}/{name}"
        for name, size in sorted(found.items(), key=lambda item: item[0].rstrip("/").split("/"))
        if name.rstrip("/").count("/") < _LEVELS
        and not any(part.startswith(".") for part in name.split("/"))
    ]
    head = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    return "\n".join((head, f"{show_size(total)}\t{path}", *rows))


def show_size(size: int) -> str:
    """Return a number of bytes as in `ls -h`: 0B, 1.5K, 2M."""
    unit = min(max(size.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    value = size / 1024**unit
    return f"{value:.0f}{_UNITS[unit]}" if value == int(value) else f"{value:.1f}{_UNITS[unit]}"
