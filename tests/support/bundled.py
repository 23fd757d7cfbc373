"""The package scrubjay-models of this checkout, as if it were installed."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT

PACKAGE = ROOT / "packages" / "scrubjay-models"
MODELS = PACKAGE / "src" / "scrubjay_models"


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put its metadata and its source in front of everything that is installed; yields its folder."""
    from scrubjay.models.bundled import find_bundled
    from scrubjay.models.registry import load_bundled_reranker, load_reader

    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    info = folder / "scrubjay_models-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: scrubjay-models\nVersion: 0.1.0\n"
    )
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
        for group, points in project["entry-points"].items()
    ]
    points = "".join(lines)
    elsewhere = os.environ.get("SCRUBJAY_TEST_READER")
    if elsewhere and not (MODELS / "reader" / "model.onnx").exists():
        # A checkout without the reader, and a folder that has it.
        (folder / "reader_elsewhere.py").write_text(
            f"from pathlib import Path\n\nREADER = Path({elsewhere!r})\n"
        )
        points = points.replace("scrubjay_models:READER", "reader_elsewhere:READER")
    (info / "entry_points.txt").write_text(points)
    paths = [str(folder), str(PACKAGE / "src")]
    for path in reversed(paths):
        monkeypatch.syspath_prepend(path)
    before = filter(None, [os.environ.get("PYTHONPATH")])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*paths, *before]))
    for known in (find_bundled, load_bundled_reranker, load_reader):
        known.cache_clear()
    yield MODELS
    for known in (find_bundled, load_bundled_reranker, load_reader):
        known.cache_clear()
