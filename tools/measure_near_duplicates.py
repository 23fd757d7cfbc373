"""Measure how near-duplicates are found: how many of them, how fast, in how many bytes.

    python -m tools.measure_near_duplicates FILE [SIZE...]

The file has one sentence a line; each becomes a memory. Vectors are kept beside it, in FILE.npy. For
each size (10,000 and 100,000 unless told) a store of that many is made, and compared with what an exact
comparison of all pairs finds. Times are CPU time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import scrubjay
from scrubjay.models.embed.local import OnnxEmbedder
from scrubjay.storage.sql.near_duplicates import MIN_COSINE, SqlNearDuplicates

Matrix = NDArray[np.float32]
_BLOCK = 1000


class Known:
    """A model that looks its vectors up."""

    name = "known"

    def __init__(self, texts: Sequence[str], vectors: Matrix) -> None:
        self.dims = vectors.shape[1]
        self._vectors = dict(zip(texts, vectors, strict=True))

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return the vectors of known texts."""
        return np.stack([self._vectors[text] for text in texts])


def read(path: Path) -> tuple[list[str], Matrix]:
    """Return different texts and their vectors."""
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = list(dict.fromkeys(" ".join(line.split()) for line in lines if line.strip()))
    kept = path.with_name(f"{path.name}.npy")
    if not kept.exists():
        np.save(kept, OnnxEmbedder().embed(texts))
    return texts, np.load(kept)


def exact(vectors: Matrix) -> dict[tuple[int, int], float]:
    """Return every near pair with its cosine, by comparing all with all."""
    found = {}
    for start in range(0, len(vectors), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors.T
        for row, column in zip(*np.nonzero(np.round(cosines, 6) >= MIN_COSINE), strict=True):
            if start + row < column:
                found[int(start + row), int(column)] = float(cosines[row, column])
    return found


def sketched(store: scrubjay.Store) -> tuple[float, float]:
    """Compare all memories of a store; return milliseconds for one, over all and over the last tenth."""
    near, took_s = SqlNearDuplicates(store._context.db), []
    while True:
        began = time.process_time()
        if not near.link_next(100):
            break
        took_s.append(time.process_time() - began)
    last = took_s[-len(took_s) // 10 :]
    return float(np.mean(took_s)) * 10, float(np.mean(last)) * 10


def pages(store: scrubjay.Store) -> int:
    """Return how many bytes of a store's file are in use."""
    with store._context.db.read() as db:
        size, count, free = (
            db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_size", "page_count", "freelist_count")
        )
    return int(size * (count - free))


def share(part: int, whole: int) -> str:
    """Return a share to three places, or a dash of nothing."""
    return f"{part / whole:.3f}" if whole else "–"


def measure(texts: Sequence[str], vectors: Matrix, folder: Path) -> None:
    """Print one row of the table."""
    true = exact(vectors)
    model = Known(texts, vectors)
    with scrubjay.open(folder / f"{len(texts)}.db", embedder=model) as store:
        store.add_many({"text": text, "id": str(n)} for n, text in enumerate(texts))
        store.pending()
        with store._context.db.write() as db:  # all over again, with a clock
            db.execute("INSERT INTO unsketched SELECT vector FROM sketches")
        before = pages(store)
        overall_ms, last_ms = sketched(store)
        grown = pages(store) - before
        with store._context.db.read() as db:
            rows = db.execute(
                "SELECT x.id, y.id FROM edges AS e JOIN memories AS x ON x.n = e.a"
                " JOIN memories AS y ON y.n = e.b WHERE e.made = 'near'"
            )
            linked = {(min(pair), max(pair)) for pair in ((int(a), int(b)) for a, b in rows)}
    have = {one for pair in true for one in pair}
    told = {one for pair in linked for one in pair}
    print(
        f"| {len(texts):,} | {len(true):,} | {share(len(linked & true.keys()), len(true))}"
        f" | {share(len(told & have), len(have))} | {len(linked - true.keys())}"
        f" | {overall_ms:.2f} | {last_ms:.2f} | {grown / len(texts):.0f} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    texts, vectors = read(Path(sys.argv[1]))
    sizes = [int(size) for size in sys.argv[2:]] or [10_000, 100_000]
    print(
        "| memories | pairs | of them linked | memories with one that are linked | wrong"
        " | ms each | ms each, last tenth | bytes each |"
    )
    print("|---" * 8 + "|")
    with TemporaryDirectory() as folder:
        for size in sizes:
            measure(texts[:size], vectors[:size], Path(folder))


if __name__ == "__main__":
    main()
