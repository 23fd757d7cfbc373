"""Connections to Postgres are kept, and asked no more than needed whether they still answer."""

from __future__ import annotations

import threading
import time

import pytest
from psycopg_pool import ConnectionPool

import scrubjay
from scrubjay.storage.postgres import login as connections
from scrubjay.storage.postgres import watchdog as postgres_watched


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
        with store._context.db.read() as db:
            db.execute("SELECT 1")
        checked.clear()
        with store._context.db.read() as db:
            db.execute("SELECT 1")
        assert not checked


def test_what_was_acknowledged_outlives_a_killed_server(postgres, postgres_url):
    """Even where the server was set to answer before it writes: our connections ask for more."""
    with scrubjay.open(postgres_url, embedder=False) as store:
        with store._context.db.read() as db:
            assert db.execute("SHOW synchronous_commit").fetchone()[0] == "on"
        for n in range(20):
            store.add(f"fact number {n}", id=f"f{n}")
        postgres.kill()
        postgres.start()
        assert len(store.get_many([f"f{n}" for n in range(20)])) == 20


@pytest.mark.parametrize("writes", [False, True])
def test_a_server_that_hangs_is_not_waited_for_without_end(
    postgres, postgres_url, monkeypatch, writes
):
    """Whoever waits asks whether it is there; once it goes on, it is used as before."""
    monkeypatch.setattr(connections, "_CHECK_AFTER_S", 60.0)
    monkeypatch.setattr(postgres_watched, "QUIET_S", 0.3)
    monkeypatch.setattr(postgres_watched, "ANSWER_S", 0.3)
    said = []

    def use(store):
        try:
            store.add("another kettle") if writes else store.search("kettle")
        except scrubjay.StoreError as error:
            said.append(str(error))

    with scrubjay.open(postgres_url, embedder=False) as store:
        store.add("the kettle boils")
        store.search("kettle")
        postgres.pause()
        try:
            using = [threading.Thread(target=use, args=(store,)) for _ in range(2)]
            for one in using:
                one.start()
            for one in using:
                one.join(60)
            assert not any(one.is_alive() for one in using)
        finally:
            postgres.resume()
        assert len(said) == 2
        assert all("does not answer" in one for one in said)
        assert any("no data for" in one for one in said)
        store.add("a third kettle")
        assert len(store.search("kettle")) == 2


def test_a_statement_that_takes_long_is_waited_for(postgres_url, monkeypatch):
    """While the server answers others."""
    monkeypatch.setattr(postgres_watched, "QUIET_S", 0.2)
    asked = []
    there = postgres_watched.WatchedConnection._is_alive
    monkeypatch.setattr(
        postgres_watched.WatchedConnection,
        "_is_alive",
        lambda self: asked.append(there(self)) or asked[-1],
    )
    with scrubjay.open(postgres_url, embedder=False) as store, store._context.db.read() as db:
        begun = time.monotonic()
        assert db.execute("SELECT 5 FROM pg_sleep(1.5)").fetchone()[0] == 5
        assert time.monotonic() - begun > 1.4
    assert asked
    assert all(asked)
