"""Static vectors: from a table in the package, without a download, onnxruntime or waiting."""

from __future__ import annotations

import numpy as np
import pytest

from scrubjay.models.embed.static import CODES, SCALES, VOCABULARY
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.models.registry import load_static_embedder

KEY = "k" * 500


@pytest.fixture(scope="module")
def embedder():
    return GuardedEmbedder(load_static_embedder())


def test_near_in_meaning_is_near(embedder):
    question, allergy, money = embedder.embed(
        [
            "who is allergic to seafood?",
            "Oriel must never eat shrimp, crab or mussels",
            "The mortgage is due on the third of each month",
        ]
    )

    assert question @ allergy > 0.3
    assert question @ money < 0.15


def test_a_vector_is_the_mean_of_its_tokens(embedder):
    """In whatever batch it is: a text alone, among others, or after an empty one."""
    (cat,), (cats,) = embedder.embed(["cat"]), embedder.embed(["cat cat cat"])
    together = embedder.embed(["", "cat", "dog dog", "", "cat"])

    assert cats == pytest.approx(cat, abs=1e-6)
    assert together[1] == pytest.approx(cat, abs=1e-6)
    assert together[4] == pytest.approx(cat, abs=1e-6)
    assert not together[[0, 3]].any()


@pytest.mark.parametrize(
    "text", ["", "   ", "\ud800", "\x00", KEY, "日本語", "🦜" * 50, "a " * 50_000]
)
def test_any_text_has_a_finite_vector(embedder, text):
    (vector,) = embedder.embed([text])

    length = np.linalg.norm(vector)
    assert length == pytest.approx(1, abs=1e-5) or length == 0


def test_no_texts_have_no_vectors(embedder):
    assert embedder.embed([]).shape == (0, embedder.dims)


def test_a_query_weighs_telling_tokens(embedder):
    (rows,) = embedder.encode(["the mortgage"], as_query=True)[1]
    the, mortgage = np.linalg.norm(rows, axis=1)
    (plain,) = embedder.encode(["the mortgage"])[1]

    assert mortgage > 2 * the
    assert (the + mortgage) / 2 == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(plain, axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_the_table_is_whole_and_small():
    codes, scales = np.load(CODES), np.load(SCALES)
    tokens = VOCABULARY.read_text("utf-8").split("\n")[:-1]

    assert len(codes) == len(scales) == len(tokens) == len(set(tokens))
    assert np.isfinite(scales).all()
    assert sum(path.stat().st_size for path in (CODES, SCALES, VOCABULARY)) < 12_000_000
