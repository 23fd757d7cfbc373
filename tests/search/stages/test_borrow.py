"""Words borrowed from the texts that are found first."""

from __future__ import annotations

import pytest
from traces import steps

import scrubjay
from scrubjay import InvalidInput
from scrubjay.search.stages.borrow import borrow_words

TEXTS = (
    "Deploying the service: push the container to the registry, then run the pipeline.",
    "Our deploy runs the pipeline and pushes a container image to the registry.",
    "The registry keeps every container image that a pipeline ever made.",
    "Lunch is at noon, and the canteen serves soup.",
    "The harbour is closed on Mondays.",
)


@pytest.fixture
def store(tmp_path, clock):
    """A store whose queries are expanded from its own texts."""
    with scrubjay.open(
        tmp_path / "notes.db", embedder=False, clock=clock, generator="corpus"
    ) as opened:
        for number, text in enumerate(TEXTS):
            opened.add(text, id=str(number))
        yield opened


def thorough(store, query, **given):
    given = {"overrides": {"strong_signal.score": 1.0}, **given}
    return store.search(query, profile="gno", mode="thorough", **given)


def step(found, name):
    return steps(found).get(name)


def test_a_text_without_any_word_of_the_query_is_found_by_what_the_first_texts_share(store):
    """GN-2 without a language model: two texts speak of deploying, a third of what they speak of."""
    plain = [hit.id for hit in store.search("deploy", profile="gno", mode="fast")]
    found = thorough(store, "deploy")

    assert set(plain) == {"0", "1"}
    assert {hit.id for hit in found} == {"0", "1", "2"}
    borrowed = set(step(found, "borrow_words").notes["borrowed"])
    assert {"container", "pipeline", "registry"} <= borrowed
    assert found.counts["lexical:1"] == 3
    assert step(found, "rephrase") is None


def test_a_word_of_one_text_alone_is_not_borrowed(store):
    """`shared_by` says in how many it must be."""
    borrowed = step(thorough(store, "deploy"), "borrow_words").notes["borrowed"]

    assert "service" not in borrowed
    assert not {"the", "to", "and", "then", "deploy"} & set(borrowed)


def test_what_is_borrowed_stays_inside_the_scope(store):
    """R-3: negations and filters bind the variant too."""
    assert {hit.id for hit in thorough(store, "deploy -image")} == {"0"}
    assert {hit.id for hit in thorough(store, "deploy", types=["decision"])} == set()


def test_nothing_shared_means_no_variant(store):
    """And a note that says so."""
    found = thorough(store, "harbour")

    assert [hit.id for hit in found] == ["4"]
    assert "lexical:1" not in found.counts
    assert "share no further word" in step(found, "borrow_words").notes["reason"]


def test_the_default_profile_borrows_in_thorough_only(store):
    """And only where the corpus was chosen."""
    assert step(store.search("deploy", mode="thorough"), "borrow_words") is not None
    assert step(store.search("deploy"), "borrow_words") is None
    assert store.search("deploy", mode="thorough").degraded == (
        "embed_query: there is no embedder: the store was opened with embedder=False",
    )


def test_the_same_store_borrows_the_same_words(store):
    """R-8: whatever the order of counting."""
    first, second = (
        step(thorough(store, "deploy"), "borrow_words").notes["borrowed"] for _ in range(2)
    )

    assert first == second


@pytest.mark.parametrize("number", ["texts", "borrowed", "shared_by"])
def test_numbers_below_one_are_refused(store, number):
    """With what would be right."""
    with pytest.raises(InvalidInput, match=f"borrow_words.{number} is 0; it must be 1 or more"):
        thorough(
            store, "deploy", overrides={f"borrow_words.{number}": 0, "strong_signal.score": 1.0}
        )
    assert borrow_words().numbers[number] >= 1


def test_stop_words_with_marks_are_not_borrowed(tmp_path):
    """German ones, which are compared without their dots."""
    with scrubjay.open(tmp_path / "de.db", embedder=False, generator="corpus") as opened:
        for place in ("Hafen", "Markt"):
            opened.add(
                f"Die Anmeldung für den {place} können wir über das Formular bei der Stadt machen"
            )
        found = thorough(opened, "Anmeldung")

    borrowed = {one.lower() for one in step(found, "borrow_words").notes["borrowed"]}
    assert {"formular", "stadt"} <= borrowed
    assert not {"für", "können", "über", "das", "wir"} & borrowed
