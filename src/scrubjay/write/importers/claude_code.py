"""Transcripts of Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrubjay.documents.chat import content_text
from scrubjay.write.importers.json_lines import lines_of
from scrubjay.write.importers.record import (
    Broken,
    Format,
    Item,
    LeftOut,
    Record,
    text_in,
    time_in,
)
from scrubjay.write.importers.transcripts import INJECTED, NO_TEXT, transcripts_below

NAME = "claude-code"
_ROLES = ("user", "assistant")
_FLAGS = ("isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
# What Claude Code writes as the user: commands, their output, and notes to the model.
_INJECTED = ("<command-", "<local-command-", "<bash-", "<system-reminder>", "<task-notification>")
_INTERRUPTED = "[Request interrupted by user"


def _read(path: str) -> Iterator[Item]:
    known = False
    for line in lines_of(path):
        if isinstance(line, Broken):
            yield line
            continue
        item = _message(line.where, line.value)
        known = known or "sessionId" in line.value or isinstance(item, Record)
        yield item
    if not known:
        yield Broken(path, "no line has a sessionId; this is not a transcript of Claude Code")


def _message(where: str, line: dict[str, Any]) -> Record | LeftOut | Broken:
    role, message = line.get("type"), line.get("message")
    if role not in _ROLES and isinstance(message, dict) and "content" in message:
        return Broken(where, f"a message of type {role!r}, which is not known here")
    if role not in _ROLES or any(line.get(flag) for flag in _FLAGS):
        return LeftOut(INJECTED if role in _ROLES else NO_TEXT)
    if not isinstance(message, dict) or "content" not in message:
        return Broken(where, f"a line of type {role} without a message")
    id_, session = text_in(line, "uuid"), text_in(line, "sessionId")
    if not id_ or not session:
        return Broken(where, "the message has no uuid or no sessionId")
    content = message["content"]
    if isinstance(content, list):
        content = [block for block in content if not _is_injected(content_text([block]))]
    text = content_text(content)
    if not text or _is_injected(text):
        return LeftOut(INJECTED if text or content != message["content"] else NO_TEXT)
    if line.get("isSidechain"):  # of a subagent, which works beside the session
        session = f"{session}/{text_in(line, 'agentId') or 'subagent'}"
    fields = {
        "text": text,
        "type": "message",
        "role": role,
        "session": session,
        "agent": NAME,
        "created_at": (at := time_in(line, "timestamp")),
        "updated_at": at,
        "metadata": {
            "project": text_in(line, "cwd"),
            "branch": text_in(line, "gitBranch"),
            "model": text_in(message, "model"),
            "reply_to": text_in(line, "parentUuid"),
        },
    }
    return Record(where, id_, fields)


def _is_injected(text: str) -> bool:
    return text.startswith(_INJECTED) or text.startswith(_INTERRUPTED)


FORMAT = Format(NAME, transcripts_below, _read)
