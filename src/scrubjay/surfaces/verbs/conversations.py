"""The verbs of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrubjay.surfaces.verbs import READ, WRITE, Given, Param, Verb
from scrubjay.surfaces.verbs.fields import ID, THE_ID
from scrubjay.surfaces.verbs.kinds import LIMIT, NAME, OFFSET, SAID, TIME, objects, whole
from scrubjay.surfaces.verbs.search import MANY, WHERE, WHOSE
from scrubjay.surfaces.verbs.write import MOST_ENTRIES

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

_MOST_TURNS = 100
_SESSIONS = {name: own for name, own in WHERE.items() if own != "namespace"}
_SPEAKERS = (
    Param("owner", NAME, "whose conversation it is"),
    Param("agent", NAME, "which agent takes part"),
)


def add_message(store: Store, given: Given) -> Json:
    """Keep one message as it was said."""
    return _said(store, [dict(given)], {})


def add_messages(store: Store, given: Given) -> Json:
    """Keep messages in their order; all are checked before any is stored."""
    rest = dict(given)
    return _said(store, rest.pop("messages"), rest)


def _said(store: Store, messages: list[Any], usual: dict[str, Any]) -> Json:
    from scrubjay.surfaces.render.json_memories import said

    stored = store.add_messages(messages, **usual)
    return said(stored, store.unembedded(), store.why_unembedded())


def around(store: Store, given: Given) -> Json:
    """Return a message with what was said before it and after it."""
    from scrubjay.surfaces.render.json_memories import listed

    return listed(store.around(**given))


def sessions(store: Store, given: Given) -> Json:
    """Return the conversations, the one with the newest message first."""
    from scrubjay.surfaces.render.json import listing

    return listing("sessions", store.sessions(**given))


def _as_they_are(_: str, value: list[Any]) -> list[Any]:
    return value  # the store knows the names of chat programs, and says which message is wrong


# Of what is taken, what one should give: the names of chat programs are known besides.
_MESSAGE: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {
        "text": SAID.schema,
        "role": NAME.schema,
        "at": TIME.schema,
        "session": NAME.schema,
        "owner": NAME.schema,
        "agent": NAME.schema,
    },
}

ADD_MESSAGE = Verb(
    "add_message",
    "Keep one message of a conversation as it was said.",
    WRITE,
    (
        Param("text", SAID, "what was said", required=True),
        Param("session", NAME, "in which conversation", required=True),
        Param("role", NAME, "who speaks: user, assistant, … (user)"),
        Param("at", TIME, "when it was said (now)"),
        *_SPEAKERS,
    ),
    "said",
    add_message,
    _SESSIONS | {"content": "text", "message": "text", "timestamp": "at", "created_at": "at"},
)
ADD_MESSAGES = Verb(
    "add_messages",
    "Keep messages of conversations in their order.",
    WRITE,
    (
        Param(
            "messages",
            objects(
                "objects such as {'role': 'user', 'text': …}", _MESSAGE, MOST_ENTRIES, _as_they_are
            ),
            "objects with text, role, at, and what else add_message takes",
            required=True,
        ),
        Param("session", NAME, "in which conversation, where a message does not say"),
        *_SPEAKERS,
    ),
    "said",
    add_messages,
    _SESSIONS | {"conversation": "messages", "turns": "messages"},
)
AROUND = Verb(
    "around",
    "Return a message with the turns before and after it.",
    READ,
    (THE_ID, Param("turns", whole(0, _MOST_TURNS), "so many on each side (2)")),
    "memories",
    around,
    ID | {"depth": "turns", "n": "turns"},
)
SESSIONS = Verb(
    "sessions",
    "List the conversations, the one with the newest message first.",
    READ,
    (
        Param("namespace", NAME, "only those there"),
        Param("owner", NAME, "only those of this person"),
        Param("agent", NAME, "only those with this agent"),
        Param("limit", LIMIT, "at most so many (50)"),
        Param("offset", OFFSET, "skip so many"),
    ),
    "sessions",
    sessions,
    WHOSE | MANY | {"skip": "offset"},
)
