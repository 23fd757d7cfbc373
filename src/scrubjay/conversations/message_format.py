"""Parse one message, in our format or that of chat APIs, into the arguments of `add_messages`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput

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
_TEXT_PARTS = ("text", "input_text", "output_text")
_LEAST_MILLISECONDS = 1e11  # as seconds that is the year 5138, as milliseconds 1973
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Read(NamedTuple):
    """A message by our field names, None where it has no text; and the fields that were ignored."""

    message: dict[str, Any] | None
    ignored: tuple[str, ...] = ()


def read(message: object) -> Read:
    """Parse a mapping with our field names or those of chat APIs, or a pair (role, text).

    An unknown field is refused, with the nearest known one as a hint.
    """
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
    at = _time({key: given[key] for key in TIMES if key in given})
    return Read({"role": "user", **fields, **({} if at is None else {"at": at})}, ignored)


def _joined(content: object) -> tuple[object, tuple[str, ...]]:
    """Return the text parts of a content as lines, and the types of its other parts."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        return content, ()
    texts: list[str] = []
    others: list[str] = []
    for part in content:
        kind = part.get("type", "text") if isinstance(part, Mapping) else "text"
        text = part.get("text") if isinstance(part, Mapping) else part
        if kind in _TEXT_PARTS and isinstance(text, str):
            texts.append(text)
        else:
            others.append(f"a part of type {kind}")
    return "\n".join(texts), tuple(dict.fromkeys(others))


def _time(given: Mapping[str, Any]) -> Any:
    """Return the time of a message, by any of its names; all that are given must agree."""
    times = [(key, _from_number(key, value)) for key, value in given.items()]
    if not times:
        return None
    (first, at), *others = times
    for key, other in others:
        if other != at:
            raise InvalidInput(f"{first} and {key} are two times; give one of them")
    return at


def _from_number(name: str, value: object) -> object:
    """Read a number as seconds, or milliseconds, since 1970."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    seconds = value / 1000 if abs(value) > _LEAST_MILLISECONDS else value
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        raise InvalidInput(
            f"{name} is {value!r}; give an ISO time, or seconds since 1970"
        ) from None


def _unknown(key: object) -> str:
    from scrubjay.text.validation import did_you_mean

    hint = did_you_mean(str(key), (*FIELDS, "content", *TIMES))
    return f"a message has no field {key!r}{hint}; its fields are {', '.join(FIELDS)}"
