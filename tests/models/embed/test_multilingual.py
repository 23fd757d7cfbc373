"""The multilingual model: from the package index, one text at a time, any text."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from scrubjay.errors import Unavailable
from scrubjay.models.embed.multilingual import MultilingualEmbedder
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.models.registry import known_models, load_embedder, multilingual_embedder

NAME = "use-multilingual-3"


@pytest.fixture(scope="module")
def embedder():
    return GuardedEmbedder(multilingual_embedder(NAME))


@pytest.mark.model
class TestVectors:
    def test_translations_are_near_and_others_are_not(self, embedder):
        english, chinese, other = embedder.embed(
            ["who is allergic to seafood?", "谁对海鲜过敏？", "The mortgage is due on the third"]
        )

        assert english @ chinese > 0.7
        assert english @ other < 0.2

    def test_a_vector_does_not_depend_on_the_texts_beside_it(self, embedder):
        alone = embedder.embed(["where is the harbour?"])[0]
        beside = embedder.embed(["x" * 3000, "where is the harbour?", "谁"])[1]

        assert (alone == beside).all()

    @pytest.mark.parametrize("text", ["", "\0", "\ud800", "🦜" * 2000, "a" * 100_000])
    def test_any_text_has_a_finite_vector(self, embedder, text):
        (vector,) = embedder.embed([text])

        assert np.isfinite(vector).all()


def test_it_is_listed_and_loaded_by_name():
    assert NAME in {state.card.name for state in known_models()}
    assert isinstance(load_embedder(NAME), MultilingualEmbedder)


def test_without_its_package_the_message_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnxruntime_extensions", None)
    monkeypatch.setattr("scrubjay.models.embed.multilingual.pull", lambda card, progress: tmp_path)

    with pytest.raises(Unavailable, match="pip install onnxruntime-extensions"):
        MultilingualEmbedder().load()
