"""The file with the owner's key: who can read it, and that it stays the same."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scrubjay.errors import StoreError
from scrubjay.runtime.paths import data_dir
from scrubjay.surfaces.owner_key import ensure_owner_key, read_owner_key
from scrubjay.text.api_key_format import is_whole

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")


@pytest.fixture
def umask_0():
    before = os.umask(0)
    yield
    os.umask(before)


def test_the_key_is_created_once_and_stays():
    """Agents have it in their settings."""
    assert read_owner_key() is None
    first = ensure_owner_key()

    assert is_whole(first.secret)
    assert ensure_owner_key() == read_owner_key() == first
    assert Path(first.header_path).read_text() == f"Authorization: Bearer {first.secret}\n"
    assert sorted(os.listdir(data_dir())) == ["serve.header", "serve.key"]
    assert first.secret not in repr(first)


@posix
def test_only_the_owner_can_read_the_files(umask_0):
    key = ensure_owner_key()

    for path in (key.path, key.header_path):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(data_dir()).st_mode) == 0o700


@posix
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can be another user")
def test_another_user_of_the_machine_cannot_read_it(tmp_path):
    """In a process of theirs, even where they may enter the folder."""
    key = ensure_owner_key()
    folder = Path(data_dir())
    for part in (folder, *folder.parents):
        if part.stat().st_uid == os.geteuid() and not part.stat().st_mode & 0o001:
            part.chmod(part.stat().st_mode | 0o011)
    child = os.fork()
    if child == 0:
        os.setgid(65534)
        os.setuid(65534)
        try:
            os.open(key.path, os.O_RDONLY)
        except PermissionError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o620])
def test_a_key_that_others_may_know_is_refused(mode):
    """It says what to do."""
    key = ensure_owner_key()
    os.chmod(key.path, mode)

    with pytest.raises(StoreError, match="other users") as refused:
        ensure_owner_key()

    assert key.path in str(refused.value)
    assert f"delete {key.path}" in str(refused.value)
    os.unlink(key.path)
    assert ensure_owner_key().secret != key.secret
    assert Path(key.header_path).read_text().split()[-1] == ensure_owner_key().secret


@posix
def test_a_link_in_the_place_of_the_key_is_not_followed(tmp_path):
    """It would make us write, or trust, a file of another user."""
    target = tmp_path / "theirs"
    os.makedirs(data_dir())
    path = Path(data_dir(), "serve.key")
    path.symlink_to(target)
    with pytest.raises(StoreError):
        ensure_owner_key()
    assert not target.exists()
    target.write_text("sj_theirs")
    with pytest.raises(StoreError):
        read_owner_key()


@posix
def test_a_pipe_in_the_place_of_the_key_does_not_block():
    os.makedirs(data_dir())
    os.mkfifo(os.path.join(data_dir(), "serve.key"), 0o600)
    with pytest.raises(StoreError, match="not a file"):
        read_owner_key()


@pytest.mark.parametrize("content", ["", "sj_short", "nonsense\n"])
def test_a_damaged_key_is_refused(content):
    key = ensure_owner_key()
    Path(key.path).write_text(content)
    with pytest.raises(StoreError, match="does not contain a key"):
        ensure_owner_key()


def test_servers_that_start_at_once_agree_on_one_key():
    with ThreadPoolExecutor(16) as many:
        keys = set(many.map(lambda _: ensure_owner_key(), range(64)))

    assert len(keys) == 1
    assert sorted(os.listdir(data_dir())) == ["serve.header", "serve.key"]


@posix
@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named():
    os.makedirs(data_dir())
    os.chmod(data_dir(), 0o500)
    with pytest.raises(StoreError, match="SCRUBJAY_HOME"):
        ensure_owner_key()
    os.chmod(data_dir(), 0o700)
