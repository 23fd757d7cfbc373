"""Every backend that a contract is checked against. A new one is a class here and a line in BACKENDS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from clocks import NOON
from scrubjay.stores.sql_backlog import SqlBacklog
from scrubjay.stores.sql_graph import SqlGraph
from scrubjay.stores.sql_records import SqlRecords
from scrubjay.stores.sqlite import SqliteDatabase
from scrubjay.stores.sqlite_keyword import SqliteKeyword
from scrubjay.stores.sqlite_vector import SqliteVector
from scrubjay.types import Chunk, Memory, Term


class Sqlite:
    """The embedded store, in a file or in memory."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.db = SqliteDatabase(path)
        self.records = SqlRecords(self.db)
        self.keyword = SqliteKeyword(self.db)
        self.vectors = SqliteVector(self.db)
        self.graph = SqlGraph(self.db)

    def again(self) -> Sqlite:
        """Open the same data a second time, as another process would."""
        if self.path == ":memory:":
            pytest.skip("a store in memory cannot be opened twice")
        return Sqlite(self.path)

    def activate(self, model: str, dims: int) -> None:
        """Make a model known."""
        SqlBacklog(self.db).activate(model, dims)

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


BACKENDS = {"sqlite": "notes.db", "sqlite-memory": ":memory:"}


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
