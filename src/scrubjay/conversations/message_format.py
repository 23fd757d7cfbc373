"""One message as people and chat programs write it, read into the names of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput

FIELDS = ("text", "role", "at", "session", "owner", "agent")
TIMES = ("at", "timestamp", "created_at", "created")
# What chat programs write besides. It is no part of what was said, and the call goes on without it.
_BESIDES = (
    *("id", "type", "object", "name", "status", "model", "index", "usage", "metadata", "refusal"),
    *("annotations", "tool_calls", "tool_call_id", "function_call", "audio", "reasoning"),
    *("reasoning_content", "finish_reason", "stop_reason", "stop_sequence", "logprobs", "images"),
)
# Where the content is null and one of these is there, the program called a tool, and said nothing.
_INSTEAD = ("tool_calls", "function_call", "audio", "refusal")
_TEXTS = ("text", "input_text", "output_text")
_LEAST_MILLISECONDS = 1e11  # as seconds that is the year 5138, as milliseconds 1973
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Read(NamedTuple):
    """A message by our names, None where it says nothing; and what of it is not kept."""

    said: dict[str, Any] | None
    besides: tuple[str, ...] = ()


def read(message: object) -> Read:
    """Read a message: a mapping with our names or those of chat programs, or a pair of role and text.

    A name that nobody uses is refused, with the nearest that somebody does.
    """
    if isinstance(message, Sequence) and not isinstance(message, str) and len(message) == 2:
        role, text = message
        return Read({"role": role, "text": text})
    if not isinstance(message, Mapping):
        raise InvalidInput(
            f"{message!r} is no message; give {{'role': …, 'text': …}} or a pair (role, text)"
        )
    given = {key: value for key, value in message.items() if value is not None}
    if "text" in given and "content" in given:
        raise InvalidInput("it has both text and content; give one of them")
    parts: tuple[str, ...] = ()
    if "content" in given:
        given["text"], parts = _joined(given.pop("content"))
    for key in given:
        if key not in (*FIELDS, *TIMES, *_BESIDES):
            raise InvalidInput(_unknown(key))
    besides = (*(key for key in given if key in _BESIDES), *parts)
    silent = "text" not in given and any(key in given for key in _INSTEAD)
    if silent or (parts and not given["text"]):
        return Read(None, besides)
    said = {key: given[key] for key in FIELDS if key in given}
    at = _moment({key: given[key] for key in TIMES if key in given})
    return Read({"role": "user", **said, **({} if at is None else {"at": at})}, besides)


def _joined(content: object) -> tuple[object, tuple[str, ...]]:
    """Return the text of a content, and what kinds of parts it has besides; parts are joined by lines."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        return content, ()
    texts: list[str] = []
    others: list[str] = []
    for part in content:
        kind = part.get("type", "text") if isinstance(part, Mapping) else "text"
        text = part.get("text") if isinstance(part, Mapping) else part
        if kind in _TEXTS and isinstance(text, str):
            texts.append(text)
        else:
            others.append(f"a part of type {kind}")
    return "\n".join(texts), tuple(dict.fromkeys(others))


def _moment(given: Mapping[str, Any]) -> Any:
    """Return when it was said, by any of its names; a number counts seconds, or milliseconds, since 1970."""
    times = {key: _of_number(key, value) for key, value in given.items()}
    first = next(iter(times.items()), None)
    if first is None:
        return None
    other = next((key for key, at in times.items() if at != first[1]), None)
    if other is not None:
        raise InvalidInput(f"{first[0]} and {other} are two times; give one of them")
    return first[1]


def _of_number(name: str, value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    seconds = value / 1000 if abs(value) > _LEAST_MILLISECONDS else value
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        raise InvalidInput(
            f"{name} is {value!r}; give an ISO time, or the seconds since 1970"
        ) from None


def _unknown(key: object) -> str:
    from difflib import get_close_matches

    close = get_close_matches(str(key), (*FIELDS, "content", *TIMES), n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"a message has no field {key!r}{hint}; its fields are {', '.join(FIELDS)}"
