"""What a store learns from its results: feedback, and the weights that follow from it."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.sharing import Sharing
from scrubjay.text import readable
from scrubjay.times import micros

FEEDBACK = ("accepted", "modified", "dismissed")


class Learning(Sharing):
    """The verbs of feedback."""

    def feedback(self, query: str, id: str, action: str) -> None:
        """Note what became of a result: accepted, modified or dismissed."""
        if action not in FEEDBACK:
            raise InvalidInput(f"action is {action!r}; it must be one of {', '.join(FEEDBACK)}")
        self.get(id)
        self._records.feedback(id, readable(query), action, micros(self._clock()))
