"""What other products stored, imported: ids, times, roles, links, and where each came from."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime

import pytest
from foreign_formats import CHATGPT, CLAUDE_CODE, as_json, lines, write_all

from scrubjay.types.formats import FOLDERS, FORMATS


@pytest.fixture
def samples(tmp_path):
    folder = tmp_path / "samples"
    folder.mkdir()
    return write_all(folder)


def stored(store):
    return {memory.text: memory for memory in store.ls(limit=100)}


def with_links(store, memory):
    return store.get(memory.id).links


def test_every_format_has_a_sample(samples):
    assert samples.keys() | FOLDERS.keys() == FORMATS.keys()


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - FOLDERS.keys()))
def test_a_dry_run_counts_and_a_second_run_changes_nothing(name, samples, words_only):
    """The dry run writes nothing and counts what the import then adds."""
    rehearsed = words_only.import_from(name, samples[name], dry_run=True)
    assert words_only.status().memories == 0

    first = words_only.import_from(name, samples[name])
    assert first == rehearsed
    assert (first.changed, first.unchanged, first.failed) == (0, 0, ())
    assert first.added == words_only.status().memories > 0
    origins = [memory.metadata["imported"] for memory in words_only.ls(limit=100)]
    assert {origin["from"] for origin in origins} == {name}

    before = words_only.ls(limit=100)
    again = words_only.import_from(name, samples[name])
    assert (again.added, again.changed, again.unchanged) == (0, 0, first.added)
    assert words_only.ls(limit=100) == before


def test_an_observation_names_its_entity_and_a_relation_is_a_link(samples, words_only):
    words_only.import_from("mcp-memory", samples["mcp-memory"])

    memories = stored(words_only)
    assert memories.keys() == {
        "Alice: works at Acme",
        "Alice: likes tea",
        "Acme was founded in 1990",
    }
    alice, acme = memories["Alice: works at Acme"], memories["Acme was founded in 1990"]
    assert alice.topics == ("alice", "person")
    assert [(link.to, link.kind) for link in with_links(words_only, alice)] == [
        (acme.id, "works_at")
    ]


def test_mem0_keeps_ids_owners_times_and_metadata(samples, words_only):
    words_only.import_from("mem0", samples["mem0"])

    memories = stored(words_only)
    train = memories["Prefers trains to planes"]
    assert train.id == "0b1c2d3e-0000-4000-8000-000000000001"
    assert (train.owner, train.agent, train.session, train.role) == (
        *("alice", "planner"),
        *("trip-1", "user"),
    )
    assert train.created_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert train.updated_at == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert (train.metadata["category"], train.metadata["count"]) == ("travel", 0)
    cat = memories["Has a cat"]
    assert (cat.topics, cat.valid_until.year) == (("pets",), 2999)
    assert "alice lives in basel" in memories


def test_a_transcript_of_claude_code_is_a_session_of_messages(samples, words_only):
    """Commands, results of tools and thoughts are left out and counted; a subagent has its own session."""
    done = words_only.import_from("claude-code", samples["claude-code"])

    memories = stored(words_only)
    session = CLAUDE_CODE[0]["sessionId"]
    assert memories.keys() == {"When is low tide?", "Low tide is at noon.", "The subagent."}
    answer = memories["Low tide is at noon."]
    assert (answer.id, answer.type, answer.role, answer.agent) == (
        "3f9ad90e-931e-48ac-90ca-61a0f95a781c",
        *("message", "assistant", "claude-code"),
    )
    assert (answer.session, answer.created_at.hour) == (session, 1)
    assert answer.metadata["project"] == "/harbour"
    assert answer.metadata["reply_to"] == memories["When is low tide?"].id
    assert memories["The subagent."].session == f"{session}/a1"
    assert sum(done.files[0].left_out.values()) == 3


def test_a_transcript_of_codex_has_only_what_was_said(samples, words_only):
    words_only.import_from("codex", samples["codex"])

    memories = stored(words_only)
    assert memories.keys() == {"When is low tide?", "Low tide is at noon."}
    said = memories["When is low tide?"]
    assert (said.role, said.session, said.metadata["branch"]) == (
        *("user", "01a1f684-9903-7bb1-895b-f6d8aa4b4a28"),
        "main",
    )


def test_chatgpt_gives_the_branch_that_was_shown_and_counts_the_other(samples, words_only):
    done = words_only.import_from("chatgpt", samples["chatgpt"])

    memories = stored(words_only)
    assert memories.keys() == {"What is a jay?", "A blue bird."}
    assert memories["A blue bird."].created_at == datetime.fromtimestamp(200, UTC)
    assert memories["A blue bird."].metadata["conversation"] == "Birds"
    assert list(done.files[0].left_out.values()) == [1]


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_an_export_of_chats_is_taken_as_it_was_downloaded(form, tmp_path, words_only):
    """A folder or a ZIP; a large export has several files of conversations."""
    folder = tmp_path / "export"
    folder.mkdir()
    second = json.loads(json.dumps(CHATGPT).replace("chat-1", "chat-2").replace("er-1", "er-2"))
    first_file = as_json(folder / "conversations-000.json", CHATGPT)
    second_file = as_json(folder / "conversations-001.json", second)
    path = folder
    if form == "zip":
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for file in (first_file, second_file):
                archive.write(file, f"data/{file.name}")

    done = words_only.import_from("chatgpt", path)

    assert (done.failed, len(done.files)) == ((), 2)
    assert {memory.session for memory in words_only.ls(limit=100)} == {"chat-1", "chat-2"}


def test_claude_calls_a_human_a_user(samples, words_only):
    words_only.import_from("claude", samples["claude"])

    asked = stored(words_only)["When is high tide?"]
    assert (asked.role, asked.id[-2:], asked.metadata["conversation"]) == ("user", "10", "Tides")


def test_claude_mem_gives_observations_summaries_and_prompts(samples, words_only):
    """All in the session of Claude Code that they are about."""
    words_only.import_from("claude-mem", samples["claude-mem"])

    memories = words_only.ls(limit=10)
    assert {memory.session for memory in memories} == {"11111111-2222-3333-4444-555555555555"}
    by_title = {memory.title: memory for memory in memories}
    seen = by_title["Tide table read in UTC"]
    assert seen.text == "The reader took it as local time.\n\n- The table is in UTC"
    assert (seen.topics, seen.metadata["files_read"]) == (("bugfix", "gotcha"), ["tide.py"])
    assert "Learned: The table is in UTC" in by_title["Fix the tide table"].text
    assert (by_title[""].text, by_title[""].role) == ("Fix the tide table", "user")


def test_chroma_is_read_without_chroma(samples, words_only):
    """Values keep their types, drawers of MemPalace their wing and room; a vector alone is left out."""
    done = words_only.import_from("chroma", samples["chroma"].parent)

    memories = stored(words_only)
    drawer, plain = memories["Gulls nest on the cliff"], memories["The tide is low at noon"]
    assert (drawer.topics, drawer.source) == (("mempalace_drawers", "birds", "cliff"), "birds.md")
    assert drawer.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    kept = {key: plain.metadata[key] for key in ("n", "f", "ok", "tags")}
    assert kept == {"n": 0, "f": 1.5, "ok": False, "tags": ["t1", "t2"]}
    assert plain.metadata["ok"] is False
    assert list(done.files[0].left_out.values()) == [1]


def test_a_folder_of_notes_is_ingested(tmp_path, words_only):
    """Links lead to other notes, by their title or, in Basic Memory, by their permalink."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Acme.md").write_text(
        "---\ntitle: Acme\npermalink: firms/acme-inc\n---\n\nA firm.\n"
    )
    (folder / "Alice.md").write_text("# Alice\n\n- works_at [[firms/acme-inc]]\n")

    rehearsed = words_only.import_from("basic-memory", folder, dry_run=True)
    assert (rehearsed.added, words_only.status().memories) == (2, 0)
    assert words_only.import_from("basic-memory", folder).added == 2
    assert words_only.import_from("basic-memory", folder).unchanged == 2
    by_title = {memory.title: memory for memory in words_only.ls()}
    assert [link.to for link in with_links(words_only, by_title["Alice"])] == [by_title["Acme"].id]


def test_what_was_edited_here_stays_until_the_source_changes(samples, words_only):
    words_only.import_from("mem0", samples["mem0"])
    id_ = "0b1c2d3e-0000-4000-8000-000000000001"
    words_only.update(id_, topics=["mine"])
    assert words_only.import_from("mem0", samples["mem0"]).changed == 0
    assert words_only.get(id_).topics == ("mine",)

    text = samples["mem0"].read_text().replace("to planes", "to cars")
    samples["mem0"].write_text(text)
    assert words_only.import_from("mem0", samples["mem0"]).changed == 1
    assert words_only.get(id_).text == "Prefers trains to cars"


def test_a_resumed_session_that_repeats_lines_is_stored_once(tmp_path, words_only):
    lines(tmp_path / "a.jsonl", CLAUDE_CODE)
    lines(tmp_path / "b.jsonl", CLAUDE_CODE)

    rehearsed = words_only.import_from("claude-code", tmp_path, dry_run=True)
    done = words_only.import_from("claude-code", tmp_path)

    assert (done.added, done.failed, words_only.status().memories) == (3, (), 3)
    assert done == rehearsed


def test_an_export_for_mem0_comes_back_with_its_ids(samples, words_only, tmp_path):
    """A second export replaces the first; a file of another form is kept."""
    words_only.import_from("mem0", samples["mem0"])
    out = tmp_path / "out.json"
    words_only.export_mem0(out)
    words_only.export_mem0(out)

    results = json.loads(out.read_text())["results"]
    by_id = {one["id"]: one for one in results}
    train = by_id["0b1c2d3e-0000-4000-8000-000000000001"]
    assert (train["memory"], train["user_id"], train["run_id"]) == (
        *("Prefers trains to planes", "alice"),
        "trip-1",
    )
    assert words_only.import_from("mem0", out, dry_run=True).failed == ()
    other = tmp_path / "other.json"
    other.write_text("[]")
    with pytest.raises(Exception, match="force"):
        words_only.export_mem0(other)


def test_an_empty_export_for_mem0_is_json(words_only, tmp_path):
    words_only.export_mem0(tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == {"results": []}
