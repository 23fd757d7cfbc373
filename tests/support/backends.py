"""Every backend that a contract is checked against. A new one is a class here and a line in BACKENDS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from clocks import NOON
from numpy.typing import NDArray

from scrubjay.storage.database import Database
from scrubjay.storage.falkordb.client import FalkorServer
from scrubjay.storage.falkordb.graph import FalkorGraph
from scrubjay.storage.falkordb.replica import FalkorReplica
from scrubjay.storage.postgres.connection import PostgresDatabase
from scrubjay.storage.qdrant.client import QdrantServer
from scrubjay.storage.qdrant.replica import QdrantReplica
from scrubjay.storage.qdrant.vectors import QdrantVectors
from scrubjay.storage.replicas.outbox import Outbox, ReplicaRecord, ReplicaSource
from scrubjay.storage.replicas.worker import ReplicaWorker
from scrubjay.storage.sql.graph import SqlGraph
from scrubjay.storage.sql.keyword_ranking import KeywordIndex
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.storage.sql.vectors import SqlEmbeddingQueue
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.text.urls import FALKORDB, POSTGRES, QDRANT, parse_server_url
from scrubjay.types import Chunk, Memory, Neighbor, Scope, Term


class Backend:
    """One store of any kind, with what it finds memories by."""

    path: str
    db: Database
    many = 5000  # memories that a test may write

    def _open(self) -> None:
        self.records = SqlRecords(self.db)
        self.keyword: KeywordIndex = self.db.keyword
        self.vectors: Any = self.db.vectors
        self.graph: Any = SqlGraph(self.db)

    def again(self) -> Backend:
        """Open the same data a second time, as another process would."""
        raise NotImplementedError

    def another(self) -> Backend:
        """Open a store of other data, of the same kind."""
        raise NotImplementedError

    def activate(self, model: str, dims: int) -> None:
        """Make a model known."""
        SqlEmbeddingQueue(self.db).activate(model, dims)

    def embed(self, model: str, vectors: Mapping[str, Sequence[NDArray[np.float32]]]) -> None:
        """Store the vectors of each memory's chunks, in order."""
        with self.db.read() as db:
            chunks = db.execute(
                "SELECT m.id, c.ordinal, c.n FROM chunks AS c JOIN memories AS m ON m.n = c.memory"
            ).fetchall()
        rows = [
            (n, vectors[id_][ordinal])
            for id_, ordinal, n in chunks
            if id_ in vectors and ordinal < len(vectors[id_])
        ]
        self.vectors.add(model, rows)

    def close(self) -> None:
        """Let go of it."""
        self.db.close()


class Sqlite(Backend):
    """The embedded store, in a file or in memory."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.db = SqliteDatabase(path)
        self._open()

    def again(self) -> Sqlite:
        """Open the same data a second time, as another process would."""
        if self.path == ":memory:":
            pytest.skip("a store in memory cannot be opened twice")
        return Sqlite(self.path)

    def another(self) -> Sqlite:
        """Open a store of other data, of the same kind."""
        return Sqlite(self.path if self.path == ":memory:" else f"{self.path}.other.db")


class InPostgres(Backend):
    """Everything in a schema of a Postgres: records, words, links, and vectors by pgvector."""

    many = 1000

    def __init__(self, path: str, schema: str = "scrubjay") -> None:
        self.path = path
        self.db = PostgresDatabase(parse_server_url(path, POSTGRES, "store"), schema=schema)
        self._open()

    def again(self) -> InPostgres:
        """Open the same data a second time, as another process would."""
        return InPostgres(self.path)

    def another(self) -> InPostgres:
        """Open a store of other data, of the same kind."""
        return InPostgres(self.path, "another")


class SqliteWithQdrant(Sqlite):
    """The embedded store, with its vectors found by a Qdrant that is told of each as it comes."""

    def __init__(self, path: str, url: str) -> None:
        super().__init__(path)
        self.url = url
        self.server = QdrantServer(parse_server_url(url, QDRANT, "vectors"))
        self.embedded = self.vectors
        self.vectors = QdrantVectors(self.db, self.server)
        self.replica = QdrantReplica(self.db, self.server)

    def again(self) -> SqliteWithQdrant:
        """Open the same data a second time, as another process would."""
        return SqliteWithQdrant(self.path, self.url)

    def embed(self, model: str, vectors: Mapping[str, Sequence[NDArray[np.float32]]]) -> None:
        """Store the vectors of each memory's chunks, and tell the server."""
        super().embed(model, vectors)
        self.tell(list(vectors))

    def tell(self, ids: Sequence[str]) -> None:
        """Tell the server how these memories are now."""
        found = projected(self.db, ids)
        self.replica.put(found)
        self.replica.remove(sorted(set(ids) - {one.id for one in found}))

    def close(self) -> None:
        """Let go of it."""
        self.vectors.close()
        self.server.close()
        super().close()


def projected(db: Database, ids: Sequence[str]) -> list[ReplicaRecord]:
    """Return what the truth says of memories."""
    found: list[ReplicaRecord] = []
    with db.read() as connection:
        for id_ in ids:
            row = connection.execute(
                "SELECT n, id, namespace, type, collection, session, owner, agent, domain_label,"
                " created_us, valid_from_us, valid_until_us FROM memories WHERE id = ?",
                (id_,),
            ).fetchone()
            if row is None:
                continue
            topics = connection.execute("SELECT topic FROM topics WHERE memory = ?", row[:1])
            vectors = connection.execute(
                "SELECT models.name, c.ordinal, v.vector FROM chunks AS c"
                " JOIN vectors AS v ON v.chunk = c.n JOIN models ON models.n = v.model"
                " WHERE c.memory = ?",
                row[:1],
            )
            found.append(
                ReplicaRecord(
                    *row[1:4],
                    tuple(topic for (topic,) in topics),
                    *row[4:],
                    tuple((name, at, np.frombuffer(one, "<f4")) for name, at, one in vectors),
                )
            )
    return found


class ToldGraph(FalkorGraph):
    """Links in a FalkorDB that knows everything before it is asked."""

    worker: ReplicaWorker

    def walk(
        self, seeds: Sequence[str], scope: Scope, depth: int, limit: int | None
    ) -> list[Neighbor]:
        """Tell the server what changed, then ask it."""
        assert self.worker.wait(60) == 0, self.worker.outage
        return super().walk(seeds, scope, depth, limit)


class SqliteWithFalkor(Sqlite):
    """The embedded store, with its links walked by a FalkorDB that is told of each as it comes."""

    def __init__(self, path: str, url: str, who: str = "one") -> None:
        super().__init__(path)
        self.outbox = Outbox(self.db)
        self.server = FalkorServer(
            parse_server_url(url, FALKORDB, "graph"), self.outbox.store_id()
        )
        self.replica = FalkorReplica(self.server)
        self.outbox.attach(self.replica.kind, self.replica.place)
        truth = ReplicaSource(self.db)
        self.worker = ReplicaWorker(self.outbox, truth, [self.replica], who)
        self.embedded = self.graph
        self.graph = ToldGraph(self.db, self.server)
        self.graph.worker = self.worker

    def close(self) -> None:
        """Let go of it."""
        self.worker.stop()
        self.graph.close()
        self.server.close()
        super().close()


BACKENDS = ("sqlite", "sqlite-memory", "postgres")


def opened(kind: str, request: pytest.FixtureRequest) -> Backend:
    """Open an empty store of one of these kinds."""
    if kind == "postgres":
        return InPostgres(request.getfixturevalue("emptied_postgres_url"))
    folder = request.getfixturevalue("tmp_path")
    return Sqlite(":memory:" if kind == "sqlite-memory" else str(folder / "notes.db"))


def a_memory(id_: str, text: str = "some text", *, hours: int = 0, **fields: Any) -> Memory:
    """A finished memory, so many hours younger than noon."""
    at = NOON + timedelta(hours=hours)
    return Memory(**{"text": text, "id": id_, "created_at": at, "updated_at": at, **fields})


def pieces(text: str, count: int = 1) -> list[Chunk]:
    """Cut a text into so many equal chunks."""
    size = -(-len(text) // count)
    return [
        Chunk(n, n * size, min(len(text), (n + 1) * size), n + 1, n + 1, f"part {n}")
        for n in range(count)
    ]


def asking(*tokens: str) -> list[Term]:
    """Terms of one token each."""
    return [Term(((token,),)) for token in tokens]
