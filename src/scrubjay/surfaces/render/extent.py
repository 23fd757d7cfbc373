"""How much of a hit is shown: a passage, how it begins, an entry as a whole, or all of any text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrubjay.surfaces.render.files import file_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrubjay.types import Hit, Results, Step

_MOST_CHARS = 2000  # of an entry that is shown whole
_LONGEST_WORD_CHARS = 40


class Shown(NamedTuple):
    """The text that is shown of a hit; `lines` says that its own lines are kept, `more` that it goes on."""

    text: str
    lines: bool = False
    more: bool = False


def shown(hit: Hit, found: Results, *, whole: bool) -> Shown:
    """Return what is shown of a hit. `whole` is all of its text, however long that is.

    Entries are shown as a whole, up to a bound; of a longer document, the passage, as elsewhere.
    """
    if whole:
        return Shown(hit.text, lines=True)
    if not has_entries(found) or is_brief(found):
        return Shown(passage(hit, found))
    text = _description(hit)
    if len(text) <= _MOST_CHARS:
        return Shown(text, lines=True)
    if hit.type == "document":
        return Shown(passage(hit, found), more=True)
    return Shown(_beginning(text), lines=True, more=True)


def _beginning(text: str) -> str:
    """Return the first characters, up to a bound; up to a space, if there is one near the end."""
    first = text[:_MOST_CHARS]
    space = first.rfind(" ", _MOST_CHARS - _LONGEST_WORD_CHARS)
    return f"{first[:space] if space > 0 else first} …"


def passage(hit: Hit, found: Results) -> str:
    """Return the passage of a hit; the beginning of a text says that it goes on.

    Elsewhere a snippet has its own ellipses, where it was cut.
    """
    begins = found.profile.partition(":")[0] == "gnosis" or is_brief(found)
    cut_off = begins and not hit.complete
    return f"{hit.snippet or hit.text} …" if cut_off else hit.snippet or hit.text


def has_entries(found: Results) -> bool:
    """True when the hits were scored as entries are, by their signals."""
    return _ran(found.trace, "signals")


def is_brief(found: Results) -> bool:
    """True when the hits say how they begin only, for the reader to choose from."""
    return _ran(found.trace, "scan")


def _ran(steps: Iterable[Step], stage: str) -> bool:
    # Not by the profile's name: one of the settings file has a name of its own.
    return any(step.stage == stage or _ran(step.branches, stage) for step in steps)


def _description(hit: Hit) -> str:
    """Return what an entry says, without the front matter of its file."""
    if file_of(hit) is None or not hit.text.startswith("---"):
        return hit.text
    from scrubjay.text.markdown import front_matter

    return hit.text[front_matter(hit.text)[1] :].lstrip()
