"""Whether a sentence speaks of what was or of what is to come."""

from __future__ import annotations

from collections.abc import Sequence

_TO_COME = frozenset(
    "will ll shall gonna going plan plans planning planned upcoming tomorrow soon hope hoping want wants"
    " intend expect deadline due scheduled werde wird werden wirst werdet will wollen plane plant planen"
    " geplant vorhaben bald kommt anstehend".split()
)
_ASKED = _TO_COME - {"going", "want", "wants", "hope", "hoping", "planned", "scheduled", "kommt"}
_WAS = frozenset(
    "was were did had been went met saw got came took made bought ate ran said told found gave began"
    " spent left felt lost won wrote read sent kept held brought thought became built drove flew heard"
    " knew sang slept spoke taught wore ago"
    " war waren wurde wurden hatte hatten hab habe haben hat bin gab ging gingen kam kamen sah".split()
)


def lean(words: Sequence[str], *, is_query: bool) -> int:
    """Return 1 for what is to come, -1 for what was, 0 where the words of a sentence do not say.

    A query is about what was, unless it asks for plans.
    """
    if is_query:
        return -1 if _ASKED.isdisjoint(words) or not _WAS.isdisjoint(words) else 1
    if not _TO_COME.isdisjoint(words):
        return 1
    if not _WAS.isdisjoint(words) or any(len(w) > 4 and w.endswith("ed") for w in words):
        return -1
    return 0
