"""Memories out of a store and into one: as lines of JSON, or as one Markdown file each."""

from __future__ import annotations

from scrubjay.learning import Learning


class Moving(Learning):
    """The verbs that move memories."""
