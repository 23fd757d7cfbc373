"""URLs of servers: read, refused, and never shown with a password."""

from __future__ import annotations

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.text.urls import (
    FALKORDB,
    NO_REPLICAS,
    POSTGRES,
    QDRANT,
    check_tenant,
    parse_replica_urls,
    parse_server_url,
    tenant_file,
)


def test_all_parts_of_a_url_are_read():
    read = parse_server_url(
        "postgres://me:s%40fe@db.example:5433/notes?sslmode=require", POSTGRES, "db"
    )
    assert read[1:] == (
        "db.example", 5433, "notes", "me", "s@fe", False, 2.0, (("sslmode", "require"),),
    )  # fmt: skip


def test_what_is_left_out_has_its_usual_value():
    read = parse_server_url("qdrant://host", QDRANT, "vectors")
    assert (read.port, read.name, read.tls, read.password) == (6333, "scrubjay", False, "")
    assert parse_server_url("falkordbs://[::1]", FALKORDB, "graph").tls
    assert parse_server_url("falkordb://h/g?timeout_s=0.5", FALKORDB, "graph").timeout_s == 0.5


def test_the_password_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    """One in the URL wins."""
    monkeypatch.setenv("SCRUBJAY_QDRANT_API_KEY", "hidden")
    assert parse_server_url("qdrant://h", QDRANT, "vectors").password == "hidden"
    assert parse_server_url("qdrant://:said@h", QDRANT, "vectors").password == "said"


@pytest.mark.parametrize("url", ["postgres://me:secret@h/db", "postgres://:secret@h/db?x=secret"])
def test_a_password_is_never_shown(url):
    read = parse_server_url(url, POSTGRES, "db")
    assert "secret" not in f"{read} {read!r} {read.shown}"


@pytest.mark.parametrize(
    ("url", "kind", "says"),
    [
        ("http://h:6333", QDRANT, "vectors is http, not a Qdrant URL"),
        ("localhost:6333", QDRANT, "'localhost:6333'"),
        ("qdrant://:secret@h:99999/c", QDRANT, "port"),
        ("qdrant://:secret@", QDRANT, "host"),
        ("falkordb://:secret@[::1/g", FALKORDB, "host"),
        ("qdrant://h/a/b", QDRANT, "more than one name"),
        ("qdrant://h/a?color=red", QDRANT, "option 'color'"),
        ("qdrant://h/a?timeout_s=never", QDRANT, "timeout_s"),
        ("qdrant://h/a?timeout_s=-1", QDRANT, "timeout_s"),
    ],
)
def test_a_wrong_url_is_refused_with_what_would_be_right(url, kind, says):
    with pytest.raises(InvalidInput) as refused:
        parse_server_url(url, kind, "vectors")
    assert says in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_store_without_servers_has_none():
    assert parse_replica_urls(None, None) is NO_REPLICAS
    assert parse_replica_urls("qdrant://h", None).graph is None


@pytest.mark.parametrize(
    "name", ["", "Acme", "a/b", "..", "a.b", "-a", "a-", "é", "a" * 41, "a b"]
)
def test_a_tenant_has_a_name_that_cannot_lead_elsewhere(name):
    with pytest.raises(InvalidInput, match="tenant"):
        check_tenant(name)


def test_a_tenant_has_a_file_beside_the_others():
    assert tenant_file("x/notes.db", "acme") == "x/notes.acme.db"
    assert tenant_file("x/notes", "acme") == "x/notes.acme"
    assert tenant_file("x/notes.db", None) == "x/notes.db"
