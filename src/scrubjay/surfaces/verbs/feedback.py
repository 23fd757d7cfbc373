"""Verbs of feedback and of the weights learned from it; and their commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.surfaces.verbs import (
    ADMIN,
    READ,
    WRITE,
    Action,
    Command,
    Given,
    Param,
    Verb,
    command_of,
)
from scrubjay.surfaces.verbs.kinds import MOST_EXACT, NAME, QUERY, choice, whole
from scrubjay.surfaces.verbs.params import ID_ALIASES, LIMIT_ALIASES, THE_ID, TIERS, YES, limit
from scrubjay.surfaces.verbs.search import named

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json
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
        """Return it as JSON."""
        from scrubjay.surfaces.render.json import listing

        return listing("feedback", self.feedback, done=self.done, count=self.total)


def _give(store: Store, given: Given) -> Feedback:
    return Feedback([store.feedback(**given)], given["action"], 1)


def _list(store: Store, given: Given) -> Feedback:
    found = store.feedbacks(**given)
    return Feedback(found, "listed", len(found), unasked=found.unasked)


def _undo(store: Store, given: Given) -> Feedback:
    return Feedback([store.undo_feedback(**given)], "undone", 1)


def _reset(store: Store, given: Given) -> Feedback:
    return Feedback([], "reset", store.reset_feedback(**given))


def _freeze(store: Store, given: Given) -> Feedback:
    with named():
        moved = store.freeze_weights(**given)
    return Feedback([], "frozen", 0, f"the weights stay as they are, {moved:+.3f} for the text")


def _thaw(store: Store, _: Given) -> Feedback:
    changed = store.thaw_weights()
    note = "the weights follow the feedback again" if changed else "the weights were not frozen"
    return Feedback([], "thawed", 0, note)


def _weights(store: Store, given: Given) -> Learned:
    with named():
        return store.learned(**given)


_TIER = Param("tier", NAME, "the tier, if there are several (default: yours)", usage="--of TIER")
_PROFILE = Param("profile", NAME, "the profile (default: the configured one)")
_GIVE = Verb(
    "feedback",
    "Record whether a result helped, so that later searches learn from it.",
    WRITE,
    (
        Param("query", QUERY, "the query that found it", required=True, usage="--query TEXT"),
        THE_ID,
        Param("action", choice(*RATINGS), "whether it helped", required=True),
    ),
    "feedback",
    _give,
    ID_ALIASES | {"q": "query", "rating": "action", "feedback": "action"},
    shape=Feedback.json,
)
_LIST = Verb(
    "feedbacks",
    "List your feedback, newest first.",
    READ,
    (limit(50),),
    "feedback",
    _list,
    LIMIT_ALIASES,
    shape=Feedback.json,
    found=lambda result: result.feedback,
)
_UNDO = Verb(
    "undo_feedback",
    "Delete one feedback by its number, or the last.",
    WRITE,
    (
        Param(
            "number",
            whole(1, MOST_EXACT),
            "the number of a feedback (default: the last)",
            usage="[number]",
        ),
        _TIER,
    ),
    "feedback",
    _undo,
    shape=Feedback.json,
)
_RESET = Verb(
    "reset_feedback",
    "Delete all your feedback.",
    ADMIN,
    (_TIER,),
    "feedback",
    _reset,
    shape=Feedback.json,
)
_FREEZE = Verb(
    "freeze_weights",
    "Stop changing the weights when feedback arrives.",
    ADMIN,
    (_PROFILE,),
    "feedback",
    _freeze,
    shape=Feedback.json,
)
_THAW = Verb(
    "thaw_weights",
    "Let the weights follow the feedback again.",
    ADMIN,
    (),
    "feedback",
    _thaw,
    shape=Feedback.json,
)
_WEIGHTS = Verb(
    "weights",
    "Show the weights of a profile, and the feedback they were learned from.",
    READ,
    (_PROFILE,),
    "weights",
    _weights,
)
VERBS = (_GIVE, _LIST, _UNDO, _RESET, _WEIGHTS, _FREEZE, _THAW)

COMMANDS = (
    Command(
        "feedback",
        "record whether a result helped; list or undo feedback",
        (TIERS,),
        {
            **{word: Action(_GIVE) for word in RATINGS},
            "list": Action(_LIST),
            "undo": Action(_UNDO),
            "reset": Action(_RESET, (YES,)),
            "freeze": Action(_FREEZE._replace(params=())),
            "thaw": Action(_THAW),
        },
        embed=False,
    ),
    command_of(_WEIGHTS, TIERS),
)
