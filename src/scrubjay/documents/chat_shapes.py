"""The messages of each known export: a function a shape, None when a value is not of that shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from scrubjay.text.analysis import valid_unicode
from scrubjay.text.front_matter import parse_date

_FROM_TOOLS = frozenset(("tool", "function", "toolResult", "tool_result"))
_TEXT_BLOCKS = frozenset(("text", "input_text", "output_text"))
_ROLES = frozenset(("user", "human", "assistant", "system", "developer", "ai", "model", "bot"))
_SLACK_EVENTS = frozenset(("channel_join", "channel_leave", "channel_topic", "channel_purpose"))
_MILLISECONDS_FROM = 100_000_000_000


class Message(NamedTuple):
    """Who said what, and when if that is known."""

    speaker: str
    text: str
    at: datetime | None = None


def chatgpt_messages(nodes: dict[str, Any], current: object) -> list[Message] | None:
    """Read a tree of messages along the branch that was shown last."""
    if not nodes or not all(isinstance(node, dict) for node in nodes.values()):
        return None
    branch: dict[str, None] = {}
    here: object = current if isinstance(current, str) else next(reversed(nodes))
    while isinstance(here, str) and here in nodes and here not in branch:
        branch[here] = None
        here = nodes[here].get("parent")
    return list(_kept(_chatgpt_message(nodes[one].get("message")) for one in reversed(branch)))


def claude_messages(values: list[Any]) -> list[Message] | None:
    """Read the messages of a Claude export: a sender, and text in blocks or plain."""
    if not all(isinstance(one, dict) and isinstance(one.get("sender"), str) for one in values):
        return None
    return list(
        _kept(
            Message(
                one["sender"],
                _content(one.get("content")) or _content(one.get("text")),
                moment(one.get("created_at")),
            )
            for one in values
        )
    )


def generic_messages(values: list[Any]) -> list[Message] | None:
    """Read messages that have a role and content, as the programming interfaces of models do."""
    if not values or not all(isinstance(one, dict) and "content" in one for one in values):
        return None
    if not all(isinstance(one.get("role"), str) for one in values):
        return None
    return list(_kept(map(_with_role, values)))


def transcript_messages(values: list[Any]) -> list[Message] | None:
    """Read the log of an agent: lines of many types, some of which wrap a message."""
    wrapped = [(line, _wrapped(line)) for line in values]
    if not any(message is not None for _, message in wrapped):
        return None
    return list(
        _kept(
            _with_role(message)._replace(at=moment(line.get("timestamp")))
            for line, message in wrapped
            if message is not None and not line.get("isMeta")
        )
    )


def slack_messages(values: list[Any]) -> list[Message] | None:
    """Read a channel: who, text, and the time that Slack uses as the id of a message."""
    if not all(isinstance(one.get("ts"), str) for one in values):
        return None
    if not any(isinstance(one.get("user"), str) and "text" in one for one in values):
        return None
    return list(
        _kept(
            Message(_slack_name(one), _content(one.get("text")), moment(one["ts"]))
            for one in values
            if one.get("subtype") not in _SLACK_EVENTS
        )
    )


def moment(value: object) -> datetime | None:
    """Read seconds or milliseconds since 1970, as number or text, or an ISO time; nonsense is none."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return parse_date(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _kept(messages: Iterable[Message | None]) -> Iterator[Message]:
    """Leave out what tools said, and what is empty."""
    for one in messages:
        if one is not None and one.text and one.speaker not in _FROM_TOOLS:
            yield one._replace(speaker=" ".join(valid_unicode(one.speaker).split()) or "unknown")


def _chatgpt_message(message: object) -> Message | None:
    if not isinstance(message, dict):
        return None
    author, content, about = (message.get(key) for key in ("author", "content", "metadata"))
    if not isinstance(author, dict) or not isinstance(content, dict):
        return None
    if isinstance(about, dict) and about.get("is_visually_hidden_from_conversation"):
        return None
    return Message(
        str(author.get("role") or ""),
        _content(content.get("parts")),
        moment(message.get("create_time")),
    )


def _with_role(one: Mapping[str, Any]) -> Message:
    times = (one.get(key) for key in ("timestamp", "created_at", "create_time", "date"))
    name = one.get("name")
    speaker = name if isinstance(name, str) and name and one["role"] in _ROLES else one["role"]
    return Message(
        speaker,
        _content(one.get("content")),
        next((at for at in map(moment, times) if at is not None), None),
    )


def _wrapped(line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the message inside a line of a log, when there is one."""
    for key in ("message", "payload"):
        inner = line.get(key)
        if isinstance(inner, dict) and inner.get("role") in _ROLES and "content" in inner:
            return inner
    return None


def _content(value: object) -> str:
    """Return the words of a message: a text, or the text blocks of a list; what tools gave is left out."""
    if isinstance(value, str):
        return valid_unicode(value.replace("\0", "")).strip()
    if isinstance(value, list):
        return "\n\n".join(part for part in map(_block, value) if part)
    return ""


def _block(block: object) -> str:
    if isinstance(block, str):
        return _content(block)
    if isinstance(block, dict) and block.get("type") in _TEXT_BLOCKS:
        text = block.get("text")
        return _content(text) if isinstance(text, str) else ""
    return ""


def _slack_name(one: Mapping[str, Any]) -> str:
    profile = one.get("user_profile")
    if isinstance(profile, dict):
        for key in ("real_name", "display_name", "name"):
            if isinstance(profile.get(key), str) and profile[key].strip():
                return str(profile[key])
    names = (one.get(key) for key in ("username", "user", "bot_id"))
    return next((name for name in names if isinstance(name, str) and name), "unknown")
