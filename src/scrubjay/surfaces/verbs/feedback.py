"""Verbs of feedback and of the weights learned from it; and their commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.store import Store
from scrubjay.surfaces.render import json as render
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import (
    ADMIN,
    READ,
    WRITE,
    Action,
    Command,
    Given,
    Param,
    command_of,
    verb,
)
from scrubjay.surfaces.verbs.kinds import MOST_EXACT, NAME, QUERY, choice, whole
from scrubjay.surfaces.verbs.params import ID_ALIASES, LIMIT_ALIASES, THE_ID, TIERS, YES, limit
from scrubjay.surfaces.verbs.search import named
from scrubjay.types.reports import FeedbackGiven, Learned

RATINGS = ("accepted", "modified", "dismissed")


class Feedback(NamedTuple):
    """Feedback, what was done with it, and to how many. `unasked` are tiers that could not be read."""

    feedback: Sequence[FeedbackGiven]
    done: str
    total: int
    note: str = ""  # for a person
    unasked: Sequence[str] = ()

    def json(self) -> Json:
        return render.listing("feedback", self.feedback, done=self.done, count=self.total)


_TIER = Param("tier", NAME, "the tier, if there are several (default: yours)", usage="--of TIER")
_PROFILE = Param("profile", NAME, "the profile (default: the configured one)")


@verb(
    WRITE,
    "feedback",
    Param("query", QUERY, "the query that found it", required=True, usage="--query TEXT"),
    THE_ID,
    Param("action", choice(*RATINGS), "whether it helped", required=True),
    aliases=ID_ALIASES | {"q": "query", "rating": "action", "feedback": "action"},
    shape=Feedback.json,
)
def feedback(store: Store, given: Given) -> Feedback:
    """Record whether a result helped, so that later searches learn from it."""
    return Feedback([store.feedback(**given)], given["action"], 1)


@verb(
    READ,
    "feedback",
    limit(50),
    aliases=LIMIT_ALIASES,
    shape=Feedback.json,
    found=lambda result: result.feedback,
)
def feedbacks(store: Store, given: Given) -> Feedback:
    """List your feedback, newest first."""
    found = store.feedbacks(**given)
    return Feedback(found, "listed", len(found), unasked=found.unasked)


@verb(
    WRITE,
    "feedback",
    Param(
        "number",
        whole(1, MOST_EXACT),
        "the number of a feedback (default: the last)",
        usage="[number]",
    ),
    _TIER,
    shape=Feedback.json,
)
def undo_feedback(store: Store, given: Given) -> Feedback:
    """Delete one feedback by its number, or the last."""
    return Feedback([store.undo_feedback(**given)], "undone", 1)


@verb(ADMIN, "feedback", _TIER, shape=Feedback.json)
def reset_feedback(store: Store, given: Given) -> Feedback:
    """Delete all your feedback."""
    return Feedback([], "reset", store.reset_feedback(**given))


@verb(READ, "weights", _PROFILE)
def weights(store: Store, given: Given) -> Learned:
    """Show the weights of a profile, and the feedback they were learned from."""
    with named():
        return store.learned(**given)


@verb(ADMIN, "feedback", _PROFILE, shape=Feedback.json)
def freeze_weights(store: Store, given: Given) -> Feedback:
    """Stop changing the weights when feedback arrives."""
    with named():
        moved = store.freeze_weights(**given)
    return Feedback([], "frozen", 0, f"the weights stay as they are, {moved:+.3f} for the text")


@verb(ADMIN, "feedback", shape=Feedback.json)
def thaw_weights(store: Store, _: Given) -> Feedback:
    """Let the weights follow the feedback again."""
    changed = store.thaw_weights()
    note = "the weights follow the feedback again" if changed else "the weights were not frozen"
    return Feedback([], "thawed", 0, note)


COMMANDS = (
    Command(
        "feedback",
        "record whether a result helped; list or undo feedback",
        (TIERS,),
        {
            **{word: Action(feedback) for word in RATINGS},
            "list": Action(feedbacks),
            "undo": Action(undo_feedback),
            "reset": Action(reset_feedback, (YES,)),
            "freeze": Action(freeze_weights._replace(params=())),
            "thaw": Action(thaw_weights),
        },
        embed=False,
    ),
    command_of(weights, TIERS),
)
