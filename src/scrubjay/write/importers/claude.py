"""The export of Claude: conversations as lists of messages of a human and an assistant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrubjay.documents.chat import Conversation
from scrubjay.write.importers.chat_exports import conversations_in, exported_files
from scrubjay.write.importers.record import Format, Item

NAME = "claude"


def _read(path: str) -> Iterator[Item]:
    return conversations_in(path, NAME, "chat_messages", list, _others, "a message without text")


def _others(value: dict[str, Any], found: Conversation) -> int:
    return len(value["chat_messages"]) - len(found.messages)


FORMAT = Format(NAME, exported_files, _read)
