"""A slow embedder of an installed package, for processes that a test starts; it logs what it read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NAME = "slow"
# A module of its own: a process that is started in a test does not see the tests.
MODULE = """
import os
import time
import zlib

import numpy as np


class SlowEmbedder:
    name, dims, texts_at_once = "slow", 16, 5

    def embed(self, texts, *, as_query=False):
        rows = np.full((len(texts), self.dims), 0.01, np.float32)
        for row, text in zip(rows, texts, strict=True):
            time.sleep(float(os.environ["SLOW_S"]))
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % self.dims] += 1.0
        with open(os.environ["SLOW_LOG"], "a", encoding="utf-8") as log:
            log.writelines(f"{text}\\n" for text in texts)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> Path:
    """Make it the configured embedder of processes started from now on; return the file of what it read."""
    info = folder / "slow-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "slow_embedder.py").write_text(MODULE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[scrubjay.embedders]\nslow = slow_embedder:SlowEmbedder\n"
    )
    log = folder / "read.log"
    log.touch()
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", NAME)
    monkeypatch.setenv("SLOW_S", str(seconds))
    monkeypatch.setenv("SLOW_LOG", str(log))
    return log
