"""Connections to Postgres are kept, and asked no more than needed whether they still answer."""

from __future__ import annotations

from psycopg_pool import ConnectionPool

import scrubjay
from scrubjay.stores import postgres_login as connections


def test_a_server_that_was_started_anew_is_used_at_once(postgres, postgres_url, monkeypatch):
    """However short it was away: its old connections have hung up, and are not lent."""
    monkeypatch.setattr(connections, "_CHECK_AFTER_S", 60.0)
    with scrubjay.open(postgres_url, embedder=False) as store:
        store.add("the kettle boils")
        assert len(store.search("kettle")) == 1
        postgres.stop()
        postgres.start()
        assert [len(store.search("kettle")) for _ in range(3)] == [1, 1, 1]


def test_a_connection_that_just_answered_is_not_asked_whether_it_does(postgres_url, monkeypatch):
    """One look at the server for each look at the connection made searches half as slow again."""
    monkeypatch.setattr(connections, "_CHECK_AFTER_S", 60.0)  # a busy machine may rest in between
    checked = []
    check = ConnectionPool.check_connection
    monkeypatch.setattr(
        ConnectionPool, "check_connection", lambda one: (checked.append(one), check(one))
    )
    with scrubjay.open(postgres_url, embedder=False) as store:
        with store._db.read() as db:
            db.execute("SELECT 1")
        checked.clear()
        with store._db.read() as db:
            db.execute("SELECT 1")
        assert not checked


def test_what_was_acknowledged_outlives_a_killed_server(postgres, postgres_url):
    """Even where the server was set to answer before it writes: our connections ask for more."""
    with scrubjay.open(postgres_url, embedder=False) as store:
        with store._db.read() as db:
            assert db.execute("SHOW synchronous_commit").fetchone()[0] == "on"
        for n in range(20):
            store.add(f"fact number {n}", id=f"f{n}")
        postgres.kill()
        postgres.start()
        assert len(store.get_many([f"f{n}" for n in range(20)])) == 20
