"""AES-256-GCM, Argon2id and HKDF against published vectors, and the encoding of what they bind."""

from __future__ import annotations

import hashlib
import hmac
from itertools import permutations

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.storage.sealed.primitives import (
    Argon2,
    Cipher,
    Forged,
    bound,
    derive,
    derive_slowly,
    keyed_hash,
    wipe,
)

# The specification of GCM by McGrew and Viega, test case 16.
KEY = bytes.fromhex("feffe9928665731c6d6a8f9467308308" * 2)
NONCE = bytes.fromhex("cafebabefacedbaddecaf888")
PLAIN = bytes.fromhex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
)
ASSOCIATED = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
CIPHERTEXT = bytes.fromhex(
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
    "76fc6ece0f4e1768cddf8853bb2d551b"
)


def test_the_cipher_is_aes_256_gcm():
    """GS-17: a published ciphertext opens, so the bytes are those of the standard."""
    assert Cipher(KEY).open(NONCE + CIPHERTEXT, ASSOCIATED) == PLAIN


def test_equal_values_have_other_ciphertexts():
    """GS-17: each value has a nonce of its own."""
    cipher = Cipher(KEY)

    sealed = {cipher.seal(b"the same", b"") for _ in range(100)}

    assert len({one[:12] for one in sealed}) == 100
    assert {cipher.open(one, b"") for one in sealed} == {b"the same"}


def test_every_flipped_bit_is_noticed():
    """GS-17: no bit of nonce, ciphertext, tag or associated data can be changed."""
    cipher = Cipher(KEY)
    sealed = cipher.seal(b"a secret", b"its place")

    for bit in range(8 * len(sealed)):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Forged):
            cipher.open(bytes(changed), b"its place")
    for wrong in (b"its plac", b"its place ", b""):
        with pytest.raises(Forged):
            cipher.open(sealed, wrong)
    for length in range(len(sealed)):
        with pytest.raises(Forged):
            cipher.open(sealed[:length], b"its place")


def test_the_slow_derivation_is_argon2id():
    """GS-17: a hash of the reference implementation."""
    key = derive_slowly(b"password", b"somesalt", Argon2(65536, 2, 1))

    assert key.hex() == "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"


def test_the_default_derivation_is_slow():
    """GS-17: at least the memory and work that RFC 9106 recommends for small machines."""
    chosen = Argon2()

    assert chosen.memory_kib >= 64 * 1024
    assert chosen.memory_kib * chosen.iterations >= 3 * 64 * 1024


def test_keys_are_derived_by_hkdf():
    """GS-17: RFC 5869 with SHA-256, written out; another purpose or salt gives another key."""
    extracted = hmac.digest(b"salt", b"key", "sha256")
    expected = hmac.digest(extracted, b"scrubjay wrapping\x01", "sha256")

    assert bytes(derive(b"key", "wrapping", b"salt")) == expected
    others = {bytes(derive(b"key", "check", b"salt")), bytes(derive(b"key", "wrapping", b"salz"))}
    assert len(others | {expected}) == 3


def test_hashes_are_hmacs():
    """GS-17: the first bytes of HMAC-SHA256."""
    expected = hmac.new(b"key", "Grüße".encode(), hashlib.sha256).digest()

    assert keyed_hash(b"key", "Grüße", 10) == expected[:10]


@pytest.mark.parametrize(
    "asked",
    [
        Argon2(2**40, 1, 1),
        Argon2(64, 10**9, 1),
        Argon2(64, 1, 10**6),
        Argon2(0, 1, 1),
        Argon2(8, 1, 4),
        Argon2("64", 1, 1),  # type: ignore[arg-type]
    ],
)
def test_a_file_cannot_ask_for_absurd_work(asked):
    """GS-17: parameters come from the file, which may be hostile."""
    with pytest.raises(InvalidInput, match="Argon2id"):
        derive_slowly(b"password", bytes(16), asked)


def test_no_two_places_are_encoded_alike():
    """GS-17: parts cannot be moved from one to the next."""
    parts = ["", "a", "ab", "b", "1", 1, b"\0", "\0"]
    places = [list(few) for count in range(4) for few in permutations(parts, count)]

    distinct = {
        tuple(part if type(part) is bytes else str(part).encode() for part in one)
        for one in places
    }
    assert len({bound(*one) for one in places}) == len(distinct)


def test_a_key_is_overwritten():
    """GS-17: wiped as far as Python allows."""
    key = bytearray(b"secret")
    view = memoryview(key)

    wipe(key)

    assert bytes(view) == bytes(6)
