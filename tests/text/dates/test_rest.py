"""What is left of a query without its time."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from scrubjay.text.dates import Window, window_of, without

NOW = datetime(2026, 11, 16, 15, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("dinner with Anna last week", "dinner with Anna"),
        ("what happened between 3 and 5 May?", "what happened?"),
        ("In March, what did I buy?", "what did I buy?"),
        ("what did I buy in May last year at Lidl", "what did I buy at Lidl"),
        ("what did I  buy on the 5th of May?", "what did I buy?"),
        ("Was habe ich am Montag vor zwei Wochen gesagt?", "Was habe ich gesagt?"),
        ("Was war im März mit Miez?", "Was war mit Miez?"),
        ("notes since Monday about the boiler", "notes about the boiler"),
        ("the January release", "the release"),
        ("who called the day before yesterday", "who called"),
        ("last week's dinner", "dinner"),
        ("what did I just say", "what did I say"),
        ("plans for Saturday", "plans"),
        ("bis zum 5. Mai 2027", ""),
        ("yesterday", ""),
        ("today's todayness today", "todayness today"),
        ("Was war im Ma\u0308rz los", "Was war los"),
    ],
)
def test_the_words_of_a_time_leave_with_their_prepositions(text, left):
    """CG-6: what is looked for stays as it is written, with its spaces folded."""
    assert without(text, window_of(text, NOW)) == left


def test_words_that_are_not_in_the_text_take_nothing_away():
    """A window of another text, or without words, changes nothing but spaces."""
    for said in ("last week", "", "a"):
        assert (
            without("dinner  at noon (again)", Window(NOW, NOW, said)) == "dinner at noon (again)"
        )
