"""The systems of `python -m bench million`: each is filled part by part, and goes on where it was killed."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from bench.chroma import CHROMA
from bench.corpus import DIMS, STOP_WORDS, Corpus, Vectors
from bench.lance import LANCEDB_REFINED, REFINE
from bench.natural import Natural, Part
from bench.systems import BATCH, LIMIT, Precomputed, Searcher, memories, open_scrubjay

Kind = Literal["keyword", "vector", "hybrid"]
KINDS: tuple[Kind, ...] = ("keyword", "vector", "hybrid")


class Filling(Protocol):
    """A store that is being filled. Each call of `add` commits."""

    def count(self) -> int:
        """Return how many memories were committed; what is added next begins there."""

    def add(self, part: Part) -> None:
        """Add memories and their vectors, searchable when this returns or `finish` does."""

    def finish(self) -> None:
        """Build what is built over all memories, and close."""


class Asking(Protocol):
    """An open store that answers questions with the ids of the best ten."""

    def ask(self, kind: Kind, text: str, vector: Vectors) -> list[str]:
        """Answer one question."""


class Peer(NamedTuple):
    """One system. `most` is the largest size at which it is measured."""

    name: str
    package: str
    how: str
    kinds: tuple[Kind, ...]
    fill: Callable[[Path, Natural], Filling]
    open: Callable[[Path], Asking]
    most: int | None = None

    @property
    def folder(self) -> str:
        """The name of its folder and of its results."""
        return re.sub(r"\W+", "-", self.name.casefold()).strip("-")


def content_words(text: str) -> list[str]:
    """Return the words of a question that are no stop words: scrubjay leaves those out itself."""
    return [word for word in re.findall(r"\w+", text) if word.lower() not in STOP_WORDS]


class _FillScrubjay:
    def __init__(self, folder: Path, corpus: Natural) -> None:
        self._embedder = _Parts()
        self._store: Any = None
        self._path = folder / "memories.db"
        self._done = folder / "done"

    def count(self) -> int:
        # Not the number in the store: of the last ones the vectors may be missing.
        return int(self._done.read_text()) if self._done.exists() else 0

    def add(self, part: Part) -> None:
        self._embedder.take(part)
        if self._store is None:
            self._store = open_scrubjay(self._path, self._embedder)
        rows = list(memories(part.texts))
        for start in range(0, len(rows), BATCH):
            self._store.add_many(
                {"id": str(part.first + start + at), "text": row["text"]}
                for at, row in enumerate(rows[start : start + BATCH])
            )
        if left := self._store.pending(wait=True):
            raise RuntimeError(f"{left} memories were left without a vector")
        self._done.write_text(str(part.first + len(part.texts)))

    def finish(self) -> None:
        if self._store is not None:
            self._store.close()


class _Parts(Precomputed):
    """An embedder that has the vectors of the part that is being added."""

    def __init__(self) -> None:
        super().__init__([], np.empty((0, DIMS), np.float32))

    def take(self, part: Part) -> None:
        super().__init__(part.texts, part.vectors)


class _Scrubjay:
    def __init__(self, folder: Path) -> None:
        self._embedder = Precomputed([], np.empty((0, DIMS), np.float32))
        self._store = open_scrubjay(folder / "memories.db", self._embedder)

    def ask(self, kind: Kind, text: str, vector: Vectors) -> list[str]:
        self._embedder.know(text, vector)
        mode = None if kind == "hybrid" else kind
        found = self._store.search(text, mode=mode, limit=LIMIT)
        if found.degraded:
            raise RuntimeError(f"{text}: {found.degraded}")
        return [hit.id for hit in found]


class _FillLance:
    def __init__(self, folder: Path, corpus: Natural) -> None:
        import lancedb

        self._db = lancedb.connect(str(folder))
        names = self._db.list_tables().tables
        self._table = self._db.open_table("memories") if "memories" in names else None

    def count(self) -> int:
        return 0 if self._table is None else int(self._table.count_rows())

    def add(self, part: Part) -> None:
        import pyarrow as pa

        flat = pa.array(part.vectors.ravel())
        rows = pa.table(
            {
                "id": [str(part.first + at) for at in range(len(part.texts))],
                "text": part.texts,
                "vector": pa.FixedSizeListArray.from_arrays(flat, DIMS),
            }
        )
        if self._table is None:
            self._table = self._db.create_table("memories", rows)
        else:
            self._table.add(rows)

    def finish(self) -> None:
        from lancedb.index import FTS, IvfPq

        assert self._table is not None
        self._table.optimize()
        self._table.create_index("text", config=FTS(), replace=True)
        self._table.create_index("vector", config=IvfPq(), replace=True)
        # Each part left a version of the table behind, which is not needed.
        self._table.optimize(cleanup_older_than=timedelta(0))


class _Lance:
    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("LANCEDB_LOG", "error")
        import lancedb

        self._searcher = LANCEDB_REFINED.open(folder)
        self._table = lancedb.connect(str(folder)).open_table("memories")

    def ask(self, kind: Kind, text: str, vector: Vectors) -> list[str]:
        if kind == "keyword":
            words = " ".join(content_words(text))
            found = self._table.search(words, query_type="fts").select(["id", "text"])
            return [str(one) for one in found.limit(LIMIT).to_arrow()["id"].to_pylist()]
        return _of(self._searcher, kind, text, vector)


class _FillChroma:
    def __init__(self, folder: Path, corpus: Natural) -> None:
        self._folder = folder
        self._rows = 0

    def count(self) -> int:
        return self._rows

    def add(self, part: Part) -> None:
        # It is only measured at sizes of one part.
        empty = np.empty((0, DIMS), np.float32)
        CHROMA.build(Corpus(part.texts, part.vectors, [], empty, np.empty(0, int)), self._folder)
        self._rows = part.first + len(part.texts)

    def finish(self) -> None: ...


class _Chroma:
    def __init__(self, folder: Path) -> None:
        self._searcher = CHROMA.open(folder)

    def ask(self, kind: Kind, text: str, vector: Vectors) -> list[str]:
        return _of(self._searcher, kind, text, vector)


def _of(searcher: Searcher, kind: Kind, text: str, vector: Vectors) -> list[str]:
    return (searcher.hybrid if kind == "hybrid" else searcher.nearest)(text, vector)


class _FillTantivy:
    def __init__(self, folder: Path, corpus: Natural) -> None:
        self._index = _tantivy_index(folder)
        self._writer = self._index.writer(256_000_000, 1)

    def count(self) -> int:
        self._index.reload()
        return int(self._index.searcher().num_docs)

    def add(self, part: Part) -> None:
        import tantivy

        for at, text in enumerate(part.texts):
            self._writer.add_document(tantivy.Document(id=str(part.first + at), text=text))
        self._writer.commit()

    def finish(self) -> None:
        self._writer.wait_merging_threads()


class _Tantivy:
    def __init__(self, folder: Path) -> None:
        self._index = _tantivy_index(folder)

    def ask(self, kind: Kind, text: str, vector: Vectors) -> list[str]:
        query = self._index.parse_query(" ".join(content_words(text)), ["text"])
        searcher = self._index.searcher()
        found = [searcher.doc(at) for _, at in searcher.search(query, LIMIT).hits]
        return [str(document["id"][0]) for document in found if document["text"]]


def _tantivy_index(folder: Path) -> Any:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("text", stored=True, tokenizer_name="en_stem")
    return tantivy.Index(schema.build(), path=str(folder))


class _FillFts5:
    def __init__(self, folder: Path, corpus: Natural) -> None:
        self._db = sqlite3.connect(folder / "words.db")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS memory"
            " USING fts5(text, tokenize='porter unicode61')"
        )

    def count(self) -> int:
        (most,) = self._db.execute("SELECT coalesce(max(rowid), 0) FROM memory").fetchone()
        return int(most)

    def add(self, part: Part) -> None:
        with self._db:
            self._db.executemany(
                "INSERT INTO memory (rowid, text) VALUES (?, ?)",
                enumerate(part.texts, part.first + 1),
            )

    def finish(self) -> None:
        self._db.close()


class _Fts5:
    def __init__(self, folder: Path) -> None:
        self._db = sqlite3.connect(folder / "words.db")

    def ask(self, kind: Kind, text: str, vector: Vectors) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in content_words(text))
        found = self._db.execute(
            "SELECT rowid, text FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT ?",
            (words, LIMIT),
        )
        return [str(number - 1) for number, _ in found]


SCRUBJAY = Peer(
    "scrubjay",
    "scrubjay",
    "`search(query)` of the default profile without a reranker, and its modes `keyword` and"
    " `vector`: records, snippets and trace are read as well",
    KINDS,
    _FillScrubjay,
    _Scrubjay,
)
PEERS = (
    SCRUBJAY,
    Peer(
        "LanceDB, indexed",
        "lancedb",
        "full-text index and IVF-PQ built over all rows; `refine_factor"
        f"({REFINE})`; hybrid by its `RRFReranker`",
        KINDS,
        _FillLance,
        _Lance,
    ),
    Peer(
        "Chroma",
        "chromadb",
        CHROMA.how,
        ("vector", "hybrid"),
        _FillChroma,
        _Chroma,
        most=10_000,
    ),
    Peer(
        "tantivy",
        "tantivy",
        "BM25 over stemmed words joined by OR, texts stored; keyword search alone",
        ("keyword",),
        _FillTantivy,
        _Tantivy,
    ),
    Peer(
        "SQLite FTS5",
        "sqlite3",
        "one FTS5 table with the porter tokenizer, words joined by OR; keyword search alone",
        ("keyword",),
        _FillFts5,
        _Fts5,
    ),
)
BY_NAME = {peer.folder: peer for peer in PEERS}
