"""Where the parts of a text begin, whatever its format: one function for all who cut texts into parts."""

from __future__ import annotations

from collections.abc import Iterator

from scrubjay.documents.code import definitions
from scrubjay.documents.rst import rst_headings
from scrubjay.text.markdown import Heading, headings


def outline(text: str, format: str) -> Iterator[Heading]:
    """Yield headings, or definitions of code, in the order of the text; none where there is no structure."""
    if format == "markdown":
        return headings(text)
    if format == "rst":
        return rst_headings(text)
    return definitions(text, format)
