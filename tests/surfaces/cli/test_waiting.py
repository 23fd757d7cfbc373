"""What a command says of work that waits: for a model, for a server, or for whoever comes next."""

from __future__ import annotations

import pytest

from scrubjay.runtime.command_hints import pending_vectors, to_embed
from scrubjay.store import Store
from scrubjay.surfaces.render.facts import lacks
from scrubjay.types import Results

NOWHERE = "qdrant://:hush@127.0.0.1:1/notes"


@pytest.fixture
def linked(shell, monkeypatch):
    """A shell of which every memory is linked to its nearest."""
    monkeypatch.setenv("SCRUBJAY_PROFILE", "novamem")
    assert shell("add", "The kettle whistles", "--id", "kettle").code == 0
    assert shell("query", "kettle").code == 0
    return shell


def test_a_server_that_is_down_is_what_is_said_to_wait(linked):
    """The vector is made; neither the model nor `embed` has anything to do with it."""
    added = linked("--vectors", NOWHERE, "add", "The kettle is on the hob", "--id", "hob")

    assert added.code == 0
    assert "found by keyword and by meaning" in added.out
    assert "vectors: qdrant://127.0.0.1:1/notes lacks" in added.err
    assert "cannot be reached" in added.err
    assert "the next command sends them once it answers" in added.err
    assert "when the vector replica" in added.err
    assert "scrubjay embed" not in added.err
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
    assert "scrubjay embed" not in waits


def test_after_ctrl_c_every_command_says_the_same_of_pending_vectors(shell, monkeypatch, tmp_path):
    """What makes them by itself, and the command that makes them now, of the store that was named."""
    db = str(tmp_path / "n.db")
    how = pending_vectors(db)
    assert "`add` or `ingest`" in how
    assert how.endswith(f"scrubjay embed --db {db}")
    shell("add", "The kettle whistles", "--db", db)
    with monkeypatch.context() as pressed:
        pressed.setattr(Store, "pending", press_ctrl_c)
        interrupted = shell("add", "The hob is hot", "--db", db)
    left_out = shell("add", "The lid rattles", "--no-embed", "--db", db)

    assert interrupted.code == 130
    assert (
        "interrupted; stored, and found by keyword and by meaning; better vectors are pending"
        in interrupted.err
    )
    doctor = shell("doctor", "--db", db, "--json").json["findings"]
    (pending,) = (one for one in doctor if one["component"] == "vectors")
    assert how in interrupted.err
    assert how in left_out.err
    assert how in " ".join(shell("status", "--db", db).out.split())
    assert how.endswith(pending["fix"])
    # And both ways make them.
    assert shell("add", "The tea is green", "--db", db, "--json").json["pending"] == 0
    shell("add", "The cup is blue", "--no-embed", "--db", db)
    assert shell("embed", "--db", db, "--json").json["passages"] == 1
    shell("add", "The cup is red", "--no-embed", "--db", db)
    assert shell("models", "pull", "--db", db, "--json").json["made"] == 1


def press_ctrl_c(store: Store, wait: bool = True, **_: object) -> int:
    """Count what is pending; interrupted where it would be embedded."""
    if wait:
        raise KeyboardInterrupt
    return 1


def test_a_note_of_a_search_names_the_store_that_was_searched():
    """A tier has its own store in its note already."""
    of_default = f"rerank: 9 passages have no token vectors yet; {pending_vectors()}"
    of_tier = f"tier team: 2 passages have no vector; {pending_vectors('team.db')}"
    found = Results("kettle", "default", degraded=(of_default, of_tier))

    assert lacks(found, None) == [of_default, of_tier]
    assert lacks(found, "n.db") == [f"{of_default} --db n.db", of_tier]


def test_without_a_model_and_a_network_nothing_makes_vectors_by_itself(monkeypatch):
    """The command allows the download for itself."""
    assert (
        pending_vectors(model_is_here=False)
        == f"to make them now: {to_embed(model_is_here=False)}"
    )
    monkeypatch.delenv("SCRUBJAY_OFFLINE")
    assert pending_vectors(model_is_here=False) == pending_vectors()


def test_a_password_is_not_in_what_is_to_be_typed(bare_shell, postgres_url):
    """NM-6: the vectors are pending, and the command that makes them can be shown to anybody."""
    secret = postgres_url.replace("postgres@", "postgres:hush@")

    added = bare_shell("--db", secret, "add", "The kettle whistles")

    assert added.code == 0
    assert f"to make them now: {to_embed(postgres_url, model_is_here=False)}" in added.err
    assert "hush" not in added.err


def test_vectors_of_a_store_in_postgres_are_made_later(shell, postgres_url):
    """`embed` and `models pull` make them, as in a file."""
    shell("--db", postgres_url, "add", "The kettle whistles", "--no-embed")
    done = shell("--db", postgres_url, "embed", "--json").json
    assert (done["passages"], done["memories"], done["pending"]) == (1, 1, 0)
    shell("--db", postgres_url, "add", "The hob is hot", "--no-embed")
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
