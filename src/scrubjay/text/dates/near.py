"""What was just now, earlier or recently; in a memory most of these words tell nothing of when."""

from __future__ import annotations

from datetime import UTC, timedelta

from scrubjay.text.dates.seen import Resolver, Said, Seen
from scrubjay.text.dates.spans import DAY, Span, days, unit_at
from scrubjay.text.dates.words import SPEECH

_JUST = timedelta(minutes=10)
_GERMAN_JUST = frozenset(("gerade", "eben", "soeben"))
_CLAUSE = 10  # words; a German participle stands at the end of its clause


def _just(said: Said, seen: Seen) -> Span | None:
    if said.has("Q") and "second" not in said.words:
        return None
    if not said.has("1Q") and not (seen.is_query and _is_just_now(said, seen)):
        return None  # "I just wanted to say": a memory is said when it is said
    return Span(seen.now.astimezone(UTC) - _JUST, seen.closing())


def _is_just_now(said: Said, seen: Seen) -> bool:
    if len(said.words) > 1:
        return said.classes.endswith("j") or _GERMAN_JUST.issuperset(
            word for word, kind in zip(said.words, said.classes, strict=True) if kind == "J"
        )
    if said.words[0] in _GERMAN_JUST:
        return not SPEECH.isdisjoint(seen.after[:_CLAUSE])
    return said.words[0] == "just" and not SPEECH.isdisjoint(seen.after[:2])


def _recent(said: Said, seen: Seen) -> Span | None:
    today = days(seen.today)
    if said.has("6"):
        return _earlier(said, seen)
    if said.get("l") == "today":
        return Span(today.begins, seen.closing())
    # "Recently" is no window: of ten questions that say it, one had its answer in the last two weeks.
    return None


def _earlier(said: Said, seen: Seen) -> Span | None:
    if said.has("R"):
        day = days(seen.today + said.get("R") * DAY)
        return Span(day.begins, seen.closing()) if said.get("R") == 0 else day
    if said.has("T"):
        if said.get("wUa") in ("minute", "hour", "weekend", "fortnight"):
            return None
        return Span(unit_at(said.get("wUa"), seen.today).begins, seen.closing())
    # The earlier version, two days earlier, earlier than: only where it is about what was said.
    follows = seen.after[0] if seen.after else ""
    is_said = seen.is_query and not SPEECH.isdisjoint(seen.before) and follows != "than"
    before = seen.before[-1] if seen.before else ""
    if not is_said or before in ("the", "an", "much", "no") or before.endswith("s"):
        return None
    return Span(days(seen.today).begins, seen.closing())


NEAR: dict[str, Resolver] = {"just": _just, "recent": _recent}
