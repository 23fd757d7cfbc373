"""Values of a sealed store: bound to their place, and hashes instead of words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.storage.codec import DamagedValue
from scrubjay.storage.sealed import opening
from scrubjay.storage.sealed.codec import SealedCodec
from scrubjay.storage.sealed.key_sources import KEY, Secret
from scrubjay.storage.sqlite.connection import SqliteDatabase


def opened(path: str) -> tuple[SqliteDatabase, SealedCodec]:
    codec = SealedCodec()
    db = SqliteDatabase(path, codec=codec)
    opening.seal_new(db, codec, Secret(KEY, bytearray(b"k" * 32)))
    return db, codec


@pytest.fixture
def codec() -> Iterator[SealedCodec]:
    db, made = opened(":memory:")
    yield made
    db.close()


@pytest.mark.parametrize("text", ["", "a", "Grüße\0\x1a", "x" * 100_000])
def test_a_text_comes_back(codec, text):
    """GS-17: any text, and none of its bytes are in what is stored."""
    stored = codec.seal(text, "memories.text", "m1", "default")

    assert codec.unseal(stored, "memories.text", "m1") == text
    assert len(stored) == len(text.encode()) + 37
    assert len(text) < 4 or text.encode()[:16] not in stored


@pytest.mark.parametrize("place", [("memories.text", "m2"), ("memories.title", "m1"), ("", "")])
def test_a_value_opens_in_its_own_place_only(codec, place):
    """GS-17: rows and columns cannot be swapped."""
    stored = codec.seal("a secret", "memories.text", "m1", "default")

    with pytest.raises(DamagedValue, match="another row"):
        codec.unseal(stored, *place)


def test_a_value_opens_in_its_own_store_only(codec):
    """GS-17: the same secret does not make two stores alike."""
    db, other = opened(":memory:")
    stored = other.seal("a secret", "memories.text", "m1", "default")

    with pytest.raises(DamagedValue):
        codec.unseal(stored, "memories.text", "m1")
    assert other.token("horse") != codec.token("horse")
    db.close()


def test_every_flipped_bit_and_missing_byte_is_noticed(codec):
    """GS-17: format, key, nonce, ciphertext and tag."""
    stored = codec.seal("a secret", "memories.text", "m1", "default")
    changed = [bytearray(stored) for _ in range(8 * len(stored))]
    for bit, one in enumerate(changed):
        one[bit // 8] ^= 1 << bit % 8

    for wrong in (*map(bytes, changed), *(stored[:n] for n in range(len(stored))), "a secret"):
        with pytest.raises(DamagedValue):
            codec.unseal(wrong, "memories.text", "m1")


def test_words_are_hashes(codec):
    """GS-17: equal words are equal, and nothing else is seen of them."""
    made = {word: codec.token(word) for word in ("horse", "horses", "Horse", "", "a", "日本")}

    assert codec.token("horse") == made["horse"]
    assert len(set(made.values())) == len(made)
    assert {len(token) for token in made.values()} == {16}
    # FTS5 splits at spaces, folds capital letters, and sees these as one token each.
    assert all(token.isascii() and token.isalnum() and token.islower() for token in made.values())


def test_kinds_of_hashes_do_not_meet(codec):
    """GS-17: a topic is not recognized by a word, nor a name of one column by that of another."""
    assert codec.exact("horse", "topics.topic") != codec.exact("horse", "targets.name")
    assert not codec.exact("horse", "topics.topic").startswith(codec.token("horse"))
    assert codec.topic_hash("horse", 16) != codec.topic_hash("house", 16)


def test_the_beginning_of_a_word_cannot_be_searched(codec):
    """GS-17: a hash has no beginning; the message says what to write."""
    with pytest.raises(InvalidInput, match=r"whole word.*hors\*"):
        codec.prefix("hors")
