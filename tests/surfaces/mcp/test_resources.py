"""What a client reads and asks for by name, beside the tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from scrubjay.search import profiles
from scrubjay.surfaces.callers import Principal
from scrubjay.text import recall_tags as recalled


def read(client, uri: str):
    (one,) = client.read_resource(uri).contents
    return json.loads(one.text) if one.mime_type == "application/json" else one.text


def test_where_the_store_is_is_for_those_who_run_it(connect, store, era):
    """Somebody with a token to write sees the name of the file, and no more of its place."""
    client = connect("full", who=Principal("ann", ("write",)), era=era)
    name = Path(store.path).name
    assert read(client, "scrubjay://status")["path"] == name
    assert client.call("memory_status")["path"] == name
    assert client.call("memory_tiers")["tiers"][0]["path"] == name
    assert store.path not in client.told("memory_status") + client.told("memory_tiers")
    assert connect("full", era=era).call("memory_tiers")["tiers"][0]["path"] == store.path


def test_the_status_the_landscape_and_the_profiles_can_be_read(connect, store, era):
    """Without a tool, so that a client can put them before a model."""
    client = connect(era=era)
    store.add("Ann prefers tea", id="tea", type="preference")
    listed = [one.uri for one in client.list_resources().resources]
    assert listed == ["scrubjay://status", "scrubjay://landscape", "scrubjay://profiles"]
    assert read(client, "scrubjay://status")["memories"] == 1
    assert "Ann prefers tea" in read(client, "scrubjay://landscape")
    assert read(client, "scrubjay://status")["path"] == store.path
    known = [one["name"] for one in read(client, "scrubjay://profiles")["profiles"]]
    assert known == list(profiles.names())


def test_a_memory_and_a_profile_have_addresses(asked, store):
    """A hit carries the address of its memory, whatever its id is."""
    store.add("two\nlines", id="a/b c")
    (hit,) = asked.call("memory_search", query="lines")["hits"]
    text = read(asked, hit["uri"])
    assert "two\nlines" in text
    assert "lines" not in recalled.without_recalled(text)
    templates = [one.uri_template for one in asked.list_resource_templates().resource_templates]
    assert templates == ["scrubjay://memory/{id}", "scrubjay://profile/{name}"]
    gno = read(asked, "scrubjay://profile/gno")
    assert gno["stages"] == [str(part) for part in profiles.get("gno").stages]


@pytest.mark.parametrize(
    "uri",
    [
        "scrubjay://nothing",
        "scrubjay://memory/nobody",
        "scrubjay://memory/",
        "scrubjay://memory/../status",
        "scrubjay://profile/nope",
        "scrubjay://status/x",
        "file:///etc/hosts",
        "x",
    ],
)
def test_what_is_not_there_cannot_be_read(asked, uri):
    """And nothing of the machine can."""
    with pytest.raises(MCPError, match=r"no (resource|memory|profile)"):
        asked.read_resource(uri)


def test_prompts_bring_what_is_stored(connect, store, era):
    """A person asks for them by name, and they hold the present state."""
    client = connect(era=era)
    store.add("Ann prefers tea", id="tea", type="preference", topics=["drinks"])
    store.add("The boiler is old", id="boiler", topics=["house"])
    listed = {one.name: one for one in client.list_prompts().prompts}
    assert list(listed) == ["context", "remember", "recap"]

    def words(name: str, **given: str) -> str:
        (message,) = client.get_prompt(name, given).messages
        assert message.role == "user"
        return str(message.content.text)

    assert "Ann prefers tea" in words("context")
    assert 'id="boiler"' in words("context", question="how old is the boiler")
    assert "the move" in words("remember", about="the move")
    assert "memory_store" in words("remember")
    recap = words("recap", topic="house")
    assert "The boiler is old" in recap
    assert "Ann" not in recap


def test_a_wrong_prompt_or_argument_is_named(asked):
    """With the right ones."""
    with pytest.raises(MCPError, match="context, remember, recap"):
        asked.get_prompt("contxt", {})
    with pytest.raises(MCPError, match="did you mean 'question'"):
        asked.get_prompt("context", {"qestion": "x"})


def test_the_names_of_profiles_are_completed(asked):
    """For whoever types an address; nothing else is."""
    template = ResourceTemplateReference(type="ref/resource", uri="scrubjay://profile/{name}")
    typed = {"name": "name", "value": "gno:"}
    completed = asked.complete(template, typed).completion.values
    assert completed == [name for name in profiles.names() if name.startswith("gno:")]
    prompt = PromptReference(type="ref/prompt", name="context")
    assert asked.complete(prompt, {"name": "question", "value": "g"}).completion.values == []


def test_what_is_listed_may_be_kept_and_what_is_read_may_not(asked):
    """By this client alone: another may be somebody else."""
    assert asked.list_tools().ttl_ms > 0
    assert asked.list_tools().cache_scope == "private"
    assert asked.read_resource("scrubjay://status").ttl_ms == 0
    assert asked.read_resource("scrubjay://status").cache_scope == "private"
