"""A store that keeps up with its folders while they change, until it is closed."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

import scrubjay
from scrubjay import MissingExtra
from scrubjay.write.ingest import watch as module

pytest.importorskip("watchfiles")

DEADLINE_S = 60.0  # a busy machine is slow; a test that passes never waits for this
QUIET_S = 1.0


class Watched:
    """A followed folder, the store, and what the watch told."""

    def __init__(self, store, folder, path=None, **options):
        self.store = store
        self.folder = folder
        self.told = []
        self.looked = 0
        self.first = store.ingest(
            path or folder, watch=True, on_change=self.told.append, **options
        )

    def held(self):
        return {Path(one.source).name: one.text for one in self.store.ls(limit=1000)}

    def until(self, **files):
        """Wait until the store holds these files, and no others."""
        wanted = {f"{name}.md": text for name, text in files.items()}
        wait_for(lambda: self.held() == wanted, lambda: self.held())


def wait_for(true, now=lambda: None):
    """Wait for something to become true; say how it is when it does not."""
    deadline = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < deadline, now()
        time.sleep(0.02)


def watchers():
    return [one for one in threading.enumerate() if one.name == "scrubjay-watch"]


def write(path, text):
    """Write a file as careful editors do: beside it first."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text)
    beside.replace(path)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Less patience than with people and their editors."""
    monkeypatch.setattr(module, "_QUIET_MS", 50)
    monkeypatch.setattr(module, "_STOP_CHECK_MS", 100)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "vault"
    made.mkdir()
    (made / "a.md").write_text("alpha")
    return made


@pytest.fixture
def store(tmp_path):
    with scrubjay.open(tmp_path / "s.db", embedder=False) as opened:
        yield opened
    assert watchers() == []


class TestChanges:
    def test_each_kind_of_change_is_seen(self, store, folder):
        """Added, changed, renamed, deleted, in a folder that is new; and told."""
        watched = Watched(store, folder)
        assert watched.first.added == 1
        before = store.ls()[0].id

        write(folder / "b.md", "beta")
        watched.until(a="alpha", b="beta")
        write(folder / "a.md", "alpha, changed")
        watched.until(a="alpha, changed", b="beta")
        (folder / "a.md").rename(folder / "c.md")
        watched.until(c="alpha, changed", b="beta")
        assert before in {one.id for one in store.ls()}
        (folder / "b.md").unlink()
        watched.until(c="alpha, changed")
        (folder / "new").mkdir()
        write(folder / "new" / "d.md", "delta")
        watched.until(c="alpha, changed", d="delta")

        wait_for(lambda: sum(one.added for one in watched.told) == 2)
        assert [sum(one) for one in zip(*(told[:5] for told in watched.told), strict=True)][
            3:
        ] == [
            1,
            1,
        ]
        assert store.watch_failure is None

    def test_what_changed_before_the_watch_began_is_seen(self, store, folder, monkeypatch):
        """Between the first reading and the watch, a file may come."""
        real = module.Watcher._changes

        def late(watcher):
            write(folder / "b.md", "beta")
            return real(watcher)

        monkeypatch.setattr(module.Watcher, "_changes", late)
        Watched(store, folder).until(a="alpha", b="beta")

    def test_all_followed_folders_without_a_path(self, store, folder, tmp_path):
        """Each of them; one that is not there is passed over."""
        other = tmp_path / "other"
        gone = tmp_path / "gone"
        for one in (other, gone):
            one.mkdir()
            store.ingest(one)
        store.ingest(folder)
        gone.rmdir()
        told = []
        done = store.ingest(watch=True, on_change=told.append)
        assert [Path(path).name for path, _ in done.failed] == ["gone"]

        write(other / "b.md", "beta")
        write(folder / "c.md", "gamma")
        wait_for(lambda: len(store.ls()) == 3)
        assert {one.collection for one in store.ls()} == {"other", "vault"}

    def test_one_file_alone(self, store, folder):
        """Its neighbours are none of its business."""
        watched = Watched(store, folder / "a.md")
        (folder / "b.md").write_text("beta")
        (folder / "a.md").write_text("changed")

        wait_for(lambda: watched.held() == {"a.md": "changed"}, watched.held)

    def test_new_documents_get_vectors(self, tmp_path, folder, embedder):
        """Without anybody asking."""
        with scrubjay.open(tmp_path / "v.db", embedder=embedder) as store:
            watched = Watched(store, folder)
            write(folder / "b.md", "my automobile")
            watched.until(a="alpha", b="my automobile")
            wait_for(lambda: store.pending(wait=False) == 0)

            assert store.search("car", mode="vector")[0].title == "b"


class TestQuiet:
    def test_without_a_change_nothing_happens(self, store, folder):
        """Not even a look at the folder, after the first; and nobody is called."""
        watched = Watched(store, folder)
        looks = count_looks(store)
        wait_for(lambda: looks)

        time.sleep(QUIET_S)

        assert (len(looks), watched.told) == (1, [])

    @pytest.mark.parametrize("over_a_link", [False, True])
    def test_a_store_inside_the_folder_does_not_wake_itself(self, folder, over_a_link, tmp_path):
        """Each look writes into it, which would be the next change, for ever."""
        root = folder
        if over_a_link:
            if sys.platform == "win32":
                pytest.skip("links need rights on Windows")
            root = tmp_path / "link"
            root.symlink_to(folder)
        with scrubjay.open(folder / "store.db", embedder=False) as store:
            watched = Watched(store, root)
            looks = count_looks(store)
            wait_for(lambda: looks)
            store.add("a memory, written into the folder")
            time.sleep(QUIET_S)
            assert (len(looks), watched.told) == (1, [])

            write(root / "b.md", "beta")
            wait_for(lambda: len(store.ls()) == 3)
            assert store.coverage(state="skipped") == []


def count_looks(store):
    """A list that grows with every look at the folders."""
    looks = []
    following = store._context.folders
    real = following.ingest

    def look(*given):
        looks.append(given)
        return real(*given)

    following.ingest = look
    return looks


class TestEnd:
    def test_closing_ends_the_thread(self, tmp_path, folder):
        """And what changes afterwards is nobody's business."""
        store = scrubjay.open(tmp_path / "s.db", embedder=False)
        watched = Watched(store, folder)
        assert len(watchers()) == 1
        write(folder / "b.md", "beta")
        watched.until(a="alpha", b="beta")

        started = time.monotonic()
        store.close()
        assert watchers() == []
        assert time.monotonic() - started < 10
        store.close()

        (folder / "b.md").unlink()
        with scrubjay.open(tmp_path / "s.db", embedder=False) as again:
            assert len(again.ls()) == 2

    def test_closing_from_inside_on_change_does_not_hang(self, tmp_path, folder):
        """The thread does not wait for itself."""
        store = scrubjay.open(tmp_path / "s.db", embedder=False)
        store.ingest(folder, watch=True, on_change=lambda _: store.close())
        write(folder / "b.md", "beta")

        wait_for(lambda: watchers() == [])

    def test_a_folder_that_goes_ends_the_watch_with_a_reason(self, store, folder, tmp_path):
        """Nothing is lost by it."""
        Watched(store, folder)
        folder.rename(tmp_path / "away")

        wait_for(lambda: store.watch_failure)

        assert store.watch_failure == f"there is no file or folder {folder}"
        assert len(store.ls()) == 1

    def test_without_the_package_it_says_so_at_once(self, store, folder, monkeypatch):
        """Before a long first reading, with the command that installs it."""
        monkeypatch.setitem(sys.modules, "watchfiles", None)

        with pytest.raises(MissingExtra, match="watchfiles is not installed") as missing:
            store.ingest(folder, watch=True)

        assert missing.value.command == 'pip install "scrubjay[files]"'
        assert (store.ls(), watchers()) == ([], [])

    def test_a_path_that_is_not_there_is_refused_before_it_is_watched(self, store, tmp_path):
        """As without a watch."""
        with pytest.raises(scrubjay.InvalidInput, match="there is no file or folder"):
            store.ingest(tmp_path / "nowhere", watch=True)
        assert watchers() == []

    def test_a_home_folder_by_its_short_name(self, store, folder, monkeypatch, recorded):
        """As `ingest` takes it."""
        monkeypatch.setenv("HOME", str(folder.parent))
        store.ingest(os.path.join("~", "vault"), watch=True)

        assert recorded.paths == [str(folder)]

    def test_a_collection_that_is_renamed_meanwhile_keeps_its_new_name(
        self, store, folder, recorded
    ):
        """Whatever it was called when the watch began."""
        store.ingest(folder, collection="old", watch=True)
        store.rename_collection("old", "new")

        recorded.refresh()

        assert [one.name for one in store.collections()] == ["new"]

    def test_a_collection_that_is_removed_meanwhile_stays_away(self, store, folder, recorded):
        """The next change does not bring it back."""
        store.ingest(folder, watch=True)
        store.remove_collection("vault")

        recorded.refresh()

        assert (store.collections(), store.ls()) == ([], [])

    def test_what_is_skipped_each_time_is_no_change(self, store, folder, recorded):
        """Nobody is called for it."""
        (folder / "photo.png").touch()
        told = []
        store.ingest(folder, watch=True, on_change=told.append)

        recorded.refresh()
        assert told == []

        write(folder / "b.md", "beta")
        recorded.refresh()
        assert [one.added for one in told] == [1]


@pytest.fixture
def recorded(monkeypatch):
    """In place of a thread: what would be watched, and what would be called."""

    class Recorded:
        failure = None

        def __init__(self, paths, own, refresh):
            Recorded.paths, Recorded.refresh = paths, staticmethod(refresh)

        def stop(self):
            return None

    monkeypatch.setattr(module, "Watcher", Recorded)
    return Recorded
