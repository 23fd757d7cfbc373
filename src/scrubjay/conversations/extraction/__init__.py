"""From turns to facts: what a language model is asked, how its answer is read, and what is accepted."""

from __future__ import annotations

from typing import Final, NamedTuple

ACTIONS: Final = ("add", "update", "supersede")
MOST_FACT_CHARS: Final = 300
MOST_FACTS: Final = 24  # of one answer
MOST_TURN_CHARS: Final = 6_000  # what a model reads of one turn


class Turn(NamedTuple):
    """One turn of a conversation as it is numbered in a prompt; who speaks, and the text as stored."""

    number: int
    role: str
    text: str


class Known(NamedTuple):
    """A fact that was drawn before, by its id."""

    id: str
    text: str


class Offer(NamedTuple):
    """A fact as a model offers it: unchecked."""

    turn: int
    quote: str
    text: str
    action: str
    id: str


class Answer(NamedTuple):
    """What could be read of an answer: offers, and why parts of it are none.

    `junk` says why it is no answer at all; then there are no offers.
    """

    offers: tuple[Offer, ...] = ()
    malformed: tuple[str, ...] = ()
    junk: str = ""


class Fact(NamedTuple):
    """An offer that was accepted, with the place of its quote in the text of its turn."""

    turn: int
    start: int
    stop: int
    text: str
    action: str
    id: str


class Rejected(NamedTuple):
    """An offer that was not accepted, and why; `turn` is 0 where it names none that was asked about."""

    turn: int
    reason: str
