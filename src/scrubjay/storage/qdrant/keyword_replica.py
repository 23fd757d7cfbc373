"""Qdrant as a replica of the words of a store in Postgres: a sparse vector for each memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scrubjay.storage.database import NOTE
from scrubjay.storage.postgres.words import split
from scrubjay.storage.qdrant.client import BM25, COVER_DENSITY
from scrubjay.storage.qdrant.replica import QdrantPoints
from scrubjay.storage.qdrant.sparse import Sparse, word_vectors
from scrubjay.storage.replicas.outbox import WORDS, ReplicaRecord
from scrubjay.storage.sql.keyword_index import indexed
from scrubjay.storage.sql.scope import in_parts

if TYPE_CHECKING:
    from qdrant_client.http.models import PointStruct, SparseVector

    from scrubjay.storage.database import Connection

# The mean length, in thousandths of a token, with which the vectors on the server were made.
MEAN_LENGTH = "sparse_mean_length"
_MOST_DRIFT = 1.25  # a mean that is this many times another has every vector made again
_LINES = "w.title, w.text, w.topics, w.context, w.ident"


class QdrantKeywordReplica(QdrantPoints):
    """The words of one store on a server, in one collection."""

    kind = WORDS

    def put(self, memories: Sequence[ReplicaRecord]) -> None:
        """Write the words of these memories in place of those that the server has."""
        name = self._server.words_collection_name()
        self._server.create_collection(name, None)
        self._put_points(name, None, self._points({one.id: one for one in memories}))

    def clear(self) -> None:
        """Delete everything of this store; what is sent afterwards is made with the mean length of now."""
        super().clear()
        with self._db.write() as db:
            db.execute(NOTE, (MEAN_LENGTH, _thousandths(db)))

    def is_outdated(self) -> bool:
        """True when the mean length has changed so much that candidates would be far too many."""
        with self._db.read() as db:
            noted, now = noted_mean(db), _thousandths(db) / 1000
        drift = now / noted if noted and now else 1.0
        return not 1 / _MOST_DRIFT <= drift <= _MOST_DRIFT

    def _named(self) -> list[tuple[str, int | None]]:
        return [(self._server.words_collection_name(), None)]

    def _points(self, memories: dict[str, ReplicaRecord]) -> Iterator[PointStruct]:
        from qdrant_client.http.models import PointStruct

        with self._db.read() as db:
            mean = noted_mean(db)
            rows = [
                row
                for several, part in in_parts(list(memories))
                for row in db.execute(
                    f"SELECT m.id, m.n, w.length, {_LINES} FROM memories AS m"
                    f" JOIN words AS w ON w.rowid = m.n WHERE m.id IN ({several})",
                    part,
                )
            ]
        if mean is None:  # the store was empty when it was attached
            with self._db.write() as db:
                db.execute(NOTE, (MEAN_LENGTH, _thousandths(db)))
                mean = noted_mean(db) or 1.0
        for id_, n, length, *lines in rows:
            made = word_vectors((token for line in lines for token in split(line)), length, mean)
            yield PointStruct.model_construct(
                _fields_set=None,
                id=self._point_id(id_, 0),
                vector={BM25: sparse(made.bm25), COVER_DENSITY: sparse(made.cover_density)},
                payload={**self._payload(memories[id_]), "n": n, "first": True},
            )


def sparse(vector: Sparse) -> SparseVector:
    """Return a vector in the form of the client; not validated, as these are plain numbers."""
    from qdrant_client.http.models import SparseVector

    return SparseVector.model_construct(
        _fields_set=None, indices=vector.indices, values=vector.values
    )


def noted_mean(db: Connection) -> float | None:
    """Return the mean length with which vectors are made; None while there is none."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (MEAN_LENGTH,)).fetchone()
    return row[0] / 1000 if row is not None and row[0] else None


def _thousandths(db: Connection) -> int:
    index = indexed(db)
    return round(1000 * index.tokens / index.memories) if index.tokens else 0
