"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrubjay.documents.chat import content_text
from scrubjay.write.importers.json_lines import Line, lines_of
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

NAME = "codex"
_ROLES = ("user", "assistant")
# What Codex writes as the user; the last is a heading, before the text of AGENTS.md.
_INJECTED = (
    *("<environment_context>", "<user_instructions>", "<permissions instructions>"),
    *("<turn_aborted>", "<user_shell_command>", "<skill>", "<INSTRUCTIONS>"),
    "# AGENTS.md instructions",
)


def _files(path: str) -> list[str]:
    return transcripts_below(path, "rollout-")


def _read(path: str) -> Iterator[Item]:
    """Yield the messages of a session. Lines have no ids, and are only ever appended: the number of the
    line is the id. Versions before September 2025 have no envelope around an item."""
    session: dict[str, Any] = {}
    for line in lines_of(path):
        if isinstance(line, Broken):
            yield line
            continue
        payload = line.value.get("payload")
        inner = payload if isinstance(payload, dict) else line.value
        if not session and text_in(inner, "id") and "role" not in inner:
            session = inner
            yield LeftOut(NO_TEXT)
        elif inner.get("type") == "message" and inner.get("role") in _ROLES:
            yield _message(line, inner, session)
        else:
            yield LeftOut(NO_TEXT)
    if not session:
        yield Broken(path, "the file has no session_meta line; this is not a transcript of Codex")


def _message(line: Line, message: dict[str, Any], session: dict[str, Any]) -> Item:
    if not session:
        return Broken(line.where, "a message before the line with the id of the session")
    parts = message.get("content")
    if isinstance(parts, list):
        parts = [part for part in parts if not content_text([part]).startswith(_INJECTED)]
    text = content_text(parts)
    if not text or text.startswith(_INJECTED):
        return LeftOut(INJECTED)
    id_, git = text_in(session, "id"), session.get("git")
    at = time_in(line.value, "timestamp") or time_in(session, "timestamp")
    fields = {
        "text": text,
        "type": "message",
        "role": message["role"],
        "session": id_,
        "agent": NAME,
        "created_at": at,
        "updated_at": at,
        "metadata": {
            "project": text_in(session, "cwd"),
            "branch": text_in(git, "branch") if isinstance(git, dict) else "",
            "version": text_in(session, "cli_version"),
        },
    }
    return Record(line.where, f"{id_}:{line.number}", fields)


FORMAT = Format(NAME, _files, _read)
