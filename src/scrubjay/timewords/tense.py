"""Whether a sentence speaks of what was or of what is to come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

_TO_COME = frozenset(
    "will ll shall gonna going plan plans planning upcoming soon hope hoping want wants intend expect"
    " deadline due werde wird werden wirst werdet wollen plane plant planen vorhaben bald kommt".split()
)
_ASKED = _TO_COME - {"going", "hope", "hoping", "want", "wants", "expect", "due", "kommt"}
_WAS = frozenset(
    "was were did had been went met saw got came took made bought ate ran said told found gave began"
    " spent left felt lost won wrote read sent kept held brought thought became built drove flew heard"
    " knew sang slept spoke taught wore"
    " war waren wurde wurden hatte hatten hab habe haben hat bin gab ging gingen kam kamen sah".split()
)
# Words on -ed that tell nothing of when.
_NO_PAST = frozenset(
    "need indeed speed hundred worried excited interested scared tired bored stressed supposed used"
    " scheduled planned limited married related detailed based".split()
)
_NEAR = 8  # tokens; what is farther away may be about something else


def lean(before: Sequence[str], after: Sequence[str], *, is_query: bool) -> tuple[int, bool]:
    """Return 1 for what is to come, -1 for what was, 0 where a sentence does not say; and how sure.

    Of its words the nearest to the expression decides, of those before and after it. It is sure where
    that one is near, and more than an ending. A query is about what was, unless it asks for plans.
    """
    if is_query:
        words = {*before, *after}
        return (-1 if _ASKED.isdisjoint(words) or not _WAS.isdisjoint(words) else 1), True
    for distance, word in enumerate(_outward(before, after)):
        if word in _TO_COME:
            return 1, distance < 2 * _NEAR
        if word in _WAS:
            return -1, distance < 2 * _NEAR
        if word.endswith("ed") and len(word) > 4 and word not in _NO_PAST:
            return -1, False
    return 0, True


def _outward(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for pair in zip_longest(reversed(before), after, fillvalue=""):
        yield from pair
