"""The passages of memories in SQLite: where each begins and ends, and what still wants a vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import in_parts, padded
from scrubjay.types import Chunk, Memory

_SELECT = (
    "SELECT c.ordinal, c.start, c.stop, c.first_line, c.last_line, c.heading"
    " FROM chunks AS c JOIN memories AS m ON m.n = c.memory WHERE m.id = ?"
)

_AT_ONCE = 256  # two numbers each, and every SQLite takes 999


class SqlChunks:
    """The passages of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def at(self, places: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], Chunk]:
        """Return chunks by memory id and ordinal."""
        wanted = list(dict.fromkeys(places))
        found: dict[tuple[str, int], Chunk] = {}
        with self._db.read() as db:
            for start in range(0, len(wanted), _AT_ONCE):
                part = padded(wanted[start : start + _AT_ONCE])
                pairs = ", ".join(["(?, ?)"] * len(part))
                rows = db.execute(
                    f"WITH wanted (id, ordinal) AS (VALUES {pairs}) SELECT m.id, c.ordinal, c.start,"
                    " c.stop, c.first_line, c.last_line, c.heading FROM wanted AS w"
                    " CROSS JOIN memories AS m ON m.id = w.id"
                    " CROSS JOIN chunks AS c ON c.memory = m.n AND c.ordinal = w.ordinal",
                    [value for place in part for value in place],
                )
                for id_, *row in rows:
                    found[id_, row[0]] = self._chunk(row)
        return found

    def of(self, id_: str) -> list[Chunk]:
        """Return every chunk of a memory, in order."""
        with self._db.read() as db:
            return [
                self._chunk(row) for row in db.execute(f"{_SELECT} ORDER BY c.ordinal", (id_,))
            ]

    def how_many(self, ids: Sequence[str]) -> dict[str, int]:
        """Return how many chunks each of these memories has."""
        found: dict[str, int] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                # Ordinals have no holes: the last says how many, and an index has it at hand.
                found |= db.execute(
                    "SELECT m.id, 1 + (SELECT max(ordinal) FROM chunks WHERE memory = m.n)"
                    f" FROM memories AS m WHERE m.id IN ({several})",
                    part,
                ).fetchall()
        return found

    def put(self, n: int, before: Memory | None, after: Memory, chunks: Sequence[Chunk]) -> None:
        """Replace the chunks of a memory; a passage that stays keeps its vectors, a new one wants them."""
        if (
            before is not None
            and _reads(before) == _reads(after)
            and self.of(after.id) == [*chunks]
        ):
            return
        with self._db.write() as db:
            kept = self._unchanged(db, n, before, after)
            last = 0
            if before is not None:
                (last,) = db.execute("SELECT coalesce(max(n), 0) FROM chunks").fetchone()
                # Out of the way of the ordinals to come; what is not taken up again is dropped.
                db.execute("UPDATE chunks SET ordinal = -1 - n WHERE memory = ?", (n,))
            made = []
            for c in chunks:
                place = (c.ordinal, c.start, c.stop, c.first_line, c.last_line)
                same = kept.get((c.heading, after.text[c.start : c.stop]))
                if same:
                    db.execute(
                        "UPDATE chunks SET ordinal = ?, start = ?, stop = ?, first_line = ?,"
                        " last_line = ? WHERE n = ?",
                        (*place, same.pop()),
                    )
                else:
                    made.append((n, *place, self._db.codec.seal(c.heading)))
            if before is not None:
                db.execute("DELETE FROM chunks WHERE memory = ? AND ordinal < 0", (n,))
            db.executemany(
                "INSERT INTO chunks (memory, ordinal, start, stop, first_line, last_line, heading)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                made,
            )
            db.execute(
                "INSERT INTO wanting (model, chunk) SELECT models.n, chunks.n FROM models, chunks"
                " WHERE chunks.memory = ? AND chunks.n > ?",
                (n, last),
            )

    def _unchanged(
        self, db: Connection, n: int, before: Memory | None, after: Memory
    ) -> dict[tuple[str, str], list[int]]:
        """Return the chunks of a memory by what a model read of them, if that can still be the same."""
        kept: dict[tuple[str, str], list[int]] = {}
        if before is None or _reads(before)[1:] != _reads(after)[1:]:
            return kept
        rows = db.execute("SELECT n, start, stop, heading FROM chunks WHERE memory = ?", (n,))
        for chunk, start, stop, heading in rows:
            passage = (self._db.codec.unseal(heading), before.text[start:stop])
            kept.setdefault(passage, []).append(chunk)
        return kept

    def _chunk(self, row: Sequence[Any]) -> Chunk:
        return Chunk(*row)._replace(heading=self._db.codec.unseal(row[5]))


def _reads(memory: Memory) -> tuple[str, str, str]:
    """Return what models read of a memory."""
    return memory.text, memory.title, memory.context
