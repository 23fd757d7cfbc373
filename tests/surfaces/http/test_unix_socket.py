"""`serve --socket`: a Unix socket that only the owner can use."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.surfaces.http.auth import CACHE_S
from scrubjay.surfaces.http.unix_socket import bind_path

from .conftest import WAIT_S, validate

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no Unix sockets for Python")


@pytest.fixture
def folder():
    """A private folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="sj") as made:
        yield Path(made)


class Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=WAIT_S)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(WAIT_S)
        self.sock.connect(str(self.path))


def get(path, url):
    connection = Connection(path)
    try:
        connection.request("GET", url)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@posix
def test_the_owner_needs_no_key_and_others_cannot_connect(folder, tmp_path, bare_shell):
    path, db = folder / "run" / "serve.sock", tmp_path / "s.db"
    with subprocess.Popen(
        [sys.executable, "-m", "scrubjay", "serve", "--json", "--socket", path, "--db", db],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            told = json.loads(running.stdout.readline())
            validate("serving", told)
            assert (told["socket"], told["url"]) == (str(path), "http://localhost")
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert get(path, "/v1/status")[0] == 200

            twice = bare_shell("serve", "--socket", str(path), "--db", str(db))
            assert (twice.code, "listens on" in twice.err) == (1, True)

            if os.geteuid() == 0:
                assert _connects_as_another_user(path) is False
            assert bare_shell("key", "create", "first", "--db", str(db)).code == 0
            time.sleep(CACHE_S)  # a store with API keys requires them here, too
            assert get(path, "/v1/status")[0] == 401
        finally:
            running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=WAIT_S)[1]
    assert running.returncode == 0
    assert f"curl --unix-socket {path} http://localhost/v1/status" in said
    assert not path.exists()


def _connects_as_another_user(path: Path) -> bool:
    path.parent.chmod(0o711)
    path.parent.parent.chmod(0o711)
    child = os.fork()
    if child == 0:
        os.setgid(65534)
        os.setuid(65534)
        try:
            socket.socket(socket.AF_UNIX).connect(str(path))
        except PermissionError:
            os._exit(0)
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


@posix
def test_what_a_killed_server_left_is_replaced(folder):
    path = folder / "s"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    before = os.umask(0)
    try:
        with bind_path(str(path)) as listening:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            with pytest.raises(Unavailable, match="listens"), bind_path(str(path)):
                pass
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
            assert listening.fileno() >= 0
    finally:
        assert os.umask(before) == 0
    assert not path.exists()


@posix
def test_the_socket_of_another_server_is_left_alone_at_the_end(folder):
    path = folder / "s"
    with bind_path(str(path)):
        path.unlink()
        path.write_text("another")
    assert path.read_text() == "another"


@posix
def test_a_file_or_a_folder_that_does_not_fit_is_refused(folder):
    (folder / "file").write_text("mine")
    with pytest.raises(InvalidInput, match="not a socket"), bind_path(str(folder / "file")):
        pass
    assert (folder / "file").read_text() == "mine"
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(InvalidInput, match="other users"), bind_path(str(shared / "s")):
        pass
    with pytest.raises(Unavailable, match="short path"), bind_path(str(folder / ("x" * 120))):
        pass


def test_a_system_without_unix_sockets_is_told(monkeypatch, folder):
    monkeypatch.delattr(socket, "AF_UNIX", raising=False)
    with pytest.raises(InvalidInput, match="without --socket"), bind_path(str(folder / "s")):
        pass
