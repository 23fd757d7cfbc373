"""Secrets of sealed stores: passphrases, key files, keys."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from scrubjay.errors import InvalidInput, Locked
from scrubjay.storage.sealed.key_sources import (
    KEY,
    PASSPHRASE,
    Secret,
    ask_passphrase,
    create_key_file,
    from_environment,
    read_key_file,
    secret_of,
)

_ASKING = """
import sys
from scrubjay.errors import InvalidInput
from scrubjay.storage.sealed.key_sources import ask_passphrase
try:
    print(ask_passphrase(twice=sys.argv[1] == "2").value.decode(), end="")
except InvalidInput as error:
    print(error)
"""
ON_POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes and no pty")


def test_each_kind_of_key_is_recognized(tmp_path):
    """GS-17: a passphrase is a str, a key file a Path, a key bytes."""
    made = create_key_file(str(tmp_path / "store.key"))

    assert secret_of("correct horse") == (PASSPHRASE, bytearray(b"correct horse"))
    assert secret_of(tmp_path / "store.key") == made
    assert secret_of(bytes(made.value)) == made


def test_a_passphrase_is_the_same_however_it_is_composed():
    """GS-17: macOS types other code points for ü than Linux."""
    assert secret_of("Tu\u0308r") == secret_of("T\u00fcr")


@pytest.mark.parametrize("key", ["", b"", b"short", 7, None, ["a"]])
def test_what_is_no_key_is_refused(key):
    """GS-17: with a message that says what would be right."""
    with pytest.raises(InvalidInput, match=r"passphrase|key"):
        secret_of(key)


@ON_POSIX
def test_a_key_file_is_private_and_never_replaced(tmp_path):
    """GS-17: created with mode 0600 whatever the umask, and an existing file stays as it is."""
    path = tmp_path / "store.key"
    before = os.umask(0)
    try:
        create_key_file(str(path))
    finally:
        os.umask(before)
    content = path.read_bytes()

    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InvalidInput, match="exists"):
        create_key_file(str(path))
    assert path.read_bytes() == content


@ON_POSIX
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_file_that_others_can_use_is_refused(tmp_path, mode):
    """GS-17: the key in it is known to others, and only a person can say whether that is meant."""
    path = tmp_path / "store.key"
    create_key_file(str(path))
    path.chmod(mode)

    with pytest.raises(InvalidInput, match="chmod 600"):
        read_key_file(str(path))


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "other", "two keys"])
def test_a_damaged_key_file_is_noticed(tmp_path, damage):
    """GS-17: its check digits tell a damaged key from the wrong one."""
    path = tmp_path / "store.key"
    create_key_file(str(path))
    whole = path.read_bytes()
    at = whole.index(b" ") + 3
    other = b"A" if whole[at : at + 1] != b"A" else b"B"
    content = {
        "truncated": whole[:-12],
        "flipped": whole[:at] + other + whole[at + 1 :],
        "empty": b"",
        "other": b"my notes\n",
        "two keys": whole * 2,
    }
    path.write_bytes(content[damage])

    with pytest.raises(InvalidInput, match="key file"):
        read_key_file(str(path))


def test_a_key_file_of_another_tool_may_have_32_bytes(tmp_path):
    """GS-17: `head -c 32 /dev/urandom` is a key, too."""
    path = tmp_path / "raw.key"
    path.write_bytes(bytes(range(32)))
    path.chmod(0o600)

    assert read_key_file(str(path)) == (KEY, bytearray(range(32)))


def test_a_missing_key_file_leaves_the_store_locked(tmp_path, monkeypatch):
    """GS-17: SCRUBJAY_KEY_FILE names the file; the error names its path."""
    monkeypatch.delenv("SCRUBJAY_KEY_FILE", raising=False)
    assert from_environment() is None
    monkeypatch.setenv("SCRUBJAY_KEY_FILE", str(tmp_path / "store.key"))

    with pytest.raises(Locked, match=r"store\.key"):
        from_environment()
    made = create_key_file(str(tmp_path / "store.key"))
    assert from_environment() == made


def test_a_secret_does_not_show_itself():
    """GS-17: not in a traceback, and not in a log."""
    assert "horse" not in repr(Secret(PASSPHRASE, bytearray(b"correct horse")))


@ON_POSIX
class TestAsking:
    """A passphrase is typed at a terminal."""

    def asked(self, *typed: str) -> tuple[str, bytes]:
        """Return what a process that asks got, after this was typed, and what its terminal showed."""
        terminal, its_side = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", _ASKING, str(len(typed))],
            stdin=its_side,
            stderr=its_side,
            stdout=subprocess.PIPE,
            start_new_session=True,  # getpass would ask at the terminal of the tests
        )
        os.close(its_side)
        shown = b""
        for line in typed:
            while not shown.endswith(b": "):
                shown += os.read(terminal, 1024)
            os.write(terminal, f"{line}\n".encode())
            shown += os.read(terminal, 1024)
        got, _ = process.communicate(timeout=60)
        os.close(terminal)
        return got.decode(), shown

    def test_it_is_not_echoed(self):
        """GS-17: the terminal shows the prompt alone."""
        got, shown = self.asked("correct horse")

        assert got == "correct horse"
        assert shown.split() == [b"Passphrase:"]

    def test_a_new_one_is_typed_twice(self):
        """GS-17: a typing error would lock the store for good."""
        assert self.asked("correct horse", "correct horse")[0] == "correct horse"
        assert "differ" in self.asked("correct horse", "correct hose")[0]


def test_without_a_terminal_the_store_stays_locked(monkeypatch):
    """GS-17: it says how to give the key instead, and never reads a passphrase that is echoed."""
    monkeypatch.setattr("getpass.getpass", _without_terminal)

    with pytest.raises(Locked, match="SCRUBJAY_KEY_FILE"):
        ask_passphrase(twice=False)


def _without_terminal(prompt: str) -> str:
    raise OSError("no terminal")
