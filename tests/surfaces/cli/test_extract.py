"""`extract` and `status` at the shell, with a language model behind HTTP."""

from __future__ import annotations

import json

import pytest
from endpoints import EndpointServer, chat, refusal

FACT = {
    "turn": 1,
    "quote": "I live in Berlin",
    "text": "Ann lives in Berlin",
    "action": "add",
    "id": "",
}


@pytest.fixture
def server(monkeypatch):
    with EndpointServer() as running:
        monkeypatch.setenv("SCRUBJAY_GENERATOR", f"{running.url}/v1#tiny")
        yield running


@pytest.fixture
def said(shell):
    """One message of somebody."""
    text = "I am Ann and I live in Berlin"
    added = shell("add", text, "--type", "message", "--session", "talk")
    assert added.code == 0


def test_facts_are_drawn_and_counted(shell, server, said):
    """What waits is in `status`, what came of it is said, and the fact is found."""
    assert server.requests == []  # a command that writes one turn asks nobody
    server.says = json.dumps({"facts": [FACT, {**FACT, "text": "John Doe lives in Berlin"}]})
    assert (
        "extraction   1 message waiting for tiny; to read them: scrubjay extract"
        in shell("status").out
    )

    done = shell("extract")

    assert done.code == 0
    assert "read 1 message; facts: 1 added" in done.out
    assert "rejected 1: the fact has a name that nobody said" in done.out
    best, *_ = shell("search", "Ann lives", "--json").json["hits"]
    assert best["text"] == "Ann lives in Berlin"
    assert shell("status", "--json").json["extraction"] == {
        "model": "tiny",
        "waiting": 0,
        "failed": 0,
        "failures": {},
    }


def test_a_long_answer_is_waited_for(shell, server, said):
    """What a search would have no time for: more tokens than an expansion needs."""
    server.says = json.dumps({"facts": []})
    shell("extract")
    assert server.requests[-1].json["max_tokens"] == 2000
    assert server.requests[-1].json["response_format"]["type"] == "json_schema"


def test_junk_is_said_and_given_up_until_it_is_retried(shell, server, said):
    """The exit code says that something failed; `--retry` tries again."""
    server.says = "I would rather not."
    for _ in range(3):
        done = shell("extract", "--json")
        assert done.code == 1
        assert done.json["failures"] == {"it answered without any JSON": 1}
    assert "1 failed and stay as they were said" in shell("status").out
    server.says = json.dumps({"facts": [FACT]})
    again = shell("extract")
    assert again.code == 0
    assert (
        "1 message given up after repeated failures; to retry: scrubjay extract --retry"
        in again.out
    )
    assert "to retry: scrubjay extract --retry" in shell("status").out
    assert shell("extract", "--json").json["given_up"] == 1
    assert shell("extract", "--retry", "--json").json["added"] == 1


def test_a_server_that_is_down_leaves_the_messages_waiting(shell, server, said):
    """One line says why, and the exit code that it failed."""
    server.answers = [refusal(500, "out of memory")]
    done = shell("extract")

    assert done.code == 1
    assert "500" in done.err
    assert "1 message left; to read them: scrubjay extract" in done.out


def test_without_a_generator_it_says_how_to_have_one(shell, said):
    """And that messages are memories without one."""
    done = shell("extract")
    assert done.code == 1
    assert "set generator in scrubjay.toml or SCRUBJAY_GENERATOR" in done.err
    assert "no facts are extracted" in done.err


def test_only_one_session_is_read(shell, server, said):
    """`--session` names it."""
    server.answers = [chat(json.dumps({"facts": [FACT]}))]
    other = shell("extract", "--session", "other")
    assert other.code == 3
    assert "no session 'other'" in other.err
    assert shell("extract", "--session", "talk", "--json").json["added"] == 1


def test_a_fact_is_shown_with_its_message_and_what_became_of_it(shell, server, said):
    """Who reviews facts sees where they are from, and what they were."""
    server.says = json.dumps({"facts": [FACT]})
    shell("extract")
    listed = {one["type"]: one["id"] for one in shell("ls", "--json").json["memories"]}
    text = "Ann lives in Munich"
    changed = {**FACT, "quote": "Munich it is", "text": text, "id": listed["fact"]}
    for session, action in (("two", "update"), ("three", "supersede")):
        shell("add", f"Munich it is, {action}", "--type", "message", "--session", session)
        new = {**changed, "action": action, "text": text if action == "update" else "Ann moved"}
        server.says = json.dumps({"facts": [new]})
        assert shell("extract", "--json").json[f"{action.removesuffix('e')}ed"] == 1

    shown = shell("get", listed["fact"]).out

    assert "superseded, just now" in shown
    assert "edited, just now" in shown
    assert "Ann lives in Berlin" in shell("history", listed["fact"]).out
    new = next(
        one["id"] for one in shell("ls", "--json").json["memories"] if one["text"] == "Ann moved"
    )
    assert f"superseded by {new}" in shown
    assert f"supersedes {listed['fact']}" in shell("get", new).out
    assert "1.00  supersedes  " in shell("link", new).out
    (neighbor,) = shell("link", listed["fact"], "--json").json["neighbors"]
    assert neighbor["kinds"] == ["superseded by"]
    assert "extracted from message " in shown


def test_forget_names_the_facts_that_go_with_a_message(shell, server, said):
    """Before and after: what is removed for good is shown."""
    server.says = json.dumps({"facts": [FACT]})
    shell("extract")
    ids = {one["type"]: one["id"] for one in shell("ls", "--json").json["memories"]}

    shown = shell("forget", "--query", "Berlin Ann live", "--json").json
    assert (shown["done"], shown["facts"]) == (False, [])  # both are matched
    kept = shell("forget", ids["message"], keyboard="n\n")
    assert "Ann lives in Berlin" in kept.err
    assert "these 2 memories" in kept.err
    done = shell("forget", ids["message"], "--yes")
    assert "forgot 1 memory and 1 fact extracted from it" in done.out
    assert shell("ls").code == 3
