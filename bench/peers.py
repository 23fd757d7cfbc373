"""The peers, each used the way its own documentation recommends for a local hybrid search."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.corpus import STOP_WORDS, Corpus, Vectors
from bench.systems import LIMIT, SCRUBJAY, Searcher, System

RRF_K = 60
REFINE = 50


def installed(system: System) -> bool:
    """Say whether the package of a system can be imported, without importing it."""
    return find_spec(system.package) is not None


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


def _chroma_client(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))


def _build_chroma(corpus: Corpus, folder: Path) -> None:
    client = _chroma_client(folder)
    collection = client.create_collection(
        "memories", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    step = min(5000, client.get_max_batch_size())
    for start in range(0, len(corpus.texts), step):
        stop = min(start + step, len(corpus.texts))
        collection.add(
            ids=[str(row) for row in range(start, stop)],
            documents=corpus.texts[start:stop],
            embeddings=corpus.vectors[start:stop],
        )


class _Chroma:
    """Chroma: a vector query and a full-text query, fused here: locally it has no hybrid."""

    def __init__(self, folder: Path, worded: Callable[[list[str]], dict[str, Any]]) -> None:
        client = _chroma_client(folder)
        self._collection = client.get_collection("memories", embedding_function=None)
        self._worded = worded

    def hybrid(self, text: str, vector: Vectors) -> list[str]:
        lists = [self._near(vector)]
        # Stop words are left out for Chroma's sake: each one would match half of the store.
        words = [w for w in re.findall(r"\w[\w.-]*", text) if w.lower() not in STOP_WORDS]
        if words:
            found = self._collection.get(
                where_document=self._worded(words), limit=LIMIT, include=["documents"]
            )
            lists.append(found["ids"])
        return _fused(lists)[:LIMIT]

    def nearest(self, text: str, vector: Vectors) -> list[str]:
        return self._near(vector)

    def _near(self, vector: Vectors) -> list[str]:
        found = self._collection.query(
            query_embeddings=[vector], n_results=LIMIT, include=["documents"]
        )
        return [str(one) for one in found["ids"][0]]


def _contains(words: list[str]) -> dict[str, Any]:
    clauses = [{"$contains": word} for word in words]
    return clauses[0] if len(clauses) == 1 else {"$or": clauses}


def _regex(words: list[str]) -> dict[str, Any]:
    either = "|".join(re.escape(word) for word in words)
    return {"$regex": rf"\b(?:{either})\b"}


def _fused(lists: Iterable[list[str]]) -> list[str]:
    """Reciprocal rank fusion, with the constant that LanceDB's reranker uses too."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for rank, one in enumerate(ranked, start=1):
            scores[one] = scores.get(one, 0.0) + 1.0 / (RRF_K + rank)
    return sorted(scores, key=lambda one: (-scores[one], one))


def _open_lance(folder: Path) -> Searcher:
    return _Lance(folder)


def _open_lance_refined(folder: Path) -> Searcher:
    return _Lance(folder, REFINE)


def _open_chroma(folder: Path) -> Searcher:
    return _Chroma(folder, _contains)


def _open_chroma_regex(folder: Path) -> Searcher:
    return _Chroma(folder, _regex)


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
CHROMA = System(
    "Chroma, `$contains`",
    "chromadb",
    "`query` (its HNSW index) and `get` with its documented full-text filter, an `$or` of"
    " `$contains` over the question's content words (unranked), fused by RRF in the benchmark:"
    " its own hybrid `search` is not implemented in a local store",
    "chroma",
    _build_chroma,
    _open_chroma,
)
CHROMA_REGEX = System(
    "Chroma, `$regex`",
    "chromadb",
    "the same with one `$regex` of all the words, the cheapest full-text filter we found",
    "chroma",
    _build_chroma,
    _open_chroma_regex,
)
PEERS = (LANCEDB, LANCEDB_INDEXED, LANCEDB_REFINED, CHROMA, CHROMA_REGEX)
SYSTEMS = {system.name: system for system in (SCRUBJAY, *PEERS)}
