"""A query without the words of its time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scrubjay.timewords import window_of, without

NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("dinner with Anna last week", "dinner with Anna"),
        ("last week", ""),
        ("what happened on 5 May?", "what happened ?"),
        ("who came in the last 3 days, and why", "who came , and why"),
        ("what happened between 3 and 5 May?", "what happened ?"),
        ("Was war am 5. Mai los?", "Was war los?"),
        ("wer kam vor zwei Wochen", "wer kam"),
        ("the march in March", "the march"),
    ],
)
def test_only_the_words_of_the_time_go(query, rest):
    """CG-6: with the preposition that belongs to them."""
    assert without(query, window_of(query, NOW)) == rest
