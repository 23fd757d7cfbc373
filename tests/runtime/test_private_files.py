"""Files and folders that only their owner can read, whatever the umask."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay.runtime.private_files import (
    make_private_folder,
    open_private,
    replacing,
    restrict,
    wider_than_private,
)

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="Windows has access lists instead of modes"
)


def mode(path: str | Path) -> int:
    return os.stat(path).st_mode & 0o777


@pytest.fixture(params=[0, 0o022, 0o777], ids=oct)
def umask(request) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


class TestFolders:
    def test_each_new_one_is_private_and_an_old_one_stays(self, tmp_path, umask):
        """With those above it, which may be missing as well."""
        old = tmp_path / "old"
        old.mkdir()
        old.chmod(0o755)

        make_private_folder(str(old / "new" / "newer"))
        make_private_folder(str(old))

        assert [mode(path) for path in (old, old / "new", old / "new" / "newer")] == [
            0o755,
            0o700,
            0o700,
        ]

    def test_a_file_in_its_place_is_an_error(self, tmp_path):
        """As it is for `mkdir`."""
        (tmp_path / "taken").write_text("a file")

        with pytest.raises(FileExistsError):
            make_private_folder(str(tmp_path / "taken"))


class TestFiles:
    def test_a_new_one_is_private(self, tmp_path, umask):
        """And readable by its owner, even if the umask forbids that."""
        path = str(tmp_path / "secret")

        with open_private(path, "xb") as file:
            file.write(b"kettle")
            assert not os.get_inheritable(file.fileno())

        assert mode(path) == 0o600
        with open_private(path, "rb") as file:
            assert file.read() == b"kettle"

    @pytest.mark.parametrize("how", ["xb", "rb", "rb+"])
    def test_a_link_is_not_followed(self, tmp_path, how):
        """Another user may have created it since the path was checked."""
        target, link = tmp_path / "target", tmp_path / "link"
        target.write_text("of someone else")
        link.symlink_to(target)

        with pytest.raises(OSError, match="link"):
            open_private(str(link), how)

        assert target.read_text() == "of someone else"

    def test_a_link_to_nothing_is_not_followed_either(self, tmp_path):
        """It would create a file wherever the link points."""
        (tmp_path / "link").symlink_to(tmp_path / "target")

        with pytest.raises(FileExistsError):
            open_private(str(tmp_path / "link"), "xb")

        assert not (tmp_path / "target").exists()


class TestReplacing:
    def test_the_file_is_private_and_complete_or_not_there(self, tmp_path, umask):
        """It has its name only when everything is written."""
        path = tmp_path / "export"

        with replacing(str(path)) as file:
            file.write(b"half")
            assert not path.exists()
            assert mode(file.name) == 0o600

        assert (path.read_bytes(), mode(path)) == (b"half", 0o600)
        assert [entry.name for entry in tmp_path.glob("export*")] == ["export"]

    def test_after_an_error_the_old_file_is_there(self, tmp_path):
        """And nothing else."""
        path = tmp_path / "export"
        path.write_bytes(b"old")

        def fail() -> None:
            with replacing(str(path)) as file:
                file.write(b"new")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()

        assert path.read_bytes() == b"old"
        assert [entry.name for entry in tmp_path.glob("export*")] == ["export"]

    @pytest.mark.parametrize(("before", "after"), [(0o664, 0o664), (0o444, 0o644)])
    def test_a_file_that_its_owner_opened_to_others_stays_open(self, tmp_path, before, after):
        """Its readers would otherwise lose it with the next export; its owner can write it."""
        path = tmp_path / "export"
        path.write_bytes(b"old")
        path.chmod(before)

        with replacing(str(path)) as file:
            file.write(b"new")

        assert (path.read_bytes(), mode(path)) == (b"new", after)

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives files away")
    def test_a_file_of_another_user_does_not_decide(self, tmp_path):
        """Another user could have created it, readable by everyone."""
        path = tmp_path / "export"
        path.touch()
        path.chmod(0o666)
        os.chown(path, 12345, -1)

        with replacing(str(path)) as file:
            file.write(b"new")

        assert (path.stat().st_uid, mode(path)) == (os.geteuid(), 0o600)

    def test_a_link_is_replaced(self, tmp_path):
        """Its target is another file."""
        target, link = tmp_path / "target", tmp_path / "link"
        target.write_text("of someone else")
        target.chmod(0o666)
        link.symlink_to(target)

        with replacing(str(link)) as file:
            file.write(b"new")

        assert target.read_text() == "of someone else"
        assert not link.is_symlink()
        assert (link.read_bytes(), mode(link)) == (b"new", 0o600)


class TestRestrict:
    @pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o775, 0o700), (0o400, 0o400)])
    def test_group_and_others_lose_their_permissions(self, tmp_path, before, after):
        """The owner keeps theirs."""
        path = tmp_path / "memory.db"
        path.touch()
        path.chmod(before)

        assert wider_than_private(str(path)) == (before if before & 0o077 else None)
        restrict(str(path))

        assert mode(path) == after
        assert wider_than_private(str(path)) is None

    def test_the_permissions_of_a_group_can_stay(self, tmp_path):
        """Where a group shares the file."""
        path = tmp_path / "memory.db"
        path.touch()
        path.chmod(0o664)

        restrict(str(path), 0o007)

        assert mode(path) == 0o660

    def test_a_link_is_refused(self, tmp_path):
        """Its target may belong to another program."""
        (tmp_path / "target").touch(0o644)
        (tmp_path / "target").chmod(0o644)
        (tmp_path / "link").symlink_to(tmp_path / "target")

        with pytest.raises(OSError, match="link"):
            restrict(str(tmp_path / "link"))

        assert mode(tmp_path / "target") == 0o644

    def test_what_is_missing_is_not_wide(self, tmp_path):
        """A store has no log once it is closed."""
        assert wider_than_private(str(tmp_path / "memory.db-wal")) is None

    def test_the_locks_of_this_process_stay(self, tmp_path):
        """Closing any descriptor of a file releases them, and with them those of SQLite."""
        fcntl = pytest.importorskip("fcntl")
        path = tmp_path / "memory.db"
        path.touch()
        take = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        with path.open("r+") as locked:
            fcntl.lockf(locked, fcntl.LOCK_EX)
            restrict(str(path))
            taken = subprocess.run([sys.executable, "-c", take, path], capture_output=True)

        assert b"BlockingIOError" in taken.stderr
