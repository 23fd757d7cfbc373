"""Token vectors in SQLite, in parts a page has room for, read for the few passages that are reranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.storage.database import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.text.token_vectors import TokenCodes

Place = tuple[str, int]

# Four of them, with their keys, fill a page of 8 KB, and none runs over into another.
_PART_BYTES = 1900


class SqlTokens:
    """The token vectors of one file, for any number of models."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, model: str, tokens: Sequence[tuple[int, NDArray[np.float32]]]) -> None:
        """Store the tokens of chunks that still exist; the first ones stay.

        Those of another width than the file has for the model, by an older version of it, are not.
        """
        from scrubjay.text.token_vectors import pack

        seal = self._db.codec.seal_vector
        with self._db.write() as db:
            for chunk, rows in tokens:
                wanted = db.execute(
                    "SELECT m.n FROM chunks AS c, models AS m"
                    " WHERE c.n = ? AND m.name = ? AND m.token_dims = ? AND NOT EXISTS"
                    " (SELECT 1 FROM tokens AS t WHERE t.chunk = c.n AND t.model = m.n)",
                    (chunk, model, rows.shape[1]),
                ).fetchone()
                if wanted is None:
                    continue
                sealed = seal(pack(rows))
                starts = range(0, len(sealed), _PART_BYTES)
                db.executemany(
                    "INSERT INTO tokens (chunk, model, part, codes) VALUES (?, ?, ?, ?)",
                    [
                        (chunk, wanted[0], part, sealed[start : start + _PART_BYTES])
                        for part, start in enumerate(starts)
                    ],
                )

    def of(self, model: str, places: Sequence[Place]) -> Mapping[Place, TokenCodes]:
        """Return the tokens of passages, by memory id and ordinal; those that have none are left out."""
        from scrubjay.text.token_vectors import unpack

        unseal = self._db.codec.unseal_vector
        found: dict[Place, TokenCodes] = {}
        with self._db.read() as db:
            row = db.execute(
                "SELECT n, token_dims FROM models WHERE name = ?", (model,)
            ).fetchone()
            if row is None or not row[1]:
                return found
            for place in places:
                parts = db.execute(
                    "SELECT t.codes FROM memories AS m JOIN chunks AS c ON c.memory = m.n"
                    " JOIN tokens AS t ON t.chunk = c.n AND t.model = ?"
                    " WHERE m.id = ? AND c.ordinal = ? ORDER BY t.part",
                    (row[0], *place),
                ).fetchall()
                if parts:
                    found[place] = unpack(unseal(b"".join(one for (one,) in parts)), row[1])
        return found
