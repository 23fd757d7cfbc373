"""Messages of conversations: checked, dated and made into memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.conversations.message_format import read
from scrubjay.errors import InvalidInput
from scrubjay.text.validation import check_text
from scrubjay.times import parse
from scrubjay.types import Memory

if TYPE_CHECKING:
    from scrubjay.storage.sql.messages import SqlMessages

Message = Mapping[str, Any] | tuple[str, str]

MESSAGE = "message"
_AHEAD = timedelta(minutes=1)  # the clocks of two machines differ that much
_MOST_TURNS = 100
_MOST_NAMED = 5  # of the messages that one warning is about


class Prepared(NamedTuple):
    """Messages as memories, checked and dated; `names` is how messages call each of them."""

    memories: list[Memory]
    names: list[str]
    warnings: list[str]


def prepare(
    messages: Iterable[Message], defaults: Mapping[str, object], now: datetime
) -> Prepared:
    """Return messages as memories; all are checked before any is stored."""
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput(f"messages is {messages!r}; give a list of messages")
    given = list(messages)
    drafts, left_out = _drafted(given, defaults)
    dated = _timed(list(drafts.values()), now)
    names = [f"message {n}" if len(given) > 1 else "the message" for n in drafts]
    ahead = [
        f"{name} has the time {memory.created_at.isoformat()}, which is in the future: it is"
        f" {now.isoformat()}; it is stored with that time"
        for name, memory in zip(names, dated, strict=True)
        if memory.created_at is not None and memory.created_at > now + _AHEAD
    ]
    return Prepared(dated, names, [*left_out, *ahead])


def separated(turns: SqlMessages, names: Sequence[str], stored: Sequence[Memory]) -> Iterator[str]:
    """Warn of messages that are no neighbors of the message before, by another owner or agent.

    Each such conversation in a session is named when it begins.
    """
    begun = set()
    for name, memory in zip(names, stored, strict=True):
        conversation = (memory.namespace, memory.session, memory.owner, memory.agent)
        if conversation in begun:
            continue
        begun.add(conversation)
        for field, here, before in turns.mismatches(memory.id):
            yield (
                f"{name} has {f'the {field} {here!r}' if here else f'no {field}'}, the message before"
                f" it in session {memory.session} {f'has {before!r}' if before else 'has none'}: they"
                " are not neighbors; give owner and agent with every message of a session, or with"
                " none"
            )


def check_turns(turns: object) -> int:
    """Return the number of turns to show around a message."""
    if type(turns) is not int or not 0 <= turns <= _MOST_TURNS:
        raise InvalidInput(f"turns is {turns!r}; give a whole number of 0 to {_MOST_TURNS}")
    return turns


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
            if found.message is not None:
                drafts[n] = _draft({**usual, **found.message})
        except InvalidInput as wrong:
            which = f"message {n}: " if len(messages) > 1 else ""
            raise InvalidInput(f"{which}{wrong}; nothing was stored") from wrong
        if found.ignored:
            kept = besides if found.message is not None else silent
            kept.setdefault(", ".join(found.ignored), []).append(n)
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
