"""The same memories kept in four ways: in a file, and with a server for some tiers or for all."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from tools.servers import FalkorDB, Postgres, Qdrant

from bench.corpus import Corpus
from bench.systems import BATCH, Precomputed, add_vectors, memories

FILE = "SQLite"
POSTGRES = "Postgres"
THREE = "Postgres, Qdrant, FalkorDB"
FILE_AND_TWO = "SQLite, Qdrant, FalkorDB"
_LINKS = 3
_LINK = "INSERT INTO edges (a, b, kind, strength, made) VALUES (?, ?, 'related', ?, 'auto')"
# Qdrant builds its index after it was told: figures before that are of another search.
_INDEXED_MOST_S = 1_200


class Way(NamedTuple):
    """Where one store is."""

    name: str
    path: str
    vectors: str | None = None
    graph: str | None = None

    def open(self, embedder: Any, profile: str = "default") -> Any:
        """Open the store with ready-made vectors."""
        import scrubjay

        return scrubjay.open(
            self.path,
            embedder=embedder,
            profile=profile,
            vectors=self.vectors,
            graph=self.graph,
            reranker=False,
            generator=False,
        )

    def exact(self) -> Way:
        """The same, with keyword search by Postgres alone; other processes must not use it meanwhile."""
        asked = f"{self.vectors}?keyword=exact"
        return self._replace(name=f"{self.name}, `keyword=exact`", vectors=asked)

    def impatient(self, timeout_s: float) -> Way:
        """The same, with another time-out for the servers of vectors and links."""
        asked = f"?timeout_s={timeout_s:g}"
        return self._replace(vectors=f"{self.vectors}{asked}", graph=f"{self.graph}{asked}")


class Machines:
    """Postgres, Qdrant and FalkorDB, started for this run and gone after it."""

    def __init__(self) -> None:
        self.postgres = Postgres(durable=True)
        self.qdrant = Qdrant()
        self.falkordb = FalkorDB()
        self._stack = ExitStack()

    def ways(self, name: str, folder: Path) -> list[Way]:
        """Name a store of each kind; nothing of them is there yet, but the folder and the databases."""
        folder.mkdir(parents=True, exist_ok=True)
        servers = (f"{self.qdrant.url}/{name}", f"{self.falkordb.url}/{name}")
        return [
            Way(FILE, str(folder / "file.db")),
            Way(POSTGRES, self.postgres.url_of(f"{name}_one")),
            Way(THREE, self.postgres.url_of(f"{name}_three"), *servers),
            Way(FILE_AND_TWO, str(folder / "and_two.db"), *(f"{one}_file" for one in servers)),
        ]

    def database(self, way: Way, template: Way | None = None) -> None:
        """Make the database of a way, empty or as a copy of another's."""
        made = way.path.rpartition("/")[2]
        of = template.path.rpartition("/")[2] if template is not None else "template0"
        self.postgres.execute(f"CREATE DATABASE {made} TEMPLATE {of}")

    def cpu_s(self) -> float:
        """CPU seconds of all three so far."""
        return self.postgres.cpu_s() + self.qdrant.cpu_s() + self.falkordb.cpu_s()

    def settle(self) -> None:
        """Let Postgres count its rows, and wait until Qdrant has built every index."""
        for (name,) in self._databases():
            self.postgres.execute("VACUUM ANALYZE", "CHECKPOINT", database=name)
        until = time.monotonic() + _INDEXED_MOST_S
        while not all(self._green()):
            if time.monotonic() > until:
                raise RuntimeError("Qdrant did not finish its indexes")
            time.sleep(0.5)

    def __enter__(self) -> Self:
        for server in (self.postgres, self.qdrant, self.falkordb):
            self._stack.enter_context(server)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _databases(self) -> list[tuple[str]]:
        import psycopg

        with psycopg.connect(self.postgres.url) as connection:
            found = connection.execute(
                "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'"
            )
            return found.fetchall()

    def _green(self) -> list[bool]:
        from qdrant_client import QdrantClient

        client = QdrantClient(port=self.qdrant.port, check_compatibility=False)
        with closing(client):
            names = [one.name for one in client.get_collections().collections]
            return [client.get_collection(name).status.value == "green" for name in names]


def fill(path: str, corpus: Corpus) -> None:
    """Write all memories into a file, each with its vector and with links to its nearest."""
    import scrubjay
    from scrubjay.storage.sqlite.connection import SqliteDatabase

    rows = list(memories(corpus.texts))
    with scrubjay.open(path, embedder=False) as store:
        for start in range(0, len(rows), BATCH):
            store.add_many(rows[start : start + BATCH])
    add_vectors(Path(path), corpus.vectors)
    # What is alike is compared now: later every copy would have that before it.
    with scrubjay.open(path, embedder=Precomputed(corpus.queries, corpus.query_vectors)) as store:
        store.pending(wait=True)
    with closing(SqliteDatabase(path)) as db, db.write() as writer:
        numbers = [n for (n,) in writer.execute("SELECT n FROM memories ORDER BY n")]
        links = ((numbers[a], numbers[b], strength) for a, b, strength in _nearest(corpus))
        writer.executemany(_LINK, list(links))
        writer.execute("INSERT INTO meta (key, value) VALUES ('links', 1)")


def copy_file(source: Way, target: Way) -> None:
    """Copy a store that nobody has open."""
    shutil.copyfile(source.path, target.path)


def _nearest(corpus: Corpus) -> list[tuple[int, int, float]]:
    """Link each memory to its nearest, as the library does. They are looked for in its own topic."""
    found = []
    order = np.argsort(corpus.topics, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(corpus.topics[order])) + 1):
        scores = corpus.vectors[rows] @ corpus.vectors[rows].T
        np.fill_diagonal(scores, -1.0)
        for at, best in enumerate(np.argsort(-scores, axis=1, kind="stable")[:, :_LINKS]):
            found += [
                (int(rows[at]), int(rows[to]), round(float(scores[at, to]), 6))
                for to in best
                if scores[at, to] > 0
            ]
    return found


class Asked(NamedTuple):
    """What one search in a process of its own brought back, and its cost there."""

    ids: list[str]
    cpu_s: float
    wall_s: float
    process_cpu_s: float


class Client:
    """A process with one store open."""

    def __init__(self, way: Way, corpus: Corpus) -> None:
        self.way = way
        # Spawned: a forked child would begin with our threads and connections.
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        given = (way, corpus.queries, corpus.query_vectors)
        self._pool.submit(_open, *given).result()

    def ask(self, query: str, profile: str, mode: str | None) -> Asked:
        """Have one query answered."""
        return self._pool.submit(_ask, query, profile, mode).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.submit(_close).result()
        self._pool.shutdown()


_OPEN: list[Any] = []


def _open(way: Way, queries: Sequence[str], vectors: Any) -> None:
    _OPEN.append(way.open(Precomputed(queries, vectors)))


def _ask(query: str, profile: str, mode: str | None) -> Asked:
    wall, cpu = time.perf_counter(), time.process_time()
    answer = _OPEN[0].search(query, profile=profile, mode=mode, limit=10)
    cpu_s, wall_s = time.process_time() - cpu, time.perf_counter() - wall
    if answer.degraded:
        raise RuntimeError(f"{query}: {answer.degraded}")
    return Asked([hit.id for hit in answer], cpu_s, wall_s, time.process_time())


def _close() -> None:
    _OPEN.pop().close()
