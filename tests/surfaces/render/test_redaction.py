"""What those who do not run a server are told of it."""

from __future__ import annotations

import os

import pytest

import scrubjay
from scrubjay.errors import InvalidInput, NotFound, StoreError, Unavailable
from scrubjay.surfaces.mcp import prompts, resources
from scrubjay.surfaces.mcp.toolsets import tools_of
from scrubjay.surfaces.render.json import line
from scrubjay.surfaces.render.redaction import NEEDS_ADMIN, SEE_LOG, error_message, redact
from scrubjay.surfaces.verbs import ADMIN
from scrubjay.surfaces.verbs.table import VERBS, ask

STATUS = {
    "path": "postgres://ann@db.internal/notes",
    "memories": 3,
    "failures": ["http://10.0.0.5:8080 does not answer"],
    "extraction": {"failures": {"10.0.0.5 is gone": 2, "so is 10.0.0.6": 1}},
    "servers": [
        {
            "tier": "vectors",
            "place": "qdrant://10.0.0.7:6333/notes",
            "behind": 1,
            "reason": "gone",
        },
        {"tier": "graph", "place": "falkordb://10.0.0.8:6379/g", "behind": 0, "reason": ""},
    ],
}


def test_of_servers_their_kind_is_told_and_that_there_is_a_reason():
    """And nothing of what was given is changed."""
    told = redact(STATUS, "status", is_admin=False)

    assert told["path"] == "postgres"
    assert [one["place"] for one in told["servers"]] == ["qdrant", "falkordb"]
    assert [one["reason"] for one in told["servers"]] == [NEEDS_ADMIN, ""]
    assert told["failures"] == [NEEDS_ADMIN]
    assert told["extraction"]["failures"] == {NEEDS_ADMIN: 3}
    assert told["memories"] == 3
    assert not any(one in repr(told) for one in ("10.0.0", "internal", "ann"))
    assert redact(STATUS, "status", is_admin=True) is STATUS
    assert STATUS["path"] == "postgres://ann@db.internal/notes"


def test_what_is_stored_is_not_touched():
    """A memory may have a place, and a reason; only answers about the store itself are looked at."""
    memory = {"memories": [{"metadata": {"path": "attic/box", "reason": "because"}}]}
    assert redact(memory, "memories", is_admin=False) == memory


def test_an_error_says_what_was_wrong_with_the_question_to_anybody():
    """What the store says is for those who run it."""
    for error in (InvalidInput("give a number"), NotFound("there is no x")):
        assert error_message(error, is_admin=False) == str(error)
    for error in (StoreError("/var/a.db is gone"), Unavailable("10.0.0.5 is gone")):
        assert error_message(error, is_admin=True) == str(error)
        assert (
            error_message(error, is_admin=False)
            == f"the store cannot be read or written now; {SEE_LOG}"
        )


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """A store with an ingested folder, a file that failed, a tier that is broken, and its place."""
    place = tmp_path / "secret place"
    notes = place / "notes"
    (notes / "sub").mkdir(parents=True)
    (notes / "a.md").write_text("# Kettle\nThe kettle whistles at eight.\n", "utf-8")
    (notes / "sub" / "b.md").write_text("# Tea\nThe kettle is for tea.\n", "utf-8")
    (notes / "bad.pdf").write_bytes(b"%PDF-nonsense")
    (place / "single.md").write_text("# Single\nOne kettle.\n", "utf-8")
    scrubjay.open(place / "team.db", embedder=False).close()
    monkeypatch.setenv("SCRUBJAY_HOME", str(place / "home"))
    with scrubjay.open(place / "s.db", embedder=False) as store:
        store.ingest(notes, collection="notes")
        store.ingest(place / "single.md")
        store.add("A kettle of elsewhere", id="x", source=str(place / "else" / "x.md"))
        store.connect(place / "team.db", name="handbook")
        yield store, str(place)


@pytest.mark.parametrize("broken", [False, True])
def test_no_answer_names_a_folder_of_the_server(filled, broken):
    """Each verb that a caller without admin may call; sources start at the ingested folder."""
    store, place = filled
    if broken:
        with open(f"{place}/team.db", "wb") as file:
            file.write(b"broken" * 1000)
    ids = [memory.id for memory in store.ls()]
    given = {
        "search": {"query": "kettle", "explain": True},
        "context": {"question": "kettle"},
        "get_many": {"ids": ids},
        "feedback": {"query": "kettle", "id": "x", "action": "accepted"},
    }
    for name in ("get", "neighbors", "history", "around", "surroundings"):
        given[name] = {"id": "x"}
    asked = 0
    for name, verb in VERBS.items():
        if verb.scope == ADMIN:
            continue
        try:
            answer = ask(store, verb, given.get(name, {}))
        except scrubjay.ScrubjayError as error:
            shown = error_message(error, is_admin=False)
        else:
            shown = line(redact(answer, verb.answer, is_admin=False, store=store))
            asked += 1
        assert place not in shown, name
    assert asked >= 20

    def redacted(verb, **words):
        answer = ask(store, VERBS[verb], words)
        return redact(answer, VERBS[verb].answer, is_admin=False, store=store)

    hits = redacted("search", query="kettle")["hits"]
    sources = {os.path.join("notes", "a.md"), os.path.join("notes", "sub", "b.md"), "single.md"}
    assert {hit["source"] for hit in hits} == sources | {"x.md"}
    (failed,) = [file for file in redacted("coverage")["files"] if file["state"] == "failed"]
    assert failed["path"] == os.path.join("notes", "bad.pdf")
    folders = [found["folders"] for found in redacted("collections")["collections"]]
    assert ["notes"] in folders


def test_tools_resources_and_prompts_show_no_path_either(filled):
    store, place = filled
    document = next(memory.id for memory in store.ls() if memory.source.endswith("a.md"))
    for tool in tools_of("full"):
        words = {"memory_search": {"query": "kettle"}, "search": {"query": "kettle"}}
        words |= {"memory_get": {"id": document}, "fetch": {"id": document}}
        if (
            tool.name == "memory_map"
            or not tool.hints.reads
            or (tool.input_schema().get("required") and tool.name not in words)
        ):
            continue
        for is_admin in (False, True):
            answer = tool.call(store, words.get(tool.name, {}), is_admin=is_admin)
            if not is_admin:
                assert place not in f"{answer.text} {line(answer.structured)}", tool.name
    fetched = next(tool for tool in tools_of("chatgpt") if tool.name == "fetch")
    answer = fetched.call(store, {"id": document}, is_admin=False)
    assert answer.structured["metadata"]["source"] == os.path.join("notes", "a.md")
    for uri in (f"scrubjay://memory/{document}", "scrubjay://status", "scrubjay://landscape"):
        assert place not in resources.read(store, uri=uri, is_admin=False).text
    assert place in resources.read(store, uri=f"scrubjay://memory/{document}").text
    for name in ("recap", "context"):
        shown = prompts.get_prompt(store, name=name, given={}, is_admin=False)
        assert place not in shown.messages[0].content.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "only /var/lib/a/s.db was searched: profile default",
            "only s.db was searched: profile default",
        ),
        (r"C:\Users\ann\s.db is gone", "s.db is gone"),
        ("see https://example.org/a/b and 1/2 or and/or", None),
        ("/mcp is a path of ours", None),
    ],
)
def test_messages_keep_the_name_of_a_file(text, shown):
    assert redact({"degraded": [text]}, "results", is_admin=False) == {"degraded": [shown or text]}


def test_a_model_in_a_folder_or_on_a_server_is_named_without_its_place():
    status = {
        "model": "/srv/models/mini",
        "reranker": "http://10.0.0.5:8012/v1/rerank#bge",
        "generator": "owner/name",
    }
    told = redact(status, "status", is_admin=False)
    assert told == {"model": "mini", "reranker": "bge", "generator": "owner/name"}


def test_an_error_of_the_settings_does_not_name_their_folder(monkeypatch):
    monkeypatch.setenv("SCRUBJAY_CONFIG", "/etc/secret place/scrubjay.toml")
    error = InvalidInput("/etc/secret place/scrubjay.toml: unknown setting 'x'")
    assert error_message(error, is_admin=False) == "scrubjay.toml: unknown setting 'x'"
    assert "/etc" in error_message(error, is_admin=True)
