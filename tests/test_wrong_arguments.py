"""What is no id, no path, no profile and no number is told so, by name; nothing else happens."""

from __future__ import annotations

import math

import pytest

import scrubjay
from scrubjay.errors import InvalidInput


@pytest.fixture
def store(words_only):
    """One memory with a domain."""
    words_only.add("The kettle whistles", id="kettle", domain="home")
    return words_only


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda store: store.get(["kettle"]), "is not an id"),
        (lambda store: store.get_many(5), "5 is not an id"),
        (lambda store: store.get_many(["kettle", None]), "None is not an id"),
        (lambda store: store.weights(5), "profile"),
        (lambda store: store.search("kettle", profile=5), "profile"),
        (lambda store: store.search("kettle", mode=["full"]), "mode"),
        (lambda store: store.export_md(5), "5 is not a path"),
        (lambda store: store.export_md("a\0b"), "is not a path"),
        (lambda store: store.export_jsonl(5), "5 is not a path"),
        (lambda store: store.import_entries(5), "neither a path nor a stream"),
        (lambda store: store.import_entries(["a.md"]), "each source"),
        (lambda store: store.expiring("9" * 5000 + "d"), "too long"),
        (lambda store: store.add("x", metadata={"n": math.nan}), "cannot be written as JSON"),
        (lambda store: store.add("x", metadata={"n": [math.inf]}), "cannot be written as JSON"),
    ],
)
def test_a_wrong_argument_is_invalid_input(store, call, said):
    """A clear sentence, and not the error of some library below."""
    with pytest.raises(scrubjay.InvalidInput, match=said):
        call(store)
    assert [one.id for one in store.ls()] == ["kettle"]


def test_a_setting_of_another_profile_is_said_to_be_its(words_only):
    with pytest.raises(InvalidInput, match="vector_weight is a setting of profile cognis"):
        words_only.search("x", overrides={"vector_weight": 0.2})


@pytest.mark.parametrize("least", [-0.1, True, "0.5", float("nan"), float("inf")])
def test_a_least_score_is_a_number_of_zero_or_more(words_only, least):
    with pytest.raises(InvalidInput, match="give a number of 0 or more"):
        words_only.search("x", min_score=least)
    assert len(words_only.search("x", min_score=1.2)) == 0
