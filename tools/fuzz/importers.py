"""Importers: JSON lines and Markdown entries come back from an export as they were; chats are readable."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import scrubjay
from scrubjay.conversations.messages import prepare
from scrubjay.documents import Unreadable
from scrubjay.documents.code import outline
from scrubjay.documents.read import read
from scrubjay.errors import InvalidInput, ScrubjayError
from scrubjay.types import Memory
from scrubjay.write.fields import draft
from scrubjay.write.import_export.format import (
    file_name,
    from_line,
    from_markdown,
    id_in,
    is_as_exported,
    marked,
    to_line,
    to_markdown,
)
from tools.fuzz.target import Check, Target, text_of

_NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)


def _store() -> scrubjay.Store:
    return scrubjay.open(":memory:", embedder=False, clock=lambda: _NOW)


def _exported(store: scrubjay.Store) -> str:
    stream = io.StringIO()
    store.export_jsonl(stream)
    return stream.getvalue()


@contextmanager
def _lines() -> Iterator[Check]:
    """Import JSON lines into an empty store, export it, and import that into another one."""

    def check(data: bytes) -> None:
        valid = [_line_round_trip(line) for line in data.split(b"\n")]
        if not any(valid):
            assert not shared.import_entries(io.BytesIO(data), dry_run=True).added
            return
        with _store() as first, _store() as second:
            done = first.import_entries(io.BytesIO(data))
            said = _exported(first)
            again = second.import_entries(io.StringIO(said))
            assert not again.failed, again
            assert again.added == said.count("\n"), (done, again)
            assert sorted(_exported(second).splitlines()) == sorted(said.splitlines())

    with _store() as shared:
        yield check


def _line_round_trip(line: bytes) -> bool:
    """Read a line, write it and read it again; return whether it is an entry."""
    try:
        memory = draft(from_line(line.decode("utf-8").removeprefix("\ufeff")))
    except (InvalidInput, UnicodeDecodeError):
        return False
    _same(memory, draft(from_line(to_line(memory))))
    return True


def _same(memory: Memory, again: Memory) -> None:
    # A time in any zone is written as it stands, or in UTC: the moment is the same.
    assert again == memory, (again, memory)


@contextmanager
def _markdown() -> Iterator[Check]:
    """Read a file as an entry, write it and read it again; read it as a document, too."""

    def check(data: bytes) -> None:
        _documents("a.md", data)
        text = text_of(data)
        id_in(text)
        is_as_exported(text)
        try:
            memory = draft(from_markdown(text, "stem"))
        except InvalidInput:
            return
        written = marked(to_markdown(memory))
        assert is_as_exported(written), written
        assert is_as_exported(written.replace("\n", "\r\n")) or "\r" in written, written
        _same(memory, draft(from_markdown(written, "other")))
        assert len(file_name(memory.id).encode()) < 200

    yield check


@contextmanager
def _chats() -> Iterator[Check]:
    """Read a file of any chat program as documents, and its objects as messages."""

    def check(data: bytes) -> None:
        _documents("a.json", data)
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        messages = value.get("messages", [value]) if isinstance(value, dict) else value
        try:
            memories, names, _ = prepare(messages, {"session": "s"}, _NOW)
        except ScrubjayError:
            return
        assert len(memories) == len(names)
        for memory in memories:
            memory.text.encode()
            assert memory.created_at is not None

    yield check


def _documents(path: str, data: bytes) -> None:
    """Read a file, and use what comes out as ingesting does."""
    try:
        documents = read(path, data)
    except Unreadable as left_out:
        if not left_out.reason:
            raise AssertionError("left out without a reason") from left_out
        return
    assert documents
    assert len({one.name for one in documents}) == len(documents)
    for one in documents:
        assert one.text.strip()
        seen: list[Any] = [one.text, one.title, one.name, one.topics, one.targets]
        json.dumps([*seen, dict(one.metadata)], ensure_ascii=False).encode()
        starts = [heading.start for heading in outline(one.text, one.format)]
        assert starts == sorted(starts)
        assert all(at is None or at.tzinfo for at in (one.created_at, one.updated_at))


LINES = Target(
    "lines",
    _lines,
    (
        *("write/import_export/format.py", "write/import_export/import_entries.py"),
        *("write/import_export/export.py", "write/fields.py", "write/remember.py"),
    ),
    (
        b'{"text": "a note", "id": "n1", "topics": ["x", "y"], "links": ["n2"]}\n{"text": "b", "id": "n2"}',
        b'{"description": "d", "tags": "a, b", "metadata": {"k": [1, 2.5, null, true]}}',
        b'{"text": "t", "created_at": "2026-05-03T14:30+02:00", "valid_until": "2026-06-01"}',
        b'{"text": "t", "severity": "high", "domain": " d ", "context": "c", "type": "task_done"}',
        b'{"text": "m", "type": "message", "session": "s", "role": "user", "owner": "o"}',
        b'{"text": "yesterday", "id": "n", "event_time": "2026-01-01",'
        b' "links": [{"to": "n", "strength": 0.5}]}',
        b'{"text": "a", "namespace": "p/n", "collection": "c", "source": "s", "title": "t"}\n{}\nx',
    ),
    (
        *('"text"', '"id"', '"title"', '"type"', '"topics"', '"links"', '"metadata"', '"session"'),
        *('"role"', '"owner"', '"agent"', '"severity"', '"domain"', '"context"', '"source"'),
        *('"created_at"', '"updated_at"', '"event_time"', '"event_until"', '"valid_from"'),
        *('"valid_until"', '"namespace"', '"collection"', '"to"', '"strength"', '"kind"'),
        *("null", "true", "1e999", "NaN", "\\u0000", "\\ud800", "2026-01-01", "{}", "[]", '"n1"'),
        *("message", "task_done", "user/", "shared/", "\\u2028", "0.5", "-1"),
    ),
)
MARKDOWN = Target(
    "markdown",
    _markdown,
    (
        *("write/import_export/format.py", "write/import_export/front_matter.py"),
        *("text/front_matter.py", "text/markdown.py", "documents/markup.py", "write/fields.py"),
    ),
    (
        b"---\nid: n1\ntitle: A note\ntags: [a, b]\nvalid_until: 2026-06-01\n---\n\nThe text.\n",
        b"---\nmetadata:\n  a: [1, 2.5, null]\n  b: 'x'\nlinks: [n2, {to: n3, strength: 0.5}]\n---\nB\n",
        b"+++\ntitle = 'x'\ntags = ['a']\n[extra]\nk = 1\n+++\n# H\n[[b|c]] [c](d.md#e)\n```py\n#x\n```\n",
        b"# Heading #\n\nA\n===\n\n- [link](x.md)\n![i](y.png)\n",
        b"---\r\ndescription: |\r\n  two\r\n  lines\r\nseverity: high\r\n---\r\n",
        b"title: lost\nid: x\n---\ntext",
        b'---\ncontext: "a\\u2028b"\ncreated_at: 2026-05-03T14:30:00Z\ntype: task\n---\n\n\n x \n\n',
    ),
    (
        *("---\n", "+++\n", "...\n", "id: ", "title: ", "tags: ", "text: ", "links: ", "to: "),
        *("metadata:\n  ", "valid_from: ", "created_at: ", "severity: ", "context: |\n  "),
        *(
            "# as exported: ",
            "&a ",
            "*a",
            "!!int ",
            "? ",
            "<<: ",
            "'",
            "- ",
            "#",
            "```\n",
            "[[",
            "]]",
        ),
        *("\r\n", "\x85", "\u2028", "\ufeff", "0x1", ".inf", "~", "null", "](", "\\", "==="),
    ),
    grows=True,
)
CHATS = Target(
    "chat",
    _chats,
    ("documents/chat.py", "conversations/messages.py", "documents/read.py"),
    (
        b'[{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "tool", "content": "y"}]',
        b'[{"title": "t", "conversation_id": "c", "create_time": 1.7e9, "current_node": "b", "mapping": '
        b'{"a": {"parent": null, "message": null}, "b": {"parent": "a", "message": {"author": '
        b'{"role": "user"}, "content": {"parts": ["hello"]}, "create_time": 1700000000.5}}}}]',
        b'[{"uuid": "u", "name": "n", "created_at": "2026-05-03T14:30:00Z", "chat_messages": '
        b'[{"sender": "human", "text": "a", "content": [{"type": "text", "text": "b"}]}]}]',
        b'[{"ts": "1700000000.000100", "user": "U1", "text": "a", "user_profile": {"real_name": "Ada"}},'
        b' {"ts": "1", "subtype": "channel_join", "user": "U1", "text": "joined"}]',
        b'{"type": "summary", "summary": "s"}\n{"type": "user", "timestamp": "2026-01-01", '
        b'"message": {"role": "user", "content": "x"}}\n{"payload": {"role": "ai", "content": ["z"]}}\n{"a',
        b'{"messages": [{"role": "user", "content": "a", "name": "Ada", "timestamp": 1700000000000}]}',
        b'[["user", "hello"], {"text": "a", "role": "r", "at": "2026-05-03", "session": "s", "id": 1}]',
    ),
    (
        *(
            '"role"',
            '"content"',
            '"text"',
            '"type"',
            '"parts"',
            '"author"',
            '"mapping"',
            '"parent"',
        ),
        *('"message"', '"messages"', '"chat_messages"', '"sender"', '"ts"', '"user"', '"subtype"'),
        *('"create_time"', '"timestamp"', '"at"', '"session"', '"current_node"', '"name"', '"id"'),
        *("null", "1e999", "-1", "NaN", "\\u0000", "\\ud800", "[]", "{}", "tool", "1700000000"),
        *('"tool_calls"', '"refusal"', '"audio"', '"metadata"', '"created_at"', '"user_profile"'),
    ),
)
