"""Conversations: messages are kept as they were said, in order, and shown with what was said around them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from scrubjay.caller import only
from scrubjay.errors import InvalidInput
from scrubjay.naming import check_text
from scrubjay.searching import Searching
from scrubjay.times import When, parse
from scrubjay.types import Memory, Messages

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.reports import Session

Message = Mapping[str, Any] | tuple[str, str]

MESSAGE = "message"
_KEYS = ("text", "role", "at", "session", "owner", "agent")
_AHEAD = timedelta(minutes=1)  # the clocks of two machines differ that much
_MOST_TURNS = 100


class Talking(Searching):
    """The verbs of conversations."""

    @abstractmethod
    def add_many(self, memories: Iterable[Mapping[str, Any] | Memory]) -> list[Memory]:
        """Remember many, one transaction a batch; return them in order."""

    def add_message(
        self,
        text: str,
        *,
        session: str,
        role: str = "user",
        at: When | None = None,
        owner: str | None = None,
        agent: str | None = None,
    ) -> Memory:
        """Keep one message of a session as it was said; it is found there by word when this returns.

        `at` is when it was said, now if nothing is given. A time that has not come yet is kept, and
        logged as a warning.
        """
        said = {"text": text, "session": session, "role": role, "at": at}
        stored = self.add_messages([{**said, "owner": owner, "agent": agent}])
        if stored.warnings:
            import logging

            logging.getLogger(__name__).warning("%s", stored.warnings[0])
        return stored[0]

    def add_messages(
        self,
        messages: Iterable[Message],
        *,
        session: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
    ) -> Messages:
        """Keep many messages, as mappings or as pairs of role and text; return them in order.

        A mapping has the names of `add_message`, or `content` for its text; what it does not say is
        taken from the arguments. One without a time stands where it was given: it has the time of the
        message before it in its session, else of the one after it, else it is said now. All are
        checked before any is stored; `.warnings` names those of a time that has not come yet.
        """
        usual = {"session": session, "owner": owner, "agent": agent}
        if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
            raise InvalidInput(f"messages is {messages!r}; give a list of messages")
        now = self._clock()
        drafts = [_drafted(n, one, usual) for n, one in enumerate(messages, 1)]
        timed = _timed(drafts, now)
        warnings = [
            f"message {n} was said at {one.created_at.isoformat()}, which has not come yet: it is"
            f" {now.isoformat()}; it is stored as it is"
            for n, one in enumerate(timed, 1)
            if one.created_at is not None and one.created_at > now + _AHEAD
        ]
        return Messages(self.add_many(timed) if timed else [], warnings)

    def around(self, id: str, turns: int = 2) -> list[Memory]:
        """Return a message with so many turns before it and after it, in the order of its session."""
        if type(turns) is not int or not 0 <= turns <= _MOST_TURNS:
            raise InvalidInput(f"turns is {turns!r}; give a whole number of 0 to {_MOST_TURNS}")
        one, (_, _, tables) = self.get(id), self._holder(id)
        records = self._records if tables is None else tables.records
        said = records.around([id], turns, self._mine).get(id)
        if said is None:
            raise InvalidInput(
                f"{id} is a {one.type}, and no message of a session; only those have turns around them"
            )
        before, after = said
        return [*before, one, *after]

    def sessions(
        self,
        *,
        namespace: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Session]:
        """Return the sessions with messages that the caller may see, the one with the newest first."""
        from scrubjay.stores.sqlite_turns import SqliteTurns

        if type(limit) is not int or type(offset) is not int or limit < 1 or offset < 0:
            raise InvalidInput(f"limit is {limit!r} and offset {offset!r}; at least 1 and 0")
        scope = self._caller.narrowed(
            namespaces=only(namespace, "namespace"), owner=owner, agent=agent
        )
        return SqliteTurns(self._db).sessions(scope, limit, offset)


def _drafted(n: int, message: object, usual: Mapping[str, object]) -> Memory:
    """Return one message as a memory, checked; what is wrong with it is said with its number."""
    from scrubjay.write.remember import draft

    try:
        given = _named(message)
        said = {**{key: value for key, value in usual.items() if value is not None}, **given}
        at = said.pop("at", None)
        for name, such_as in (("session", "monday"), ("role", "user")):
            if not check_text(name, said.get(name, "")).strip():
                raise InvalidInput(f"{name} is missing; give a text such as {such_as!r}")
        if not check_text("text", said.get("text", "")).strip():
            raise InvalidInput("text is empty; give what was said")
        parse(at, "at")
        return draft({**said, "type": MESSAGE, "created_at": at, "updated_at": at})
    except InvalidInput as wrong:
        raise InvalidInput(f"message {n}: {wrong}; nothing was stored") from wrong


def _named(message: object) -> dict[str, Any]:
    """Return what a message says by name: a mapping does, a pair is its role and its text."""
    if isinstance(message, Sequence) and not isinstance(message, str) and len(message) == 2:
        role, text = message
        return {"role": role, "text": text}
    if not isinstance(message, Mapping):
        raise InvalidInput(
            f"{message!r} is no message; give {{'role': …, 'text': …}} or a pair (role, text)"
        )
    given = {key: value for key, value in message.items() if value is not None}
    if "content" in given:  # as chat APIs write it
        if "text" in given:
            raise InvalidInput("it has both text and content; give one of them")
        given["text"] = given.pop("content")
    unknown = next((key for key in given if key not in _KEYS), None)
    if unknown is not None:
        raise InvalidInput(
            f"a message has no field {unknown!r}; its fields are {', '.join(_KEYS)}"
        )
    return {"role": "user", **given}


def _timed(drafts: Sequence[Memory], now: datetime) -> list[Memory]:
    """Give a time to each message that has none, so that it stays where it was given."""
    times: list[datetime | None] = [one.created_at for one in drafts]
    for places in (range(len(drafts)), reversed(range(len(drafts)))):
        last: dict[str | None, datetime] = {}
        for place in places:
            session, at = drafts[place].session, times[place]
            if at is None:
                times[place] = last.get(session)
            else:
                last[session] = at
    return [
        one._replace(created_at=at or now, updated_at=at or now)
        for one, at in zip(drafts, times, strict=True)
    ]
