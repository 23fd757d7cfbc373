"""The verbs of feedback, and of the weights that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.options.feedback import ACTIONS
from scrubjay.surfaces.verbs import ADMIN, READ, WRITE, Given, Param, Verb
from scrubjay.surfaces.verbs.fields import ID, THE_ID
from scrubjay.surfaces.verbs.kinds import LIMIT, NAME, QUERY, choice, whole
from scrubjay.surfaces.verbs.search import MANY, named

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

_MOST_NUMBER = 2**53  # whole numbers that every reader of JSON can tell apart
_TIER = Param("tier", NAME, "in which tier, where there are several")


def feedback(store: Store, given: Given) -> Json:
    """Note what became of a result."""
    from scrubjay.surfaces.render.json_lists import feedback

    return feedback([store.feedback(**given)], given["action"], 1)


def feedbacks(store: Store, given: Given) -> Json:
    """Return the caller's feedback, newest first."""
    from scrubjay.surfaces.render.json_lists import feedback

    found = store.feedbacks(**given)
    return feedback(found, "listed", len(found))


def undo_feedback(store: Store, given: Given) -> Json:
    """Take back one feedback, or the last."""
    from scrubjay.surfaces.render.json_lists import feedback

    return feedback([store.undo_feedback(**given)], "undone", 1)


def reset_feedback(store: Store, given: Given) -> Json:
    """Remove the caller's feedback."""
    from scrubjay.surfaces.render.json_lists import feedback

    return feedback([], "reset", store.reset_feedback(**given))


def freeze_weights(store: Store, given: Given) -> Json:
    """Keep the weights as they are, whatever feedback comes."""
    from scrubjay.surfaces.render.json_lists import feedback

    with named():
        store.freeze_weights(**given)
    return feedback([], "frozen", 0)


def thaw_weights(store: Store, _: Given) -> Json:
    """Let the weights follow the feedback again."""
    from scrubjay.surfaces.render.json_lists import feedback

    store.thaw_weights()
    return feedback([], "thawed", 0)


def weights(store: Store, given: Given) -> Json:
    """Return the weights in force for a profile, and what they follow from."""
    from scrubjay.surfaces.render.json import plain

    with named():
        shape: Json = plain(store.learned(**given))
    return shape


_PROFILE = Param("profile", NAME, "of which profile; the store's own by itself")

FEEDBACK = Verb(
    "feedback",
    "Say what became of a result, so that later searches learn from it.",
    WRITE,
    (
        Param("query", QUERY, "what was searched for", required=True),
        THE_ID,
        Param("action", choice(*ACTIONS), "what became of it", required=True),
    ),
    "feedback",
    feedback,
    ID | {"q": "query", "rating": "action", "feedback": "action"},
)
FEEDBACKS = Verb(
    "feedbacks",
    "List the feedback that was given, newest first.",
    READ,
    (Param("limit", LIMIT, "at most so many (50)"),),
    "feedback",
    feedbacks,
    MANY,
)
UNDO_FEEDBACK = Verb(
    "undo_feedback",
    "Take back one feedback by its number, or the last.",
    WRITE,
    (
        Param("number", whole(1, _MOST_NUMBER), "one that feedbacks lists; the last by itself"),
        _TIER,
    ),
    "feedback",
    undo_feedback,
)
RESET_FEEDBACK = Verb(
    "reset_feedback", "Remove all of one's feedback.", ADMIN, (_TIER,), "feedback", reset_feedback
)
FREEZE_WEIGHTS = Verb(
    "freeze_weights",
    "Keep the weights as they are, whatever feedback comes.",
    ADMIN,
    (_PROFILE,),
    "feedback",
    freeze_weights,
)
THAW_WEIGHTS = Verb(
    "thaw_weights",
    "Let the weights follow the feedback again.",
    ADMIN,
    (),
    "feedback",
    thaw_weights,
)
WEIGHTS = Verb(
    "weights",
    "Return the weights in force for a profile, and what they follow from.",
    READ,
    (_PROFILE,),
    "weights",
    weights,
)
