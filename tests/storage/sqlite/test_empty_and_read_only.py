"""An empty file is never made a store, and a store that cannot be written can be read."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import scrubjay
from scrubjay.errors import StoreError
from scrubjay.surfaces.cli import main

READS = (
    ("search", "kettle"),
    ("query", "kettle"),
    ("get", "some-id"),
    ("ls",),
    ("status",),
    ("export", "--jsonl", "-"),
    ("backup", "{folder}/copy.db"),
)
WRITES = (("add", "a kettle", "--no-embed"), ("ingest", "{folder}"), ("forget", "some-id"))


class TestEmptyFile:
    @pytest.mark.parametrize("command", [*READS, *WRITES], ids=lambda command: command[0])
    def test_every_command_says_that_it_is_empty(self, tmp_path, capsys, command):
        """And leaves it as it is."""
        path = tmp_path / "notes.db"
        path.touch()
        words = [word.format(folder=tmp_path) for word in command]

        assert main([*words, "--db", str(path)]) != 0

        said = capsys.readouterr()
        assert "is an empty file" in said.out + said.err
        assert path.read_bytes() == b""
        assert [file.name for file in tmp_path.iterdir()] == ["notes.db"]

    def test_the_library(self, tmp_path):
        """Opening could be for reading."""
        path = tmp_path / "notes.db"
        path.touch()

        with pytest.raises(StoreError, match=r"is an empty file.*scrubjay restore"):
            scrubjay.open(path, embedder=False)
        assert path.read_bytes() == b""

    def test_the_log_of_a_file_that_was_emptied_stays(self, tmp_path):
        """SQLite deletes it, with every memory in it."""
        path = tmp_path / "notes.db"
        writer = "import os, sys, scrubjay; scrubjay.open(sys.argv[1], embedder=False).add('a'); os._exit(9)"
        subprocess.run([sys.executable, "-c", writer, path])
        log = Path(f"{path}-wal").read_bytes()
        path.write_bytes(b"")

        with pytest.raises(StoreError, match="is an empty file"):
            scrubjay.open(path, embedder=False)
        main(["doctor", "--db", str(path)])
        main(["doctor", "--repair", "--db", str(path)])
        assert Path(f"{path}-wal").read_bytes() == log

    def test_doctor(self, tmp_path, capsys):
        path = tmp_path / "notes.db"
        path.touch()

        assert main(["doctor", "--db", str(path)]) == 1
        assert "is an empty file" in capsys.readouterr().out
        assert path.read_bytes() == b""

    def test_a_database_without_tables_of_another_program(self, tmp_path):
        """It does not become ours."""
        path = tmp_path / "theirs.db"
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 0")
            db.execute("CREATE TABLE gone (x)")
            db.execute("DROP TABLE gone")
        db.close()
        before = path.read_bytes()

        with pytest.raises(StoreError, match="of another program"):
            scrubjay.open(path, embedder=False)
        assert path.read_bytes() == before


class TestCreation:
    @pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
    def test_only_its_owner_can_read_a_new_store(self, tmp_path):
        """With its log, whatever the umask."""
        before = os.umask(0)
        try:
            with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
                store.add("a secret")
                modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        finally:
            os.umask(before)
        assert modes == {0o600}

    def test_without_links(self, tmp_path, monkeypatch):
        """As on some memory sticks."""

        def refuse(source, target):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
            store.add("a kettle")
        assert [file.name for file in tmp_path.iterdir()] == ["notes.db"]

    @pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
    def test_a_link_to_a_file_that_is_not_there_yet(self, tmp_path):
        """The file is created where the link leads."""
        (tmp_path / "real").mkdir()
        (tmp_path / "notes.db").symlink_to(tmp_path / "real" / "notes.db")
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
            store.add("a kettle")
        assert (tmp_path / "notes.db").is_symlink()
        assert (tmp_path / "real" / "notes.db").stat().st_size > 0

    def test_many_processes_create_it_at_once(self, tmp_path):
        """None finds an empty file, and none loses what it wrote."""
        path = tmp_path / "notes.db"
        code = (
            "import sys, scrubjay\nsys.stdin.readline()\n"
            "scrubjay.open(sys.argv[1], embedder=False).add('written by ' + sys.argv[2])"
        )
        processes = [
            subprocess.Popen([sys.executable, "-c", code, path, str(n)], stdin=subprocess.PIPE)
            for n in range(4)
        ]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
        for process in processes:
            process.communicate()
        assert [process.returncode for process in processes] == [0] * 4
        with scrubjay.open(path, embedder=False) as store:
            assert store.status().memories == 4


# Root loads the modules first: another user may not be able to read them.
READER = """
import contextlib, io, os, pathlib, shutil, sys, tempfile
import scrubjay.storage.sqlite.existing
from scrubjay.surfaces.cli import main
path, command = sys.argv[1], sys.argv[2:]
if os.getuid() == 0:
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copyfile(path, os.path.join(folder, "copy.db"))
        with contextlib.redirect_stdout(io.StringIO()):
            main([*command, "--db", copy])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(main([*command, "--db", path]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
class TestReadOnly:
    @pytest.fixture
    def path(self):
        """A file that cannot be written, in a folder that cannot, either; another user reaches it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "notes.db"
            with scrubjay.open(path, embedder=False) as store:
                store.add("the kettle whistles", id="kettle")
            path.chmod(0o444)
            os.chmod(folder, 0o555)
            yield path
            os.chmod(folder, 0o755)

    def run(self, path: Path, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a user without rights: no permission binds root."""
        # Offline: root would fetch the model into this home, where the other user cannot read it.
        environment = {**os.environ, "HOME": "/nonexistent", "SCRUBJAY_OFFLINE": "1"}
        return subprocess.run(
            [sys.executable, "-c", READER, str(path), *command],
            capture_output=True,
            text=True,
            env=environment,
            cwd="/",
        )

    @pytest.mark.parametrize(
        "command",
        [
            ("search", "kettle"),
            ("query", "kettle"),
            ("get", "kettle"),
            ("ls",),
            ("status",),
            ("export", "--jsonl", "-"),
        ],
        ids=lambda command: command[0],
    )
    def test_it_can_be_read(self, path, command):
        """By the commands, as any other store."""
        done = self.run(path, *command)

        assert (done.returncode, done.stderr) == (0, "")
        assert "kettle" in done.stdout or command == ("status",)
        assert [file.name for file in path.parent.iterdir()] == ["notes.db"]

    def test_a_write_says_that_it_is_read_only(self, path):
        """And fails."""
        done = self.run(path, "add", "a teapot", "--no-embed")

        assert done.returncode == 1
        assert "is read-only" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on the size of files")
class TestFullDisk:
    """A limit on the size of files takes the room for the log of a store, as a full disk does."""

    @staticmethod
    def run(path: Path, *words: str) -> tuple[int, str]:
        program = (
            "import resource, sys; from scrubjay.surfaces.cli import main;"
            "most = resource.getrlimit(resource.RLIMIT_FSIZE)[1];"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, most));"
            "raise SystemExit(main(sys.argv[1:]))"
        )
        line = [sys.executable, "-c", program, *words, "--db", str(path)]
        ended = subprocess.run(line, capture_output=True, text=True, timeout=120)
        return ended.returncode, ended.stdout + ended.stderr

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "notes.db"
        with scrubjay.open(path, embedder=False) as store:
            store.add("The kettle whistles", id="kettle")
        return path

    @pytest.mark.parametrize(
        "command", [("search", "kettle"), ("get", "kettle"), ("ls",), ("export", "--jsonl", "-")]
    )
    def test_reading_goes_on(self, path, command):
        """A store that no other process has open can be opened without a log, too."""
        code, said = self.run(path, *command)

        assert (code, "The kettle whistles" in said) == (0, True), said

    def test_a_write_says_that_the_disk_is_full(self, path):
        code, said = self.run(path, "add", "The pan", "--no-embed")

        assert code == 1
        assert "the disk was full" in said
        assert "nothing was written" in said
        with scrubjay.open(path, embedder=False) as store:
            assert store.get("kettle").text == "The kettle whistles"
            assert store.status().memories == 1

    def test_a_log_with_the_last_writes_is_not_passed_over(self, path):
        """Reading the file alone would answer without them."""
        writer = (
            "import os, sys, scrubjay;"
            "scrubjay.open(sys.argv[1], embedder=False).add('a pan'); os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", writer, path], timeout=120)
        os.unlink(f"{path}-shm")

        code, said = self.run(path, "search", "pan")

        assert code == 1
        assert "the disk is full; nothing was written" in said
