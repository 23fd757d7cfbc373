"""Rows of a sealed store that were put back, changed, removed or added by someone without its key."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from clocks import Clock
from sealed_stores import open_sealed

import scrubjay
from scrubjay.errors import StoreError

Tamper = Callable[[sqlite3.Connection], object]


@pytest.fixture
def path(tmp_path) -> Path:
    """A sealed store of two memories."""
    path = tmp_path / "s.db"
    with opened(path) as store:
        store.add("the walrus sings", id="one", topics=["sea"])
        store.add("the walrus sleeps", id="two", topics=["sea"])
    return path


def opened(path: Path, **options) -> scrubjay.Store:
    return open_sealed(path, embedder=False, clock=Clock(), **options)


def tamper(path: Path, how: Tamper) -> None:
    """Change the file as someone does who has no key, and removes what refuses that."""
    with closing(sqlite3.connect(path)) as db, db:
        db.create_function("label", 1, lambda value: value, deterministic=True)
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in names:
            db.execute(f"DROP TRIGGER {name}")
        how(db)


def row_of(path: Path, table: str, condition: str) -> tuple:
    with closing(sqlite3.connect(path)) as db:
        (row,) = db.execute(f"SELECT * FROM {table} WHERE {condition}").fetchall()
    return row


def put(table: str, row: tuple) -> Tamper:
    return lambda db: db.execute(
        f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row
    )


def assert_found(path: Path, *ids: str, damaged: tuple[str, ...] = ()) -> None:
    """Check which memories a search returns, and which it reports."""
    with opened(path) as store:
        found = store.search("walrus")
        assert {hit.id for hit in found} == set(ids)
        assert {memory.id for memory in store.ls(limit=100)} == set(ids)
        for id_ in damaged:
            assert any(id_ in reason for reason in damage_in(found))
            with pytest.raises(StoreError, match="last written"):
                store.get(id_)


def damage_in(found: scrubjay.Results) -> list[str]:
    return [reason for reason in found.degraded if "damaged" in reason]


def differences(path: Path) -> list[str]:
    with opened(path) as store:
        return list(store._context.db.codec.differences())


def test_an_untouched_store_has_no_differences(path):
    """GS-17: after adding, updating, renaming, forgetting and failing, by two processes."""
    with opened(path) as store, opened(path) as other:
        store.add_many({"text": f"walrus {n}", "id": f"m{n}"} for n in range(300))
        other.update("m7", text="changed walrus")
        store.rename_topic("sea", "ocean")
        other.forget(["m8", "one"])
        other.add("the walrus is back", id="one", collection="c")
        store.rename_collection("c", "d")
        with suppress(ZeroDivisionError), store._context.db.write() as db:
            db.execute("UPDATE memories SET language = 'xx'")
            raise ZeroDivisionError
        assert len(store.search("walrus", limit=400)) == 301
        assert not damage_in(store.search("walrus"))

    assert differences(path) == []


def test_a_write_reads_its_own_rows(path):
    """GS-17: they are tagged at its end; a row that was put back before is noticed within it, too."""
    before = row_of(path, "memories", "id = 'two'")
    with opened(path) as store:
        store.update("two", text="the walrus snores")
    tamper(path, put("memories", before))

    with opened(path) as store, store._context.db.write():
        store.update("one", text="the walrus dances")
        assert store.get("one").text == "the walrus dances"
        with pytest.raises(StoreError, match="last written"):
            store.get("two")


def test_an_older_row_is_noticed(path):
    """GS-17: with all its own values, which were sealed for this very place."""
    before = row_of(path, "memories", "id = 'one'")
    with opened(path) as store:
        store.update("one", text="the walrus dances")

    tamper(path, put("memories", before))

    assert_found(path, "two", damaged=("one",))
    assert differences(path) == [f"memory {before[0]} (one) is not as it was written"]


@pytest.mark.parametrize(
    "change", ["namespace = 'user:eve'", "type = 'task'", "valid_until_us = 5", "updated_us = 5"]
)
def test_a_changed_label_or_time_is_noticed(path, change):
    """GS-17: they are in clear, for the filters, and cannot be changed either."""
    tamper(path, lambda db: db.execute(f"UPDATE memories SET {change} WHERE id = 'one'"))

    with opened(path) as store:
        with pytest.raises(StoreError, match="last written"):
            store.get("one")
        assert [memory.id for memory in store.ls()] == ["two"]


def test_exchanged_numbers_are_noticed(path):
    """GS-17: a number leads to passages, vectors and links."""

    def exchange(db):
        for old, new in ((1, 99), (2, 1), (99, 2)):
            db.execute("UPDATE memories SET n = ? WHERE n = ?", (new, old))

    tamper(path, exchange)

    with opened(path) as store:
        assert store.ls() == []


def test_a_forgotten_memory_cannot_be_put_back(path):
    """GS-17: its row is as it was, and it was forgotten."""
    before = row_of(path, "memories", "id = 'one'")
    with opened(path) as store:
        store.forget("one")

    tamper(path, put("memories", before))

    assert_found(path, "two")
    assert differences(path) == [f"memory {before[0]} (one) is not as it was written"]


def test_a_removed_row_is_noticed(path):
    """GS-17: nothing else would say that it was there."""
    (n, *_) = row_of(path, "memories", "id = 'one'")
    tamper(path, lambda db: db.execute("DELETE FROM memories WHERE id = 'one'"))

    assert differences(path) == [f"memory {n} is missing"]


def test_an_older_block_of_the_ledger_does_not_help(path):
    """GS-17: put back together with the row, it does not fit to the root."""
    row, block = row_of(path, "memories", "id = 'one'"), row_of(path, "ledger", "block = 0")
    with opened(path) as store:
        store.update("one", text="the walrus dances")

    tamper(path, lambda db: (put("memories", row)(db), put("ledger", block)(db)))

    with opened(path) as store:
        assert store.ls() == []
        with pytest.raises(StoreError, match="ledger"):
            store.add("another")
    assert differences(path) == ["the tags of memories 0 to 255 are damaged"]


@pytest.mark.parametrize(
    "how",
    [
        "DELETE FROM ledger",
        "DELETE FROM ledger WHERE block < 0",
        "DELETE FROM ledger WHERE block = 0",
        "UPDATE ledger SET sealed = (SELECT sealed FROM ledger WHERE block < 0)",
    ],
)
def test_the_ledger_itself_cannot_be_removed(path, how):
    """GS-17: without it no row is taken for good."""
    tamper(path, lambda db: db.execute(how))

    with opened(path) as store:
        assert store.ls() == []
    assert differences(path)


def test_what_is_damaged_can_be_written_again(path):
    """GS-17: giving the id again replaces the row, and forgetting removes it."""
    before = [row_of(path, "memories", f"id = '{id_}'") for id_ in ("one", "two")]
    with opened(path) as store:
        store.update("one", text="the walrus dances")
        store.update("two", text="the walrus snores")
    tamper(path, lambda db: [put("memories", row)(db) for row in before])

    with opened(path) as store:
        store.add("the walrus dances again", id="one")
        assert store.forget("two") == 1

    assert_found(path, "one")
    assert differences(path) == []


@pytest.fixture
def several(path) -> Iterator[tuple[scrubjay.Store, scrubjay.Store]]:
    """The same store in two processes' stead."""
    with opened(path) as one, opened(path) as other:
        yield one, other


def test_a_row_that_another_process_just_wrote_is_no_damage(several):
    """GS-17: row and tag are read at one state of the file."""
    one, other = several
    for n in range(20):
        other.update("one", text=f"the walrus sings {n}")
        assert one.get("one").text == f"the walrus sings {n}"
        assert not damage_in(one.search("walrus"))
