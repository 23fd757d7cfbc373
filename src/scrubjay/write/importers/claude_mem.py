"""The database of claude-mem: observations, summaries of sessions, and the user's prompts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from scrubjay.write.importers.foreign_sqlite import ForeignFile, file_in, opened
from scrubjay.write.importers.record import (
    Broken,
    Format,
    Item,
    Record,
    clean,
    text_in,
    time_in,
)

NAME = "claude-mem"
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_OWN = ("subtitle", "files_read", "files_modified", "files_edited", "prompt_number")


def _files(path: str) -> list[str]:
    return file_in(path, "claude-mem.db")


def _read(path: str) -> Iterator[Item]:
    with opened(path) as file:
        if "observations" not in file.tables:
            yield Broken(path, "no table `observations`; this is not a database of claude-mem")
            return
        sessions = _sessions(file)
        for table, read in _TABLES.items():
            if table not in file.tables:  # of an older version
                continue
            for row in file.rows(f"SELECT * FROM {table} ORDER BY id"):
                where = f"{path}:{table}:{row['id']}"
                session = text_in(row, "memory_session_id", "content_session_id", "session_id")
                fields = read(row)
                if not fields["text"]:
                    yield Broken(where, "the row has no text")
                    continue
                at = time_in(row, "created_at_epoch", "created_at")
                project = text_in(row, "project")
                fields |= {
                    "session": sessions.get(session, session),
                    "created_at": at,
                    "updated_at": at,
                    "metadata": {"project": project, **_own(row), **fields.get("metadata", {})},
                }
                # Numbers of rows are those of one machine; two of them may be imported.
                yield Record(where, f"{table}:{session}:{row['id']}", fields)


def _sessions(file: ForeignFile) -> dict[str, str]:
    """Return the id of Claude Code's session for each of claude-mem's."""
    if "sdk_sessions" not in file.tables:
        return {}
    rows = file.rows("SELECT * FROM sdk_sessions")
    pairs = (
        (text_in(row, "memory_session_id"), text_in(row, "content_session_id")) for row in rows
    )
    return {memory: content for memory, content in pairs if memory and content}


def _observation(row: dict[str, Any]) -> dict[str, Any]:
    facts = "\n".join(f"- {fact}" for fact in _list(row.get("facts")))
    parts = [text_in(row, "narrative", "text"), facts]
    text = "\n\n".join(part for part in parts if part) or text_in(row, "title", "subtitle")
    return {
        "text": text,
        "title": " ".join(text_in(row, "title").split()),
        "topics": tuple(dict.fromkeys((text_in(row, "type"), *_list(row.get("concepts"))))),
        "agent": text_in(row, "agent_type"),
        "metadata": {"model": text_in(row, "generated_by_model")},
    }


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    parts = ((name.replace("_", " ").capitalize(), text_in(row, name)) for name in _SUMMARY)
    text = "\n\n".join(f"{name}: {part}" for name, part in parts if part)
    return {"text": text, "title": text_in(row, "request")[:200], "topics": ("session summary",)}


def _prompt(row: dict[str, Any]) -> dict[str, Any]:
    return {"text": text_in(row, "prompt_text"), "type": "message", "role": "user"}


def _own(row: dict[str, Any]) -> dict[str, Any]:
    named = {name: row[name] for name in _OWN if row.get(name)}
    return {n: _list(one) if n.startswith("files") else one for n, one in named.items()}


def _list(value: object) -> list[str]:
    """Return a list that is stored as JSON; empty for anything else."""
    try:
        given = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return []
    return (
        [text for one in given if (text := clean(one).strip())] if isinstance(given, list) else []
    )


_TABLES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "observations": _observation,
    "session_summaries": _summary,
    "user_prompts": _prompt,
}
FORMAT = Format(NAME, _files, _read)
