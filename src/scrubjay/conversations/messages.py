"""Messages: parse them, in our format or that of chat APIs, and make them into memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.storage.sql.messages import SqlMessages
from scrubjay.text.validation import check_text, did_you_mean
from scrubjay.times import from_timestamp, parse
from scrubjay.types import TEXT_PARTS, Memory

Message = Mapping[str, Any] | tuple[str, str]

MESSAGE = "message"
_AHEAD = timedelta(minutes=1)  # the clocks of two machines differ that much
_MOST_TURNS = 100
_MOST_NAMED = 5  # of the messages that one warning is about
FIELDS = ("text", "role", "at", "session", "owner", "agent")
TIMES = ("at", "timestamp", "created_at", "created")
# Fields that chat APIs add. They are not part of the message, and are ignored with a warning.
_IGNORED = (
    *("id", "type", "object", "name", "status", "model", "index", "usage", "metadata", "refusal"),
    *("annotations", "tool_calls", "tool_call_id", "function_call", "audio", "reasoning"),
    *("reasoning_content", "finish_reason", "stop_reason", "stop_sequence", "logprobs", "images"),
)
# With one of these and no content, the assistant called a tool and wrote nothing.
_INSTEAD_OF_TEXT = ("tool_calls", "function_call", "audio", "refusal")


def prepare(
    messages: Iterable[Message], defaults: Mapping[str, object], now: datetime
) -> tuple[list[Memory], list[str], list[str]]:
    """Return messages as dated memories, their names for users, and warnings; all are checked first."""
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
    return dated, names, [*left_out, *ahead]


def separated(turns: SqlMessages, names: Sequence[str], stored: Sequence[Memory]) -> Iterator[str]:
    """Warn of messages that are no neighbors of the message before, by another owner or agent.
    Each such conversation in a session is named when it begins."""
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
    if type(turns) is not int or not 0 <= turns <= _MOST_TURNS:
        raise InvalidInput(f"turns is {turns!r}; give a whole number of 0 to {_MOST_TURNS}")
    return turns


def _drafted(
    messages: Sequence[object], defaults: Mapping[str, object]
) -> tuple[dict[int, Memory], list[str]]:
    """Return messages as memories by their number, and warnings about what is not stored. An error
    names the number of the message, if there are several."""
    drafts: dict[int, Memory] = {}
    warnings: dict[str, list[int]] = {}
    for n, message in enumerate(messages, 1):
        try:
            found = read(message)
            if found.message is not None:
                drafts[n] = _draft({**defaults, **found.message})
        except InvalidInput as error:
            which = f"message {n}: " if len(messages) > 1 else ""
            raise InvalidInput(f"{which}{error}; nothing was stored") from error
        if found.ignored:
            fields = ", ".join(found.ignored)
            silent = f"without a text, with {fields}: not stored"
            warning = silent if found.message is None else f"stored without {fields}"
            warnings.setdefault(warning, []).append(n)
    first_silent = sorted(warnings, key=lambda warning: not warning.endswith(": not stored"))
    return drafts, [f"{_numbered(warnings[warning])} {warning}" for warning in first_silent]


def _draft(given: dict[str, Any]) -> Memory:
    from scrubjay.write.fields import draft

    given = {key: value for key, value in given.items() if value is not None}
    at = given.pop("at", None)
    for name, example in (("session", "monday"), ("role", "user")):
        if not check_text(name, given.get(name, "")).strip():
            raise InvalidInput(f"{name} is missing; give a text such as {example!r}")
    if not check_text("text", given.get("text", "")).strip():
        raise InvalidInput("text is empty; give the text of the message")
    parse(at, "at")
    return draft({**given, "type": MESSAGE, "created_at": at, "updated_at": at})


def _numbered(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = len(numbers) - _MOST_NAMED
    also = f" and {more} more" if more > 0 else ""
    return f"message{'s' if len(numbers) > 1 else ''} {shown}{also}:"


def _timed(drafts: Sequence[Memory], now: datetime) -> list[Memory]:
    """Give each message without a time that of its neighbor, so that the order stays."""
    times: list[datetime | None] = [message.created_at for message in drafts]
    for order in (range(len(drafts)), reversed(range(len(drafts)))):
        last: dict[str | None, datetime] = {}
        for place in order:
            session, at = drafts[place].session, times[place]
            if at is None:
                times[place] = last.get(session)
            else:
                last[session] = at
    return [
        message._replace(created_at=at or now, updated_at=at or now)
        for message, at in zip(drafts, times, strict=True)
    ]


class Read(NamedTuple):
    """A message by our field names, None where it has no text; and the fields that were ignored."""

    message: dict[str, Any] | None
    ignored: tuple[str, ...] = ()


def read(message: object) -> Read:
    """Parse a mapping with our field names or those of chat APIs, or a pair (role, text). An
    unknown field is refused, with the nearest known one as a hint."""
    if isinstance(message, Sequence) and not isinstance(message, str) and len(message) == 2:
        role, text = message
        return Read({"role": role, "text": text})
    if not isinstance(message, Mapping):
        raise InvalidInput(
            f"{message!r} is not a message; give {{'role': …, 'text': …}} or a pair (role, text)"
        )
    given = {key: value for key, value in message.items() if value is not None}
    if "text" in given and "content" in given:
        raise InvalidInput("it has both text and content; give one of them")
    parts: tuple[str, ...] = ()
    if "content" in given:
        given["text"], parts = _joined(given.pop("content"))
    for key in given:
        if key not in (*FIELDS, *TIMES, *_IGNORED):
            raise InvalidInput(_unknown(key))
    ignored = (*(key for key in given if key in _IGNORED), *parts)
    is_silent = "text" not in given and any(key in given for key in _INSTEAD_OF_TEXT)
    if is_silent or (parts and not given["text"]):
        return Read(None, ignored)
    fields = {key: given[key] for key in FIELDS if key in given}
    times = {key: _from_number(key, given[key]) for key in TIMES if key in given}
    first = next(iter(times), "")
    for key, at in times.items():
        if at != times[first]:
            raise InvalidInput(f"{first} and {key} are two times; give one of them")
    return Read({"role": "user", **fields, **({"at": times[first]} if times else {})}, ignored)


def _joined(content: object) -> tuple[object, tuple[str, ...]]:
    """Return the text parts of a content as lines, and the types of its other parts."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        return content, ()
    texts: list[str] = []
    others: list[str] = []
    for part in content:
        kind = part.get("type", "text") if isinstance(part, Mapping) else "text"
        text = part.get("text") if isinstance(part, Mapping) else part
        if kind in TEXT_PARTS and isinstance(text, str):
            texts.append(text)
        else:
            others.append(f"a part of type {kind}")
    return "\n".join(texts), tuple(dict.fromkeys(others))


def _from_number(name: str, value: object) -> object:
    """Read a number as seconds, or milliseconds, since 1970."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    at = from_timestamp(value)
    if at is None:
        raise InvalidInput(f"{name} is {value!r}; give an ISO time, or seconds since 1970")
    return at


def _unknown(key: object) -> str:
    hint = did_you_mean(str(key), (*FIELDS, "content", *TIMES))
    return f"a message has no field {key!r}{hint}; its fields are {', '.join(FIELDS)}"
