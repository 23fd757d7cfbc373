"""Samples of foreign formats.

Written by the real programs, with a made-up talk, and shortened to the fields that matter:
- `memory.jsonl`: @modelcontextprotocol/server-memory 2026.8.31.
- transcripts: @anthropic-ai/claude-code 2.1.197 and @openai/codex 0.169.0, against a model on this machine.
- claude-mem: the tables of claude-mem 13.25.3 (schema 52), filled by its SessionStore.
- Chroma: the tables of chromadb 1.5.9; drawers of MemPalace have the metadata of mempalace 3.11.0.
- mem0: as `_get_all_from_vector_store` of mem0ai 2.2.1 returns memories.
From the documented schema: the exports of ChatGPT and Claude, which only their websites write.
"""

from __future__ import annotations

import json
import sqlite3

GRAPH = [
    {
        "type": "entity",
        "name": "Alice",
        "entityType": "person",
        "observations": ["works at Acme", "likes tea"],
    },
    {
        "type": "entity",
        "name": "Acme",
        "entityType": "company",
        "observations": ["Acme was founded in 1990"],
    },
    {"type": "relation", "from": "Alice", "to": "Acme", "relationType": "works_at"},
]

MEM0 = {
    "results": [
        {
            "id": "0b1c2d3e-0000-4000-8000-000000000001",
            "memory": "Prefers trains to planes",
            "hash": "b1946ac92492d2347c6235b4d2611184",
            "created_at": "2026-03-01T10:00:00+00:00",
            "updated_at": "2026-03-02T10:00:00+00:00",
            "user_id": "alice",
            "agent_id": "planner",
            "run_id": "trip-1",
            "role": "user",
            "metadata": {"category": "travel", "count": 0},
        },
        {
            "id": "0b1c2d3e-0000-4000-8000-000000000002",
            "memory": "Has a cat",
            "user_id": "alice",
            "categories": ["pets"],
            "expiration_date": "2999-01-01",
        },
    ],
    "relations": [{"source": "alice", "relationship": "lives_in", "target": "basel"}],
}

_SESSION = "ea068f28-d778-419f-bfef-566bc6fdfa50"
_CLAUDE_LINE = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/harbour",
    "sessionId": _SESSION,
    "version": "2.1.197",
    "gitBranch": "master",
}
CLAUDE_CODE = [
    {"type": "queue-operation", "operation": "enqueue", "sessionId": _SESSION, "content": "When?"},
    {
        **_CLAUDE_LINE,
        "parentUuid": None,
        "type": "user",
        "message": {"role": "user", "content": "When is low tide?"},
        "uuid": "aaa39501-efeb-4175-b2aa-6c196c821cc9",
        "timestamp": "2026-11-20T01:14:13.196Z",
    },
    {
        **_CLAUDE_LINE,
        "parentUuid": "aaa39501-efeb-4175-b2aa-6c196c821cc9",
        "type": "assistant",
        "message": {
            "id": "msg_1",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [
                {"type": "thinking", "thinking": "Look it up."},
                {"type": "text", "text": "Low tide is at noon."},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "t.py"}},
            ],
        },
        "uuid": "3f9ad90e-931e-48ac-90ca-61a0f95a781c",
        "timestamp": "2026-11-20T01:14:15.000Z",
    },
    {
        **_CLAUDE_LINE,
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "noon"}],
        },
        "uuid": "3f9ad90e-931e-48ac-90ca-61a0f95a781d",
        "timestamp": "2026-11-20T01:14:16.000Z",
    },
    {
        **_CLAUDE_LINE,
        "type": "user",
        "message": {"role": "user", "content": "<command-name>/clear</command-name>"},
        "uuid": "3f9ad90e-931e-48ac-90ca-61a0f95a781e",
        "timestamp": "2026-11-20T01:14:17.000Z",
    },
    {
        **_CLAUDE_LINE,
        "isSidechain": True,
        "agentId": "a1",
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "The subagent."}]},
        "uuid": "3f9ad90e-931e-48ac-90ca-61a0f95a781f",
        "timestamp": "2026-11-20T01:14:18.000Z",
    },
]

_ROLLOUT = "01a1f684-9903-7bb1-895b-f6d8aa4b4a28"


def _codex(second, kind, payload):
    return {"timestamp": f"2026-11-20T01:14:{second:02}Z", "type": kind, "payload": payload}


def _said(role, kind, *texts):
    parts = [{"type": kind, "text": text} for text in texts]
    return {"type": "message", "role": role, "content": parts}


CODEX = [
    _codex(
        7,
        "session_meta",
        {
            "id": _ROLLOUT,
            "timestamp": "2026-11-20T01:14:07.502Z",
            "cwd": "/harbour",
            "cli_version": "0.169.0",
            "git": {"branch": "main"},
        },
    ),
    _codex(8, "response_item", _said("developer", "input_text", "You are a coding agent.")),
    _codex(9, "response_item", _said("user", "input_text", "<environment_context>\n</>")),
    _codex(
        10,
        "response_item",
        _said("user", "input_text", "# AGENTS.md instructions", "When is low tide?"),
    ),
    _codex(11, "event_msg", {"type": "item_completed", "item": {"type": "AgentMessage"}}),
    _codex(12, "response_item", _said("assistant", "output_text", "Low tide is at noon.")),
]


def _node(parent, role, text, at):
    message = {
        "id": f"{role}-{at}",
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
    }
    return {"parent": parent, "message": message}


CHATGPT = [
    {
        "title": "Birds",
        "create_time": 100.0,
        "conversation_id": "chat-1",
        "current_node": "d",
        "mapping": {
            "a": {"parent": None, "message": None},
            "b": _node("a", "user", "What is a jay?", 100.5),
            "c": _node("b", "assistant", "An old answer.", 150),
            "d": _node("b", "assistant", "A blue bird.", 200),
        },
    }
]

CLAUDE = [
    {
        "uuid": "c0ffee00-0000-4000-8000-000000000001",
        "name": "Tides",
        "created_at": "2026-01-01T10:00:00Z",
        "chat_messages": [
            {
                "uuid": f"c0ffee00-0000-4000-8000-00000000001{n}",
                "sender": sender,
                "text": text,
                "content": [{"type": "text", "text": text}],
                "created_at": f"2026-01-01T10:0{n}:00Z",
            }
            for n, (sender, text) in enumerate(
                [("human", "When is high tide?"), ("assistant", "At six."), ("assistant", "")]
            )
        ],
    }
]

_CLAUDE_MEM = """
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT NOT NULL,
 memory_session_id TEXT UNIQUE, project TEXT NOT NULL, started_at_epoch INTEGER NOT NULL);
CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
 text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,
 files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL,
 created_at_epoch INTEGER NOT NULL);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT NOT NULL,
 project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT,
 files_read TEXT, files_edited TEXT, notes TEXT, prompt_number INTEGER, created_at TEXT NOT NULL,
 created_at_epoch INTEGER NOT NULL);
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT NOT NULL,
 prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL,
 created_at_epoch INTEGER NOT NULL);
INSERT INTO sdk_sessions VALUES (1, '11111111-2222-3333-4444-555555555555',
 'mem-1', 'harbour', 1795137243943);
INSERT INTO observations VALUES (1, 'mem-1', 'harbour', NULL, 'bugfix', 'Tide table read in UTC',
 'Was local time', '["The table is in UTC"]', 'The reader took it as local time.', '["gotcha"]',
 '["tide.py"]', '[]', 1, '2026-11-20T01:14:03.963Z', 1795137243963);
INSERT INTO session_summaries VALUES (1, 'mem-1', 'harbour', 'Fix the tide table', 'tide.py',
 'The table is in UTC', 'Read it as UTC', '', '[]', '[]',
 NULL, 1, '2026-11-20T01:14:03.964Z', 1795137243964);
INSERT INTO user_prompts VALUES (1, '11111111-2222-3333-4444-555555555555', 1, 'Fix the tide table',
 '2026-11-20T01:14:03.954Z', 1795137243954);
"""

_CHROMA = """
CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL,
 collection TEXT NOT NULL);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL,
 seq_id BLOB NOT NULL, created_at TIMESTAMP NOT NULL);
CREATE TABLE embedding_metadata (id INTEGER, key TEXT NOT NULL, string_value TEXT, int_value INTEGER,
 float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key));
CREATE TABLE embedding_metadata_array (id INTEGER NOT NULL, key TEXT NOT NULL, string_value TEXT,
 int_value INTEGER, float_value REAL, bool_value INTEGER);
INSERT INTO collections VALUES ('d9641875-619a-46a7-8532-0d6b3be4ab34', 'mempalace_drawers');
INSERT INTO segments VALUES ('s1', 'urn:chroma:segment/metadata/sqlite', 'METADATA',
 'd9641875-619a-46a7-8532-0d6b3be4ab34');
INSERT INTO embeddings VALUES (1, 's1', 'drawer_a', 1, '2026-11-20 01:00:20'),
 (2, 's1', 'plain', 2, '2026-11-20 01:00:20'), (3, 's1', 'vector', 3, '2026-11-20 01:00:20');
INSERT INTO embedding_metadata VALUES (1, 'chroma:document', 'Gulls nest on the cliff', NULL, NULL, NULL),
 (1, 'wing', 'birds', NULL, NULL, NULL), (1, 'room', 'cliff', NULL, NULL, NULL),
 (1, 'source_file', 'birds.md', NULL, NULL, NULL), (1, 'filed_at', '2026-01-02T03:04:05', NULL, NULL, NULL),
 (2, 'chroma:document', 'The tide is low at noon', NULL, NULL, NULL), (2, 'n', NULL, 0, NULL, NULL),
 (2, 'f', NULL, NULL, 1.5, NULL), (2, 'ok', NULL, NULL, NULL, 0);
INSERT INTO embedding_metadata_array VALUES (2, 'tags', 't1', NULL, NULL, NULL),
 (2, 'tags', 't2', NULL, NULL, NULL);
"""


def lines(path, values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def as_json(path, value):
    path.write_text(json.dumps(value, indent=1))
    return path


def database(path, script):
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return path


def write_all(folder):
    """Write a sample of each format; return their paths by name."""
    transcripts, rollouts = folder / "projects" / "-harbour", folder / "sessions" / "2026"
    for each in (transcripts, rollouts):
        each.mkdir(parents=True)
    lines(transcripts / f"{_SESSION}.jsonl", CLAUDE_CODE)
    lines(rollouts / f"rollout-2026-{_ROLLOUT}.jsonl", CODEX)
    return {
        "mcp-memory": lines(folder / "memory.jsonl", GRAPH),
        "mem0": as_json(folder / "mem0.json", MEM0),
        "claude-code": folder / "projects",
        "codex": folder / "sessions",
        "chatgpt": as_json(folder / "conversations.json", CHATGPT),
        "claude": as_json(folder / "claude.json", CLAUDE),
        "claude-mem": database(folder / "claude-mem.db", _CLAUDE_MEM),
        "chroma": database(folder / "chroma.sqlite3", _CHROMA),
    }
