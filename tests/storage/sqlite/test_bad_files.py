"""Whatever lies in a folder: the run goes on, the file is named with the reason, nothing is lost."""

from __future__ import annotations

import builtins
import importlib.util
import os
import shutil
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from samples import docx, paragraph, pdf

import scrubjay
from scrubjay.documents import read as reading
from scrubjay.write.ingest import run as module

LATER = 2_000_000_000


@pytest.fixture
def store(clock):
    with scrubjay.open(":memory:", embedder=False, clock=clock) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path, store):
    """A folder that was read before: what is in it must survive whatever comes."""
    made = tmp_path / "folder"
    (made / "sub").mkdir(parents=True)
    (made / "a.md").write_text("The first document.")
    (made / "sub" / "m.md").write_text("The middle document.")
    (made / "z.md").write_text("The last document.")
    assert store.ingest(made).added == 3
    return made


@pytest.fixture
def packages(monkeypatch):
    """A function that makes packages disappear, and come back."""
    real = importlib.util.find_spec

    def without(*names):
        monkeypatch.setattr(
            reading, "find_spec", lambda name: None if name in names else real(name)
        )
        reading._is_installed.cache_clear()

    yield without
    reading._is_installed.cache_clear()


def change(file, data):
    """Write a file again, later."""
    file.write_bytes(data)
    os.utime(file, (LATER, LATER))


def held(store):
    return {Path(one.source).name: one.text for one in store.ls(limit=1000)}


def states(store):
    return {Path(one.path).name: (one.state, one.reason) for one in store.coverage()}


BAD = {
    "corrupt.pdf": (b"%PDF-1.7\nnot really", "failed", "not a readable PDF: data format error"),
    "cut.pdf": (pdf("words")[:200], "failed", "not a readable PDF: data format error"),
    "scan.pdf": (pdf(""), "skipped", "no text in it: scanned pages need OCR first"),
    "text.docx": (b"just words", "failed", "not a readable DOCX: not a zip file"),
    "latin.txt": ("Müller".encode("latin-1"), "failed", "not UTF-8 text; convert it first"),
    "cut.txt": ("Müller".encode()[:2], "failed", "not UTF-8 text; convert it first"),
    "half.txt": (b"\xff\xfea\x00b", "failed", "not UTF-8 text; convert it first"),
    "surrogate.md": (b"a \xed\xa0\x80 b", "failed", "not UTF-8 text; convert it first"),
    "utf16.txt": ("no mark".encode("utf-16-le"), "skipped", "binary, not text"),
    "zero.md": (b"a\0b", "skipped", "binary, not text"),
    "empty.md": (b"", "skipped", "empty"),
    "blank.md": (b" \n\t\n", "skipped", "empty"),
    "photo.JPG": (b"\xff\xd8\xff", "skipped", "binary, not text"),
}


class TestContent:
    @pytest.mark.parametrize("name", BAD)
    def test_a_bad_file_is_named_and_the_others_are_read(self, store, folder, name):
        """With its state and reason, in the result and in the coverage."""
        data, state, reason = BAD[name]
        (folder / name).write_bytes(data)
        change(folder / "z.md", b"The last document, changed.")

        done = store.ingest(folder)

        assert (done.updated, done.unchanged, done.removed) == (1, 2, 0)
        assert getattr(done, state) == ((str(folder / name), reason),)
        assert states(store)[name] == (state, reason)
        assert len(held(store)) == 3

    @pytest.mark.parametrize("name", [one for one in BAD if BAD[one][1] == "failed"])
    def test_what_was_read_of_it_before_stays_until_it_can_be_read_again(
        self, store, folder, name
    ):
        """A failure is no deletion."""
        whole = {"pdf": pdf("good words"), "docx": docx(paragraph("good words"))}
        good = whole.get(name.rpartition(".")[2], b"good words")
        change(folder / name, good)
        store.ingest(folder)
        before = held(store)[name]
        (folder / name).write_bytes(BAD[name][0])

        for _ in range(2):
            assert store.ingest(folder).failed == ((str(folder / name), BAD[name][2]),)
            assert held(store)[name] == before
        change(folder / name, good)
        done = store.ingest(folder)

        assert (done.failed, done.unchanged) == ((), 4)

    def test_all_of_them_at_once(self, store, folder):
        """Each for itself."""
        for name, (data, _, _) in BAD.items():
            (folder / name).write_bytes(data)

        done = store.ingest(folder)

        assert len(done.failed) + len(done.skipped) == len(BAD)
        assert (done.unchanged, len(held(store))) == (3, 3)
        assert store.ingest(folder)[5:] == done[5:]

    def test_a_line_of_two_hundred_megabytes_is_skipped_unread(self, store, folder, monkeypatch):
        """Its size is enough to know."""
        with open(folder / "line.txt", "wb") as file:
            file.truncate(200_000_000)
        started = time.process_time()
        tracemalloc.start()

        done = store.ingest(folder)

        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert done.skipped == ((str(folder / "line.txt"), "larger than 10 MB"),)
        assert peak < 20_000_000
        assert time.process_time() - started < 2

    @pytest.mark.parametrize("name", ["line.txt", "line.md"])
    @pytest.mark.parametrize("unit", ["word ", "x", "# "], ids=["words", "letters", "hashes"])
    def test_a_long_line_of_anything_is_read(self, store, folder, name, unit):
        """In seconds, and found by the word at its end."""
        (folder / name).write_text(unit * (400_000 // len(unit)) + " needle")
        started = time.process_time()

        assert store.ingest(folder).added == 1

        assert time.process_time() - started < 5
        assert [hit.source for hit in store.search("needle")] == [str(folder / name)]

    @pytest.mark.slow
    def test_nine_megabytes_in_one_line_take_seconds_and_little_memory(self, store, folder):
        """Flat: some copies of the text, not one a passage."""
        (folder / "line.txt").write_text("considerable differences " * 360_000 + "needle")
        started = time.process_time()
        before = peak_memory()

        assert store.ingest(folder / "line.txt").added == 1

        assert time.process_time() - started < 30
        assert peak_memory() - before < 600_000_000
        assert len(store.search("needle")) == 1


def peak_memory():
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class TestMissingPackage:
    @pytest.mark.parametrize(
        ("name", "package", "data"),
        [
            ("a.pdf", "pypdfium2", pdf("telling words")),
            ("a.docx", "mammoth", docx(paragraph("telling words"))),
            ("a.html", "bs4", b"<p>telling words"),
        ],
    )
    def test_the_reason_is_the_command_that_installs_it(
        self, store, folder, packages, name, package, data
    ):
        """And when it is there, the next run reads the file, though it did not change."""
        (folder / name).write_bytes(data)
        packages(package)

        for _ in range(2):
            done = store.ingest(folder)
            assert done.failed == ((str(folder / name), 'needs: pip install "scrubjay[files]"'),)
            assert done.unchanged == 3
        packages()

        done = store.ingest(folder)
        assert (done.added, done.failed) == (1, ())
        assert [hit.source for hit in store.search("telling")] == [str(folder / name)]

    def test_a_package_that_is_gone_again_loses_nothing(self, store, folder, packages):
        """What was read stays, and is not read again when it is back."""
        (folder / "a.pdf").write_bytes(pdf("telling words"))
        store.ingest(folder)
        packages("pypdfium2")

        done = store.ingest(folder)
        assert (len(done.failed), done.removed) == (1, 0)
        assert len(store.search("telling")) == 1

        packages()
        done = store.ingest(folder)
        assert (done.failed, done.unchanged) == ((), 4)


class TestDisk:
    def test_a_file_without_permission(self, store, folder, monkeypatch):
        """Changed or new; the one beside it is read."""
        change(folder / "a.md", b"changed")
        change(folder / "new.md", b"new")
        change(folder / "z.md", b"changed, too")
        refuse(monkeypatch, folder / "a.md", folder / "new.md")

        done = store.ingest(folder)

        assert done.failed == (
            (str(folder / "a.md"), "Permission denied"),
            (str(folder / "new.md"), "Permission denied"),
        )
        assert held(store)["a.md"] == "The first document."
        assert held(store)["z.md"] == "changed, too"
        monkeypatch.undo()
        done = store.ingest(folder)
        assert (done.added, done.updated, done.failed) == (1, 1, ())

    def test_a_folder_without_permission(self, store, folder, monkeypatch):
        """What lies in it is neither read nor dropped."""
        real = os.scandir

        def scandir(path):
            if os.fspath(path) == str(folder / "sub"):
                raise PermissionError(13, "Permission denied")
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
        (folder / "z.md").unlink()

        done = store.ingest(folder)

        assert done.failed == ((str(folder / "sub"), "Permission denied"),)
        assert (done.removed, held(store).keys()) == (1, {"a.md", "m.md"})
        assert states(store)["sub"] == ("failed", "Permission denied")

    @pytest.mark.parametrize("when", ["listed", "read"])
    def test_a_folder_that_disappears_while_it_is_read(self, store, folder, monkeypatch, when):
        """Nothing that was known is lost; the next run that finds it gone says so."""
        for name in ("b.md", "c.md"):
            change(folder / name, b"new")
        real = os.scandir if when == "listed" else builtins.open

        def vanish(path, *more, **options):
            if isinstance(path, str) and path.startswith(str(folder)):
                if when == "listed" and path == str(folder):
                    listing = real(path)
                    entries = list(listing)
                    shutil.rmtree(folder)
                    return Listing(entries)
                shutil.rmtree(folder, ignore_errors=True)
            return real(path, *more, **options)

        monkeypatch.setattr(os if when == "listed" else builtins, real.__name__, vanish)
        done = store.ingest(folder)
        monkeypatch.undo()

        assert (done.added, done.removed) == (0, 0)
        assert {reason for _, reason in done.failed} == {"No such file or directory"}
        assert held(store).keys() == {"a.md", "m.md", "z.md"}
        again = store.ingest()
        ((failed, reason),) = again.failed
        assert failed == str(folder)
        assert reason.startswith("not found; its memories stay (to remove them: ")
        assert len(held(store)) == 3

    def test_a_sub_folder_that_disappears_costs_only_itself(self, store, folder, monkeypatch):
        """And only with the run after that."""
        real = module.walk

        def walk(*given):
            found = list(real(*given))
            shutil.rmtree(folder / "sub", ignore_errors=True)
            return iter(found)

        change(folder / "sub" / "n.md", b"new")
        monkeypatch.setattr(module, "walk", walk)

        done = store.ingest(folder)

        assert done.failed == ((str(folder / "sub" / "n.md"), "No such file or directory"),)
        assert len(held(store)) == 3
        done = store.ingest(folder)
        assert (done.removed, done.failed, len(held(store))) == (1, (), 2)

    def test_a_file_that_grows_while_it_is_read(self, store, folder, monkeypatch):
        """What was there is taken, and the next run takes the rest."""
        real = module.bytes_of

        def slowly(file):
            with open(file.path, "ab") as more:
                more.write(b" More.")
            return real(file)

        monkeypatch.setattr(module, "bytes_of", slowly)
        change(folder / "a.md", b"It grows.")
        store.ingest(folder)
        monkeypatch.undo()
        assert held(store)["a.md"] == "It grows. More."

        assert store.ingest(folder).unchanged == 3
        with open(folder / "a.md", "ab") as more:
            more.write(b" Still.")
        assert store.ingest(folder).updated == 1
        assert held(store)["a.md"] == "It grows. More. Still."

    def test_a_file_that_grows_beyond_measure_while_it_is_read(self, store, folder, monkeypatch):
        """No more of it is read than the most that is ever read."""
        monkeypatch.setattr(module, "MOST_BYTES", 1_000_000)
        real = module.bytes_of

        def grown(file):
            if file.path.endswith("new.md"):
                change(Path(file.path), b"x" * 3_000_000)
            return real(file)

        (folder / "new.md").write_text("small")
        monkeypatch.setattr(module, "bytes_of", grown)

        assert store.ingest(folder).skipped == ((str(folder / "new.md"), "larger than 1 MB"),)

    def test_a_file_that_became_a_folder_and_back(self, store, folder):
        """Each time it is what it is now."""
        (folder / "a.md").unlink()
        (folder / "a.md").mkdir()
        change(folder / "a.md" / "inside.md", b"Inside.")

        done = store.ingest(folder)
        assert (done.added, done.removed) == (1, 1)
        assert held(store).keys() == {"inside.md", "m.md", "z.md"}

        shutil.rmtree(folder / "a.md")
        change(folder / "a.md", b"A file again.")
        done = store.ingest(folder)
        assert (done.added, done.removed) == (1, 1)
        assert held(store).keys() == {"a.md", "m.md", "z.md"}

    def test_a_folder_that_became_a_file_while_it_is_read(self, store, folder, monkeypatch):
        """It fails by what the system says of it."""
        real = module.bytes_of

        def replaced(file):
            if file.path.endswith("m.md"):
                shutil.rmtree(folder / "sub", ignore_errors=True)
                (folder / "sub").touch()
            return real(file)

        change(folder / "sub" / "m.md", b"changed")
        monkeypatch.setattr(module, "bytes_of", replaced)

        done = store.ingest(folder)

        assert done.failed == ((str(folder / "sub" / "m.md"), "Not a directory"),)
        assert held(store)["m.md"] == "The middle document."

    @pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
    def test_links_in_a_circle_end(self, store, folder):
        """They are not followed at all."""
        (folder / "round").symlink_to(".")
        (folder / "sub" / "up").symlink_to("..")
        (folder / "one").symlink_to("two")
        (folder / "two").symlink_to("one")

        done = store.ingest(folder)

        assert (done.unchanged, len(done.skipped), done.failed) == (3, 4, ())
        assert states(store)["one"] == ("skipped", "a link that leads nowhere")

    @pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
    def test_a_file_that_became_a_link_is_not_followed(self, store, folder, tmp_path):
        """It leads out: what it was is gone, and what it leads to stays out."""
        (tmp_path / "secret.md").write_text("A secret.")
        (folder / "a.md").unlink()
        (folder / "a.md").symlink_to(tmp_path / "secret.md")

        done = store.ingest(folder)

        assert done.skipped == ((str(folder / "a.md"), "a link out of the folder"),)
        assert (done.removed, len(store.search("secret"))) == (1, 0)

    @pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are Unicode there")
    def test_names_that_are_no_text(self, store, folder):
        """Files and folders; each is named in letters that can be shown."""
        raw = os.fsencode(folder)
        os.mkdir(raw + b"/\xe9t\xe9")
        for name in (b"/\xff.md", b"/\xfe.md", b"/\xe9t\xe9/inside.md", b"/\xfd.png"):
            with open(raw + name, "wb") as file:
                file.write(b"words")

        for _ in range(2):
            done = store.ingest(folder)
            assert done.failed == tuple(
                (f"{folder}/{name}", "the file name is not valid UTF-8; rename it")
                for name in ("?t?/inside.md", "?.png", "?.md", "?.md")
            )
            assert (done.unchanged, done.removed) == (3, 0)
        assert len(store.coverage(state="failed")) == 4

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
    def test_a_pipe_is_not_waited_for(self, store, folder):
        """Nobody writes into it."""
        os.mkfifo(folder / "pipe.md")
        done = []
        thread = threading.Thread(target=lambda: done.append(store.ingest(folder)), daemon=True)
        thread.start()
        thread.join(20)

        assert [one.skipped for one in done] == [
            ((str(folder / "pipe.md"), "not a regular file"),)
        ]

    def test_one_bad_file_by_its_name(self, store, folder):
        """It is told as if it lay in a folder; its neighbours are not looked at."""
        (folder / "bad.txt").write_bytes(b"\xff\xff")

        done = store.ingest(folder / "bad.txt")

        assert done.failed == ((str(folder / "bad.txt"), "not UTF-8 text; convert it first"),)
        assert (done.removed, len(held(store))) == (0, 3)

    def test_a_disk_that_fails_to_read(self, store, folder, monkeypatch):
        """In the words of the system."""
        change(folder / "a.md", b"changed")
        refuse(monkeypatch, folder / "a.md", error=OSError(5, "Input/output error"))

        assert store.ingest(folder).failed == ((str(folder / "a.md"), "Input/output error"),)
        assert len(held(store)) == 3


class Listing:
    """The entries of a folder that is no longer there."""

    def __init__(self, entries):
        self._entries = entries

    def __enter__(self):
        return iter(self._entries)

    def __exit__(self, *_):
        return None


def refuse(monkeypatch, *paths, error=None):
    """Let files fail when they are opened, as they would for somebody who is not root."""
    real = builtins.open

    def opened(path, *more, **options):
        if isinstance(path, str) and path in map(str, paths):
            raise error or PermissionError(13, "Permission denied", path)
        return real(path, *more, **options)

    monkeypatch.setattr(builtins, "open", opened)
