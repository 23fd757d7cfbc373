"""Entries: how much of each a search shows, by the stages that ran.
A profile of the settings file has its own name, so the name does not tell."""

from __future__ import annotations

from collections.abc import Iterable

from scrubjay.surfaces.render.facts import plural
from scrubjay.types import Hit, Results, Step

SIGNALS, SCAN = "signals", "scan"  # the stages that score entries and that show their beginnings


def has_entries(found: Results) -> bool:
    """True if the hits were scored as entries, by signals."""
    return _ran(found.trace, SIGNALS)


def is_brief(found: Results) -> bool:
    """True if only the beginning of each hit is shown, for the reader to choose from."""
    return _ran(found.trace, SCAN)


def is_whole(found: Results) -> bool:
    """True if the caller chose the mode that shows entries whole, however long they are."""
    return has_entries(found) and found.profile.endswith(":full")


def length(hit: Hit, found: Results) -> str:
    """Return the length of a brief entry in tokens: what it costs to load; '' for other hits."""
    return f"~{plural(hit.token_estimate, 'token')}" if is_brief(found) else ""


def breakdown(hit: Hit, found: Results) -> str:
    """Return the signals of a whole entry, or the fixed score of what is no entry; '' for other hits."""
    if not has_entries(found) or is_brief(found):
        return ""
    parts = {"memory": hit.why["memory"]} if "memory" in hit.why else hit.why
    return " · ".join(f"{name} {value:.3f}" for name, value in parts.items())


def _ran(steps: Iterable[Step], stage: str) -> bool:
    return any(step.stage == stage or _ran(step.branches, stage) for step in steps)
