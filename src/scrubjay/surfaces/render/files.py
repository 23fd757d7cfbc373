"""`--files`: where the hits are, one line each, for scripts and editors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrubjay.surfaces.render.facts import span
from scrubjay.surfaces.render.terminal import path_line

if TYPE_CHECKING:
    from scrubjay.types import Hit, Results


def files(found: Results) -> list[str]:
    """Return each file once, with the lines of its best hit; a hit without a file by its id."""
    lines: dict[str, str] = {}
    for hit in found.hits:
        path = file_of(hit)
        lines.setdefault(path or hit.id, path_line(hit.id if path is None else _place(hit, path)))
    return list(lines.values())


def file_of(hit: Hit) -> str | None:
    """Return the file a hit comes from: `ingest` notes whole paths, any other source is a word."""
    return hit.source if hit.source and os.path.isabs(hit.source) else None


def near(path: str) -> str:
    """Return a path as seen from the current folder if it is below it, else as it is."""
    try:
        here = os.path.join(os.getcwd(), "")
    except FileNotFoundError:  # the folder was removed under our feet
        return path
    return path.removeprefix(here) or path


def _place(hit: Hit, path: str) -> str:
    # A page is not a line: an editor would open the wrong place.
    if hit.lines is None or hit.page is not None:
        return near(path)
    return f"{near(path)}:{span(hit.lines)}"
