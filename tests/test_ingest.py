"""Files into documents: what changed is read, what is gone is dropped, what cannot be read is told."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import scrubjay
from scrubjay import InvalidInput
from scrubjay.write import ingest as module

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
        monkeypatch.setattr(module, "_bytes_of", lambda *_: pytest.fail("a file was read again"))

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
        real = module._bytes_of

        def refuse(file):
            if file.path.endswith("cars.md"):
                raise PermissionError(13, "Permission denied", file.path)
            return real(file)

        monkeypatch.setattr(module, "_bytes_of", refuse)
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
            "its name is not valid text; rename it first"
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
        lines = [f"# Part {n}{end}{end}{'filler ' * 100}animal{n}{end}" for n in range(8)]
        (tmp_path / "long.md").write_bytes("".join(lines).encode())
        memory.ingest(tmp_path / "long.md")
        memory.pending(wait=True)

        hit = memory.search("Part 5 animal5", mode="vector", limit=1)[0]

        assert hit.lines == (16, 18)
        assert (tmp_path / "long.md").read_text().splitlines()[15] == "# Part 5"
