"""A real server of embeddings: llama.cpp with a small model, over its OpenAI-compatible interface."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from small_model import weights

import scrubjay
from scrubjay.config import EmbedderAccess
from scrubjay.models.embed.remote import RemoteEmbedder
from scrubjay.models.guard import GuardedEmbedder

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp has no wheel here"
    ),
]

SERVE = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 512
params.embedding = True
params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
params.warmup = False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
DIMS = 576


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the server listens; it has a process of its own, since it cannot be stopped in ours."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", SERVE, str(weights())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            said = process.stdout.readline().strip()
            assert said.startswith("http://127.0.0.1:"), log.read_text(errors="replace")[-2000:]
            yield said
        finally:
            process.kill()


@pytest.fixture
def embedder(address):
    return RemoteEmbedder(EmbedderAccess(f"{address}/v1#smollm2", timeout_s=120))


def test_vectors_are_its_own_in_the_order_of_the_texts(embedder):
    texts = ["Jays hide acorns.", "Tea is at four.", "The spare key is under the blue flowerpot."]
    together = GuardedEmbedder(embedder).embed(texts)

    alone = np.concatenate([GuardedEmbedder(embedder).embed([text]) for text in texts])

    assert together.shape == (3, DIMS)
    assert (together * alone).sum(axis=1) == pytest.approx(1, abs=1e-3)
    assert together[0] @ together[1] < 0.999
    assert 20 < embedder.tokens_sent < 100
    assert not embedder.is_estimated


def test_a_text_beyond_its_window_is_read_in_parts(embedder):
    """The server refuses it as too large, with the status 500."""
    (vector,) = GuardedEmbedder(embedder).embed(["Oak trees and quiet mornings. " * 200])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_a_store_finds_by_its_vectors(address, tmp_path):
    with scrubjay.open(tmp_path / "notes.db", embedder=f"{address}/v1#smollm2") as store:
        store.add("Jays hide acorns below the old oak.", id="oak")
        store.add("Lunch is at noon in the kitchen.", id="lunch")
        assert store.pending() == 0
        found = store.search("Jays hide acorns below the old oak.", mode="vector")

        assert found[0].id == "oak"
        assert store.status().models[f"{address}/v1#smollm2"] == 2
