"""Conversations in JSON: exports of ChatGPT, Claude and Slack, agent transcripts, plain messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from scrubjay.documents import Document, Unreadable
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.front_matter import parse_date
from scrubjay.times import from_timestamp
from scrubjay.types import TEXT_PARTS

# Tuples: a value of any file may be a list, which is not hashable.
_TOOL_ROLES = ("tool", "function", "toolResult", "tool_result")
_ROLES = ("user", "human", "assistant", "system", "developer", "ai", "model", "bot")
_SLACK_EVENTS = ("channel_join", "channel_leave", "channel_topic", "channel_purpose")


class _Message(NamedTuple):
    speaker: str
    text: str
    at: datetime | None = None
    id: str = ""


class Conversation(NamedTuple):
    """One conversation of an export, as it was shown last."""

    messages: list[_Message]
    title: str = ""
    id: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


def read_chat(text: str) -> list[Document]:
    """Return one document for each conversation; any other text is one document as it stands."""
    value = _loads(text)
    conversations = _conversations(_json_lines(text) if value is None else value)
    if conversations is None:
        return [Document(text)]
    conversations = [one for one in conversations if one.messages]
    if not conversations:
        raise Unreadable("empty", failed=False)
    names = _names(conversations)
    return [_document(*pair) for pair in zip(conversations, names, strict=True)]


def _document(chat: Conversation, name: str) -> Document:
    messages = chat.messages
    times = [message.at for message in messages if message.at is not None]
    created_at, updated_at = chat.created_at, chat.updated_at
    return Document(
        "\n\n".join(f"{message.speaker}: {message.text}" for message in messages) + "\n",
        title=" ".join(chat.title.split()),
        name=name,
        format="chat",
        created_at=times[0] if times else created_at,
        updated_at=times[-1] if times else updated_at or created_at,
        metadata={"messages": len(messages)},
    )


def _names(conversations: Iterable[Conversation]) -> list[str]:
    """Return distinct names: the id, else the number; the first without an id has the file's name."""
    names: dict[str, None] = {}
    for number, one in enumerate(conversations, 1):
        name = one.id or ("" if number == 1 else str(number))
        names[name if name not in names else f"{name} ({number})"] = None
    return list(names)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _json_lines(text: str) -> list[Any] | None:
    """Return the objects of a JSON Lines file; only its last line may be incomplete."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return None
    values: list[Any] = []
    for number, line in enumerate(lines):
        value = _loads(line)
        if not isinstance(value, dict):
            return values if number == len(lines) - 1 and values else None
        values.append(value)
    return values


def _conversations(value: Any) -> list[Conversation] | None:
    """Return the conversations of an object, or of a list of conversations or messages; else None."""
    if isinstance(value, dict):
        one = conversation_of(value)
        return _messages_alone([value]) if one is None else [one]
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return None
    if conversation_of(value[0]) is None:
        return _messages_alone(value)
    return [one for one in map(conversation_of, value) if one is not None]


def conversation_of(value: dict[str, Any]) -> Conversation | None:
    """Read an exported conversation; None for an object that is none."""
    messages: list[_Message] | None = None
    if isinstance(value.get("mapping"), dict):
        messages = _chatgpt_messages(value["mapping"], value.get("current_node"))
    elif isinstance(value.get("chat_messages"), list):
        messages = _claude_messages(value["chat_messages"])
    elif isinstance(value.get("messages"), list):
        messages = _generic_messages(value["messages"])
    if messages is None:
        return None
    return Conversation(
        messages,
        title=_first_text(value, "title", "name"),
        id=_first_text(value, "conversation_id", "uuid", "id"),
        created_at=_first_time(value, "create_time", "created_at"),
        updated_at=_first_time(value, "update_time", "updated_at"),
    )


def _messages_alone(values: list[dict[str, Any]]) -> list[Conversation] | None:
    """Return the one conversation of a list of messages."""
    for read_messages in (_slack_messages, _generic_messages, _transcript_messages):
        messages = read_messages(values)
        if messages is not None:
            summaries = (one.get("summary") for one in values if one.get("type") == "summary")
            title = next((one for one in summaries if isinstance(one, str)), "")
            return [Conversation(messages, title=valid_unicode(title))]
    return None


def _chatgpt_messages(nodes: dict[str, Any], current: object) -> list[_Message] | None:
    """Read a tree of messages along the branch that was shown last."""
    if not nodes or not all(isinstance(node, dict) for node in nodes.values()):
        return None
    branch: dict[str, None] = {}
    is_there = isinstance(current, str) and current in nodes
    node: object = current if is_there else next(reversed(nodes))
    while isinstance(node, str) and node in nodes and node not in branch:
        branch[node] = None
        node = nodes[node].get("parent")
    return _spoken(_chatgpt_message(nodes[one].get("message")) for one in reversed(branch))


def _chatgpt_message(message: object) -> _Message | None:
    if not isinstance(message, dict):
        return None
    author, content, about = (message.get(key) for key in ("author", "content", "metadata"))
    if not isinstance(author, dict) or not isinstance(content, dict):
        return None
    if isinstance(about, dict) and about.get("is_visually_hidden_from_conversation"):
        return None
    role = str(author.get("role") or "")
    text, at = content_text(content.get("parts")), _time(message.get("create_time"))
    return _Message(role, text, at, _first_text(message, "id"))


def _claude_messages(values: list[Any]) -> list[_Message] | None:
    """Read a Claude export: a sender, and text in blocks or plain."""
    if not all(isinstance(one, dict) and isinstance(one.get("sender"), str) for one in values):
        return None
    return _spoken(
        _Message(
            one["sender"],
            content_text(one.get("content")) or content_text(one.get("text")),
            _time(one.get("created_at")),
            _first_text(one, "uuid"),
        )
        for one in values
    )


def _generic_messages(values: list[Any]) -> list[_Message] | None:
    """Read messages with a role and content, as in the APIs of models."""
    if not values or not all(isinstance(one, dict) and "content" in one for one in values):
        return None
    if not all(isinstance(one.get("role"), str) for one in values):
        return None
    return _spoken(map(_role_message, values))


def _transcript_messages(values: list[Any]) -> list[_Message] | None:
    """Read the log of an agent: lines of many types, some of which wrap a message."""
    wrapped = [(line, message) for line in values if (message := _wrapped(line)) is not None]
    if not wrapped:
        return None
    return _spoken(
        _role_message(message)._replace(at=_time(line.get("timestamp")))
        for line, message in wrapped
        if not line.get("isMeta")
    )


def _slack_messages(values: list[Any]) -> list[_Message] | None:
    """Read a Slack channel: user, text, and the time, which is also the id of a message."""
    if not all(isinstance(one.get("ts"), str) for one in values):
        return None
    if not any(isinstance(one.get("user"), str) and "text" in one for one in values):
        return None
    return _spoken(
        _Message(_slack_name(one), content_text(one.get("text")), _time(one["ts"]))
        for one in values
        if one.get("subtype") not in _SLACK_EVENTS
    )


def _slack_name(message: Mapping[str, Any]) -> str:
    profile = message.get("user_profile")
    about = profile if isinstance(profile, dict) else {}
    named = _first_text(about, "real_name", "display_name", "name")
    return named or _first_text(message, "username", "user", "bot_id")


def _wrapped(line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the message inside a line of a log, if it has one."""
    for key in ("message", "payload"):
        inner = line.get(key)
        if isinstance(inner, dict) and inner.get("role") in _ROLES and "content" in inner:
            return inner
    return None


def _role_message(message: Mapping[str, Any]) -> _Message:
    name, role = message.get("name"), message["role"]
    return _Message(
        name if isinstance(name, str) and name and role in _ROLES else role,
        content_text(message.get("content")),
        _first_time(message, "timestamp", "created_at", "create_time", "date"),
    )


def _spoken(messages: Iterable[_Message | None]) -> list[_Message]:
    """Return messages without those of tools and without empty ones."""
    return [
        message._replace(speaker=" ".join(valid_unicode(message.speaker).split()) or "unknown")
        for message in messages
        if message is not None and message.text and message.speaker not in _TOOL_ROLES
    ]


def content_text(value: object) -> str:
    """Return the text of a message: a string, or the text blocks of a list, without tool results."""
    if isinstance(value, str):
        return valid_unicode(value.replace("\0", "")).strip()
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(_block, value)))
    return ""


def _block(block: object) -> str:
    if isinstance(block, dict) and block.get("type") in TEXT_PARTS:
        block = block.get("text")
    return content_text(block) if isinstance(block, str) else ""


def _first_text(value: Mapping[str, Any], *keys: str) -> str:
    texts = (value.get(key) for key in keys)
    found = next((one for one in texts if isinstance(one, str) and one.strip()), "")
    return valid_unicode(found.strip())


def _first_time(value: Mapping[str, Any], *keys: str) -> datetime | None:
    return next((at for key in keys if (at := _time(value.get(key))) is not None), None)


def _time(value: object) -> datetime | None:
    """Read seconds or milliseconds since 1970, as number or text, or an ISO time; else None."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return parse_date(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return from_timestamp(value)
