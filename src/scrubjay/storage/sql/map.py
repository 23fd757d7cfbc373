"""What a map of memories is drawn from: which have a vector, the vectors, and what each is called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.sql.scope import in_parts, where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.database import Database
    from scrubjay.types import Scope

_MOST_PASSAGES = 8  # what a document is about is said where it begins
_MOST_READ_CHARS = 400  # of a text, to find words that stand for a title


class Vectored(NamedTuple):
    """A memory that has a vector, by its number; `newest` is the number of its latest vector."""

    memory: int
    id: str
    newest: int


class Called(NamedTuple):
    """What is shown of a memory."""

    id: str
    type: str
    words: str  # its title, or how its text begins
    topic: str | None
    created_us: int
    updated_us: int


class SqlMap:
    """The memories of one store, as a map needs them."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def vectored(self, model: str, scope: Scope) -> tuple[list[Vectored], int]:
        """Return the memories of a scope that have a vector, as they were stored, and how many have none."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                "SELECT m.n, m.id, max(v.n) FROM memories AS m JOIN chunks AS c ON c.memory = m.n"
                " JOIN vectors AS v ON v.chunk = c.n"
                " WHERE v.model = (SELECT n FROM models WHERE name = ?)"
                f" AND {condition} GROUP BY m.n, m.id ORDER BY m.n",
                (model, *arguments),
            )
            found = [Vectored(*row) for row in rows]
            (every,) = db.execute(
                f"SELECT count(*) FROM memories AS m WHERE {condition}", arguments
            ).fetchone()
        return found, max(every - len(found), 0)

    def vectors(
        self, model: str, memories: Sequence[int]
    ) -> tuple[list[int], NDArray[np.float32]]:
        """Return those of these memories that still have a vector, and one vector for each.

        It is the mean of a memory's first passages, of length 1.
        """
        import numpy as np

        unseal = self._db.codec.unseal_vector
        kept: dict[int, NDArray[np.float32]] = {}
        with self._db.read() as db:
            for several, part in in_parts(memories):
                passages: dict[int, list[NDArray[np.float32]]] = {}
                for memory, stored in db.execute(
                    "SELECT c.memory, v.vector FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
                    " WHERE v.model = (SELECT n FROM models WHERE name = ?)"
                    f" AND c.memory IN ({several}) AND c.ordinal < ? ORDER BY c.memory, c.ordinal",
                    (model, *part, _MOST_PASSAGES),
                ):
                    passages.setdefault(memory, []).append(np.frombuffer(unseal(stored), "<f4"))
                for memory, vectors in passages.items():
                    mean = vectors[0] if len(vectors) == 1 else np.mean(vectors, axis=0)
                    length = float(np.linalg.norm(mean))
                    kept[memory] = mean / length if length > 0 else mean
        rows = [kept[memory] for memory in kept]
        return list(kept), np.array(rows, np.float32) if rows else np.zeros((0, 0), np.float32)

    def called(self, memories: Sequence[int]) -> dict[int, Called]:
        """Return what is shown of these memories, by number."""
        unseal = self._db.codec.unseal
        found: dict[int, Called] = {}
        with self._db.read() as db:
            for several, part in in_parts(memories):
                # Of what has a title the text is not read: it may be a book.
                for n, id_, type_, title, text, topics, created_us, updated_us in db.execute(
                    "SELECT n, id, type, title, CASE WHEN title = '' THEN text END, topics,"
                    f" created_us, updated_us FROM memories WHERE n IN ({several})",
                    part,
                ):
                    words = unseal(title) if text is None else unseal(text)[:_MOST_READ_CHARS]
                    first = next(iter(json.loads(unseal(topics))), None)
                    found[n] = Called(id_, type_, words, first, created_us, updated_us)
        return found
