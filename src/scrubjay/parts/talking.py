"""Conversations: messages are kept as they were said, in order, and shown with what was said around them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from scrubjay.conversations.message_format import read
from scrubjay.errors import InvalidInput
from scrubjay.parts.searching import Searching
from scrubjay.sharing.permissions import only
from scrubjay.text.validation import check_text
from scrubjay.times import When, parse
from scrubjay.types import Memory, Messages

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.types.reports import Session

Message = Mapping[str, Any] | tuple[str, str]

MESSAGE = "message"
_AHEAD = timedelta(minutes=1)  # the clocks of two machines differ that much
_MOST_TURNS = 100
_MOST_NAMED = 5  # of the messages that one warning is about


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
        at: When | float | None = None,
        owner: str | None = None,
        agent: str | None = None,
    ) -> Memory:
        """Keep one message of a session as it was said; it is found there by word when this returns.

        `at` is when it was said, now if nothing is given; a number counts the seconds since 1970. What
        `add_messages` has in `.warnings` is logged.
        """
        said = {"text": text, "session": session, "role": role, "at": at}
        stored = self.add_messages([{**said, "owner": owner, "agent": agent}])
        for why in stored.warnings:
            import logging

            logging.getLogger(__name__).warning("%s", why)
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

        A mapping has the names of `add_message`, or those of chat programs: `content`, also in parts,
        and `timestamp`, `created_at` or `created`. What it does not say is taken from the arguments.
        One without a time stands where it was given: it has the time of the message before it in its
        session, else of the one after it, else it is said now. All are checked before any is stored;
        `.warnings` has what is odd: what was not kept, a time that has not come yet, a turn that is no
        neighbour of the one before it, because only one of them has an owner or an agent.
        """
        usual = {"session": session, "owner": owner, "agent": agent}
        if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
            raise InvalidInput(f"messages is {messages!r}; give a list of messages")
        now, given = self._clock(), list(messages)
        drafts, left_out = _drafted(given, usual)
        numbers, timed = list(drafts), _timed(list(drafts.values()), now)
        names = [f"message {n}" if len(given) > 1 else "the message" for n in numbers]
        ahead = [
            f"{name} was said at {one.created_at.isoformat()}, which has not come yet: it is"
            f" {now.isoformat()}; it is stored as it is"
            for name, one in zip(names, timed, strict=True)
            if one.created_at is not None and one.created_at > now + _AHEAD
        ]
        stored = self.add_many(timed) if timed else []
        return Messages(stored, [*left_out, *ahead, *self._apart(names, stored)])

    def _apart(self, names: Sequence[str], stored: Sequence[Memory]) -> Iterable[str]:
        """Say which messages begin to have an owner or an agent in a session, or no longer have one.

        Each such conversation in a session is named when it begins.
        """
        from scrubjay.storage.sql.messages import SqlMessages

        turns = SqlMessages(self._db)
        begun = set()
        for name, one in zip(names, stored, strict=True):
            conversation = (one.namespace, one.session, one.owner, one.agent)
            if conversation in begun:
                continue
            begun.add(conversation)
            for what, here, there in turns.parted(one.id):
                yield (
                    f"{name} has {f'the {what} {here!r}' if here else f'no {what}'}, the turn before"
                    f" it in session {one.session} {f'has {there!r}' if there else 'has none'}: they"
                    " are no neighbours; give owner and agent with every turn of a session, or with"
                    " none"
                )

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
        from scrubjay.storage.sql.messages import SqlMessages

        if type(limit) is not int or type(offset) is not int or limit < 1 or offset < 0:
            raise InvalidInput(f"limit is {limit!r} and offset {offset!r}; at least 1 and 0")
        scope = self._caller.narrowed(
            namespaces=only(namespace, "namespace"), owner=owner, agent=agent
        )
        return SqlMessages(self._db).sessions(scope, limit, offset)


def _drafted(
    messages: Sequence[object], usual: Mapping[str, object]
) -> tuple[dict[int, Memory], list[str]]:
    """Return messages as memories by their number, checked, and what of them is not kept.

    What is wrong with one is said with its number, where there are several.
    """
    drafts: dict[int, Memory] = {}
    besides: dict[str, list[int]] = {}
    silent: dict[str, list[int]] = {}
    for n, message in enumerate(messages, 1):
        try:
            found = read(message)
            if found.said is not None:
                drafts[n] = _draft({**usual, **found.said})
        except InvalidInput as wrong:
            which = f"message {n}: " if len(messages) > 1 else ""
            raise InvalidInput(f"{which}{wrong}; nothing was stored") from wrong
        if found.besides:
            kept = besides if found.said is not None else silent
            kept.setdefault(", ".join(found.besides), []).append(n)
    return drafts, [
        *(
            f"{_numbered(at)} without a text, with {what}: not stored"
            for what, at in silent.items()
        ),
        *(f"{_numbered(at)} stored without {what}" for what, at in besides.items()),
    ]


def _draft(said: dict[str, Any]) -> Memory:
    from scrubjay.write.fields import draft

    said = {key: value for key, value in said.items() if value is not None}
    at = said.pop("at", None)
    for name, such_as in (("session", "monday"), ("role", "user")):
        if not check_text(name, said.get(name, "")).strip():
            raise InvalidInput(f"{name} is missing; give a text such as {such_as!r}")
    if not check_text("text", said.get("text", "")).strip():
        raise InvalidInput("text is empty; give what was said")
    parse(at, "at")
    return draft({**said, "type": MESSAGE, "created_at": at, "updated_at": at})


def _numbered(places: Sequence[int]) -> str:
    shown = ", ".join(map(str, places[:_MOST_NAMED]))
    more = len(places) - _MOST_NAMED
    also = f" and {more} more" if more > 0 else ""
    return f"message{'s' if len(places) > 1 else ''} {shown}{also}:"


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
