"""Long texts of one writer do not delay the vectors of others."""

from __future__ import annotations

import threading
from pathlib import Path

from fakes import HashingEmbedder

import scrubjay
from scrubjay.storage.sql import vectors
from scrubjay.write.embed_worker import BATCH

LONG = "The minutes of the council fill another page of this very long book. " * 29_000
SMALL = [f"Small note {n} on the kettle" for n in range(20)]


def batches_until_small(store: scrubjay.Store, model: str, most: int = 50) -> int:
    """Claim batches as the worker does, until all small notes are among them."""
    queue = store._context.embedding.queue
    missing = set(SMALL)
    for n in range(most):
        missing -= {chunk.passage for chunk in queue.claim(model, BATCH, 60.0)}
        if not missing:
            return n + 1
    raise AssertionError(f"{len(missing)} of {len(SMALL)} still wait after {most} batches")


def test_small_notes_after_three_texts_of_2_mb(tmp_path: Path, embedder: HashingEmbedder):
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=False) as store:
        assert len(LONG) >= 2_000_000
        for n in range(3):
            store.add(f"{n} {LONG}", namespace="writer")
        for text in SMALL:
            store.add(text, namespace="other")
        chunks = store.status().chunks
    with scrubjay.open(path, embedder=embedder) as store:
        store._context.embedding.activate()
        assert chunks > 20 * BATCH
        assert batches_until_small(store, embedder.name) == 1
        # A note that comes later waits for no more than that, too.
        with scrubjay.open(path, embedder=False) as another:
            another.add("Late note on the kettle", namespace="writer")
        claimed = store._context.embedding.queue.claim(embedder.name, BATCH, 60.0)
        assert "Late note on the kettle" in {chunk.passage for chunk in claimed}


def test_notes_are_found_in_the_middle_of_a_queue_longer_than_the_window(
    tmp_path: Path, embedder: HashingEmbedder, monkeypatch
):
    monkeypatch.setattr(vectors, "_WINDOW", 50)
    with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
        store.add_many({"text": f"Old {n}", "namespace": "writer"} for n in range(400))
        for text in SMALL:
            store.add(text, namespace="other")
        store.add_many({"text": f"New {n}", "namespace": "writer"} for n in range(400))
    with scrubjay.open(tmp_path / "notes.db", embedder=embedder) as store:
        store._context.embedding.activate()
        queue = store._context.embedding.queue
        claimed = [chunk.chunk for _ in range(9) for chunk in queue.claim(embedder.name, 100, 60)]
        assert len(claimed) == len(set(claimed)) == 820
        assert queue.claim(embedder.name, 100, 60) == []


class HeldEmbedder(HashingEmbedder):
    """Waits in its first batch until the test lets it go on, and keeps the order of the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.go_on = threading.Event(), threading.Event()
        self.texts: list[str] = []

    def embed(self, texts, *, as_query=False):
        self.texts += texts
        self.began.set()
        self.go_on.wait(60)
        return super().embed(texts, as_query=as_query)


def test_the_worker_turns_to_what_is_added_while_it_embeds_a_long_text(tmp_path: Path):
    embedder = HeldEmbedder()
    with scrubjay.open(tmp_path / "notes.db", embedder=embedder) as store:
        store.add(LONG[: len(LONG) // 4], namespace="writer")
        assert embedder.began.wait(60)
        for text in SMALL:
            store.add(text, namespace="other")
        embedder.go_on.set()
        store.pending()
    places = [embedder.texts.index(text) for text in SMALL]
    assert max(places) < 2 * BATCH
    assert len(embedder.texts) > 4 * BATCH
