"""A batch of memories is stored as its memories would be one by one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.clocks import Clock

import scrubjay
from scrubjay.errors import NotFound
from scrubjay.models.embed.static import StaticEmbedder
from scrubjay.models.registry import load_static_embedder
from scrubjay.storage.sql.words import TokenLines
from scrubjay.text.analysis import make_tokens, tokens, whole_and_parts

# Few texts, so that many are repeated; some name a time, some are in another language or script.
_TEXTS = (
    "The deploy runs on Monday.",
    "the  deploy runs on Monday.",
    "We met Anna yesterday in the old harbour, and she liked it.",
    "Der Vertrag mit der Bank wurde am 3. März 2026 unterschrieben.",
    "ok",
    "get_user_id() fails since v1.2.3, see https://example.org/a?b=1",
    "昨日は東京で会議がありました。",
    "One paragraph.\n\nAnother one, 50% longer; it ends with a list: a, b and c.",
    "Ёлка стоит в углу комнаты с прошлой зимы.",
)
_FIELDS = {
    "id": ("one", "two", "three", "0123456789ab"),
    "type": ("fact", "message", "task", "document"),
    "title": ("", "Deploys", "Anna"),
    "namespace": ("default", "other"),
    "session": ("s1", "s2"),
    "owner": ("ann", "bob"),
    "topics": ([], ["ci"], ["CI/CD", "people"]),
    "context": ("", "A talk about trains."),
    "metadata": ({}, {"n": 1}, {"n": 1.0}, {"format": "markdown"}),
    "created_at": ("2026-01-02", "2026-02-03T04:05+02:00"),
    "updated_at": ("2026-05-06",),
    "event_time": ("2025-12-24",),
    "valid_until": ("2026-02-28", "2027-01-01"),
    "severity": ("warning",),
    "domain": ("Web",),
}
_TABLES = (
    "memories chunks topics terms versions edges words wanting unlinked uncompared outbox"
).split()


def _rows(store: scrubjay.Store) -> dict[str, list[Any]]:
    with store._context.db.read() as db:
        rows = {name: sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for name in _TABLES}
        # The key of the hashes is another in each store.
        rows["topic_hashes"] = sorted(db.execute("SELECT memory, whole FROM topic_hashes"))
    return rows


def _memory(rng: random.Random) -> dict[str, Any]:
    given = {name: rng.choice(values) for name, values in _FIELDS.items() if rng.random() < 0.25}
    return {"text": rng.choice(_TEXTS), **given}


def test_a_batch_stores_what_its_memories_store_one_by_one(clock: Clock) -> None:
    """Ids, hashes, languages, times of events, chunks, tokens and their counts, versions."""
    rng = random.Random(44)
    with _opened(clock) as alone, _opened(clock) as together:
        for size in (1, 2, 5, 20, 40, 80):
            memories = [_memory(rng) for _ in range(size)]

            added = [alone.add(**memory) for memory in memories]

            stored = together.add_many(memories)
            assert [*stored] == added
            assert {type(memory.metadata) for memory in (*stored, *added)} == {dict}
            assert _rows(together) == _rows(alone)
            clock.advance(days=1)


def _opened(clock: Clock) -> scrubjay.Store:
    return scrubjay.open(":memory:", embedder=False, clock=clock)


@pytest.fixture
def store(clock: Clock) -> Iterator[scrubjay.Store]:
    with _opened(clock) as opened:
        yield opened


def test_a_memory_is_linked_to_one_before_it_in_the_batch_and_to_none_after_it(
    store: scrubjay.Store,
) -> None:
    """And of a batch that fails, nothing is stored."""
    store.add_many([{"text": "a", "id": "a"}, {"text": "b", "id": "b", "links": ["a"]}])
    assert [near.id for near in store.neighbors("b")] == ["a"]

    with pytest.raises(NotFound, match="links"):
        store.add_many([{"text": "c", "id": "c", "links": ["d"]}, {"text": "d", "id": "d"}])
    assert store.get_many(["c", "d"]).missing


def test_a_text_that_an_id_has_replaced_in_the_same_batch_is_new_again(
    store: scrubjay.Store,
) -> None:
    """What the batch itself has changed counts, not what was stored before it."""
    store.add("the old text", id="a")

    stored = store.add_many(
        [{"text": "the new text", "id": "a"}, {"text": "the old text"}, {"text": "the new text"}]
    )

    assert [memory.id == "a" for memory in stored] == [True, False, True]
    assert store.status().memories == 2


# Spaces of all kinds, marks that join words, accents of their own, scripts without spaces.
_ODD = (
    "aZéß ïİŞΣ日本ไท\u200c\u200d\u0301\u0085\u00a0\u2003\u3000\x1c\x1f\t\n кот-'’.,;/ عرA1_+#&:@😀"
)


@given(text=st.text(_ODD, max_size=60), language=st.sampled_from(("en", "de", "", "zh", "ru")))
def test_runs_without_a_space_have_the_tokens_of_the_whole_text(text: str, language: str) -> None:
    """Lines are made of runs that were seen before; queries are tokenized as whole texts."""
    line = TokenLines(str).of(text, language)

    assert line == " ".join(tokens(text, language))


@given(st.text("aBcsingED", min_size=1, max_size=12))
def test_a_plain_word_has_one_token_without_looking_for_parts(word: str) -> None:
    """An identifier has those of its parts."""
    whole, parts = whole_and_parts(word)

    assert make_tokens(word, "english") == (whole, *parts)


@given(st.text(_ODD, max_size=60))
def test_runs_have_the_static_tokens_of_the_whole_text(text: str) -> None:
    """The vector of a text does not depend on what was embedded before it."""
    static = load_static_embedder()
    assert isinstance(static, StaticEmbedder)
    whole = static._tokenizer.encode(text, add_special_tokens=False).ids

    assert static._pieces([text, "other"])[0] == [n for n in whole if n != static._unknown]
