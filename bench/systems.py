"""What every system under test can do, and scrubjay's own side of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bench.corpus import DIMS, Corpus, Vectors

LIMIT = 10
BATCH = 1000


class Searcher(Protocol):
    """An open store that answers hybrid queries with the ids of the best ten."""

    def hybrid(self, text: str, vector: Vectors) -> list[str]:
        """Search by word and by vector, fuse, read the texts, return the ids, best first."""

    def nearest(self, text: str, vector: Vectors) -> list[str]:
        """Search by vector alone, to see whether the system's vector list is exact."""


@dataclass(frozen=True, slots=True)
class System:
    """One competitor: how to fill a folder from a corpus, and how to open it for searching.

    Two systems with the same `folder` are two ways to ask one store. Where `judged` is False the
    figure is shown for information and no goal is set beside it.
    """

    name: str
    package: str
    how: str
    folder: str
    build: Callable[[Corpus, Path], None]
    open: Callable[[Path], Searcher]
    judged: bool = True


class Precomputed:
    """An embedder that looks the vector up, so that no figure contains a model's time."""

    name = "bench-precomputed"
    dims = DIMS

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._row = {text: row for row, text in enumerate(texts)}
        self._vectors = vectors

    def know(self, text: str, vector: Vectors) -> None:
        """Make this the only text whose vector is known."""
        self._row = {text: 0}
        self._vectors = vector[np.newaxis]

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Return the vectors of known texts; an unknown one is an error of the benchmark."""
        return self._vectors[[self._row[text] for text in texts]]


def memories(texts: Sequence[str]) -> Iterable[Mapping[str, Any]]:
    """Give every text its row number as id, the same id in every system."""
    return ({"id": str(row), "text": text} for row, text in enumerate(texts))


def open_scrubjay(path: Path | str, embedder: Precomputed | bool | None) -> Any:
    """Open a scrubjay store at a path. Imported late: peers run in processes without scrubjay."""
    import scrubjay

    return scrubjay.open(str(path), embedder=embedder)


def add_vectors(path: Path, vectors: Iterable[Vectors]) -> None:
    """Store ready-made vectors for the memories of a file, one passage each, in the order of writing."""
    from scrubjay.storage.sql.vectors import SqlEmbeddingQueue
    from scrubjay.storage.sqlite.connection import SqliteDatabase
    from scrubjay.storage.sqlite.vectors import SqliteVector

    with closing(SqliteDatabase(str(path))) as db:
        SqlEmbeddingQueue(db).activate(Precomputed.name, DIMS)
        with db.read() as reader:
            chunks = [n for (n,) in reader.execute("SELECT n FROM chunks ORDER BY n")]
        SqliteVector(db).add(Precomputed.name, list(zip(chunks, vectors, strict=True)))


def fill_scrubjay(store: Any, texts: Sequence[str]) -> None:
    """Add all texts in batches of one transaction each, and wait until all have their vectors."""
    rows = list(memories(texts))
    for start in range(0, len(rows), BATCH):
        store.add_many(rows[start : start + BATCH])
    left = store.pending(wait=True)
    if left:
        raise RuntimeError(f"{left} memories were left without a vector")


def _build_scrubjay(corpus: Corpus, folder: Path) -> None:
    embedder = Precomputed(corpus.texts, corpus.vectors)
    with open_scrubjay(folder / "memories.db", embedder) as store:
        fill_scrubjay(store, corpus.texts)


class _Scrubjay:
    def __init__(self, folder: Path) -> None:
        self._embedder = Precomputed([], np.empty((0, DIMS), np.float32))
        self._store = open_scrubjay(folder / "memories.db", self._embedder)

    def hybrid(self, text: str, vector: Vectors) -> list[str]:
        self._embedder.know(text, vector)
        return [hit.id for hit in self._store.search(text, limit=LIMIT)]

    def nearest(self, text: str, vector: Vectors) -> list[str]:
        self._embedder.know(text, vector)
        return [hit.id for hit in self._store.search(text, mode="vector", limit=LIMIT)]


SCRUBJAY = System(
    "scrubjay",
    "scrubjay",
    "`search(query)` of the default profile: BM25 list and exact vector list of 64 each, fusion,"
    " records, snippets, trace",
    "scrubjay",
    _build_scrubjay,
    _Scrubjay,
)
