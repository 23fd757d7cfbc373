"""What a model answered, as offers of facts: JSON if it can be found, and nothing made up."""

from __future__ import annotations

import re
from typing import Any

from scrubjay.conversations.extraction import ACTIONS, MOST_FACTS, Answer, Offer
from scrubjay.text.loose_json import Cut, objects, without_thoughts

MOST_ANSWER_CHARS = 200_000
_NUMBER = re.compile(r"\D{0,8}(\d{1,9})\D?")
_NAMES = {"text": ("text", "fact"), "quote": ("quote", "span"), "id": ("id", "replaces")}


def read(answer: str) -> Answer:
    """Return the offers in an answer; what is no offer is named, and junk as a whole says why."""
    if not answer.strip():
        return Answer(junk="it answered nothing")
    if len(answer) > MOST_ANSWER_CHARS:
        return Answer(junk=f"it answered with {len(answer):,} characters")
    seen = False
    for text in without_thoughts(answer):
        for found in objects(text):
            seen = True
            listed = _list_in(found)
            if listed is not None:
                return _answer(listed)
    if seen:
        return Answer(junk="it answered in JSON, but without a list of facts")
    return Answer(junk="it answered without any JSON")


def _list_in(found: dict[str, Any], depth: int = 0) -> list[Any] | None:
    """Return the list of facts in an object, or in one inside of it; one fact alone is a list."""
    if isinstance(listed := found.get("facts"), list):
        return listed
    if {"turn", "quote"} <= found.keys():
        return [found]
    for inner in found.values():
        if isinstance(inner, dict) and depth < 3:
            listed = _list_in(inner, depth + 1)
            if listed is not None:
                return listed
    return None


def _answer(listed: list[Any]) -> Answer:
    offers: list[Offer] = []
    malformed = ["too many facts in one answer"] * max(len(listed) - MOST_FACTS, 0)
    for one in listed[:MOST_FACTS]:
        made = _offer(one)
        if isinstance(made, Offer):
            offers.append(made)
        else:
            malformed.append(made)
    if listed and not offers:
        return Answer(junk=f"it gave no fact that can be read: {malformed[0]}")
    return Answer(tuple(offers), tuple(malformed))


def _offer(one: Any) -> Offer | str:
    """Return an offer, or why it is none."""
    if not isinstance(one, dict):
        return "a fact is not an object"
    turn, quote = _whole(one.get("turn")), _text(one, "quote")
    text, id_ = _text(one, "text"), _text(one, "id")
    if turn is None:
        return "a fact has no number of a turn"
    if quote is None or text is None:
        return "a fact has no quote, or no text"
    if isinstance(quote, Cut) or isinstance(text, Cut):
        return "the answer was cut off"
    action = one.get("action", "add")
    if not isinstance(action, str) or action.strip().casefold() not in ACTIONS:
        return "a fact has an action that is not known"
    return Offer(turn, quote, text, action.strip().casefold(), (id_ or "").strip())


def _text(one: dict[str, Any], name: str) -> str | None:
    for key in _NAMES[name]:
        if isinstance(given := one.get(key), str):
            return given
    return None


def _whole(given: Any) -> int | None:
    """Return the number of a turn, also from "3", "turn 3" or "[3]"."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    match = _NUMBER.fullmatch(given) if isinstance(given, str) else None
    return int(match[1]) if match else None
