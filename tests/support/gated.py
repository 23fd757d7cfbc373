"""Models of an installed package, that load only when a test lets them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from fakes import TokenEmbedder

from scrubjay.errors import Unavailable

PATIENCE_S = 60.0


class GatedEmbedder(TokenEmbedder):
    """Waits in `load` for its gate, and so does whoever gives it a text before it is loaded."""

    made: list[GatedEmbedder] = []  # noqa: RUF012  # emptied by `install`

    def __init__(self) -> None:
        super().__init__(meanings={"automobil": "car"})
        self.name = "gated"
        self.gate = threading.Event()
        self.failing: Exception | None = None
        self.files_here = True
        self.loads = 0
        self.fetched = 0
        self.loaded = False
        GatedEmbedder.made.append(self)

    def is_here(self) -> bool:
        """Say what a test wants said."""
        return self.files_here

    def fetch(self) -> None:
        """Wait for the gate, or fail."""
        self.fetched += 1
        self._pass()
        self.files_here = True

    def load(self) -> None:
        """Wait for the gate, or fail."""
        self.loads += 1
        self._pass()
        self.loaded = True

    def embed(self, texts, *, as_query=False):
        """Give vectors, once it is loaded."""
        self._pass()
        return super().embed(texts, as_query=as_query)

    def _pass(self) -> None:
        if not self.gate.wait(PATIENCE_S):
            raise Unavailable("nobody opened the gate")
        if self.failing:
            raise self.failing


class GatedReranker:
    """Gives every text the same score, once it is loaded."""

    made: list[GatedReranker] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.name = "gated-pairs"
        self.gate = threading.Event()
        GatedReranker.made.append(self)

    def load(self) -> None:
        """Wait for the gate."""
        if not self.gate.wait(PATIENCE_S):
            raise Unavailable("nobody opened the gate")

    def score(self, query, texts):
        """Give 0.875 to each."""
        self.load()
        return [0.875] * len(texts)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both be models of an installed package, and the embedder that of the settings."""
    info = folder / "gated-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gated\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[scrubjay.embedders]\ngated = gated:GatedEmbedder\n"
        "[scrubjay.rerankers]\ngated = gated:GatedReranker\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "gated")
    GatedEmbedder.made = []
    GatedReranker.made = []
