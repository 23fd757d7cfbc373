"""`close` closes everything that it can, and then raises the first error."""

from __future__ import annotations

import sqlite3
import threading
from operator import attrgetter
from pathlib import Path

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.errors import StoreError
from scrubjay.storage.sqlite.connection import SqliteDatabase


def threads_of_a_store() -> list[str]:
    return [
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith(("scrubjay-embed", "scrubjay-watch", "scrubjay-replicas"))
    ]


@pytest.fixture
def store(tmp_path: Path, embedder: HashingEmbedder) -> scrubjay.Store:
    """A store with everything in it that works in the background, and a second tier."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "kettle.md").write_text("# Kettle\n\nIt boils.")
    scrubjay.open(tmp_path / "team.db", embedder=False).close()
    made = scrubjay.open(
        tmp_path / "a.db", embedder=embedder, tiers={"team": str(tmp_path / "team.db")}
    )
    made.add("The kettle is red")
    made.ingest(notes, watch=True)
    made.count_every_search()
    made.search("kettle", profile="vault")
    return made


PARTS = ("folders.stop", "embedding.settle", "hit_counts.stop", "tiers.close")


@pytest.mark.parametrize("part", [*PARTS, "db._purge.finish"])
def test_the_rest_is_closed_when_one_part_fails(
    part: str, store: scrubjay.Store, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise StoreError(f"{part} failed")

    owner, _, method = part.rpartition(".")
    context = store._context
    monkeypatch.setattr(attrgetter(owner)(context), method, fail)
    assert isinstance(context.db, SqliteDatabase)
    connections = [one.sqlite for one in context.db._connections]
    tier = next(file for file in context.tiers._files if not file.tier.own)
    assert connections
    with pytest.raises(StoreError, match=f"{part} failed"):
        store.close()
    assert context.db.closed
    for connection in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    monkeypatch.undo()
    if part == "folders.stop":
        context.folders.stop()
    if part != "tiers.close":
        assert tier._closed
    assert threads_of_a_store() == []
    store.close()  # a second time is fine


def test_all_that_fails_is_named(store: scrubjay.Store, monkeypatch: pytest.MonkeyPatch):
    def failing(part: str) -> object:
        def fail(*_: object) -> None:
            raise StoreError(f"{part} failed")

        return fail

    stop = store._context.folders.stop
    for part in PARTS:
        owner, _, method = part.partition(".")
        monkeypatch.setattr(getattr(store._context, owner), method, failing(part))
    with pytest.raises(StoreError, match=f"{PARTS[0]} failed") as caught:
        store.close()
    assert [part for part in PARTS[1:] for n in caught.value.__notes__ if part in n] == [
        *PARTS[1:]
    ]
    stop()


def test_an_error_in_the_last_vectors_does_not_hide_the_error_of_the_caller(
    store: scrubjay.Store, monkeypatch: pytest.MonkeyPatch
):
    def fail() -> None:
        raise StoreError("disk")

    monkeypatch.setattr(store._context.embedding, "settle", fail)
    with pytest.raises(StoreError, match="disk") as caught, store:
        raise KeyError("mine")
    assert isinstance(caught.value.__context__, KeyError)
    assert store._context.db.closed
