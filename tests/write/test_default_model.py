"""The embedder of a store where nobody names one: that of its index, else the best that is installed."""

from __future__ import annotations

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.config import embedder_access, load
from scrubjay.models.bundled import ENCODER
from scrubjay.write import model_choice

ENCODED, MINILM = "scrubjay-encoder-1/int8", "all-MiniLM-L6-v2/fp32"


class Teacher(HashingEmbedder):
    """all-MiniLM-L6-v2 by its name, without its weights."""

    def __init__(self):
        super().__init__(dims=384)
        self.name, self.token_dims = MINILM, 48


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("SCRUBJAY_MULTILINGUAL", "none")
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")


@pytest.fixture(params=["sqlite", "postgres"])
def path(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("emptied_postgres_url")
    return str(tmp_path / "notes.db")


@pytest.fixture
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))


def with_old_index(path):
    """Store a text that all-MiniLM-L6-v2 has embedded."""
    with scrubjay.open(path, embedder=Teacher()) as store:
        store.add("Oda keeps the lighthouse", id="oda")
        store.pending()


def model_of(path, **options):
    with scrubjay.open(path, **options) as store:
        return store.status().model


def test_a_new_store_uses_the_installed_encoder(path, bundled_models, no_cache):
    with scrubjay.open(path) as store:
        store.add("Oriel must never eat shrimp", id="oriel")
        store.add("Two workers warm the same shard", id="shard")

        assert store.pending() == 0
        found = store.search("who is allergic to seafood?")
        assert (found[0].id, found.degraded) == ("oriel", ())
        assert (store.status().model, store.status().models[ENCODED]) == (ENCODED, 2)


def test_a_new_store_uses_minilm_where_no_encoder_is_installed(path, no_cache):
    assert model_of(path) == MINILM


def test_an_old_store_keeps_the_model_of_its_index(path, bundled_models, no_cache):
    """Nothing is embedded again without being asked for, whether the model is on this machine or not."""
    with_old_index(path)

    with scrubjay.open(path) as store:
        assert store.status().model == MINILM
        store.add("The kettle whistles", id="kettle")
        found = store.search("kettle")
        assert any("all-MiniLM-L6-v2" in reason for reason in found.degraded)
        assert ENCODED not in store.status().models


def test_a_store_of_the_encoder_waits_for_it_where_it_is_not_installed(
    path, monkeypatch, tmp_path, no_cache
):
    """It is not embedded again by another model: static vectors stand in, and the reason says what to do."""
    import bundled

    with monkeypatch.context() as patch:
        for _ in bundled.install(tmp_path / "installed", patch):
            with scrubjay.open(path) as store:
                store.add("Oda keeps the lighthouse", id="oda")
                store.pending()

    with scrubjay.open(path) as store:
        assert store.status().model == ENCODED
        found = store.search("lighthouse keeper")
        assert found[0].id == "oda"
        assert any("scrubjay-models" in reason for reason in found.degraded)
        assert MINILM not in store.status().models


def test_an_old_store_without_a_single_vector_uses_the_encoder(path, bundled_models, no_cache):
    with scrubjay.open(path, embedder="all-MiniLM-L6-v2") as store:
        store.add("Oda keeps the lighthouse", id="oda")

    assert model_of(path) == ENCODED


def test_an_old_store_changes_to_the_encoder_when_it_is_told_to(path, bundled_models):
    with_old_index(path)

    with scrubjay.open(path) as store:
        change = store.use_model(ENCODER.name, wait=True)
        assert (change.model, change.state) == (ENCODED, "in_use")
        assert store.search("lighthouse keeper")[0].id == "oda"
    assert model_of(path) == ENCODED


def test_a_setting_comes_before_the_index(path, bundled_models, no_cache, monkeypatch):
    with_old_index(path)
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", ENCODER.name)

    assert model_of(path) == ENCODED
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "all-MiniLM-L6-v2")
    assert model_of(path) == MINILM


def test_auto_means_that_nobody_names_one(path, bundled_models, no_cache, monkeypatch):
    with_old_index(path)

    assert model_of(path, embedder="auto") == MINILM
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "auto")
    assert model_of(path) == MINILM
    assert load().embedder == "auto"


def test_the_default_is_stored_by_its_name(bundled_models, no_cache):
    """A store must not mean another model on another machine."""
    stored, _ = model_choice.checked_model("auto")

    assert stored.name == ENCODED
    assert model_choice.access_of(stored.spec) == embedder_access(ENCODER.name)
