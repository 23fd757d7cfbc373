"""Folders that are followed: what became of each file, and the collections they make."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from clocks import NOON
from fakes import HashingEmbedder

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.types.reports import Ingested

LATER = 2_000_000_000

STAYS = "not found; its memories stay (to remove them: scrubjay collections remove"


@pytest.fixture
def store(clock):
    with scrubjay.open(":memory:", embedder=False, clock=clock) as opened:
        yield opened


@pytest.fixture
def notes(tmp_path):
    """Two documents and one that is skipped."""
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "cars.md").write_text("The red car needs oil.")
    (folder / "deep" / "trains.md").write_text("Trains need rails.")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    return folder


def change(file, text):
    """Write a file again, later."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (LATER, LATER))


def where(store):
    """The collection of each file."""
    return {Path(one.source).name: one.collection for one in store.ls(limit=1000)}


def shelf(store):
    """Each collection with its numbers and folders."""
    return {
        one.name: (one.memories, one.documents, [Path(path).name for path in one.folders])
        for one in store.collections()
    }


class TestCollections:
    def test_without_a_name_it_is_the_folders(self, store, notes, clock):
        """Memories may lie in it, too."""
        store.ingest(notes)
        store.add("a memory", collection="notes")
        store.add("another", collection="loose")
        store.add("nowhere")

        assert shelf(store) == {"loose": (1, 0, []), "notes": (3, 2, ["notes"])}
        assert [one.indexed_at for one in store.collections()] == [None, NOON]
        clock.advance(days=1)
        store.ingest()
        assert store.collections()[1].indexed_at == clock.now

    def test_a_file_alone_goes_where_its_folder_goes(self, store, notes):
        """Before and after the folder itself; the folder is then followed, not the file beside it."""
        store.ingest(notes / "cars.md")
        assert shelf(store) == {"notes": (1, 1, ["cars.md"])}

        store.ingest(notes)
        change(notes / "new.md", "new")
        store.ingest(notes / "new.md")

        assert shelf(store) == {"notes": (3, 3, ["notes"])}

    def test_with_a_name_it_is_that_and_stays_it(self, store, notes):
        """Also for what is read later, from the folder, below it, or all of it."""
        store.ingest(notes, collection="garage")
        for number, path in enumerate((notes, notes / "deep", None)):
            change(notes / "deep" / f"{number}.md", f"new {number}")
            store.ingest(path)

        assert shelf(store) == {"garage": (5, 5, ["notes"])}

    def test_another_name_moves_everything(self, store, notes, tmp_path):
        """With what was skipped; vectors stay."""
        embedder = HashingEmbedder(16)
        with scrubjay.open(tmp_path / "s.db", embedder=embedder) as opened:
            opened.ingest(notes, collection="old")
            opened.pending(wait=True)
            calls = embedder.calls

            done = opened.ingest(notes, collection="new")

            assert (done.added, done.updated) == (0, 2)
            assert shelf(opened) == {"new": (2, 2, ["notes"])}
            assert {one.collection for one in opened.coverage()} == {"new"}
            assert opened.ingest(notes, collection="new").unchanged == 2
            opened.pending(wait=True)
            assert embedder.calls == calls

    @pytest.mark.parametrize("name", ["outer", None])
    def test_a_folder_inside_another_keeps_its_own(self, store, notes, name):
        """The nearest one that is followed counts, whichever run meets a file first."""
        store.ingest(notes, collection="outer")
        store.ingest(notes / "deep", collection="inner")
        for number, read in enumerate((None, notes, notes / "deep", None)):
            change(notes / "deep" / "trains.md", f"edited {number}")
            change(notes / "deep" / f"{number}.md", f"new {number}")
            change(notes / f"{number}.txt", f"newer {number}")
            (notes / "deep" / f"{number}.bin").write_bytes(b"\0")
            store.ingest(read, collection=name if read == notes else None)
            store.ingest(notes)

        assert set(where(store).values()) == {"inner", "outer"}
        assert {name for name, held in where(store).items() if held == "inner"} == {
            "trains.md", "0.md", "1.md", "2.md", "3.md",
        }  # fmt: skip
        assert len(store.coverage(collection="inner", state="skipped")) == 4
        assert shelf(store) == {"inner": (5, 5, ["deep"]), "outer": (5, 5, ["notes"])}

    def test_an_outer_folder_that_comes_later_leaves_the_inner_one(self, store, notes):
        """Where it was put."""
        store.ingest(notes / "deep")
        store.ingest(notes)

        assert where(store) == {"trains.md": "deep", "cars.md": "notes"}
        change(notes / "deep" / "trains.md", "edited")
        assert store.ingest().updated == 1
        assert where(store) == {"trains.md": "deep", "cars.md": "notes"}

    def test_one_collection_may_have_several_folders(self, store, notes, tmp_path):
        """They are listed by path."""
        other = tmp_path / "other"
        other.mkdir()
        (other / "x.md").write_text("x")
        store.ingest(other, collection="all")
        store.ingest(notes, collection="all")

        assert shelf(store) == {"all": (3, 3, ["notes", "other"])}
        (notes / "cars.md").unlink()
        assert store.ingest(notes).removed == 1
        assert where(store) == {"trains.md": "all", "x.md": "all"}

    def test_search_and_list_keep_to_one(self, store, notes, tmp_path):
        """By its name."""
        shutil.copytree(notes, tmp_path / "copy")
        store.ingest(notes)
        store.ingest(tmp_path / "copy")

        assert len(store.search("oil")) == 2
        assert [hit.collection for hit in store.search("oil", collection="copy")] == ["copy"]
        assert len(store.ls(collection="notes")) == 2


class TestRename:
    def test_everything_goes_by_the_new_name(self, store, notes):
        """Also after the next runs, and for what is new."""
        store.ingest(notes)
        store.add("a memory", collection="notes")

        assert store.rename_collection("notes", "  garage ") == 3
        assert {one.collection for one in store.coverage()} == {"garage"}

        change(notes / "new.md", "new")
        assert store.ingest().added == 1
        change(notes / "newer.md", "newer")
        assert store.ingest(notes).added == 1
        assert shelf(store) == {"garage": (5, 4, ["notes"])}
        assert {one.collection for one in store.coverage()} == {"garage"}
        assert len(store.search("oil", collection="garage")) == 1

    def test_what_cannot_be_is_refused_and_nothing_changes(self, store, notes):
        """An unknown one, one that is there, one that is no name."""
        store.ingest(notes)
        store.add("x", collection="other")
        with pytest.raises(NotFound, match="no collection 'none'; collections are: notes, other"):
            store.rename_collection("none", "new")
        with pytest.raises(InvalidInput, match="collection 'other' exists"):
            store.rename_collection("notes", "other")
        for name in ("", "  ", "a\nb"):
            with pytest.raises(InvalidInput, match="give a printable name"):
                store.rename_collection("notes", name)

        assert shelf(store) == {"notes": (2, 2, ["notes"]), "other": (1, 0, [])}


class TestRemove:
    def test_everything_of_it_is_gone(self, tmp_path, notes):
        """Documents, vectors, words, what was skipped; and the folder is no longer read."""
        with scrubjay.open(tmp_path / "s.db", embedder=HashingEmbedder(16)) as store:
            store.ingest(notes)
            store.add("kept", collection="other")
            store.pending(wait=True)

            assert store.remove_collection("notes") == 2

            assert shelf(store) == {"other": (1, 0, [])}
            assert store.coverage() == []
            assert [hit.text for hit in store.search("oil rails kept")] == ["kept"]
            status = store.status()
            assert (status.memories, status.chunks, sum(status.models.values())) == (1, 1, 1)
            assert counted(store, "words", "files", "targets", "folders", "left_out") == [
                1, 0, 0, 0, 0,
            ]  # fmt: skip
            assert store.ingest() == Ingested()
            assert store.status().memories == 1
            assert store.ingest(notes).added == 2  # by its name it can be had again

    def test_an_unknown_one_is_an_error(self, store):
        """Which says what there is."""
        with pytest.raises(NotFound, match="no collection"):
            store.remove_collection("x")

    def test_one_of_two_that_lie_in_each_other(self, store, notes):
        """The other keeps what it has."""
        store.ingest(notes, collection="outer")
        store.ingest(notes / "deep", collection="inner")

        assert store.remove_collection("inner") == 1
        assert where(store) == {"cars.md": "outer"}

    def test_one_whose_folder_is_gone(self, store, notes):
        """Its documents stay until then."""
        store.ingest(notes)
        shutil.rmtree(notes)
        assert store.ingest().removed == 0

        assert store.remove_collection("notes") == 2
        assert (store.ingest().failed, store.collections()) == ((), [])


def counted(store, *tables):
    with store._context.db.read() as db:
        return [db.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in tables]


class TestUsers:
    def test_nobody_sees_or_changes_anothers(self, tmp_path, notes):
        """Though both read the same folder into the same file, under the same name."""
        with (
            scrubjay.open(tmp_path / "s.db", user="ada", embedder=False) as ada,
            scrubjay.open(tmp_path / "s.db", user="bob", embedder=False) as bob,
        ):
            ada.ingest(notes)
            assert (bob.collections(), bob.coverage(), bob.ls()) == ([], [], [])
            assert bob.ingest() == Ingested()
            with pytest.raises(NotFound):
                bob.rename_collection("notes", "mine")
            with pytest.raises(NotFound):
                bob.remove_collection("notes")

            bob.ingest(notes)
            assert bob.rename_collection("notes", "mine") == 2
            assert (shelf(ada).keys(), shelf(bob).keys()) == ({"notes"}, {"mine"})
            assert {one.collection for one in ada.coverage()} == {"notes"}
            assert bob.remove_collection("mine") == 2
            assert shelf(ada) == {"notes": (2, 2, ["notes"])}
            assert len(ada.coverage()) == 3

            ids = {id_ for one in ada.coverage() for id_ in one.ids}
            assert ids == {one.id for one in ada.ls()}

    def test_who_names_no_user_sees_all_of_them(self, tmp_path, notes):
        """And refreshes all of them."""
        path = tmp_path / "s.db"
        with scrubjay.open(path, user="ada", embedder=False) as ada:
            ada.ingest(notes)
        with scrubjay.open(path, embedder=False) as all_:
            all_.ingest(notes, namespace="work")
            change(notes / "cars.md", "changed")

            assert shelf(all_) == {"notes": (4, 4, ["notes", "notes"])}
            assert all_.ingest(namespace="work").updated == 1
            assert all_.ingest().updated == 1


class TestCoverage:
    def test_every_file_is_there_with_its_state_and_reason(self, store, notes):
        """By path; with the collection, the document and the size of the file."""
        (notes / "bad.txt").write_bytes("Müller".encode("latin-1"))
        (notes / "node_modules").mkdir()
        (notes / "empty.md").touch()
        store.ingest(notes)

        told = [
            (Path(one.path).name, one.state, one.reason, one.size_bytes)
            for one in store.coverage()
        ]
        assert told == [
            ("bad.txt", "failed", "not UTF-8 text; convert it first", 6),
            ("cars.md", "indexed", "", 22),
            ("trains.md", "indexed", "", 18),
            ("empty.md", "skipped", "empty", 0),
            ("node_modules", "skipped", "made by a program", 0),
            ("photo.png", "skipped", "binary, not text", 4),
        ]
        for one in store.coverage():
            assert one.collection == "notes"
            assert [store.get(id_).source for id_ in one.ids] == (
                [one.path] if one.state == "indexed" else []
            )

    def test_it_can_be_narrowed(self, store, notes, tmp_path):
        """By state, collection and namespace; an unknown state is refused."""
        shutil.copytree(notes, tmp_path / "copy")
        store.ingest(notes)
        store.ingest(tmp_path / "copy", namespace="work", collection="garage")

        def names(**narrowed):
            return [Path(one.path).name for one in store.coverage(**narrowed)]

        assert names(state="skipped") == ["photo.png", "photo.png"]
        assert names(state="indexed", collection="garage") == ["cars.md", "trains.md"]
        assert names(namespace="work", state="skipped") == ["photo.png"]
        assert names(namespace="work", collection="notes") == []
        assert names(state="failed") == []
        with pytest.raises(InvalidInput, match="must be one of indexed, skipped, failed"):
            store.coverage(state="lost")

    def test_a_file_that_fails_anew_is_failed_and_keeps_its_documents(self, store, notes):
        """Once in the list."""
        store.ingest(notes)
        (before,) = (one for one in store.coverage() if one.path.endswith("cars.md"))
        (notes / "cars.md").write_bytes(b"\xff\xfe\xff")

        assert len(store.ingest(notes).failed) == 1

        (after,) = (one for one in store.coverage() if one.path.endswith("cars.md"))
        assert (after.state, after.ids) == ("failed", before.ids)
        assert store.get(before.ids[0]).text == "The red car needs oil."
        assert len(store.coverage(state="indexed")) == 1

        change(notes / "cars.md", "mended")
        store.ingest(notes)
        assert [one.state for one in store.coverage(state="failed")] == []
        assert store.get(before.ids[0]).text == "mended"

    def test_what_is_gone_is_not_in_it(self, store, notes):
        """Neither indexed nor skipped."""
        store.ingest(notes)
        shutil.rmtree(notes / "deep")
        (notes / "photo.png").unlink()
        store.ingest(notes)

        assert [Path(one.path).name for one in store.coverage()] == ["cars.md"]

    def test_one_file_says_nothing_of_its_neighbours(self, store, notes):
        """What was skipped beside it stays in the list."""
        store.ingest(notes)
        store.ingest(notes / "cars.md")

        assert len(store.coverage(state="skipped")) == 1


class TestRefresh:
    def test_all_that_was_read_is_read_again(self, store, notes, tmp_path):
        """Folders, and files that were named alone; in their collections and namespaces."""
        (tmp_path / "alone.txt").write_text("alone")
        store.ingest(notes, collection="a")
        store.ingest(tmp_path / "alone.txt", collection="b", namespace="work")
        change(notes / "cars.md", "changed")
        change(tmp_path / "alone.txt", "changed, too")
        (notes / "deep" / "trains.md").unlink()

        done = store.ingest()

        assert (done.updated, done.removed) == (2, 1)
        assert [Path(path).name for path, _ in done.skipped] == ["photo.png"]
        assert where(store) == {"cars.md": "a", "alone.txt": "b"}

    def test_nothing_was_read_yet(self, store):
        """Then there is nothing to do."""
        assert store.ingest() == Ingested()

    def test_a_folder_that_is_not_there_fails_and_loses_nothing(self, store, notes, tmp_path):
        """A disk that is not plugged in; the other folders are read."""
        (tmp_path / "zoo").mkdir()
        (tmp_path / "zoo" / "x.md").write_text("x")
        store.ingest(notes)
        store.ingest(tmp_path / "zoo")
        notes.rename(tmp_path / "away")
        change(tmp_path / "zoo" / "x.md", "changed")

        done = store.ingest()

        assert done.failed == ((str(notes), f"{STAYS} notes)"),)
        assert (done.updated, done.removed) == (1, 0)
        assert len(store.ls()) == 3
        (tmp_path / "away").rename(notes)
        again = store.ingest()
        assert (again.unchanged, again.failed, len(again.skipped)) == (3, (), 1)

    def test_a_link_that_leads_nowhere_now_loses_nothing(self, store, notes, tmp_path):
        """It is still there, its folder is not."""
        (tmp_path / "link").symlink_to(notes)
        store.ingest(tmp_path / "link")
        notes.rename(tmp_path / "away")

        done = store.ingest()

        assert done.failed == ((str(tmp_path / "link"), "No such file or directory"),)
        assert (done.removed, len(store.ls())) == (0, 2)

    def test_a_collection_needs_a_path(self, store):
        """It would be taken for a filter."""
        with pytest.raises(InvalidInput, match="collection needs a path"):
            store.ingest(collection="x")

    def test_folders_in_each_other_count_a_removed_file_once(self, store, notes):
        """Both lists know of it."""
        store.ingest(notes, collection="outer")
        store.ingest(notes / "deep", collection="inner")
        (notes / "deep" / "trains.md").unlink()

        assert store.ingest().removed == 1


NAMES = ("ant", "bee", "cat", "dog")
FOLDERS = ("", "sub", "sub/deep", "other")


class Model:
    """What a folder holds and what should follow from it, worked out in another way than the store's."""

    def __init__(self, root):
        self.root = root
        self.time = 1_900_000_000
        self.random = random.Random(20_260_503)
        root.mkdir()

    def step(self):
        """Do one thing to the folder."""
        kind = self.random.choice(
            ("create", "create", "create", "edit", "edit", "delete", "rename", "ignore", "move")
        )
        files = sorted(p for p in self.root.rglob("*.md"))
        if kind == "create" or not files:
            self.write(self.somewhere())
        elif kind == "edit":
            self.write(self.random.choice(files))
        elif kind == "delete":
            self.random.choice(files).unlink()
        elif kind == "rename":
            there = self.somewhere()
            there.parent.mkdir(parents=True, exist_ok=True)
            self.random.choice(files).replace(there)
        elif kind == "move":
            self.move_folder()
        else:
            names = self.random.sample(NAMES, self.random.randrange(3))
            (self.root / ".ignore").write_text("".join(f"{one}.md\n" for one in names))

    def somewhere(self):
        folder = self.root / self.random.choice(FOLDERS)
        return folder / f"{self.random.choice(NAMES)}.md"

    def move_folder(self):
        here, there = self.root / "sub", self.root / "other"
        if here.exists() and not there.exists():
            here.rename(there)
        elif there.exists() and not here.exists():
            there.rename(here)

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        linked = self.random.sample(NAMES, self.random.randrange(3))
        word = self.random.choice(("red", "green", "blue"))
        path.write_text(f"{word} " + " ".join(f"[[{one}]]" for one in linked) + "\n")
        self.time += 1
        os.utime(path, (self.time, self.time))

    def texts(self):
        """What should be there: every file that no rule names."""
        rules = self.root / ".ignore"
        ignored = rules.read_text().split() if rules.exists() else []
        return {
            path: path.read_text() for path in self.root.rglob("*.md") if path.name not in ignored
        }

    def edges(self):
        """Whom each links to: a page of that name beside it, else the one with the shortest way to it."""
        texts = self.texts()
        found = set()
        for path, text in texts.items():
            for word in text.split()[1:]:
                pages = [one for one in texts if one.stem == word.strip("[]")]
                beside = [one for one in pages if one.parent == path.parent]
                for page in (
                    beside or sorted(pages, key=lambda one: (len(one.parts), str(one)))[:1]
                ):
                    if page != path:
                        found.add((path, page))
        return found


@pytest.mark.parametrize("often", [1, 4])
def test_after_any_changes_the_store_holds_what_the_folder_holds(store, tmp_path, often):
    """Two hundred of them, read after each, or after several at once: texts, and links between them."""
    model = Model(tmp_path / "vault")
    moved = 0
    for number in range(200):
        model.step()
        if number % often:
            continue
        moved += store.ingest(model.root).moved
        held = store.ls(limit=1000)
        paths = {one.id: Path(one.source) for one in held}
        texts = model.texts()

        assert {(Path(one.source), one.text) for one in held} == set(texts.items()), number
        assert len(held) == len(texts), number
        linked = {
            frozenset((paths[one.id], paths[link.to]))
            for one in held
            for link in store.get(one.id).links
        }
        assert linked == {frozenset(pair) for pair in model.edges()}, number
        assert store.ingest(model.root) == store.ingest(model.root)
    assert moved > 5


def test_a_document_is_found_by_the_name_of_its_file(tmp_path):
    """Though its title is another, and its text does not say it."""
    (tmp_path / "quarterly-budget.md").write_text("# Some title\n\nNothing of the kind.\n")
    (tmp_path / "other.md").write_text("# Other\n\nNotes.\n")
    with scrubjay.open(":memory:", embedder=False) as store:
        store.ingest(tmp_path)
        for query in ("quarterly-budget.md", "budget", "quarterly"):
            assert [hit.title for hit in store.search(query, mode="keyword")] == ["Some title"]


def test_a_collection_that_is_not_there_is_said_not_just_empty(tmp_path):
    """With the names that there are."""
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add("kettle", collection="kitchen")
        *_, reason = store.search("kettle", collection="kitchn").degraded
        assert (
            reason
            == "there is no collection 'kitchn' (did you mean 'kitchen'?); there are: kitchen"
        )


def test_an_empty_path_is_no_folder():
    """An unset variable must not read the folder that one happens to be in."""
    with scrubjay.open(":memory:", embedder=False) as store:
        with pytest.raises(InvalidInput, match="path is empty"):
            store.ingest("")
        assert store.collections() == []
