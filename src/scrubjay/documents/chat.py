"""Conversations out of JSON: exports of ChatGPT, Claude and Slack, transcripts of agents, plain messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from scrubjay.documents import Document, Unreadable
from scrubjay.documents.chat_shapes import (
    Message,
    chatgpt_messages,
    claude_messages,
    generic_messages,
    moment,
    slack_messages,
    transcript_messages,
)
from scrubjay.text.analysis import valid_unicode


class _Conversation(NamedTuple):
    messages: list[Message]
    title: str = ""
    id: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


def read_chat(text: str) -> list[Document]:
    """Return one document a conversation; any other JSON, and what is none, is text as it stands."""
    found = _conversations(_lines(text) if (whole := _json(text)) is None else whole)
    if found is None:
        return [Document(text)]
    spoken = [one for one in found if one.messages]
    if not spoken:
        raise Unreadable("empty", failed=False)
    return [_document(*pair) for pair in zip(spoken, _names(spoken), strict=True)]


def _document(one: _Conversation, name: str) -> Document:
    said = [message for message in one.messages if message.at is not None]
    return Document(
        "\n\n".join(f"{message.speaker}: {message.text}" for message in one.messages) + "\n",
        title=" ".join(one.title.split()),
        name=name,
        format="chat",
        created_at=said[0].at if said else one.created_at,
        updated_at=said[-1].at if said else one.updated_at or one.created_at,
        metadata={"messages": len(one.messages)},
    )


def _names(conversations: Iterable[_Conversation]) -> list[str]:
    """Return the id of each, else its number; no two alike, and the first is the file itself."""
    names: dict[str, None] = {}
    for number, one in enumerate(conversations, 1):
        name = one.id or ("" if number == 1 else str(number))
        names[name if name not in names else f"{name} ({number})"] = None
    return list(names)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lines(text: str) -> list[Any] | None:
    """Return the values of a file of lines; the last may be half written, any other must be whole."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return None
    values: list[Any] = []
    for number, line in enumerate(lines):
        value = _json(line)
        if not isinstance(value, dict):
            return values if number == len(lines) - 1 and values else None
        values.append(value)
    return values


def _conversations(value: Any) -> list[_Conversation] | None:
    """Return what a value holds when it is one conversation, several, or a list of messages; else None."""
    if isinstance(value, dict):
        one = _conversation(value)
        return _messages_alone([value]) if one is None else [one]
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return None
    first = _conversation(value[0])
    if first is not None:
        several = [first, *map(_conversation, value[1:])]
        return [one for one in several if one is not None]
    return _messages_alone(value)


def _conversation(value: dict[str, Any]) -> _Conversation | None:
    messages: list[Message] | None = None
    if isinstance(value.get("mapping"), dict):
        messages = chatgpt_messages(value["mapping"], value.get("current_node"))
    elif isinstance(value.get("chat_messages"), list):
        messages = claude_messages(value["chat_messages"])
    elif isinstance(value.get("messages"), list):
        messages = generic_messages(value["messages"])
    if messages is None:
        return None
    return _Conversation(
        messages,
        title=next(_texts(value, "title", "name"), ""),
        id=next(_texts(value, "conversation_id", "uuid", "id"), ""),
        created_at=_time(value, "create_time", "created_at"),
        updated_at=_time(value, "update_time", "updated_at"),
    )


def _messages_alone(values: list[dict[str, Any]]) -> list[_Conversation] | None:
    """Return the one conversation of a list that holds nothing but messages."""
    for shape in (slack_messages, generic_messages, transcript_messages):
        messages = shape(values)
        if messages is not None:
            title = next((one["summary"] for one in values if _is_summary(one)), "")
            return [_Conversation(messages, title=valid_unicode(title))]
    return None


def _is_summary(line: Mapping[str, Any]) -> bool:
    return line.get("type") == "summary" and isinstance(line.get("summary"), str)


def _texts(value: Mapping[str, Any], *keys: str) -> Iterator[str]:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            yield valid_unicode(found.strip())


def _time(value: Mapping[str, Any], *keys: str) -> datetime | None:
    return next((at for key in keys if (at := moment(value.get(key))) is not None), None)
