"""Models of an installed package between which a test changes a store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import HashingEmbedder, TokenEmbedder
from numpy.typing import NDArray

from scrubjay.errors import Unavailable

CHECK = "scrub jay remembers"  # of the sentence by which a model is checked


class Cats(HashingEmbedder):
    """For this model "feline" means "cat", and "automobile" means nothing else."""

    def __init__(self) -> None:
        super().__init__(64, {"felin": "cat"})
        self.name = "cats"


class Cars(TokenEmbedder):
    """For this model "automobile" means "car"; it has token vectors. It reads `left` more texts."""

    left: int | None = None
    read: list[str] = []  # noqa: RUF012  # emptied by `install`
    texts_at_once = 2

    def __init__(self) -> None:
        super().__init__(256, {"automobil": "car"})
        self.name = "cars"

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        if not as_query and not any(CHECK in text for text in texts) and texts != ["memory"]:
            _pause()
            if Cars.left is not None and Cars.left < len(texts):
                raise Unavailable("the model rests")
            if Cars.left is not None:
                Cars.left -= len(texts)
            Cars.read += texts
        elif Cars.left is not None and texts == ["memory"]:
            raise Unavailable("the model rests")
        return super().embed(texts, as_query=as_query)


class Third(HashingEmbedder):
    """One more model."""

    def __init__(self) -> None:
        super().__init__(128)
        self.name = "third"


class Broken(HashingEmbedder):
    """Answers NaN."""

    def __init__(self) -> None:
        super().__init__(16)
        self.name = "broken"

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        return np.full((len(texts), 16), np.nan, np.float32)


class Empty(Broken):
    """Answers zeros."""

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        return np.zeros((len(texts), 16), np.float32)


class Growing(HashingEmbedder):
    """Answers in another width once it was checked."""

    def __init__(self) -> None:
        super().__init__(16)
        self.name = "growing"

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        found = super().embed(texts, as_query=as_query)
        return found if any(CHECK in text for text in texts) else np.hstack([found, found])


class Picky(HashingEmbedder):
    """Fails at every text but plain ones."""

    def __init__(self) -> None:
        super().__init__(16)
        self.name = "picky"

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        if any("note" in text for text in texts):
            raise ValueError("notes are beneath this model")
        return super().embed(texts, as_query=as_query)


def _pause() -> None:
    """Be as slow as a process was told to be."""
    if seconds := os.environ.get("SLOW_MODEL_S"):
        import time

        time.sleep(float(seconds))


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let them be models of an installed package, and `cats` that of the settings."""
    info = folder / "switch_models-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: switch-models\nVersion: 1.0\n")
    models = (Cats, Cars, Third, Broken, Empty, Growing, Picky)
    points = "\n".join(f"{one.__name__.lower()} = switch_models:{one.__name__}" for one in models)
    (info / "entry_points.txt").write_text(f"[scrubjay.embedders]\n{points}\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "cats")
    Cars.left, Cars.read = None, []
