"""The JSON of every command is what its committed schema says, no more and no less."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

from scrubjay.surfaces import schemas
from scrubjay.surfaces.cli.parser import COMMANDS

SCHEMAS = schemas.load()
REGISTRY: Registry = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)

# One line for each thing that a command can print. `{docs}` is a folder with two files.
OUTPUTS = [
    ("added", ["add", "A new thing", "--title", "T", "--topic", "x"]),
    ("added", ["remember", "Another thing", "--no-embed"]),
    ("added", ["update", "kettle", "--severity", "warning", "--no-embed"]),
    ("error", ["update", "nothing-there", "--title", "x"]),
    ("said", ["say", "Good morning", "--session", "monday"]),
    ("said", ["say", "Later", "--session", "monday", "--at", "9999-01-01", "--no-embed"]),
    ("error", ["say", "Good morning"]),
    ("verified", ["verify"]),
    ("sessions", ["sessions"]),
    ("sessions", ["sessions", "--owner", "nobody"]),
    ("ingested", ["add", "{docs}"]),
    ("ingested", ["ingest", "{docs}"]),
    ("ingested", ["ingest"]),
    ("results", ["search", "kettle"]),
    ("results", ["search", "kettle", "--include-expired"]),
    ("results", ["search", "kettle", "--explain"]),
    ("results", ["vsearch", "kettle", "--explain"]),
    ("results", ["query", "kettle", "--explain"]),
    ("results", ["query", "kettle", "--thorough"]),
    ("results", ["query", "kettle", "--profile", "gno", "--thorough", "--explain"]),
    ("results", ["query", "kettle", "--no-expand", "--no-rerank"]),
    ("results", ["search", "zeppelin"]),
    ("results", ["query", "kettle", "--profile", "gnosis", "--explain"]),
    ("compact", ["query", "kettle", "--profile", "gnosis", "--compact"]),
    ("compact", ["search", "zeppelin", "--compact"]),
    ("results", ["search", "--explain", "--", "?!"]),
    ("memories", ["get", "kettle", "nothing-there"]),
    ("memories", ["get", "done-thing"]),
    ("memories", ["ls"]),
    ("memories", ["ls", "--type", "none"]),
    ("coverage", ["ls", "--coverage"]),
    ("coverage", ["ls", "--coverage", "--collection", "none"]),
    ("collections", ["collections"]),
    ("collections", ["collections", "rename", "docs", "wiki"]),
    ("collections", ["collections", "remove", "docs"]),
    ("collections", ["collections", "remove", "docs", "--yes"]),
    ("collections", ["collections", "create", "team"]),
    ("members", ["collections", "members", "crew"]),
    ("members", ["share", "crew", "ann", "--role", "writer"]),
    ("members", ["unshare", "crew", "ben"]),
    ("published", ["publish", "kettle", "crew"]),
    ("published", ["unpublish", "teapot", "crew"]),
    ("error", ["share", "nowhere", "ann"]),
    ("topics", ["topics"]),
    ("topics", ["topics", "list", "--namespace", "none"]),
    ("topics", ["topics", "rename", "kitchen", "cooking"]),
    ("landscape", ["landscape"]),
    ("landscape", ["landscape", "--tokens", "50"]),
    ("landscape", ["landscape", "--namespace", "none"]),
    ("context", ["landscape", "kettle"]),
    ("context", ["landscape", "--namespace", "none", "zeppelin"]),
    ("error", ["landscape", "--tokens", "49", "kettle"]),
    ("marked", ["done", "kettle", "nothing-there"]),
    ("marked", ["undone", "kettle"]),
    ("history", ["history", "kettle"]),
    ("history", ["history", "done-thing"]),
    ("memories", ["get", "done-thing"]),
    ("added", ["undo", "done-thing"]),
    ("error", ["undo", "kettle"]),
    ("error", ["history", "nothing-there"]),
    ("extracted", ["extract"]),
    ("extracted", ["extract", "--retry"]),
    ("error", ["extract", "--session", "nope"]),
    ("error", ["extract"]),
    ("forgotten", ["forget", "--query", "kettle"]),
    ("forgotten", ["forget", "teapot", "nothing-there"]),
    ("memories", ["expiring"]),
    ("memories", ["expiring", "--expired", "--within", "2w"]),
    ("error", ["expiring", "--within", "6m"]),
    ("changes", ["changes"]),
    ("changes", ["changes", "--since", "yesterday"]),
    ("error", ["changes", "--since", "soonish"]),
    ("links", ["unlink", "kettle", "teapot", "--kind", "updates"]),
    ("feedback", ["feedback", "accepted", "kettle", "--query", "what whistles?"]),
    ("feedback", ["feedback", "list"]),
    ("feedback", ["feedback", "undo", "1"]),
    ("feedback", ["feedback", "reset"]),
    ("feedback", ["feedback", "reset", "--yes"]),
    ("feedback", ["feedback", "freeze"]),
    ("feedback", ["feedback", "thaw"]),
    ("error", ["feedback", "accepted", "kettle"]),
    ("error", ["feedback", "undo", "99"]),
    ("weights", ["weights", "--profile", "default"]),
    ("weights", ["weights", "--profile", "gnosis"]),
    ("links", ["link", "kettle", "teapot"]),
    ("links", ["link", "--show", "kettle"]),
    ("links", ["link", "--unlink", "kettle", "teapot"]),
    ("exported", ["export"]),
    ("exported", ["export", "--md", "{docs}/out"]),
    ("exported", ["export", "--md", "{docs}/edited"]),
    ("exported", ["export", "--jsonl", "{docs}/out.jsonl", "--topic", "kitchen"]),
    ("imported", ["import", "{docs}/a.md"]),
    ("imported", ["import", "{docs}", "--dry-run"]),
    ("error", ["import", "{docs}/nowhere"]),
    ("backed_up", ["backup", "{docs}/copy.db"]),
    ("error", ["backup", "{docs}"]),
    ("restored", ["restore", "{docs}/copy.db"]),
    ("restored", ["restore", "{docs}/copy.db", "--to", "{docs}/new.db"]),
    ("error", ["restore", "{docs}/a.md"]),
    ("moved", ["promote", "--to", "{postgres}"]),
    ("moved", ["demote", "--db", "{postgres}", "--to", "{docs}/back.db", "--keep"]),
    ("error", ["demote", "--to", "{docs}/back.db"]),
    ("profiles", ["profiles"]),
    ("profiles", ["profiles", "default", "--set", "rrf.k=30"]),
    ("profiles", ["profiles", "gno:thorough"]),
    ("tiers", ["tiers"]),
    ("results", ["query", "kettle", "--profile", "novamem", "--explain"]),
    ("results", ["query", "kettle", "--profile", "novamem", "--weights", "exact_id"]),
    ("error", ["query", "kettle", "--profile", "novamem", "--weights", "keyword=-1"]),
    ("hits", ["hits"]),
    ("file", ["files", "create", "/memories/new.md", "x"]),
    ("file", ["files", "replace", "/memories/a.md", "whistles", "sings"]),
    ("file_view", ["files"]),
    ("history", ["files", "history", "/memories/a.md"]),
    ("results", ["files", "search", "kettle"]),
    ("files_changed", ["files", "rename", "/memories/a.md", "/memories/b.md"]),
    ("files_changed", ["files", "delete", "/memories/a.md"]),
    ("error", ["files", "view", "/etc"]),
    ("agents", ["connect", "--list"]),
    ("connected", ["connect", "cursor"]),
    ("connected", ["connect", "cursor", "--dry-run"]),
    ("error", ["connect", "--undo"]),
    ("reindexed", ["reindex"]),
    ("reindexed", ["reindex", "vectors"]),
    ("error", ["reindex", "graph", "--drop"]),
    ("status", ["status"]),
    ("doctor", ["doctor"]),
    ("eval", ["eval", "{docs}/questions.jsonl", "--profile", "default", "--profile", "gno"]),
    ("error", ["eval", "{docs}/nowhere"]),
    ("models", ["models"]),
    ("embedded", ["embed"]),
    ("error", ["embed", "--db", "{docs}/nowhere.db"]),
    ("pruned", ["models", "prune"]),
    ("tokens", ["token", "create", "ci", "--scope", "write", "--user", "ann", "--expires", "90d"]),
    ("tokens", ["token", "create", "ci", "--tenant", "acme"]),
    ("tokens", ["key", "create", "ci"]),
    ("tokens", ["token", "list"]),
    ("tokens", ["token", "revoke", "laptop"]),
    ("error", ["token", "revoke", "nothing-there"]),
    ("error", ["token", "create", "ci", "--scope", "everything"]),
    ("demo", ["demo"]),
    ("error", ["serve", "--port", "none"]),
    ("error", ["signin", "http://127.0.0.1:9"]),
    ("error", ["search"]),
    ("error", ["query", "x", "--profile", "nope"]),
    ("error", ["link", "nothing-there", "kettle"]),
    ("error", ["collections", "remove", "nothing-there"]),
    ("error", ["search", "kettle", "--files"]),
    ("error", ["landscape", "--tokens", "49"]),
]


# What servers answer and no command prints is checked in verbs/.
BY_VERB_ONLY = {"added_many", "graph", "map", "pending", "servers"}

FORMATS = jsonschema.FormatChecker(formats=())


@FORMATS.checks("date-time", raises=ValueError)
def is_a_moment_with_its_zone(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(
        SCHEMAS[name], registry=REGISTRY, format_checker=FORMATS
    )


@pytest.fixture
def docs(tmp_path: Path) -> str:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Kettles\n\nA kettle whistles.\n", encoding="utf-8")
    asked = '{"query": "what whistles?", "expect": ["kettle", "a.md", "nothing-there"]}'
    (folder / "questions.jsonl").write_text(asked, encoding="utf-8")
    (folder / "b.md").write_bytes(b"\x80\x81\x82 no text")
    return str(folder)


@pytest.mark.parametrize(("name", "words"), OUTPUTS, ids=[" ".join(words) for _, words in OUTPUTS])
def test_the_output_of_each_command_fits_its_schema(
    shell, home, docs, monkeypatch, request, name, words
):
    """Whatever the exit code is, one document is printed, and it is the one described."""
    postgres = request.getfixturevalue("postgres_url") if "{postgres}" in words else ""
    words = [word.format(docs=docs, postgres=postgres) for word in words]
    if name == "extracted":
        monkeypatch.setenv("SCRUBJAY_GENERATOR", "http://localhost:1/v1#nobody")
    shell("add", "The kettle whistles", "--id", "kettle", "--topic", "kitchen")
    shell("add", "The teapot is cracked", "--id", "teapot")
    shell("ingest", docs)
    shell("say", "Is the kettle on?", "--session", "tea", "--owner", "ann")
    if "done-thing" in words:
        shell("add", "Sweep", "--id", "done-thing", "--type", "task")
        shell("done", "done-thing")
    if "crew" in words:
        shell("collections", "create", "crew")
        shell("share", "crew", "ben")
        shell("publish", "teapot", "crew")
    if words[0] == "demote" and postgres:
        shell("promote", "--to", postgres)
    if name == "restored":
        shell("backup", f"{docs}/copy.db")
    if f"{docs}/edited" in words:
        shell("export", "--md", f"{docs}/edited")
        with open(f"{docs}/edited/kettle.md", "a", encoding="utf-8") as opened:
            opened.write("By hand.")
    if name == "feedback":
        shell("feedback", "modified", "teapot", "--query", "cracks")
    if name == "hits":
        shell("query", "kettle", "--profile", "novamem")
    if words[0] == "files":
        shell("files", "create", "/memories/a.md", "The kettle whistles")
    if words[0] == "connect":
        (home / ".cursor").mkdir()
    if words[0] in ("key", "token"):
        shell("token", "create", "laptop")
    if name == "links" and "--show" in words:
        shell("link", "kettle", "teapot")
    printed = shell(words[0], "--json", *words[1:])
    validator(name).validate(printed.json)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_valid_and_closed(name):
    """A field that nobody described cannot slip in."""
    schema = SCHEMAS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["items" if schema["type"] == "array" else "additionalProperties"] is False
    with pytest.raises(jsonschema.ValidationError):
        validator(name).validate({"surprise": 1})


def test_every_command_and_every_schema_is_covered():
    """A new command comes with its schema, and a schema with a command."""
    # `mcp` prints the messages of its protocol alone.
    assert {words[0] for _, words in OUTPUTS} | {"mcp"} == set(COMMANDS)
    # What `models calibrate` prints is checked where there is a reranker: in test_models.py.
    # What `serve` prints is checked where one is served: in http/test_processes.py.
    # What `/v1/figures` answers is checked in http/test_figures.py.
    elsewhere = {
        "memory",
        "passage",
        "version",
        "calibrate",
        "model_change",
        "serving",
        "login_link",
        "figures",
    } | BY_VERB_ONLY
    assert {name for name, _ in OUTPUTS} | elsewhere == set(SCHEMAS)
