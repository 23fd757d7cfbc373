"""Moves that were not finished: what each side says, what another run does, and what is never done."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

import scrubjay
from scrubjay.errors import NotFound, StoreError
from scrubjay.ops.promote import run as promoting
from scrubjay.ops.promote.run import demote, parse_place, promote
from scrubjay.storage.postgres.mirror import PostgresMirror
from scrubjay.storage.sqlite import backup as sqlite_backup
from scrubjay.storage.sqlite.backup import SqliteMirror
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.location import MoveNote, read_note, write_note


@pytest.fixture(autouse=True)
def one_query(monkeypatch):
    monkeypatch.setattr(promoting, "QUERIES", 1)


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "notes.db"
    add(path, "kettle")
    return path


class Stopped(Exception):
    """A move that ends here, as if it were killed: nothing is put back."""


def stop(monkeypatch: pytest.MonkeyPatch, kind: object, name: str) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise Stopped

    monkeypatch.setattr(kind, name, stopped)


def add(place: object, id_: str, tenant: str | None = None) -> None:
    with scrubjay.open(place, embedder=False, tenant=tenant) as store:
        store.add(f"The {id_} is remembered", id=id_)


def ids(place: object) -> set[str]:
    with scrubjay.open(place, embedder=False) as store:
        return {memory.id for memory in store.ls(limit=100)}


def test_a_reader_in_the_way_leaves_one_store(small, postgres_url, monkeypatch):
    """Issue 21: nothing was published when the file cannot be retired; the next run includes new writes."""
    monkeypatch.setattr(sqlite_backup, "_READERS_S", 0.2)
    with closing(sqlite3.connect(small, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchone()
        add(small, "teapot")  # stays in the log while the reader is there
        with pytest.raises(StoreError, match="nothing has changed"):
            promote(small, postgres_url)
    assert parse_place(postgres_url).existing() is None
    with pytest.raises(StoreError, match="finish it with: scrubjay promote"):
        add(postgres_url, "lost")
    add(small, "harbour")
    assert promote(small, postgres_url).memories == 3
    assert ids(postgres_url) == {"kettle", "teapot", "harbour"}
    with pytest.raises(StoreError, match="were moved to postgres://"):
        add(small, "late")


@pytest.mark.parametrize("job", ["promote", "demote"])
def test_no_store_is_created_beside_half_a_copy(job, small, postgres_url, monkeypatch, tmp_path):
    """The source is in use until the end, so a store at the target would be a second one."""
    source, target = small, postgres_url
    if job == "demote":
        promote(small, postgres_url)
        source, target = postgres_url, tmp_path / "back.db"
    move = promote if job == "promote" else demote
    stop(monkeypatch, promoting, "warm")
    with pytest.raises(Stopped):
        move(source, target)
    with pytest.raises(
        StoreError, match=f"is being moved here; .* scrubjay {job} --db .*(DROP|rm)"
    ):
        add(target, "lost")
    add(source, "teapot")
    monkeypatch.undo()
    assert move(source, target).memories == 2


def test_an_opener_finishes_the_move_of_a_retired_file(small, postgres_url, monkeypatch):
    """Also where the schema is the note of a store that was demoted: both sides name the other then."""
    promote(small, postgres_url)
    demote(postgres_url, small)
    stop(monkeypatch, PostgresMirror, "publish")
    with pytest.raises(Stopped):
        promote(small, postgres_url)
    with pytest.raises(StoreError, match="were moved to postgres://"):
        add(small, "late")
    assert ids(postgres_url) == {"kettle"}
    with pytest.raises(NotFound, match="were moved to postgres://"):
        promote(small, postgres_url)


def test_a_copy_whose_source_is_elsewhere_is_not_opened(
    small, postgres_url, monkeypatch, tmp_path
):
    """On another machine no one sees whether the file was retired; the command to type is named."""
    stop(monkeypatch, PostgresMirror, "publish")
    with pytest.raises(Stopped):
        promote(small, postgres_url)
    monkeypatch.undo()
    hidden = small.rename(tmp_path / "elsewhere.db")
    with pytest.raises(StoreError, match=rf"lacks its last step; .*--db {small} --to postgres://"):
        add(postgres_url, "lost")
    other = tmp_path / "other.db"
    add(other, "other")
    with pytest.raises(StoreError, match="lacks its last step"):
        promote(other, postgres_url)
    write_note(str(small), MoveNote("postgres://elsewhere", 7))  # of another move
    with pytest.raises(StoreError, match="lacks its last step"):
        add(postgres_url, "lost")
    hidden.replace(small)
    assert promote(small, postgres_url).aside == f"{small}.promoted"
    assert ids(postgres_url) == {"kettle"}


def test_a_demoted_schema_finishes_the_file(small, postgres_url, monkeypatch, tmp_path):
    """The opener of the file cannot ask Postgres; the opener of Postgres sees the file."""
    promote(small, postgres_url)
    back = tmp_path / "back.db"
    stop(monkeypatch, SqliteMirror, "publish")
    with pytest.raises(Stopped):
        demote(postgres_url, back)
    monkeypatch.undo()
    with pytest.raises(
        StoreError, match=r"lacks its last step; .* scrubjay demote --db postgres://"
    ):
        add(back, "lost")
    with pytest.raises(StoreError, match="lacks its last step"):
        promote(back, postgres_url)
    with pytest.raises(StoreError, match=f"were moved to {back}"):
        add(postgres_url, "late")
    assert ids(back) == {"kettle"}
    with closing(SqliteDatabase(str(back))) as db, db.read() as connection:
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE name = 'moving'")
        assert tables.fetchone() is None


@pytest.mark.parametrize("job", ["promote", "demote"])
def test_an_empty_store_at_the_target_cannot_be_written_any_more(
    job, small, postgres_url, monkeypatch, tmp_path
):
    """A program that has it open must not write to it once the source is retired."""
    source, target = small, postgres_url
    if job == "demote":
        promote(small, postgres_url)
        source, target = postgres_url, tmp_path / "back.db"
    with scrubjay.open(target, embedder=False) as empty:
        stop(monkeypatch, SqliteMirror if job == "demote" else PostgresMirror, "publish")
        with pytest.raises(Stopped):
            (promote if job == "promote" else demote)(source, target)
        with pytest.raises(StoreError):
            empty.add("lost")
    monkeypatch.undo()
    assert (promote if job == "promote" else demote)(source, target).memories == 1
    assert ids(target) == {"kettle"}


def published_by_an_earlier_version(small, postgres_url, monkeypatch):
    """Earlier versions put the copy in place first, and could fail to retire the file."""

    def publish_only(self, filled, mark, report):
        self.publish(filled, mark)
        raise Stopped

    monkeypatch.setattr(promoting.SchemaPlace, "complete", publish_only)
    with pytest.raises(Stopped):
        promote(small, postgres_url)
    monkeypatch.undo()
    monkeypatch.setattr(promoting, "QUERIES", 1)


def test_a_second_run_catches_up_while_the_target_is_unchanged(small, postgres_url, monkeypatch):
    """Issue 21: only the file was written since; a run that is stopped again can be run again."""
    published_by_an_earlier_version(small, postgres_url, monkeypatch)
    add(small, "teapot")
    stop(monkeypatch, SqliteMirror, "retire")
    with pytest.raises(Stopped):
        promote(small, postgres_url)
    monkeypatch.undo()
    add(small, "harbour")
    assert promote(small, postgres_url).aside == f"{small}.promoted"
    assert ids(postgres_url) == {"kettle", "teapot", "harbour"}


def test_a_target_that_was_used_is_never_overwritten(small, postgres_url, monkeypatch):
    """Both were written: one of them would be lost."""
    published_by_an_earlier_version(small, postgres_url, monkeypatch)
    add(small, "teapot")
    add(postgres_url, "harbour")
    with pytest.raises(StoreError, match="both were used since"):
        promote(small, postgres_url)
    assert ids(postgres_url) == {"kettle", "harbour"}
    assert ids(small) == {"kettle", "teapot"}


def test_a_file_that_is_held_is_put_back_by_the_next_run(small, postgres_url, monkeypatch):
    """Where open files cannot be renamed, the file is aside before the last rows are copied."""
    for module in (promoting, sqlite_backup):
        monkeypatch.setattr(module, "open_files_stay", lambda: True)
    monkeypatch.setattr(promoting.FilePlace, "release", lambda _: None)  # as if it were killed
    stop(monkeypatch, promoting.SchemaPlace, "complete")
    with pytest.raises(Stopped):
        promote(small, postgres_url)
    with pytest.raises(StoreError, match=r"were moved to .*notes\.db\.promoted"):
        add(small, "lost")
    monkeypatch.undo()
    assert promote(small, postgres_url).memories == 1
    assert ids(postgres_url) == {"kettle"}


def test_a_file_without_hard_links_is_renamed(small, postgres_url, monkeypatch):
    """A kill between the file and its note must not let a new store begin in its place."""

    def no_links(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    assert promote(small, postgres_url).aside == f"{small}.promoted"
    note = read_note(str(small))
    assert note is not None
    small.rename(f"{small}.moved")
    with pytest.raises(StoreError, match="were moved to postgres://"):
        add(small, "late")
    assert read_note(str(small)) == note


def test_notes_of_earlier_versions_are_read(tmp_path):
    """They have no mark; a long place is cut, and the mark is not."""
    path = tmp_path / "notes.db"
    path.write_text("scrubjay: the memories of this file were moved to postgres://h/db\n")
    assert read_note(str(path)) == MoveNote("postgres://h/db")
    write_note(str(path), MoveNote("ä" * 600, 7))
    note = read_note(str(path))
    assert note is not None
    assert note.mark == 7
    assert set(note.place) == {"ä"}
    assert path.stat().st_size < 512
