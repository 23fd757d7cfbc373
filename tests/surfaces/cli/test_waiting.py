"""What a command says of work that waits: for a model, for a server, or for whoever comes next."""

from __future__ import annotations

import pytest

from scrubjay.runtime.command_hints import to_fetch

NOWHERE = "qdrant://:hush@127.0.0.1:1/notes"


@pytest.fixture
def linked(shell, monkeypatch):
    """A shell of which every memory is linked to its nearest."""
    monkeypatch.setenv("SCRUBJAY_PROFILE", "novamem")
    assert shell("add", "The kettle whistles", "--id", "kettle").code == 0
    assert shell("query", "kettle").code == 0
    return shell


def test_a_server_that_is_down_is_what_is_said_to_wait(linked):
    """The vector is made; neither the model nor `models pull` has anything to do with it."""
    added = linked("--vectors", NOWHERE, "add", "The kettle is on the hob", "--id", "hob")

    assert added.code == 0
    assert "found by keyword and by meaning" in added.out
    assert "vectors: qdrant://127.0.0.1:1/notes lacks" in added.err
    assert "cannot be reached" in added.err
    assert "the next command sends them once it answers" in added.err
    assert "when the vector replica" in added.err
    assert "models pull" not in added.err
    assert "pending" not in added.err
    assert "hush" not in added.err
    embedded = linked("--vectors", NOWHERE, "add", "Hobs are hot", "--json").json
    assert (embedded["embedded"], embedded["pending"]) == (True, 0)


def test_the_status_names_what_links_wait_for(linked):
    """A server that does not know the vectors; or nothing, and then there is a command that makes them."""
    linked("--vectors", NOWHERE, "add", "The kettle is on the hob")
    waits = next(
        line
        for line in linked("--vectors", NOWHERE, "status").out.splitlines()
        if line.startswith("unlinked")
    )
    assert "links follow when the vector replica" in waits
    assert "models pull" not in waits


def test_a_password_is_not_in_what_is_to_be_typed(bare_shell, postgres_url):
    """NM-6: the vectors are pending, and the command that makes them can be shown to anybody."""
    secret = postgres_url.replace("postgres@", "postgres:hush@")

    added = bare_shell("--db", secret, "add", "The kettle whistles")

    assert added.code == 0
    assert f"to make them: {to_fetch(postgres_url)}" in added.err
    assert "hush" not in added.err


def test_vectors_of_a_store_in_postgres_are_made_later(shell, postgres_url):
    """`models pull` makes them, as in a file."""
    shell("--db", postgres_url, "add", "The kettle whistles", "--no-embed")
    pulled = shell("--db", postgres_url, "models", "pull", "--json").json
    assert (pulled["made"], pulled["pending"]) == (1, 0)


def test_no_server_is_said_with_none(shell, monkeypatch):
    """As with a reranker: at the shell and in the environment; and a wrong one is refused."""
    monkeypatch.setenv("SCRUBJAY_VECTORS", NOWHERE)
    monkeypatch.setenv("SCRUBJAY_GRAPH", "none")
    added = shell("--vectors", "none", "add", "The kettle whistles")
    assert (added.code, added.err) == (0, "")
    assert shell("--vectors", "none", "status", "--json").json["servers"] == []
    assert "vectors server" not in shell("--vectors", "none", "doctor").out
    assert shell("--vectors", "nothing", "add", "The kettle whistles").code == 2


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("serch", "kettle"), "'serch' (did you mean 'search'?)"),
        (("reindex", "vector"), "'vector' (did you mean 'vectors'?) (choose from"),
    ],
)
def test_a_word_that_is_nearly_right_is_named(shell, words, meant):
    outcome = shell(*words)
    assert outcome.code == 2
    assert meant in outcome.err


def test_one_is_not_many(shell):
    """In counts of the status."""
    shell("add", "The kettle whistles")
    assert "1 (0 documents, 1 chunk)" in shell("status").out
