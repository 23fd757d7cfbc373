"""Chroma's side: a vector query and a full-text query, fused here, as locally it has no hybrid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bench.corpus import STOP_WORDS, Corpus, Vectors
from bench.systems import LIMIT, Searcher, System

RRF_K = 60


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


def _open_chroma(folder: Path) -> Searcher:
    return _Chroma(folder, _contains)


def _open_chroma_regex(folder: Path) -> Searcher:
    return _Chroma(folder, _regex)


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
