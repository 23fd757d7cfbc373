"""Which name was probably meant."""

from __future__ import annotations

import pytest

from scrubjay.text.validation import did_you_mean


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("qury", "query"),
        ("txt", "text"),
        ("topcs", "topics"),
        ("rff", "rrf"),
        ("nope", None),
        ("x", None),
        ("filter", None),
    ],
)
def test_only_a_near_name_is_guessed(typed, meant):
    """A wrong guess sends who typed it further away."""
    known = ["query", "text", "topics", "undone", "tiers", "done", "limit", "rrf"]
    assert did_you_mean(typed, known) == (f" (did you mean {meant!r}?)" if meant else "")
