"""The export of ChatGPT: conversations as trees of messages, of which one branch was shown last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrubjay.documents.chat import Conversation
from scrubjay.write.importers.chat_exports import conversations_in, exported_files
from scrubjay.write.importers.record import Format, Item

NAME = "chatgpt"
_ROLES = ("user", "assistant")
_OTHER_BRANCH = "in a branch of a conversation that was not shown last, or without text"


def _read(path: str) -> Iterator[Item]:
    return conversations_in(path, NAME, "mapping", dict, _others, _OTHER_BRANCH)


def _others(value: dict[str, Any], found: Conversation) -> int:
    said = sum(_role(node) in _ROLES for node in value["mapping"].values())
    return said - sum(one.speaker in _ROLES for one in found.messages)


def _role(node: object) -> object:
    message = node.get("message") if isinstance(node, dict) else None
    author = message.get("author") if isinstance(message, dict) else None
    return author.get("role") if isinstance(author, dict) else None


FORMAT = Format(NAME, exported_files, _read)
