"""Conversations out of JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from scrubjay.documents import Document, Unreadable
from scrubjay.documents.read import read


def chats(value):
    return read("export.json", json.dumps(value).encode())


def lines(*values):
    return read("log.jsonl", "\n".join(json.dumps(one) for one in values).encode())


def at(seconds):
    return datetime.fromtimestamp(seconds, UTC)


def node(parent, role, *parts, time=None, **more):
    """A node of the tree that ChatGPT exports."""
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": parts}}
    return {"parent": parent, "message": {**message, "create_time": time, **more}}


def chatgpt(title="Birds", **more):
    return {
        "title": title,
        "mapping": {
            "root": {"parent": None, "message": None},
            "a": node("root", "system", ""),
            "b": node("a", "user", "What is a jay?", {"asset": 1}, time=100.5),
            "old": node("b", "assistant", "An old answer."),
            "c": node("b", "tool", "search results"),
            "d": node("c", "assistant", "A bird.", "Blue.", time=200),
            "e": node(
                "d", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}
            ),
        },
        "current_node": "e",
        **more,
    }


class TestExports:
    def test_chatgpt_is_read_along_the_branch_that_was_shown(self):
        """Tools, hidden and empty messages are left out."""
        assert chats([chatgpt()]) == [
            Document(
                "user: What is a jay?\n\nassistant: A bird.\n\nBlue.\n",
                title="Birds",
                format="chat",
                created_at=at(100.5),
                updated_at=at(200),
                metadata={"messages": 2},
            )
        ]

    def test_several_conversations_have_names(self):
        """Their ids, else their numbers; no two alike."""
        found = chats([chatgpt(id="x"), chatgpt("Two"), chatgpt("Three", id="x")])

        assert [(one.name, one.title) for one in found] == [
            *(("x", "Birds"), ("2", "Two"), ("x (3)", "Three"))
        ]

    def test_a_tree_that_bites_its_tail_ends(self):
        """Each message is read once."""
        tree = {"a": node("b", "user", "one"), "b": node("a", "user", "two")}
        (one,) = chats([{"mapping": tree, "current_node": "a"}])

        assert one.text == "user: two\n\nuser: one\n"

    def test_claude_exports(self):
        """Text blocks, else plain text."""
        talk = {
            "uuid": "u",
            "name": "Jays",
            "created_at": "2024-05-03T10:00:00Z",
            "chat_messages": [
                {"sender": "human", "text": "Hi", "content": []},
                {
                    "sender": "assistant",
                    "text": "ignored",
                    "content": [{"type": "text", "text": "Hello"}, {"type": "tool_use"}],
                },
            ],
        }
        (one,) = chats([talk])

        assert (one.text, one.title, one.name) == ("human: Hi\n\nassistant: Hello\n", "Jays", "u")
        assert one.created_at == datetime(2024, 5, 3, 10, tzinfo=UTC)

    def test_slack_channels(self):
        """By name when there is one; joining is no message."""
        (one,) = chats(
            [
                {"user": "U1", "text": "has joined", "ts": "1.0", "subtype": "channel_join"},
                {"user": "U1", "text": "Hi", "ts": "100.5", "user_profile": {"real_name": "Ada"}},
                {"user": "U2", "text": "Hello", "ts": "200.0"},
            ]
        )
        assert one.text == "Ada: Hi\n\nU2: Hello\n"
        assert (one.created_at, one.updated_at) == (at(100.5), at(200))

    def test_transcripts_of_agents(self):
        """What tools gave and what was only for the machine is left out; a summary is the title."""
        (one,) = lines(
            {"type": "summary", "summary": "Fix the jay"},
            {
                "type": "user",
                "timestamp": "2024-05-03T10:00:00Z",
                "message": {"role": "user", "content": "Fix it"},
            },
            {"type": "user", "isMeta": True, "message": {"role": "user", "content": "caveat"}},
            {
                "type": "assistant",
                "message": {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Done."}, {"type": "tool_use", "id": 1}],
                },
            },
            {
                "type": "user",
                "message": {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
            },
        )
        assert (one.text, one.title) == ("user: Fix it\n\nassistant: Done.\n", "Fix the jay")
        assert one.metadata == {"messages": 2}


MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


class TestGeneric:
    @pytest.mark.parametrize("value", [MESSAGES, {"messages": MESSAGES}, [{"messages": MESSAGES}]])
    def test_roles_and_contents_are_a_conversation(self, value):
        """Bare, wrapped, or in a list."""
        assert [one.text for one in chats(value)] == ["user: Hi\n\nassistant: Hello\n"]

    def test_lines_are_messages_or_conversations(self):
        """The last line may be half written."""
        assert [one.text for one in lines(*MESSAGES)] == ["user: Hi\n\nassistant: Hello\n"]
        assert len(lines({"messages": MESSAGES}, {"messages": MESSAGES})) == 2
        cut = "\n".join(json.dumps(one) for one in [*MESSAGES, *MESSAGES])[:-5]
        assert read("a.jsonl", cut.encode())[0].metadata == {"messages": 3}

    def test_names_are_shown_and_half_characters_replaced(self):
        """Nothing leaves a reader that cannot be stored."""
        (one,) = chats([{"role": "user", "name": "ada", "content": "a\ud800\0b", "timestamp": 5}])
        assert (one.text, one.created_at) == ("ada: a?b\n", at(5))

    def test_a_conversation_without_words_is_empty(self):
        """That is no failure."""
        with pytest.raises(Unreadable, match="empty") as left_out:
            chats([{"role": "tool", "content": "x"}, {"role": "user", "content": ""}])
        assert not left_out.value.failed

    @pytest.mark.parametrize("time", ["soon", 1e300, float("nan"), -1e18, True, [], "1e999"])
    def test_a_time_that_is_none_is_left_out(self, time):
        """The file's own time is then used."""
        assert chats([{**MESSAGES[0], "timestamp": time}])[0].created_at is None


class TestOtherJson:
    @pytest.mark.parametrize(
        "text",
        [
            '{"name": "x", "messages": ["a", "b"]}',
            '{"mapping": {"a": "b"}}',
            '[{"role": "admin"}]',
            '[{"ts": "1"}]',
            "[1, 2]",
            "[]",
            "{}",
            '"role"',
            '{"broken": ',
            '{"a": 1}\n{"b": 2}\n',
            "[" * 100_000,
            '{"a":' * 100_000 + "1" + "}" * 100_000,
            "1" * 5000,
            "null",
        ],
        ids=lambda text: text[:20],
    )
    def test_it_is_text_as_it_stands(self, text):
        """Broken or endless, it never fails."""
        assert read("a.json", text.encode()) == [Document(text)]
        assert read("a.jsonl", text.encode()) == [Document(text)]
