"""An embedding model without weights, as a plug-in that every process of a soak finds by its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

NAME = "soak"
DIMS = 32


class SoakEmbedder:
    """Puts every word of a text into one of 32 boxes."""

    name = NAME
    dims = DIMS

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text."""
        rows = np.full((len(texts), DIMS), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode()) % DIMS] += 1.0
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def write_plugin(folder: Path) -> Path:
    """Write the metadata of a package that offers the model; its folder belongs on the search path."""
    made = folder / "plugin" / "soak_embedder-1.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: soak-embedder\nVersion: 1\n", "utf-8"
    )
    points = f"[scrubjay.embedders]\n{NAME} = tools.soak.embedder:SoakEmbedder\n"
    (made / "entry_points.txt").write_text(points, "utf-8")
    return made.parent
