"""LanceDB's side: one hybrid query, with all vectors compared or with its own index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bench.corpus import Corpus, Vectors
from bench.systems import LIMIT, Searcher, System

REFINE = 50


def _lance_table(corpus: Corpus, folder: Path) -> Any:
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS

    flat = pa.array(corpus.vectors.ravel())
    rows = pa.table(
        {
            "id": [str(row) for row in range(len(corpus.texts))],
            "text": corpus.texts,
            "vector": pa.FixedSizeListArray.from_arrays(flat, corpus.vectors.shape[1]),
        }
    )
    table = lancedb.connect(str(folder)).create_table("memories", rows)
    table.create_index("text", config=FTS())
    return table


def _build_lance(corpus: Corpus, folder: Path) -> None:
    _lance_table(corpus, folder)


def _build_lance_indexed(corpus: Corpus, folder: Path) -> None:
    from lancedb.index import IvfPq

    _lance_table(corpus, folder).create_index("vector", config=IvfPq())


class _Lance:
    """LanceDB: one hybrid query over its own full-text index and vectors, its own RRF reranker."""

    def __init__(self, folder: Path, refine: int | None = None) -> None:
        # It warns about its own default at every query; printing that would be counted against it.
        os.environ.setdefault("LANCEDB_LOG", "error")
        import lancedb
        from lancedb.rerankers import RRFReranker

        self._table = lancedb.connect(str(folder)).open_table("memories")
        self._rrf = RRFReranker()
        self._refine = refine

    def hybrid(self, text: str, vector: Vectors) -> list[str]:
        asked = self._table.search(query_type="hybrid").vector(vector).text(text)
        found = self._best(asked.rerank(self._rrf))
        found["text"].to_pylist()
        return [str(one) for one in found["id"].to_pylist()]

    def nearest(self, text: str, vector: Vectors) -> list[str]:
        found = self._best(self._table.search(vector))
        return [str(one) for one in found["id"].to_pylist()]

    def _best(self, asked: Any) -> Any:
        # Only id and text are asked for: by default every hit's vector would be copied out too.
        refined = asked if self._refine is None else asked.refine_factor(self._refine)
        return refined.select(["id", "text"]).limit(LIMIT).to_arrow()


def _open_lance(folder: Path) -> Searcher:
    return _Lance(folder)


def _open_lance_refined(folder: Path) -> Searcher:
    return _Lance(folder, REFINE)


LANCEDB = System(
    "LanceDB, flat",
    "lancedb",
    "one hybrid query: its full-text index, all vectors compared, its `RRFReranker`",
    "lance",
    _build_lance,
    _open_lance,
)
LANCEDB_INDEXED = System(
    "LanceDB, IVF-PQ",
    "lancedb",
    "the same with its default vector index, which is approximate",
    "lance-indexed",
    _build_lance_indexed,
    _open_lance,
    judged=False,
)
LANCEDB_REFINED = System(
    "LanceDB, IVF-PQ refined",
    "lancedb",
    f"the same with `refine_factor({REFINE})`, enough to find nearly all of the exact top {LIMIT}",
    "lance-indexed",
    _build_lance_indexed,
    _open_lance_refined,
    judged=False,
)
