"""What lies in a folder: which files are found, which are passed over, and the reason for each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from scrubjay.documents.walk import walk

IGNORED = "ignored by an ignore file"
HERE = "a link; its target is read in its own place"
OUT = "a link out of the folder"
NOWHERE = "a link that leads nowhere"

on_linux = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="needs Linux names")
with_links = pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")


def grow(folder, *names):
    """Make files below a folder."""
    for name in names:
        made = folder / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text("text")


def rules(folder, *lines, name=".gitignore"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def found(root, top=None, own=()):
    """The files that are found, by path from the top."""
    there = walk(str(root), lambda *_: None, own)
    return [os.path.relpath(one.path, top or root).replace(os.sep, "/") for one in there]


def left(root):
    """What is left out, with the reason and whether it is a failure."""
    told = {}

    def leave(path, reason, failed):
        told[os.path.relpath(path, root).replace(os.sep, "/")] = (reason, failed)

    list(walk(str(root), leave))
    return told


@pytest.fixture
def abyss(tmp_path):
    """A folder below 1,100 others, with more below it than a path can name."""
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_400):
        os.mkdir("dd", dir_fd=at)
        below = os.open("dd", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    yield "/".join(["dd"] * 1_100)
    subprocess.run(["rm", "-rf", str(tmp_path / "dd")], check=True)  # shutil cannot go as deep


class TestIgnoreFiles:
    @pytest.mark.parametrize("name", [".gitignore", ".ignore", ".scrubjayignore"])
    def test_each_kind_of_ignore_file_is_honoured(self, tmp_path, name):
        """And what it names is listed with the reason."""
        grow(tmp_path, "a.md", "b.log")
        rules(tmp_path, "*.log", name=name)

        assert found(tmp_path) == ["a.md"]
        assert left(tmp_path) == {"b.log": (IGNORED, False)}

    @pytest.mark.parametrize(
        ("lines", "kept"),
        [
            (["*.md"], ["a.txt", "sub/b.txt", "sub/deep/c.txt"]),
            (["/a.*"], ["sub/a.md", "sub/b.txt", "sub/deep/c.md", "sub/deep/c.txt"]),
            (["sub/"], ["a.md", "a.txt"]),
            (["sub"], ["a.md", "a.txt"]),
            (["a.md/"], ["a.md", "a.txt", "sub/a.md", "sub/b.txt", "sub/deep/c.md", "sub/deep/c.txt"]),
            (["deep/"], ["a.md", "a.txt", "sub/a.md", "sub/b.txt"]),
            (["/deep/"], ["a.md", "a.txt", "sub/a.md", "sub/b.txt", "sub/deep/c.md", "sub/deep/c.txt"]),
            (["sub/*.md"], ["a.md", "a.txt", "sub/b.txt", "sub/deep/c.md", "sub/deep/c.txt"]),
            (["**/c.*"], ["a.md", "a.txt", "sub/a.md", "sub/b.txt"]),
            (["*.md", "!a.md"], ["a.md", "a.txt", "sub/a.md", "sub/b.txt", "sub/deep/c.txt"]),
            (["!a.md", "*.md"], ["a.txt", "sub/b.txt", "sub/deep/c.txt"]),
            (["sub/", "!sub/a.md"], ["a.md", "a.txt"]),
            (["sub/*", "!sub/a.md"], ["a.md", "a.txt", "sub/a.md"]),
            (["sub/**", "!sub/a.md"], ["a.md", "a.txt", "sub/a.md"]),
            (["*", "!*/", "!*.md"], ["a.md", "sub/a.md", "sub/deep/c.md"]),
            (["*", "!sub/"], []),
            (["# a.md", "", "  ", "\\#x", "sub/deep/"], ["a.md", "a.txt", "sub/a.md", "sub/b.txt"]),
        ],
    )  # fmt: skip
    def test_patterns_mean_what_they_mean_to_git(self, tmp_path, lines, kept):
        """Each of these was compared with `git status --untracked-files=all`."""
        grow(tmp_path, "a.md", "a.txt", "sub/a.md", "sub/b.txt", "sub/deep/c.md", "sub/deep/c.txt")
        rules(tmp_path, *lines)

        assert found(tmp_path) == kept

    def test_a_nearer_file_overrules(self, tmp_path):
        """Both ways, and only for what lies below it."""
        grow(tmp_path, "x.log", "a/x.log", "a/y.md", "b/x.log", "b/y.md")
        rules(tmp_path, "*.log")
        rules(tmp_path / "a", "!x.log")
        rules(tmp_path / "b", "y.*")

        assert found(tmp_path) == ["a/x.log", "a/y.md"]

    def test_our_own_ignore_file_overrules_gits(self, tmp_path):
        """In the same folder: what git ignores may be wanted here."""
        grow(tmp_path, "a.md", "b.md")
        rules(tmp_path, "a.md")
        rules(tmp_path, "!a.md", "b.md", name=".scrubjayignore")

        assert found(tmp_path) == ["a.md"]

    @pytest.mark.parametrize("line", ["!", "/", "[", "a[", "\\", "***", "!/", "[z-a].md", "\0"])
    def test_a_line_that_means_nothing_does_not_cost_the_others(self, tmp_path, line):
        """Nor the run."""
        grow(tmp_path, "a.md", "b.md")
        rules(tmp_path, line, "b.md")

        assert "b.md" not in found(tmp_path)

    @pytest.mark.parametrize("data", [b"\xef\xbb\xbfb.md\n", b"b.md\r\n", b"\xff\xfe\nb.md"])
    def test_marks_line_ends_and_other_bytes_do_no_harm(self, tmp_path, data):
        """Editors of all systems write ignore files."""
        grow(tmp_path, "a.md", "b.md")
        (tmp_path / ".gitignore").write_bytes(data)

        assert found(tmp_path) == ["a.md"]

    def test_a_folder_of_that_name_is_no_ignore_file(self, tmp_path):
        """Nor a reason to complain."""
        grow(tmp_path, "a.md")
        (tmp_path / ".gitignore").mkdir()

        assert (found(tmp_path), left(tmp_path)) == (["a.md"], {})

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
    def test_a_pipe_of_that_name_is_not_waited_for(self, tmp_path):
        """Nobody may ever write into it."""
        grow(tmp_path, "a.md")
        os.mkfifo(tmp_path / ".ignore")

        assert found(tmp_path) == ["a.md"]

    def test_one_that_cannot_be_read_is_told(self, tmp_path, monkeypatch):
        """What it would have ignored is read, so somebody should know."""
        grow(tmp_path, "a.md")
        rules(tmp_path, "a.md")
        refuse(monkeypatch, "builtins.open", tmp_path / ".gitignore")

        assert found(tmp_path) == ["a.md"]
        assert left(tmp_path) == {".gitignore": ("Permission denied", True)}


class TestRepository:
    def test_the_rules_of_the_top_hold_in_a_folder_below(self, tmp_path):
        """Those of each folder between, too; nearer ones overrule."""
        grow(tmp_path, ".git/config", "docs/api/a.md", "docs/api/b.tmp", "docs/api/c.bak")
        rules(tmp_path, "*.tmp", "*.bak", "/docs/api/a.md")
        rules(tmp_path / "docs", "!*.bak")

        assert found(tmp_path / "docs" / "api") == ["c.bak"]

    def test_above_the_repository_nothing_counts(self, tmp_path):
        """It is no part of it."""
        grow(tmp_path / "repo", ".git/config", "docs/a.md")
        rules(tmp_path, "*.md")

        assert found(tmp_path / "repo" / "docs") == ["a.md"]

    def test_outside_of_repositories_rules_above_do_not_count(self, tmp_path):
        """A stray ignore file in the home folder must not hide everything."""
        grow(tmp_path / "docs", "a.md")
        rules(tmp_path, "*.md")

        assert found(tmp_path / "docs") == ["a.md"]

    @pytest.mark.parametrize("line", ["notes/", "notes", "/notes/", "*"])
    def test_a_folder_that_is_named_is_read_though_it_is_ignored(self, tmp_path, line):
        """Notes are often kept out of git; its own rules still hold."""
        grow(tmp_path, ".git/config", "notes/a.md", "notes/b.tmp")
        rules(tmp_path, line)
        rules(tmp_path / "notes", "*.tmp")

        assert found(tmp_path / "notes") == ["a.md"]

    def test_a_file_that_is_named_is_read_whatever_rules_say(self, tmp_path):
        """Hidden or ignored."""
        grow(tmp_path, ".git/config", "a.md", ".hidden.md")
        rules(tmp_path, "a.md")

        assert found(tmp_path / "a.md") == ["."]
        assert found(tmp_path / ".hidden.md") == ["."]


class TestPassedOver:
    def test_hidden_files_and_folders_without_a_word(self, tmp_path):
        """Nobody expects them, nobody wants a list of them."""
        grow(tmp_path, "a.md", ".b.md", ".git/c.md", "sub/.d/e.md")

        assert (found(tmp_path), left(tmp_path)) == (["a.md"], {})

    def test_what_programs_fill_with_the_reason(self, tmp_path):
        """By name, or by the mark that is put into them."""
        grow(tmp_path, "a.md", "node_modules/b.md", "x/__pycache__/c.md")
        grow(tmp_path, "env/pyvenv.cfg", "env/lib/d.md", "cache/CACHEDIR.TAG", "cache/e.md")

        assert found(tmp_path) == ["a.md"]
        assert left(tmp_path) == {
            "node_modules": ("made by a program", False),
            "x/__pycache__": ("made by a program", False),
            "env": ("made by a program (it holds pyvenv.cfg)", False),
            "cache": ("made by a program (it holds CACHEDIR.TAG)", False),
        }

    @pytest.mark.parametrize("name", ["node_modules", "__pycache__"])
    def test_a_file_of_such_a_name_is_a_file(self, tmp_path, name):
        """Only folders are filled."""
        grow(tmp_path, name)

        assert found(tmp_path) == [name]

    def test_a_marked_folder_that_is_named_is_read(self, tmp_path):
        """Who names it wants it."""
        grow(tmp_path / "env", "pyvenv.cfg", "a.md")

        assert found(tmp_path / "env") == ["a.md", "pyvenv.cfg"]

    def test_the_files_of_the_store_without_a_word(self, tmp_path):
        """Whatever name it has."""
        grow(tmp_path, "a.md", "store.txt", "store.txt-wal")
        own = (str(tmp_path / "store.txt"), str(tmp_path / "store.txt-wal"))

        assert found(tmp_path, own=own) == ["a.md"]

    @with_links
    def test_the_files_of_the_store_over_a_link_too(self, tmp_path):
        """The folder goes by another name then, and the file is the same."""
        grow(tmp_path / "real", "a.md", "store.txt")
        (tmp_path / "link").symlink_to("real")

        for root, own in (("link", "real"), ("real", "link")):
            assert found(tmp_path / root, own=(str(tmp_path / own / "store.txt"),)) == ["a.md"]


@with_links
class TestLinks:
    def test_links_are_not_followed_and_the_reason_says_why(self, tmp_path):
        """In, out, to nothing, round in a circle."""
        folder = tmp_path / "notes"
        grow(folder, "a.md", "sub/b.md")
        grow(tmp_path, "outside/secret.md", "notes-too/c.md")
        for name, to in {
            "file_in": "a.md",
            "folder_in": "sub",
            "up": "..",
            "file_out": "../outside/secret.md",
            "folder_out": "../outside",
            "alike": "../notes-too",
            "broken": "nowhere",
            "circle": "circle",
            "itself": ".",
            "sub/loop": "../sub",
        }.items():
            (folder / name).symlink_to(to)

        assert found(folder) == ["a.md", "sub/b.md"]
        assert left(folder) == {
            "file_in": (HERE, False),
            "folder_in": (HERE, False),
            "sub/loop": (HERE, False),
            "itself": (OUT, False),
            "up": (OUT, False),
            "file_out": (OUT, False),
            "folder_out": (OUT, False),
            "alike": (OUT, False),
            "broken": (NOWHERE, False),
            "circle": (NOWHERE, False),
        }

    def test_a_root_may_be_a_link(self, tmp_path):
        """It was named; its files keep the name that was given."""
        grow(tmp_path / "real", "a.md", "sub/b.md")
        (tmp_path / "real" / "in").symlink_to("sub")
        (tmp_path / "link").symlink_to("real")

        assert found(tmp_path / "link", top=tmp_path) == ["link/a.md", "link/sub/b.md"]
        assert left(tmp_path / "link") == {"in": (HERE, False)}

    @pytest.mark.parametrize("to", ["nowhere", "root"])
    def test_a_root_that_leads_nowhere_fails(self, tmp_path, to):
        """It does not look empty."""
        (tmp_path / "root").symlink_to(to)

        assert found(tmp_path / "root") == []
        ((reason, failed),) = left(tmp_path / "root").values()
        assert reason in ("No such file or directory", "Too many levels of symbolic links")
        assert failed


class TestTrouble:
    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
    def test_a_pipe_is_left_out(self, tmp_path):
        """Below a folder, and named itself."""
        grow(tmp_path, "a.md")
        os.mkfifo(tmp_path / "pipe")

        assert found(tmp_path) == ["a.md"]
        assert left(tmp_path) == {"pipe": ("not a regular file", False)}
        assert left(tmp_path / "pipe") == {".": ("not a regular file", False)}

    def test_a_folder_that_cannot_be_listed_fails_alone(self, tmp_path, monkeypatch):
        """What lies beside it is found."""
        grow(tmp_path, "a.md", "locked/b.md", "z/c.md")
        refuse(monkeypatch, "os.scandir", tmp_path / "locked")

        assert found(tmp_path) == ["a.md", "z/c.md"]
        assert left(tmp_path) == {"locked": ("Permission denied", True)}

    def test_a_file_that_goes_while_the_folder_is_listed_fails_alone(self, tmp_path, monkeypatch):
        """Between the listing and the question how large it is."""
        grow(tmp_path, "a.md", "gone.md", "z.md")
        real = os.scandir

        class Entry:
            def __init__(self, entry):
                self._entry = entry

            def __getattr__(self, name):
                return getattr(self._entry, name)

            def stat(self, **how):
                (tmp_path / "gone.md").unlink(missing_ok=True)
                return os.stat(self._entry.path, **how)

        class Listing:
            def __init__(self, folder):
                self._entries = [Entry(one) for one in real(folder)]

            def __enter__(self):
                return iter(self._entries)

            def __exit__(self, *_):
                return None

        monkeypatch.setattr(os, "scandir", Listing)

        assert found(tmp_path) == ["a.md", "z.md"]
        grow(tmp_path, "gone.md")
        assert left(tmp_path) == {"gone.md": ("No such file or directory", True)}

    def test_an_entry_whose_kind_cannot_be_told_fails_alone(self, tmp_path, monkeypatch):
        """On some network disks that question is one more that can fail."""
        from scrubjay.documents import walk as module

        grow(tmp_path, "a.md", "odd.md")
        real = module._why_not

        def ask(root, entry, rules):
            if entry.name == "odd.md":
                raise OSError(5, "Input/output error")
            return real(root, entry, rules)

        monkeypatch.setattr(module, "_why_not", ask)

        assert found(tmp_path) == ["a.md"]
        assert left(tmp_path) == {"odd.md": ("Input/output error", True)}

    @on_linux
    def test_folders_deeper_than_the_stack_are_walked(self, tmp_path, abyss):
        """As far as the system goes, and then with a reason."""
        (tmp_path / abyss / "bottom.md").write_text("text")
        grow(tmp_path, "a.md")

        assert found(tmp_path) == ["a.md", f"{abyss}/bottom.md"]
        assert list(left(tmp_path).values()) == [("File name too long", True)]

    @on_linux
    def test_names_that_are_no_text_are_found(self, tmp_path):
        """And rules are asked about them as about any other."""
        for name in (b"\xff.md", b"\xfe.log", b"\xff/a.md"):
            path = os.path.join(os.fsencode(tmp_path), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb"):
                pass
        rules(tmp_path, "*.log")

        assert [os.fsencode(one) for one in found(tmp_path)] == [b"\xff.md", b"\xff/a.md"]

    def test_size_and_time_are_those_of_the_file(self, tmp_path):
        """To the nanosecond."""
        (tmp_path / "a.md").write_bytes(b"12345")
        os.utime(tmp_path / "a.md", ns=(1_700_000_000_123_456_700, 1_700_000_000_123_456_700))

        ((path, size, mtime_ns, _),) = walk(str(tmp_path), lambda *_: None)

        assert (path, size) == (str(tmp_path / "a.md"), 5)
        assert mtime_ns == (tmp_path / "a.md").stat().st_mtime_ns


def refuse(monkeypatch, function, refused):
    """Let a function fail for one path, as it would for somebody who is not root."""
    module, name = function.rsplit(".", 1)
    real = getattr(__import__(module), name)

    def asked(path, *more, **options):
        if os.fspath(path) == str(refused):
            raise PermissionError(13, "Permission denied", str(refused))
        return real(path, *more, **options)

    monkeypatch.setattr(function, asked)
