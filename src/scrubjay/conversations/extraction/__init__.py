"""Facts from messages: what a language model is asked, how its answer is parsed and checked."""

from __future__ import annotations

from typing import Final, NamedTuple

ACTIONS: Final = ("add", "update", "supersede")
MOST_FACT_CHARS: Final = 300
MOST_FACTS: Final = 24  # in one answer
MOST_TURN_CHARS: Final = 6_000  # of one message in a prompt


class Turn(NamedTuple):
    """One message as it is numbered in a prompt: who speaks, and the text as stored."""

    number: int
    role: str
    text: str


class KnownFact(NamedTuple):
    """A fact that was extracted before."""

    id: str
    text: str


class ProposedFact(NamedTuple):
    """A fact as a model proposes it, not checked yet."""

    turn: int
    quote: str
    text: str
    action: str
    id: str


class Answer(NamedTuple):
    """A parsed answer: proposed facts, and why other parts could not be read. `invalid` says why
    the whole answer could not be used; then there are no facts."""

    facts: tuple[ProposedFact, ...] = ()
    malformed: tuple[str, ...] = ()
    invalid: str = ""


class Fact(NamedTuple):
    """A fact that was accepted, with the position of its quote in the text of its turn."""

    turn: int
    start: int
    stop: int
    text: str
    action: str
    id: str


class Rejected(NamedTuple):
    """A proposed fact that was not accepted, and why; `turn` is 0 where it names no valid one."""

    turn: int
    reason: str
