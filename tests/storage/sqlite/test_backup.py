"""A backup is the store at one moment, whole or not there, however busy the store is."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.storage.sqlite import backup as sqlite_backup
from scrubjay.surfaces.cli import main


def test_a_backup_answers_as_the_store_did(tmp_path, embedder: HashingEmbedder):
    """Vectors, links and feedback are in it, and what is written later is not."""
    with scrubjay.open(tmp_path / "notes.db", embedder=embedder) as store:
        store.add("the kettle whistles", id="kettle", topics=["kitchen"])
        store.add("the teapot is green", id="teapot")
        store.link("kettle", "teapot", 0.5)
        store.feedback("what whistles?", "kettle", "accepted")
        store.pending()
        before = store.search("whistling kettle").hits
        done = store.backup(tmp_path / "copy.db")
        store.add("something else", id="later")
    assert (done.path, done.memories) == (str(tmp_path / "copy.db"), 2)
    assert done.bytes == os.path.getsize(done.path)
    with scrubjay.open(done.path, embedder=embedder) as copy:
        assert copy.search("whistling kettle").hits == before
        assert [one.id for one in copy.neighbors("kettle")] == ["teapot"]
        assert [one.action for one in copy.feedbacks()] == ["accepted"]
        assert copy.pending(wait=False) == 0
        assert not copy.holds("later")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["copy.db", "notes.db"]


def test_a_backup_is_of_one_moment_while_others_write(tmp_path, monkeypatch):
    """Pairs are written in one transaction: no backup holds half of one, and none begins anew for ever."""
    monkeypatch.setattr(sqlite_backup, "_PAGES", 5)
    path = tmp_path / "notes.db"
    stop = threading.Event()

    def write() -> None:
        with scrubjay.open(path, embedder=False) as store:
            n = 0
            while not stop.is_set():
                store.add_many([{"text": f"{side} {n}", "id": f"{side}{n}"} for side in "ab"])
                n += 1

    with scrubjay.open(path, embedder=False) as store:
        store.add_many([{"text": f"filler {n} " * 50, "id": f"f{n}"} for n in range(200)])
        writer = threading.Thread(target=write)
        writer.start()
        try:
            for n in range(5):
                store.backup(tmp_path / f"copy{n}.db")
        finally:
            stop.set()
            writer.join()
    for n in range(5):
        with scrubjay.open(tmp_path / f"copy{n}.db", embedder=False) as copy:
            ids = set(copy._context.tables.records.ids(copy._context.sees))
            assert {one[1:] for one in ids if one[0] == "a"} == {
                one[1:] for one in ids if one[0] == "b"
            }
            assert sum(one[0] == "f" for one in ids) == 200


def test_what_fails_half_way_leaves_the_older_backup(tmp_path, monkeypatch):
    """And nothing beside it."""
    with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
        store.add("first")
        store.backup(tmp_path / "copy.db")
        older = (tmp_path / "copy.db").read_bytes()
        store.add("second")

        def broken(path: str) -> int:
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(sqlite_backup, "check_copy", broken)
        with pytest.raises(scrubjay.StoreError, match="the disk is full"):
            store.backup(tmp_path / "copy.db", force=True)
    assert (tmp_path / "copy.db").read_bytes() == older
    assert sorted(one.name for one in tmp_path.iterdir()) == ["copy.db", "notes.db"]


def test_wrong_places_are_refused(tmp_path):
    """Each says what would be right, and nothing is overwritten."""
    with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
        store.add("first")
        (tmp_path / "taken.txt").write_text("mine")
        for place, said in (
            ("taken.txt", "exists already"),
            ("notes.db", "is the store itself"),
        ):
            with pytest.raises(scrubjay.InvalidInput, match=said):
                store.backup(tmp_path / place)
        with pytest.raises(scrubjay.StoreError, match="is a folder"):
            store.backup(tmp_path)
        with pytest.raises(scrubjay.StoreError, match="there is no folder"):
            store.backup(tmp_path / "nowhere" / "copy.db")
        assert (tmp_path / "taken.txt").read_text() == "mine"
    with (
        scrubjay.open(tmp_path / "notes.db", embedder=False, user="ann") as hers,
        pytest.raises(scrubjay.InvalidInput, match="all users"),
    ):
        hers.backup(tmp_path / "copy.db")
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add("first")
        assert store.backup(tmp_path / "from-memory.db").memories == 1


def test_a_store_on_a_server_names_what_backs_it_up(emptied_postgres_url, tmp_path):
    with (
        scrubjay.open(emptied_postgres_url, embedder=False) as store,
        pytest.raises(scrubjay.InvalidInput, match=r"demote --to .*copy.db --keep"),
    ):
        store.backup(tmp_path / "copy.db")


def test_backup_at_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """It says what the copy holds, and a second one needs --force."""
    db = str(tmp_path / "notes.db")
    assert main(["add", "the kettle", "--no-embed", "--db", db]) == 0
    copy = str(tmp_path / "copy.db")
    assert main(["backup", copy, "--db", db]) == 0
    assert "1 memory" in capsys.readouterr().out
    assert main(["backup", copy, "--db", db]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["backup", copy, "--force", "--db", db]) == 0


BACK_UP_AND_DIE = """
import os, sys
import scrubjay
from scrubjay.storage.sqlite import backup
backup._PAGES = 2
store = scrubjay.open(sys.argv[1], embedder=False)
store.backup(sys.argv[2], progress=lambda done, total: done > 8 and os._exit(9))
"""
BACK_UP_SLOWLY = BACK_UP_AND_DIE.replace("os._exit(9)", "(print('begun', flush=True), input())")


class TestUnfinished:
    @pytest.fixture
    def notes(self, tmp_path):
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
            store.add_many({"text": f"memory {n} " * 20} for n in range(100))
        return tmp_path / "notes.db"

    def test_what_a_killed_backup_left_is_reported_and_removed(self, notes, tmp_path, capsys):
        """By doctor, and by the next backup to the same place."""
        command = [sys.executable, "-c", BACK_UP_AND_DIE, notes, tmp_path / "copy.db"]
        assert subprocess.run(command).returncode == 9
        assert (tmp_path / "copy.db.unfinished").exists()

        main(["doctor", "--db", str(notes)])
        assert f"rm {tmp_path / 'copy.db.unfinished'}" in capsys.readouterr().out

        with scrubjay.open(notes, embedder=False) as store:
            assert store.backup(tmp_path / "copy.db").memories == 100
        assert sorted(one.name for one in tmp_path.iterdir()) == ["copy.db", "notes.db"]
        main(["doctor", "--db", str(notes)])
        assert "unfinished" not in capsys.readouterr().out

    def test_a_backup_under_way_is_left_alone(self, notes, tmp_path, capsys):
        """A second one to the same place is refused, and doctor does not take it for a rest."""
        command = [sys.executable, "-c", BACK_UP_SLOWLY, notes, tmp_path / "copy.db"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
            assert first.stdout is not None
            first.stdout.readline()
            with (
                scrubjay.open(notes, embedder=False) as store,
                pytest.raises(scrubjay.StoreError, match="another process is writing"),
            ):
                store.backup(tmp_path / "copy.db")
            main(["doctor", "--db", str(notes)])
            assert "unfinished" not in capsys.readouterr().out
            first.communicate(b"\n" * 10_000)
        assert first.returncode == 0
        with scrubjay.open(tmp_path / "copy.db", embedder=False) as copy:
            assert copy.status().memories == 100

    @pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
    def test_links_are_not_followed(self, notes, tmp_path):
        """One that was put at the name of the unfinished file, and one at the name of the backup."""
        (tmp_path / "mine.txt").write_text("mine")
        (tmp_path / "copy.db.unfinished").symlink_to(tmp_path / "mine.txt")
        (tmp_path / "copy.db").symlink_to(tmp_path / "mine.txt")
        with scrubjay.open(notes, embedder=False) as store:
            store.backup(tmp_path / "copy.db", force=True)
        assert (tmp_path / "mine.txt").read_text() == "mine"
        assert not (tmp_path / "copy.db").is_symlink()

    @pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
    def test_only_its_owner_can_read_it(self, notes, tmp_path):
        """Whatever the umask."""
        before = os.umask(0)
        try:
            with scrubjay.open(notes, embedder=False) as store:
                store.backup(tmp_path / "copy.db")
        finally:
            os.umask(before)
        assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600

    def test_it_does_not_replace_a_store_in_use(self, notes, tmp_path):
        """Its log would be left beside the backup."""
        with (
            scrubjay.open(tmp_path / "used.db", embedder=False) as used,
            scrubjay.open(notes, embedder=False) as store,
        ):
            used.add("mine")
            with pytest.raises(scrubjay.InvalidInput, match="store in use"):
                store.backup(tmp_path / "used.db", force=True)
