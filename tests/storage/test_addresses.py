"""URLs of servers: read, refused, and never shown with a password."""

from __future__ import annotations

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.storage.addresses import FALKORDB, POSTGRES, QDRANT, address
from scrubjay.storage.server_urls import NO_SERVERS, servers_of, tenant_named, tenants_file


def test_all_parts_of_a_url_are_read():
    read = address("postgres://me:s%40fe@db.example:5433/notes?sslmode=require", POSTGRES, "db")
    assert read[1:] == (
        "db.example", 5433, "notes", "me", "s@fe", False, 2.0, (("sslmode", "require"),),
    )  # fmt: skip


def test_what_is_left_out_has_its_usual_value():
    read = address("qdrant://host", QDRANT, "vectors")
    assert (read.port, read.name, read.tls, read.password) == (6333, "scrubjay", False, "")
    assert address("falkordbs://[::1]", FALKORDB, "graph").tls
    assert address("falkordb://h/g?timeout_s=0.5", FALKORDB, "graph").timeout_s == 0.5


def test_the_password_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    """One in the URL wins."""
    monkeypatch.setenv("SCRUBJAY_QDRANT_API_KEY", "hidden")
    assert address("qdrant://h", QDRANT, "vectors").password == "hidden"
    assert address("qdrant://:said@h", QDRANT, "vectors").password == "said"


@pytest.mark.parametrize("url", ["postgres://me:secret@h/db", "postgres://:secret@h/db?x=secret"])
def test_a_password_is_never_shown(url):
    read = address(url, POSTGRES, "db")
    assert "secret" not in f"{read} {read!r} {read.shown}"


@pytest.mark.parametrize(
    ("url", "kind", "says"),
    [
        ("http://h:6333", QDRANT, "vectors is http, which is no Qdrant URL; write qdrant://host"),
        ("localhost:6333", QDRANT, "is 'localhost:6333', which is no Qdrant URL"),
        ("qdrant://:secret@h:99999/c", QDRANT, "wrong port"),
        ("qdrant://:secret@", QDRANT, "names no host"),
        ("falkordb://:secret@[::1/g", FALKORDB, "wrong host"),
        ("qdrant://h/a/b", QDRANT, "more than one name"),
        ("qdrant://h/a?color=red", QDRANT, "takes no option 'color'"),
        ("qdrant://h/a?timeout_s=never", QDRANT, "give seconds above 0"),
        ("qdrant://h/a?timeout_s=-1", QDRANT, "give seconds above 0"),
    ],
)
def test_a_wrong_url_is_refused_with_what_would_be_right(url, kind, says):
    with pytest.raises(InvalidInput) as refused:
        address(url, kind, "vectors")
    assert says in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_store_without_servers_has_none():
    assert servers_of(None, None) is NO_SERVERS
    assert servers_of("qdrant://h", None).graph is None


@pytest.mark.parametrize(
    "name", ["", "Acme", "a/b", "..", "a.b", "-a", "a-", "é", "a" * 41, "a b"]
)
def test_a_tenant_has_a_name_that_cannot_lead_elsewhere(name):
    with pytest.raises(InvalidInput, match="such as acme"):
        tenant_named(name)


def test_a_tenant_has_a_file_beside_the_others():
    assert tenants_file("x/notes.db", "acme") == "x/notes.acme.db"
    assert tenants_file("x/notes", "acme") == "x/notes.acme"
    assert tenants_file("x/notes.db", None) == "x/notes.db"
