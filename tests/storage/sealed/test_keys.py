"""The keys of a sealed store: unlocking, other secrets, rotation, destruction, locking."""

from __future__ import annotations

import json
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from scrubjay.errors import InvalidInput, Locked, MissingExtra, StoreError
from scrubjay.storage.codec import DamagedValue
from scrubjay.storage.sealed import opening
from scrubjay.storage.sealed.codec import SealedCodec
from scrubjay.storage.sealed.key_sources import KEY, Secret, secret_of
from scrubjay.storage.sealed.primitives import Argon2
from scrubjay.storage.sqlite.connection import SqliteDatabase

FAST = Argon2(64, 1, 1)
PLACE = ("memories.text", "m1")


def passphrase(text: str = "correct horse") -> Secret:
    return secret_of(text)


class Opened:
    """A sealed file, with its codec."""

    def __init__(self, path: str) -> None:
        self.codec = SealedCodec()
        self.db = SqliteDatabase(path, codec=self.codec)

    def rows(self) -> dict[str, bytes]:
        with self.db.read() as db:
            return dict(db.execute("SELECT name, key FROM keys WHERE name LIKE 'sealed%'"))

    def put(self, name: str, key: bytes) -> None:
        with self.db.write() as db:
            db.execute("UPDATE keys SET key = ? WHERE name = ?", (key, name))


@pytest.fixture
def again(tmp_path) -> Iterator[Callable[[], Opened]]:
    """Opens the same file once more, as another process would."""
    opened: list[Opened] = []

    def once_more() -> Opened:
        opened.append(Opened(str(tmp_path / "s.db")))
        return opened[-1]

    yield once_more
    for one in opened:
        one.db.close()


@pytest.fixture
def sealed(again) -> Opened:
    """A new store under a passphrase."""
    made = again()
    opening.seal_new(made.db, made.codec, passphrase(), FAST)
    return made


def test_the_secret_opens_the_store_again(sealed, again):
    """GS-17: what one process has sealed, another one reads with the same secret."""
    stored = sealed.codec.seal("a secret", *PLACE, "default")
    other = again()

    with pytest.raises(Locked):
        other.codec.unseal(stored, *PLACE)
    opening.unlock(other.db, other.codec, passphrase())

    assert other.codec.unseal(stored, *PLACE) == "a secret"
    assert other.codec.token("horse") == sealed.codec.token("horse")


@pytest.mark.parametrize("wrong", ["Correct horse", "correct horse ", b"c" * 32])
def test_any_other_secret_leaves_it_locked_without_a_hint(sealed, again, wrong):
    """GS-17: one message, whatever is wrong."""
    other = again()

    with pytest.raises(Locked) as error:
        opening.unlock(other.db, other.codec, secret_of(wrong))

    assert str(error.value).startswith("the key does not open this store")
    with pytest.raises(Locked):
        other.codec.token("horse")


def test_a_plain_store_is_not_opened_with_a_key_nor_a_sealed_one_without(sealed, tmp_path):
    """GS-17: rows that are not sealed are never added to a sealed store."""
    with pytest.raises(Locked, match="sealed"):
        SqliteDatabase(str(tmp_path / "s.db"))
    SqliteDatabase(str(tmp_path / "plain.db")).close()
    plain = Opened(str(tmp_path / "plain.db"))

    with pytest.raises(InvalidInput, match="not sealed"):
        opening.unlock(plain.db, plain.codec, passphrase())
    plain.db.close()


def test_no_key_is_in_the_file(sealed, tmp_path):
    """GS-17: neither the secret nor the master key nor the keys under it."""
    codec, keys = sealed.codec, sealed.codec.keys
    codec.seal("a secret", *PLACE, "default")
    codec.token("horse")
    secrets = [b"correct horse", keys._master, keys._wrapping, *keys._hash_keys.values()]
    sealed.db.purge_log()

    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert keys.store.hex().encode() in files
    assert not [secret for secret in secrets if bytes(secret) in files]


def test_another_secret_takes_one_row(sealed, again):
    """GS-17: a new passphrase rewrites no value and no key, and the old one does not open it any more."""
    stored = sealed.codec.seal("a secret", *PLACE, "default")
    before = sealed.rows()

    sealed.codec.keys.put_envelope(passphrase("battery staple"), FAST)

    after = sealed.rows()
    assert [name for name in after if after[name] != before[name]] == ["sealed"]
    other = again()
    with pytest.raises(Locked):
        opening.unlock(other.db, other.codec, passphrase())
    opening.unlock(other.db, other.codec, passphrase("battery staple"))
    assert other.codec.unseal(stored, *PLACE) == "a secret"


def test_the_old_envelope_is_erased_from_the_file(sealed, tmp_path):
    """GS-17: otherwise the old passphrase would still open it."""
    old = json.loads(sealed.rows()["sealed"])["wrapped"].encode()

    sealed.codec.keys.put_envelope(passphrase("battery staple"), FAST)
    sealed.db.close()

    assert not [file for file in tmp_path.iterdir() if old in file.read_bytes()]


def test_a_passphrase_becomes_a_key_file_and_back(sealed, again):
    """GS-17: any kind of secret can replace any other."""
    key = Secret(KEY, bytearray(b"k" * 32))

    sealed.codec.keys.put_envelope(key)

    other = again()
    opening.unlock(other.db, other.codec, key)
    other.codec.keys.put_envelope(passphrase(), FAST)
    third = again()
    opening.unlock(third.db, third.codec, passphrase())


def test_another_master_key_rewrites_the_keys_alone(sealed, again):
    """GS-17: values stay as they are; a process with the old master key makes no keys any more."""
    stored = sealed.codec.seal("a secret", *PLACE, "default")
    token = sealed.codec.token("horse")
    behind = again()
    opening.unlock(behind.db, behind.codec, passphrase())
    behind.codec.seal("before", *PLACE, "default")

    sealed.codec.keys.replace_master(passphrase("battery staple"), FAST)

    other = again()
    opening.unlock(other.db, other.codec, passphrase("battery staple"))
    assert other.codec.unseal(stored, *PLACE) == "a secret"
    assert (other.codec.token("horse"), sealed.codec.token("horse")) == (token, token)
    assert sealed.codec.unseal(sealed.codec.seal("new", *PLACE, "other"), *PLACE) == "new"
    assert other.codec.unseal(behind.codec.seal("more", *PLACE, "default"), *PLACE) == "more"
    with pytest.raises(Locked, match="another process"):
        behind.codec.seal("new", *PLACE, "third")


def test_another_data_key_is_used_from_now_on(sealed):
    """GS-17: old values stay readable, and say that they should be written again."""
    codec = sealed.codec
    old = codec.seal("before", *PLACE, "default")

    codec.keys.replace_data_key("default")
    new = codec.seal("after", *PLACE, "default")

    assert (codec.unseal(old, *PLACE), codec.unseal(new, *PLACE)) == ("before", "after")
    assert codec.is_outdated(old, "default")
    assert not codec.is_outdated(new, "default")


def test_a_destroyed_key_leaves_nothing_to_read(sealed, again):
    """GS-17: crypto-erase of one namespace, for every process that has not used the key; others stay."""
    codec = sealed.codec
    gone, kept = codec.seal("gone", *PLACE, "a"), codec.seal("kept", *PLACE, "b")
    other = again()
    opening.unlock(other.db, other.codec, passphrase())

    assert codec.keys.destroy("a") == 1

    for reader in (codec, other.codec):
        with pytest.raises(DamagedValue, match="destroyed"):
            reader.unseal(gone, *PLACE)
        assert reader.unseal(kept, *PLACE) == "kept"


def test_a_process_that_was_open_does_not_write_with_a_destroyed_key(sealed, again):
    """GS-17: what it writes next would be lost."""
    other = again()
    opening.unlock(other.db, other.codec, passphrase())
    other.codec.seal("before", *PLACE, "a")
    sealed.codec.keys.destroy("a")

    stored = other.codec.seal("after", *PLACE, "a")

    assert sealed.codec.unseal(stored, *PLACE) == "after"


def test_a_key_of_a_write_that_failed_is_not_used_again(sealed, again):
    """GS-17: it was rolled back with the write, and what were sealed with it could not be read."""
    with suppress(ZeroDivisionError), sealed.db.write():
        sealed.codec.seal("lost", *PLACE, "new")
        raise ZeroDivisionError

    stored = sealed.codec.seal("kept", *PLACE, "new")

    other = again()
    opening.unlock(other.db, other.codec, passphrase())
    assert other.codec.unseal(stored, *PLACE) == "kept"


def test_two_processes_make_one_key_for_a_namespace(sealed, again):
    """GS-17: each reads what the other has written."""
    other = again()
    opening.unlock(other.db, other.codec, passphrase())

    one, two = sealed.codec.seal("one", *PLACE, "a"), other.codec.seal("two", *PLACE, "a")

    assert (sealed.codec.unseal(two, *PLACE), other.codec.unseal(one, *PLACE)) == ("two", "one")
    assert sealed.codec.keys.destroy("a") == 1


def test_locking_wipes_the_keys(sealed):
    """GS-17: nothing can be read, written or hashed any more."""
    codec, keys = sealed.codec, sealed.codec.keys
    stored, _ = codec.seal("a secret", *PLACE, "default"), codec.token("horse")
    held = [keys._master, keys._wrapping, *keys._hash_keys.values()]

    keys.lock()

    assert not any(byte for key in held for byte in key)
    for use in (
        lambda: codec.unseal(stored, *PLACE),
        lambda: codec.seal("more", *PLACE, "default"),
        lambda: codec.token("horse"),
        lambda: keys.replace_data_key("default"),
    ):
        with pytest.raises(Locked):
            use()


@pytest.mark.parametrize("field", ["salt", "wrapped", "check", "store", "generation", "kind"])
def test_no_part_of_the_envelope_can_be_changed(sealed, again, field):
    """GS-17: each is bound to the master key."""
    envelope = json.loads(sealed.rows()["sealed"])
    was = envelope[field]
    if field == "generation":
        envelope[field] = was + 1
    elif field == "kind":
        envelope[field] = "key"
    elif field == "store":
        envelope[field] = "0" * 32
    else:
        data = bytearray(b64decode(was))
        data[0] ^= 1
        envelope[field] = b64encode(data).decode()
    sealed.put("sealed", json.dumps(envelope).encode())

    other = again()
    with pytest.raises(Locked):
        opening.unlock(other.db, other.codec, passphrase())


def test_a_new_secret_waits_for_a_write_that_hashes(sealed):
    """GS-17: both need the keys and the one writer, and neither waits for the other forever."""
    began = threading.Event()

    def write() -> None:
        with sealed.db.write():
            began.set()
            for n in range(300):
                sealed.codec.token(f"word {n}")

    writer = threading.Thread(target=write)
    writer.start()
    began.wait()
    sealed.db.wait_s = 5
    sealed.codec.keys.put_envelope(passphrase("battery staple"), FAST)
    writer.join()

    opening.unlock(sealed.db, SealedCodec(), passphrase("battery staple"))


def test_a_damaged_envelope_says_so(sealed, again):
    """GS-17: the key may be right, so it is not blamed."""
    sealed.put("sealed", sealed.rows()["sealed"][:40])

    with pytest.raises(StoreError, match="damaged"):
        opening.unlock(again().db, SealedCodec(), passphrase())


def test_keys_cannot_be_exchanged(sealed):
    """GS-17: the key of one namespace is not taken for that of another, nor a hash key for a data key."""
    codec = sealed.codec
    codec.seal("a", *PLACE, "a")
    codec.seal("b", *PLACE, "b")
    current = sealed.rows()

    sealed.put("sealed current data a", current["sealed current data b"])

    with pytest.raises(StoreError, match="damaged"):
        codec.seal("more", *PLACE, "a")
    sealed.put("sealed current data a", current["sealed current hashes words"])
    with pytest.raises(StoreError, match="damaged"):
        codec.seal("more", *PLACE, "a")


def test_a_relabelled_key_does_not_open(sealed, again):
    """GS-17: its namespace is bound to it."""
    stored = sealed.codec.seal("a", *PLACE, "a")
    name = f"sealed key {stored[1:9].hex()}"
    kind, _, wrapped = json.loads(sealed.rows()[name])
    sealed.put(name, json.dumps([kind, "b", wrapped]).encode())

    other = again()
    opening.unlock(other.db, other.codec, passphrase())
    with pytest.raises(DamagedValue, match="damaged"):
        other.codec.unseal(stored, *PLACE)


def test_without_the_library_the_error_says_how_to_install_it(sealed, again, monkeypatch):
    """GS-17: cryptography comes with an extra."""
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.kdf.argon2", None)
    other = again()

    with pytest.raises(MissingExtra, match=r'pip install "scrubjay\[sealed\]"'):
        opening.unlock(other.db, other.codec, passphrase())
