"""Files into documents: what changed is read, what is gone is dropped, what cannot be read is told."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay import InvalidInput
from scrubjay.documents.isolated import IsolatedReader
from scrubjay.write.ingest import run as module

LATER = 2_000_000_000


@pytest.fixture
def notes(tmp_path):
    """A folder with three documents, one of them deeper down."""
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "cars.md").write_text("# Cars\n\nThe red car needs oil.\n")
    (folder / "boats.txt").write_text("A boat needs paint.\n")
    (folder / "deep" / "trains.markdown").write_text("Trains need rails.\n")
    return folder


def texts(store):
    return sorted(one.title for one in store.ls())


def change(file, text):
    """Write a file again, later."""
    file.write_text(text)
    os.utime(file, (LATER, LATER))


class TestIncremental:
    def test_a_folder_becomes_documents(self, memory, notes):
        """Type document, the file as source, the folder as collection, its age as age."""
        os.utime(notes / "cars.md", (LATER, LATER))

        done = memory.ingest(notes)

        assert (done.added, done.updated, done.unchanged, done.removed) == (3, 0, 0, 0)
        assert (done.skipped, done.failed) == ((), ())
        (hit,) = memory.search("red oil", mode="keyword")
        found = memory.get(hit.id)
        assert (found.type, found.title, found.collection) == ("document", "Cars", "notes")
        assert found.source == str(notes / "cars.md")
        assert found.text == "# Cars\n\nThe red car needs oil.\n"
        assert found.updated_at.timestamp() == LATER
        assert memory.search("automobile", mode="vector")[0].id == hit.id

    def test_a_second_run_reads_nothing(self, memory, notes, monkeypatch):
        """Unchanged files are known by size and time."""
        memory.ingest(notes)
        monkeypatch.setattr(module, "bytes_of", lambda *_: pytest.fail("a file was read again"))

        done = memory.ingest(notes)

        assert (done.added, done.updated, done.unchanged) == (0, 0, 3)

    def test_a_touched_file_with_the_same_content_is_not_indexed_again(
        self, memory, notes, embedder
    ):
        """Content decides, not the clock."""
        memory.ingest(notes)
        memory.pending(wait=True)
        calls = embedder.calls
        os.utime(notes / "cars.md", (LATER, LATER))

        done = memory.ingest(notes)

        assert (done.updated, done.unchanged) == (0, 3)
        memory.pending(wait=True)
        assert embedder.calls == calls
        assert memory._context.shelf.targets.are_resolved(
            "default"
        )  # nor are links looked at again

    def test_a_changed_file_is_replaced_under_the_same_id(self, memory, notes):
        """Old words are gone, new ones are found."""
        memory.ingest(notes)
        before = memory.search("oil", mode="keyword")[0].id
        change(notes / "cars.md", "# Cars\n\nThe blue car needs petrol.\n")

        done = memory.ingest(notes)

        assert (done.added, done.updated, done.unchanged) == (0, 1, 2)
        assert memory.search("petrol", mode="keyword")[0].id == before
        assert len(memory.search("oil", mode="keyword")) == 0

    def test_a_removed_file_disappears(self, memory, notes):
        """A renamed one lives on under its new name."""
        memory.ingest(notes)
        (notes / "boats.txt").unlink()
        (notes / "cars.md").rename(notes / "autos.md")

        done = memory.ingest(notes)

        assert (done.added, done.moved, done.removed) == (0, 1, 1)
        assert len(memory.search("boat", mode="keyword")) == 0
        assert len(memory.search("red car", mode="keyword")) == 1
        assert memory.status().memories == 2

    def test_only_what_lies_under_the_folder_is_dropped(self, memory, notes, tmp_path):
        """Neither other folders, nor one whose name merely begins alike, nor memories."""
        other = tmp_path / "notes-old"
        other.mkdir()
        (other / "x.md").write_text("elsewhere")
        memory.ingest(notes)
        memory.ingest(other)
        memory.add("a memory of its own")
        (notes / "cars.md").unlink()

        assert memory.ingest(notes).removed == 1
        assert memory.status().memories == 4

    def test_one_file_alone_leaves_its_neighbours(self, memory, notes):
        """Whatever its extension, when it is named."""
        memory.ingest(notes)
        (notes / "script.py").write_text("print('bicycle')")
        (notes / "boats.txt").unlink()

        done = memory.ingest(notes / "script.py")

        assert (done.added, done.removed) == (1, 0)
        assert memory.search("bicycle", mode="keyword")[0].title == "script"
        assert memory.ingest(notes).removed == 1  # the boats; the script is still there
        assert len(memory.search("bicycle", mode="keyword")) == 1

    def test_namespaces_have_their_own_documents(self, memory, notes):
        """The same folder in two namespaces is two sets; dropping one keeps the other."""
        memory.ingest(notes, namespace="work", collection="garage")
        memory.ingest(notes)
        (notes / "cars.md").unlink()

        assert memory.ingest(notes).removed == 1
        hits = memory.search("red oil", mode="keyword")
        assert [(hit.namespace, hit.collection) for hit in hits] == [("work", "garage")]

    def test_a_user_ingests_into_their_own_namespace(self, tmp_path, notes):
        """And nobody else finds it."""
        path = tmp_path / "shared.db"
        with (
            scrubjay.open(path, user="ada", embedder=False) as ada,
            scrubjay.open(path, user="bob", embedder=False) as bob,
        ):
            ada.ingest(notes)
            assert len(ada.search("oil")) == 1
            assert len(bob.search("oil")) == 0
            assert bob.ingest(notes).added == 3
            assert len(ada.search("oil")) == 1

    def test_progress_is_told(self, memory, notes):
        """Number, total and the file's name, ending at the total."""
        told = []

        memory.ingest(notes, progress=lambda *at: told.append(at))

        assert told == [
            (0, 3, "boats.txt"),
            (1, 3, "cars.md"),
            (2, 3, os.path.join("deep", "trains.markdown")),
            (3, 3, ""),
        ]

    def test_a_forgotten_document_comes_back_with_the_next_run(self, memory, notes):
        """Its file is still there."""
        memory.ingest(notes)
        memory.forget(memory.search("oil", mode="keyword")[0].id)

        assert memory.ingest(notes).added == 1


class TestLeftOut:
    def test_hidden_and_other_files_are_left_alone(self, memory, notes):
        """Hidden ones without a word: nobody expects them."""
        (notes / ".secret.md").write_text("hidden")
        (notes / ".git").mkdir()
        (notes / ".git" / "config.md").write_text("hidden")
        (notes / "photo.png").write_bytes(b"\x89PNG")

        done = memory.ingest(notes)

        assert (done.added, done.failed) == (3, ())
        assert done.skipped == ((str(notes / "photo.png"), "binary, not text"),)

    def test_what_is_skipped_or_failed_is_named_with_its_reason(self, memory, notes, monkeypatch):
        """Empty, binary, too large, not UTF-8; the rest is indexed."""
        monkeypatch.setattr(module, "MOST_BYTES", 2_000_000)
        (notes / "empty.md").write_text(" \n")
        (notes / "binary.txt").write_bytes(b"a\0b")
        (notes / "latin.txt").write_bytes("Müller".encode("latin-1"))
        (notes / "large.txt").write_text("x" * 2_000_001)

        done = memory.ingest(notes)

        assert done.added == 3
        assert {Path(path).name: reason for path, reason in done.skipped} == {
            "empty.md": "empty",
            "binary.txt": "binary, not text",
            "large.txt": "larger than 2 MB",
        }
        assert {Path(path).name: reason for path, reason in done.failed} == {
            "latin.txt": "not UTF-8 text; convert it first"
        }

    def test_a_document_that_was_emptied_is_not_found_any_more(self, memory, notes):
        """What its file no longer says is not an answer."""
        memory.ingest(notes)
        change(notes / "cars.md", "")

        done = memory.ingest(notes)

        assert done.removed == 1
        assert len(memory.search("oil", mode="keyword")) == 0

    def test_an_unreadable_file_keeps_what_was_known_of_it(self, memory, notes, monkeypatch):
        """A passing trouble does not cost the index its content."""
        memory.ingest(notes)
        real = module.bytes_of

        def refuse(file):
            if file.path.endswith("cars.md"):
                raise PermissionError(13, "Permission denied", file.path)
            return real(file)

        monkeypatch.setattr(module, "bytes_of", refuse)
        change(notes / "cars.md", "changed meanwhile")

        done = memory.ingest(notes)

        assert done.failed == ((str(notes / "cars.md"), "Permission denied"),)
        assert done.removed == 0
        assert len(memory.search("oil", mode="keyword")) == 1

    def test_an_unreadable_folder_keeps_what_was_known_below_it(self, memory, notes, monkeypatch):
        """But a file beside it that is really gone is dropped, even if its name begins alike."""
        (notes / "deep.md").write_text("gone soon")
        memory.ingest(notes)
        (notes / "deep.md").unlink()
        unreadable(monkeypatch, notes / "deep")

        done = memory.ingest(notes)

        assert [Path(path).name for path, _ in done.failed] == ["deep"]
        assert done.removed == 1
        assert len(memory.search("rails", mode="keyword")) == 1
        assert len(memory.search("gone", mode="keyword")) == 0

    @pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are Unicode there")
    def test_a_file_whose_name_is_no_text_fails_alone(self, memory, notes):
        """The others are indexed all the same."""
        with open(os.fsencode(notes) + b"/\xff.md", "wb") as file:
            file.write(b"words")

        done = memory.ingest(notes)

        assert done.added == 3
        assert [reason for _, reason in done.failed] == [
            "the file name is not valid UTF-8; rename it"
        ]
        done.failed[0][0].encode()  # it can be shown

    def test_a_path_that_is_not_there_is_refused(self, memory, tmp_path):
        """And nothing is dropped because of it."""
        with pytest.raises(InvalidInput, match="there is no file or folder"):
            memory.ingest(tmp_path / "nowhere")


def unreadable(monkeypatch, folder):
    """Make a folder as if its permissions were taken away, which would not stop root."""
    scandir, isfile = os.scandir, os.path.isfile

    def refuse(path):
        if os.fspath(path) == str(folder):
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(
        os.path,
        "isfile",
        lambda path: not os.fspath(path).startswith(str(folder) + os.sep) and isfile(path),
    )


class TestReading:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ("# Título\r\n\r\nuno\r\ndos\r\n".encode(), "# Título\r\n\r\nuno\r\ndos\r\n"),
            (b"\xef\xbb\xbf# T\xc3\xadtulo\n\nuno dos", "# Título\n\nuno dos"),
            ("# Título\n\nuno dos".encode("utf-16"), "# Título\n\nuno dos"),
            ("\ufeff# Título\n\nuno dos".encode("utf-16-be"), "# Título\n\nuno dos"),
        ],
        ids=["crlf", "utf-8-bom", "utf-16-le", "utf-16-be"],
    )
    def test_line_ends_and_byte_order_marks(self, memory, tmp_path, data, text):
        """The text is kept as it is; a byte order mark is no part of it."""
        (tmp_path / "f.md").write_bytes(data)

        assert memory.ingest(tmp_path / "f.md").failed == ()

        found = memory.get(memory.search("uno", mode="keyword")[0].id)
        assert (found.text, found.title) == (text, "Título")

    @pytest.mark.parametrize(
        ("name", "text", "title"),
        [
            ("a.md", "---\ntitle: From the front\n---\n# Heading\n", "From the front"),
            ("a.md", '---\nTitle: "Quoted: twice"\nx: y\n---\n', "Quoted: twice"),
            ("a.md", "---\nauthor: me\n---\n\ntext\n\n## First heading ##\n", "First heading"),
            ("a.md", "---\ntitle:\n---\n# Heading\n", "Heading"),
            ("a.md", "text\n\n# Later heading\n", "Later heading"),
            ("a.md", "```\n# not a heading\n```\n# Real\n", "Real"),
            ("a.md", "#hashtag only\n", "a"),
            ("a.md", "# \n## Second\n", "Second"),
            ("my notes.v2.txt", "# a comment\n", "my notes.v2"),
            ("plain.md", "no heading at all", "plain"),
        ],
    )
    def test_a_title_is_the_front_matters_else_the_first_heading_else_the_files(
        self, memory, tmp_path, name, text, title
    ):
        """As product.md says."""
        (tmp_path / name).write_text(text)
        memory.ingest(tmp_path / name)

        assert [one.title for one in memory.ls()] == [title]

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_a_hit_says_on_which_lines_it_is(self, memory, tmp_path, end):
        """Counted from 1 in the file."""
        lines = [f"# Part {n}{end}{end}{'filler ' * 60}animal{n}{end}" for n in range(8)]
        (tmp_path / "long.md").write_bytes("".join(lines).encode())
        memory.ingest(tmp_path / "long.md")
        memory.pending(wait=True)

        hit = memory.search("Part 5 animal5", mode="vector", limit=1)[0]

        assert hit.lines == (16, 18)
        assert (tmp_path / "long.md").read_text().splitlines()[15] == "# Part 5"


class Reading(HashingEmbedder):
    """A model that remembers what it was given to read."""

    def __init__(self):
        super().__init__(64)
        self.read = []

    def embed(self, texts, *, as_query=False):
        if not as_query:
            self.read += texts
        return super().embed(texts, as_query=as_query)

    def newly_read(self, store):
        """What it is given for a store from now on, until nothing is wanted."""
        assert store.pending(wait=True) == 0
        read, self.read = self.read, []
        return sorted(read)


@pytest.fixture
def reading():
    return Reading()


def open_with(tmp_path, clock, embedder, **settings):
    return scrubjay.Store(str(tmp_path / "notes.db"), embedder=embedder, clock=clock, **settings)


@pytest.fixture
def shop(tmp_path, clock, reading):
    """A store whose model remembers what it reads."""
    with open_with(tmp_path, clock, reading) as store:
        yield store


def held(store):
    """What a store holds: each file's name with its text."""
    return {Path(one.source).name: one.text for one in store.ls(limit=1000)}


def ids(store):
    return {Path(one.source).name: one.id for one in store.ls(limit=1000)}


def sentence(n):
    return f"Paragraph number{n} speaks of animal{n} and plant{n}. " * 8


def long_document(*numbers):
    """A document of which every section is one passage."""
    return "# Long\n\nIntro.\n\n" + "\n".join(f"## Part {n}\n\n{sentence(n)}\n" for n in numbers)


class TestReadAgain:
    def test_size_and_date_decide_what_is_opened(self, shop, notes, monkeypatch):
        """Only the one file whose date moved is read."""
        shop.ingest(notes)
        os.utime(notes / "cars.md", (LATER, LATER))
        opened = []
        real = module.bytes_of

        def look(file):
            opened.append(Path(file.path).name)
            return real(file)

        monkeypatch.setattr(module, "bytes_of", look)

        assert shop.ingest(notes).unchanged == 3
        assert opened == ["cars.md"]
        opened.clear()
        assert shop.ingest(notes).unchanged == 3
        assert opened == []  # the new date was noted

    def test_a_touched_file_is_not_stale(self, shop, notes):
        """Not after the next run, which has seen that its content is the same."""
        shop.ingest(notes)
        os.utime(notes / "cars.md", (LATER, LATER))
        assert [hit.stale for hit in shop.search("oil", mode="keyword")] == ["stale"]

        shop.ingest(notes)

        assert [hit.stale for hit in shop.search("oil", mode="keyword")] == [None]

    def test_an_edit_is_embedded_only_where_it_is(self, shop, notes, reading):
        """GN-7: a passage is read with its title and its heading in front."""
        change(notes / "long.md", long_document(1, 2, 3, 4))
        shop.ingest(notes)
        assert len(reading.newly_read(shop)) == 8
        edited = long_document(1, 2, 3, 4).replace("animal3", "zebra")
        (notes / "long.md").write_text(edited)

        assert shop.ingest(notes).updated == 1

        (read,) = reading.newly_read(shop)
        text = sentence(3).replace("animal3", "zebra")
        assert read.startswith(f"Long\nLong › Part 3\n## Part 3\n\n{text.strip()}")
        best = shop.search("zebra plant3", mode="vector", limit=1)[0]
        assert (best.title, "zebra" in best.text) == ("Long", True)
        assert best.lines == (13, 16)  # of the file

    def test_passages_that_only_change_place_keep_their_vectors(self, shop, notes, reading):
        """One in front, one taken away: the others are where they are now, and unread."""
        change(notes / "long.md", long_document(1, 2, 3))
        shop.ingest(notes)
        reading.newly_read(shop)
        (notes / "long.md").write_text(long_document(9, 1, 3))

        shop.ingest(notes)

        assert [one.count("animal9") > 0 for one in reading.newly_read(shop)] == [True]
        assert shop.search("animal3 plant3", mode="vector", limit=1)[0].lines == (13, 15)
        assert shop.status().models == {reading.name: 7}

    def test_a_new_title_is_a_new_text_for_the_model(self, shop, notes, reading):
        """It stands in front of every passage."""
        change(notes / "long.md", long_document(1, 2))
        shop.ingest(notes)
        reading.newly_read(shop)
        (notes / "long.md").write_text(long_document(1, 2).replace("# Long", "# Short"))

        shop.ingest(notes)

        read = reading.newly_read(shop)
        assert [one.split("\n")[0] for one in read] == ["# Short", "Short", "Short"]

    def test_another_chunk_size_cuts_again_and_keeps_what_is_the_same(
        self, tmp_path, notes, clock, reading
    ):
        """Sizes and dates are as before; short documents stay one passage and are not read again."""
        change(notes / "long.md", long_document(1, 2))
        with open_with(tmp_path, clock, reading) as store:
            store.ingest(notes)
            assert len(reading.newly_read(store)) == 6
        with open_with(tmp_path, clock, reading, chunk_tokens=40, chunk_overlap_tokens=0) as store:
            done = store.ingest(notes)

            assert (done.updated, done.unchanged) == (4, 0)
            read = reading.newly_read(store)
            assert {one.split("\n")[0] for one in read} == {"Long"}
            assert len(read) == 6  # two sections in three passages each
            assert store.ingest(notes).unchanged == 4
            assert store.status().models == {reading.name: 4 + len(read)}

    def test_another_reader_reads_again(self, shop, notes, monkeypatch, reading):
        """When a new version of scrubjay makes other documents of the same bytes."""
        shop.ingest(notes)
        reading.newly_read(shop)
        monkeypatch.setattr("scrubjay.documents.read._VERSION", 2)

        assert shop.ingest(notes).updated == 3
        assert shop.ingest(notes).unchanged == 3
        assert reading.newly_read(shop) == []

    def test_what_is_ignored_from_now_on_is_removed(self, shop, notes):
        """And comes back when it is no longer."""
        shop.ingest(notes)
        (notes / ".scrubjayignore").write_text("deep/\n*.txt\n")

        done = shop.ingest(notes)

        assert (done.removed, held(shop).keys()) == (2, {"cars.md"})
        assert {Path(path).name for path, _ in done.skipped} == {"deep", "boats.txt"}
        (notes / ".scrubjayignore").unlink()
        assert shop.ingest(notes).added == 2

    def test_an_emptied_file_that_is_filled_again_comes_back(self, shop, notes):
        """It was skipped in between."""
        shop.ingest(notes)
        change(notes / "cars.md", "")
        assert shop.ingest(notes).skipped == ((str(notes / "cars.md"), "empty"),)
        (notes / "cars.md").write_text("Vans")

        assert shop.ingest(notes).added == 1
        assert held(shop)["cars.md"] == "Vans"

    def test_a_skipped_file_is_not_opened_again(self, shop, notes, monkeypatch):
        """As long as it looks the same."""
        (notes / "binary.txt").write_bytes(b"a\0b")
        shop.ingest(notes)
        monkeypatch.setattr(module, "bytes_of", lambda *_: pytest.fail("it was opened again"))

        assert shop.ingest(notes).skipped == ((str(notes / "binary.txt"), "binary, not text"),)

    def test_a_file_from_a_far_future_is_a_file(self, shop, notes, monkeypatch):
        """Its date is cut to what can be kept; it is neither read again nor stale."""
        far = 15_032_385_535 * 10**9  # the last date of ext4, in 2446
        real = module.walk
        monkeypatch.setattr(
            module, "walk", lambda *a: (one._replace(mtime_ns=far) for one in real(*a))
        )

        assert shop.ingest(notes).added == 3
        assert shop.ingest(notes).unchanged == 3
        assert shop.search("oil", mode="keyword")[0].updated_at.year == 2262

    def test_many_files_go_in_by_several_transactions(self, shop, tmp_path):
        """And all of them come out again."""
        folder = tmp_path / "many"
        folder.mkdir()
        for n in range(120):
            (folder / f"{n}.txt").write_text(f"word{n}")

        assert shop.ingest(folder).added == 120
        assert held(shop) == {f"{n}.txt": f"word{n}" for n in range(120)}


class TestTwoAtOnce:
    def test_a_file_that_another_process_read_meanwhile_is_one_document(
        self, tmp_path, notes, words_only
    ):
        """A watch in one process, an `ingest` in another."""
        with scrubjay.open(words_only.path, embedder=False) as other:
            shelf = other._context.shelf
            reader = IsolatedReader(shelf.file_limits)
            late = module.IngestRun(shelf, str(notes), None, "default", set(), reader)
            words_only.ingest(notes)

            late.read(None)
            late.finish()

            assert len(words_only.ls()) == 3
            change(notes / "cars.md", "changed")
            words_only.ingest(notes)
            assert held(words_only)["cars.md"] == "changed"
            assert len(words_only.ls()) == 3

    def test_a_document_too_many_goes_with_the_next_change(self, words_only, notes):
        """Should there ever be two of one file."""
        words_only.ingest(notes)
        twin = words_only.add("a twin", type="document")
        (file,) = words_only._context.tables.files.of([ids_of(words_only, "oil")]).values()
        words_only._context.tables.files.put(file._replace(memory=twin.id))

        change(notes / "cars.md", "changed")
        words_only.ingest(notes)

        assert sorted(one.text for one in words_only.ls() if one.source is None) == []
        assert len(words_only.ls()) == 3


def ids_of(store, query):
    (hit,) = store.search(query, mode="keyword")
    return hit.id


class TestMoves:
    def test_all_that_hangs_on_a_document_moves_with_it(self, shop, notes, reading):
        """Its id, links by hand, feedback, and vectors, where its title is its own."""
        shop.ingest(notes)
        before = ids(shop)
        shop.link(before["cars.md"], before["boats.txt"], 0.5, kind="near")
        shop.feedback("oil", before["cars.md"], "accepted")
        reading.newly_read(shop)
        (notes / "cars.md").rename(notes / "deep" / "autos.md")

        done = shop.ingest(notes)

        assert (done.added, done.updated, done.moved, done.removed) == (0, 0, 1, 0)
        found = shop.get(before["cars.md"])
        assert found.source == str(notes / "deep" / "autos.md")
        assert found.title == "Cars"
        assert [tuple(link) for link in found.links] == [(before["boats.txt"], 0.5, "near")]
        assert feedback_of(shop) == [(found.id, "oil", "accepted")]
        assert reading.newly_read(shop) == []
        assert shop.search("red oil", mode="vector")[0].id == found.id

    def test_a_title_that_is_the_files_name_follows_it(self, shop, notes, reading):
        """By word and by meaning it is found under the new one."""
        shop.ingest(notes)
        before = ids(shop)["boats.txt"]
        reading.newly_read(shop)
        (notes / "boats.txt").rename(notes / "ships.txt")

        assert shop.ingest(notes).moved == 1

        assert shop.get(before).title == "ships"
        assert [hit.id for hit in shop.search("ships", mode="keyword")] == [before]
        assert len(shop.search("boats.txt", mode="keyword")) == 1  # "A boat needs paint" still is
        assert reading.newly_read(shop) == ["ships\nA boat needs paint.\n"]

    def test_a_renamed_folder_of_many_files(self, shop, tmp_path, reading):
        """Also one of more files than a transaction takes, and with equal ones among them."""
        folder = tmp_path / "many"
        (folder / "old").mkdir(parents=True)
        for n in range(70):
            (folder / "old" / f"{n}.md").write_text(f"# Title\n\nword{n % 60}")
        shop.ingest(folder)
        before = ids(shop)
        reading.newly_read(shop)
        (folder / "old").rename(folder / "new")

        done = shop.ingest(folder)

        assert (done.added, done.moved, done.removed, done.unchanged) == (0, 70, 0, 0)
        assert sorted(ids(shop).values()) == sorted(before.values())
        assert {Path(one.source).parent.name for one in shop.ls(limit=100)} == {"new"}
        assert held(shop) == {f"{n}.md": f"# Title\n\nword{n % 60}" for n in range(70)}
        assert reading.newly_read(shop) == []

    @pytest.mark.parametrize(("start", "end"), [("a", "z"), ("z", "a")])
    def test_from_one_followed_folder_to_another(self, shop, tmp_path, start, end):
        """Whichever is read first; it is in the other collection then."""
        for name in ("a", "z"):
            (tmp_path / name).mkdir()
            (tmp_path / name / f"{name}.md").write_text(f"only {name}")
            shop.ingest(tmp_path / name)
        (tmp_path / start / "moving.md").write_text("moving words")
        shop.ingest()
        before = ids(shop)["moving.md"]
        (tmp_path / start / "moving.md").rename(tmp_path / end / "moved.md")

        done = shop.ingest()

        assert (done.added, done.moved, done.removed, done.unchanged) == (0, 1, 0, 2)
        assert (shop.get(before).collection, shop.get(before).title) == (end, "moved")

    def test_a_renamed_root(self, shop, notes, tmp_path):
        """Its documents live on below the new name, and nothing is there twice."""
        shop.ingest(notes)
        before = ids(shop)
        notes.rename(tmp_path / "vault")

        done = shop.ingest(tmp_path / "vault")

        assert (done.moved, done.added) == (3, 0)
        assert ids(shop) == before
        assert {one.collection for one in shop.ls()} == {"vault"}

    def test_moved_and_edited_is_another_document(self, shop, notes):
        """Nothing says that it is the same."""
        shop.ingest(notes)
        before = ids(shop)["cars.md"]
        (notes / "cars.md").unlink()
        (notes / "autos.md").write_text("# Cars\n\nThe red car needs water.\n")

        done = shop.ingest(notes)

        assert (done.added, done.moved, done.removed) == (1, 0, 1)
        assert before not in ids(shop).values()

    def test_of_two_equal_files_the_one_that_moved(self, shop, notes):
        """The other stays what it is."""
        (notes / "copy.md").write_text((notes / "cars.md").read_text())
        shop.ingest(notes)
        before = ids(shop)
        (notes / "copy.md").rename(notes / "autos.md")

        done = shop.ingest(notes)

        assert (done.moved, done.unchanged) == (1, 3)
        assert ids(shop) == {**{k: v for k, v in before.items() if k != "copy.md"},
                             "autos.md": before["copy.md"]}  # fmt: skip

    def test_a_copy_is_another_document(self, shop, notes):
        """The first is still there."""
        shop.ingest(notes)
        before = ids(shop)["cars.md"]
        (notes / "autos.md").write_text((notes / "cars.md").read_text())

        done = shop.ingest(notes)

        assert (done.added, done.moved) == (1, 0)
        assert ids(shop)["cars.md"] == before != ids(shop)["autos.md"]

    def test_two_files_that_change_names(self, shop, notes):
        """Each name has the other's text."""
        (notes / "a.md").write_text("text of a")
        (notes / "b.md").write_text("text of b")
        shop.ingest(notes)
        (notes / "a.md").rename(notes / "c")
        (notes / "b.md").rename(notes / "a.md")
        (notes / "c").rename(notes / "b.md")

        shop.ingest(notes)

        now = held(shop)
        assert (now["a.md"], now["b.md"], len(now)) == ("text of b", "text of a", 5)

    @pytest.mark.parametrize("name", ["a.md", "z.md"])
    def test_a_new_file_where_a_moved_one_was(self, shop, notes, name):
        """In one run, whichever comes first; and in two runs, under an id of its own."""
        shop.ingest(notes)
        (notes / "cars.md").rename(notes / name)
        change(notes / "cars.md", "something new")
        shop.ingest(notes)
        assert held(shop)[name] == "# Cars\n\nThe red car needs oil.\n"
        assert held(shop)["cars.md"] == "something new"

        (notes / "cars.md").rename(notes / "m.md")
        shop.ingest(notes)
        change(notes / "cars.md", "something newer")
        shop.ingest(notes)

        assert {n: held(shop)[n] for n in ("m.md", "cars.md")} == {
            "m.md": "something new",
            "cars.md": "something newer",
        }
        assert len(set(ids(shop).values())) == 5

    def test_a_name_in_other_letters(self, shop, notes):
        """`Cars.md` for `cars.md`: one document, under its new name."""
        shop.ingest(notes)
        before = ids(shop)["cars.md"]
        (notes / "cars.md").rename(notes / "between")
        (notes / "between").rename(notes / "Cars.md")

        shop.ingest(notes)

        assert ids(shop)["Cars.md"] == before
        assert len(ids(shop)) == 3

    def test_another_ending_is_another_reader(self, shop, notes):
        """The same document, read in another way."""
        (notes / "plain.txt").write_text("# Heading\n\nwords")
        shop.ingest(notes)
        before = ids(shop)["plain.txt"]
        assert shop.get(before).title == "plain"
        (notes / "plain.txt").rename(notes / "plain.md")

        assert shop.ingest(notes).moved == 1
        assert shop.get(before).title == "Heading"

    def test_never_across_namespaces(self, shop, notes, tmp_path):
        """One person's document does not become another's."""
        shop.ingest(notes, namespace="work")
        notes.rename(tmp_path / "vault")

        done = shop.ingest(tmp_path / "vault", namespace="home")

        assert (done.added, done.moved) == (3, 0)
        assert len(shop.ls(namespace="work")) == 3


def feedback_of(store):
    with store._context.db.read() as db:
        return db.execute(
            "SELECT m.id, f.query, f.action FROM feedback AS f JOIN memories AS m ON m.n = f.memory"
        ).fetchall()


def conversation(name, *said):
    messages = [{"role": "user", "content": one} for one in said]
    return {"id": name, "title": f"About {name}", "messages": messages}


def export(file, *conversations, at=LATER):
    file.write_text(json.dumps(list(conversations)))
    os.utime(file, (at, at))


class TestSeveralDocumentsInOneFile:
    CATS = conversation("cats", "do cats purr?", "they do")
    DOGS = conversation("dogs", "do dogs bark?")
    FISH = conversation("fish", "do fish sing?")

    @pytest.fixture
    def chats(self, tmp_path):
        folder = tmp_path / "chats"
        folder.mkdir()
        export(folder / "all.json", self.CATS, self.DOGS, self.FISH)
        return folder

    def test_each_conversation_is_a_document(self, shop, chats):
        """And the file is one file."""
        assert shop.ingest(chats).added == 1

        found = {one.title: one for one in shop.ls()}
        assert found.keys() == {"About cats", "About dogs", "About fish"}
        assert found["About cats"].text == "user: do cats purr?\n\nuser: they do\n"
        (covered,) = shop.coverage()
        assert (covered.path, covered.state) == (str(chats / "all.json"), "indexed")
        assert sorted(covered.ids) == sorted(one.id for one in found.values())
        (collection,) = shop.collections()
        assert (collection.memories, collection.documents) == (3, 3)

    def test_one_that_is_gone_goes_alone(self, shop, chats, reading):
        """The others keep their ids, and their vectors."""
        shop.ingest(chats)
        before = {one.title: one.id for one in shop.ls()}
        reading.newly_read(shop)
        export(chats / "all.json", self.CATS, self.FISH, at=LATER + 1)

        done = shop.ingest(chats)

        assert (done.updated, done.removed) == (1, 0)
        del before["About dogs"]
        assert {one.title: one.id for one in shop.ls()} == before
        assert reading.newly_read(shop) == []
        assert len(shop.search("bark", mode="keyword")) == 0

    def test_one_that_is_new_comes_alone(self, shop, chats, reading):
        """Wherever in the file it stands."""
        shop.ingest(chats)
        before = {one.title: one.id for one in shop.ls()}
        reading.newly_read(shop)
        export(chats / "all.json", conversation("owls", "hoot"), self.CATS, self.DOGS, self.FISH)
        os.utime(chats / "all.json", (LATER + 1, LATER + 1))

        assert shop.ingest(chats).updated == 1

        now = {one.title: one.id for one in shop.ls()}
        assert now.pop("About owls") not in before.values()
        assert now == before
        assert len(reading.newly_read(shop)) == 1

    def test_the_last_one_left_is_still_the_same(self, shop, chats):
        """And still is when others come again."""
        shop.ingest(chats)
        before = {one.title: one.id for one in shop.ls()}["About cats"]
        export(chats / "all.json", self.CATS, at=LATER + 1)
        shop.ingest(chats)
        assert [one.id for one in shop.ls()] == [before]

        export(chats / "all.json", self.CATS, self.DOGS, at=LATER + 2)
        shop.ingest(chats)
        assert before in {one.id for one in shop.ls()}

    def test_all_move_together(self, shop, chats):
        """With their file."""
        shop.ingest(chats)
        before = {one.title: one.id for one in shop.ls()}
        (chats / "all.json").rename(chats / "other.json")

        done = shop.ingest(chats)

        assert (done.moved, done.removed) == (1, 0)
        assert {one.title: one.id for one in shop.ls()} == before
        assert {one.source for one in shop.ls()} == {str(chats / "other.json")}

    def test_all_go_together(self, shop, chats):
        """A removed file is one file."""
        shop.ingest(chats)
        (chats / "all.json").unlink()

        assert shop.ingest(chats).removed == 1
        assert shop.ls() == []

    def test_they_become_one_text_with_another_ending(self, shop, chats):
        """And what they were is gone."""
        shop.ingest(chats)
        (chats / "all.json").rename(chats / "all.txt")

        shop.ingest(chats)

        (one,) = shop.ls()
        assert (one.title, one.text) == ("all", (chats / "all.txt").read_text())


class TestFrontMatter:
    def put(self, store, tmp_path, text):
        (tmp_path / "note.md").write_text(text)
        os.utime(tmp_path / "note.md", (LATER, LATER))
        assert store.ingest(tmp_path / "note.md").failed == ()
        (found,) = store.ls()
        return found

    @pytest.mark.parametrize(
        "front",
        [
            "tags: [Red Car, oil]",
            "tags:\n  - Red  Car\n  - '#oil'",
            "tags: red car, oil",
            "keywords: oil\ncategories: [RED CAR]",
        ],
    )
    def test_tags_are_topics(self, words_only, tmp_path, front):
        """From a list or a text, in any letters; and one can search by them."""
        found = self.put(words_only, tmp_path, f"---\n{front}\n---\nText of it.\n")

        assert set(found.topics) == {"red car", "oil"}
        for topic in ("oil", "Red Car", ["oil", "nothing"]):
            assert [hit.id for hit in words_only.search("text", topics=topic)] == [found.id]
        assert len(words_only.search("text", topics="red")) == 0

    def test_tags_in_the_text_are_topics(self, words_only, tmp_path):
        """Not those in code, not headings, not colours, not numbers."""
        text = "# Heading\n\nA #red/car and #Öl, not `#code`, #123, #fff000 or x#y.\n\n```\n#no\n```\n"
        found = self.put(words_only, tmp_path, text)

        assert found.topics == ("red/car", "öl")
        assert len(words_only.search("heading", topics="öl")) == 1

    def test_a_tag_that_is_gone_is_no_topic(self, words_only, tmp_path):
        """After the next run."""
        self.put(words_only, tmp_path, "some #red text")
        (tmp_path / "note.md").write_text("some #green text")
        words_only.ingest(tmp_path / "note.md")

        assert len(words_only.search("text", topics="red")) == 0
        assert len(words_only.search("text", topics="green")) == 1

    def test_a_tag_that_cannot_be_a_topic_does_not_cost_the_document(self, words_only, tmp_path):
        """The others are kept."""
        front = f'tags: [good, {"x" * 600}, "a\\u0007b"]'

        assert self.put(words_only, tmp_path, f"---\n{front}\n---\nText.\n").topics == ("good",)

    def test_dates_are_those_it_gives(self, words_only, tmp_path):
        """One of them alone is that one; the other is the file's."""
        both = "---\ndate: 2024-01-31\nupdated: 2025-02-03T04:05:06+02:00\n---\nText.\n"
        found = self.put(words_only, tmp_path, both)
        assert found.created_at == datetime(2024, 1, 31, tzinfo=UTC)
        assert found.updated_at == datetime(2025, 2, 3, 2, 5, 6, tzinfo=UTC)
        assert len(words_only.search("text", since="2024-02-01")) == 0
        assert len(words_only.search("text", since="2024-01-31", until="2024-01-31")) == 1

        one = self.put(words_only, tmp_path, "---\ncreated: 2024-01-31\n---\nText again.\n")
        assert one.created_at == datetime(2024, 1, 31, tzinfo=UTC)
        assert one.updated_at.timestamp() == LATER

    @pytest.mark.parametrize(
        "front",
        [
            "title: [unclosed\ntags: {a",
            "\ttabs: are not yaml",
            "title: a: b: c",
            "a: &a [*a, *a]",
            "date: the other day",
            "date: 0001-01-01T00:00:00+14:00",
            "- a list\n- is no mapping",
            "x: !!python/object:os.system y",
        ],
    )
    def test_what_is_no_yaml_is_still_found(self, words_only, tmp_path, front):
        """The document is indexed all the same."""
        found = self.put(words_only, tmp_path, f"---\n{front}\n---\n\n# Title\n\nTelling words.\n")

        assert [hit.id for hit in words_only.search("telling", mode="keyword")] == [found.id]

    def test_a_heading_of_a_million_letters_is_cut(self, words_only, tmp_path):
        """Every passage repeats it: whole, it would make a thousand megabytes of one."""
        found = self.put(words_only, tmp_path, "# " + "x" * 1_000_000 + "\n\nTelling words.\n")

        assert [hit.id for hit in words_only.search("telling", mode="keyword")] == [found.id]
        assert found.title == "x" * 500
        assert os.path.getsize(words_only.path) < 10_000_000
