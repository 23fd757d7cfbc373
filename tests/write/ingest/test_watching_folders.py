"""Folders that several threads, processes and namespaces follow at once."""

from __future__ import annotations

import os
import threading
import time

import pytest

import scrubjay
from scrubjay import InvalidInput
from scrubjay.documents.isolated import IsolatedReader
from scrubjay.write import document_links
from scrubjay.write.ingest.folders import finish_runs
from scrubjay.write.ingest.run import IngestRun


@pytest.fixture
def store():
    with scrubjay.open(":memory:", embedder=False) as opened:
        yield opened


def note(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def id_of(store, name):
    return next(one.ids[0] for one in store.coverage() if one.path.endswith(name))


def wait_for(true):
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_document_that_another_process_moved_meanwhile_is_not_dropped(tmp_path):
    """Both watch their folder; the one that lost the file must not take it from the other."""
    note(tmp_path / "x" / "a.md", "# Plum")
    (tmp_path / "y").mkdir()
    with (
        scrubjay.open(tmp_path / "s.db", embedder=False) as here,
        scrubjay.open(tmp_path / "s.db", embedder=False) as there,
    ):
        here.ingest(tmp_path / "x")
        before = id_of(here, "a.md")
        shelf = here._context.shelf
        reader = IsolatedReader(shelf.file_limits)
        run = IngestRun(shelf, str(tmp_path / "x"), None, "default", set(), reader)
        os.rename(tmp_path / "x" / "a.md", tmp_path / "y" / "a.md")
        assert there.ingest(tmp_path / "y").moved == 1
        run.read(None)
        done = finish_runs(here._context.shelf, [run], {"default": set()})

        assert done.removed == 0
        assert [hit.id for hit in here.search("plum", mode="keyword")] == [before]


def test_one_file_in_two_namespaces_is_stale_only_where_it_was_read_too_early(store, tmp_path):
    """Each namespace has its own reading of it."""
    file = tmp_path / "n" / "a.md"
    note(file, "# Plum")
    store.ingest(tmp_path / "n", namespace="early")
    note(file, "# Plum, and more of it")
    store.ingest(tmp_path / "n", namespace="late")

    found = store.search("plum", mode="keyword")

    assert {hit.namespace: hit.stale for hit in found} == {"early": "stale", "late": None}
    assert (found.counts["checked_files"], found.counts["changed_files"]) == (1, 1)


def test_odd_metadata_does_not_stop_links(store, tmp_path):
    """A person may have written anything into it."""
    note(tmp_path / "n" / "a.md", "# Plum")
    store.ingest(tmp_path / "n")
    store.update(id_of(store, "a.md"), metadata={"aliases": 5})
    note(tmp_path / "n" / "b.md", "See [[a]].")

    assert store.ingest(tmp_path / "n").added == 1
    assert [link.to for link in store.get(id_of(store, "b.md")).links] == [id_of(store, "a.md")]


@pytest.mark.parametrize("how", ["remove", "forget"])
def test_a_link_finds_the_next_best_page_when_its_own_is_gone(store, tmp_path, how):
    """Whoever took it away: the next reading resolves it anew."""
    note(tmp_path / "x" / "t.md", "# Tea")
    note(tmp_path / "y" / "deep" / "t.md", "# Other tea")
    note(tmp_path / "y" / "s.md", "See [[t]].")
    store.ingest(tmp_path / "x")
    store.ingest(tmp_path / "y")
    source = id_of(store, "s.md")
    assert [link.to for link in store.get(source).links] == [id_of(store, f"x{os.sep}t.md")]

    if how == "remove":
        store.remove_collection("x")
    else:
        store.forget(id_of(store, f"x{os.sep}t.md"))
    store.ingest(tmp_path / "y")

    assert [link.to for link in store.get(source).links] == [id_of(store, f"deep{os.sep}t.md")]


def test_a_page_with_a_dot_in_its_name_is_itself(store, tmp_path):
    """[[meeting.notes]] is not [[meeting]]."""
    for name in ("meeting.md", "meeting.notes.md"):
        note(tmp_path / "n" / name, f"# {name}")
    note(tmp_path / "n" / "s.md", "See [[meeting.notes]].")
    store.ingest(tmp_path / "n")

    links = store.get(id_of(store, f"{os.sep}s.md")).links
    assert [link.to for link in links] == [id_of(store, "meeting.notes.md")]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_watch_that_its_own_listener_ends_says_so(tmp_path):
    """Nothing ends without a word."""
    note(tmp_path / "n" / "a.md", "# Plum")

    def refuse(done):
        raise ValueError("not today")

    with scrubjay.open(tmp_path / "s.db", embedder=False) as store:
        store.ingest(tmp_path / "n", watch=True, on_change=refuse)
        note(tmp_path / "n" / "b.md", "# Pear")
        wait_for(lambda: store.watch_failure)
        assert store.watch_failure == "ValueError: not today"
    for thread in threading.enumerate():  # its error must not be counted against the next test
        if thread.name == "scrubjay-watch":
            thread.join(10)


def test_a_watched_file_that_is_replaced_is_read_again(tmp_path):
    """Editors delete and write anew."""
    file = tmp_path / "n" / "a.md"
    note(file, "# Plum")
    with scrubjay.open(tmp_path / "s.db", embedder=False) as store:
        store.ingest(file, watch=True)
        file.unlink()
        time.sleep(1.5)
        note(file, "# Pear")
        wait_for(lambda: len(store.search("pear", mode="keyword")))
        assert store.watch_failure is None


def test_a_collection_that_is_renamed_while_it_is_read_keeps_its_new_name(tmp_path):
    """The rename waits for the reading; otherwise half of it would come back under the old name."""
    for number in range(3):
        note(tmp_path / "n" / f"{number}.md", f"# Plum {number}")
    renaming: list[threading.Thread] = []

    with scrubjay.open(tmp_path / "s.db", embedder=False) as store:
        store.ingest(tmp_path / "n")
        note(tmp_path / "n" / "new.md", "# Pear")

        def rename(done, total, _):
            if not renaming:
                renaming.append(
                    threading.Thread(target=store.rename_collection, args=("n", "fruit"))
                )
                renaming[0].start()
                renaming[0].join(0.5)  # time enough to slip in, if it could

        store.ingest(tmp_path / "n", progress=rename)
        renaming[0].join()

        (only,) = store.collections()
        assert (only.name, only.memories, only.folders) == ("fruit", 4, (str(tmp_path / "n"),))


@pytest.mark.parametrize("name", ["  ", "a\nb"])
def test_a_collection_has_a_name_that_can_be_shown(store, tmp_path, name):
    """As everywhere else."""
    note(tmp_path / "n" / "a.md", "# Plum")
    with pytest.raises(InvalidInput, match="give a printable name such as 'notes'"):
        store.ingest(tmp_path / "n", collection=name)


def test_a_collection_removed_under_a_watch_stays_away_though_another_namespace_follows(tmp_path):
    """The same folder may be read twice; what is asked is whether this namespace still follows it."""
    note(tmp_path / "n" / "a.md", "# Plum")
    with scrubjay.open(tmp_path / "s.db", embedder=False) as store:
        store.ingest(tmp_path / "n", namespace="other", collection="kept")
        seen = []
        store.ingest(tmp_path / "n", collection="mine", watch=True, on_change=seen.append)
        store.remove_collection("mine")
        note(tmp_path / "n" / "b.md", "# Pear")
        time.sleep(3)
        assert seen == []
        assert [one.name for one in store.collections()] == ["kept"]


@pytest.mark.parametrize(("tokens", "overlap"), [(0, 0), (-5, 0), ("x", 0), (100, 60), (True, 0)])
def test_sizes_of_passages_that_cannot_work_are_refused_by_the_store_too(tokens, overlap):
    """Whichever door they come through."""
    with pytest.raises(InvalidInput, match="chunk_"):
        scrubjay.Store(
            ":memory:", embedder=False, chunk_tokens=tokens, chunk_overlap_tokens=overlap
        )


def test_links_of_a_second_folder_survive_an_interruption_after_the_first(tmp_path, monkeypatch):
    """A run over several folders resolves links once all are read; cut short, the next one does it."""
    note(tmp_path / "a" / "s.md", "See [[t]].")
    note(tmp_path / "b" / "u.md", "See [[t]].")
    (tmp_path / "c").mkdir()
    with scrubjay.open(":memory:", embedder=False) as store:
        for name in "abc":
            store.ingest(tmp_path / name)
        note(tmp_path / "c" / "t.md", "# Tea")
        with monkeypatch.context() as cut:
            cut.setattr(document_links, "resolve", interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.ingest()
        store.ingest()
        for name in ("s.md", "u.md"):
            links = store.get(id_of(store, f"{os.sep}{name}")).links
            assert [link.to for link in links] == [id_of(store, f"{os.sep}t.md")]


def interrupted(*_):
    raise KeyboardInterrupt
