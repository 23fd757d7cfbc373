"""What still wants a vector, in SQLite: claimed in batches under a lease, so processes share the work."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import marks
from scrubjay.storage.sql.turns import ROW, SqlTurns

MOST_TRIES = 3
# Vectors whose tokens could not be made when they were.
_LACKING = (
    "FROM models AS m JOIN vectors AS v ON v.model = m.n WHERE m.name = ? AND m.token_dims > 0"
    " AND NOT EXISTS (SELECT 1 FROM tokens AS t WHERE t.chunk = v.chunk AND t.model = m.n)"
)


class Wanted(NamedTuple):
    """A chunk that wants a vector, with what a model should read of it.

    `asked` is the number of the wish. `around` is what was said before and after a short turn, for its
    vector alone.
    """

    chunk: int
    title: str
    heading: str
    context: str
    passage: str
    asked: int = 0
    around: str = ""


class SqlBacklog:
    """The wishes for vectors of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._turns = SqlTurns(db)

    def activate(
        self, model: str, dims: int, token_dims: int = 0, wait_s: float | None = None
    ) -> None:
        """Make a model known to the file; when it gives something new, every chunk wants that."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT dims, token_dims FROM models WHERE name = ?", (model,)
            ).fetchone()
        if row is not None and row[0] != dims:
            raise InvalidInput(
                f"{self._db.path} holds vectors of {model} with {row[0]} dimensions, but this"
                f" model gives {dims}; give the other model another name"
            )
        if row is not None and token_dims in (0, row[1]):
            return
        with self._db.write(wait_s) as db:
            db.execute("INSERT OR IGNORE INTO models (name, dims) VALUES (?, ?)", (model, dims))
            known = db.execute("SELECT token_dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is not None and known[0] == token_dims:  # another process was faster
                return
            # Tokens of another width are of no use; vectors that are there stay.
            db.execute(
                "DELETE FROM tokens WHERE model = (SELECT n FROM models WHERE name = ?)", (model,)
            )
            db.execute("UPDATE models SET token_dims = ? WHERE name = ?", (token_dims, model))
            db.execute(
                "INSERT OR IGNORE INTO wanting (model, chunk) SELECT m.n, c.n"
                " FROM models AS m, chunks AS c WHERE m.name = ?1 AND (?2 OR NOT EXISTS"
                " (SELECT 1 FROM vectors AS v WHERE v.chunk = c.n AND v.model = m.n))",
                (model, token_dims > 0),
            )

    def together(self) -> AbstractContextManager[object]:
        """Make what is written inside one transaction."""
        return self._db.write()

    def claim(self, model: str, most: int, lease_s: float) -> list[Wanted]:
        """Take the next chunks for ourselves until the lease runs out.

        What only repeats a search has nothing for a model to read; it is found by its id alone.
        """
        while True:
            asked = self._lease(model, most, lease_s)
            # Read after that: whatever is written meanwhile is asked for anew.
            wanted = [one._replace(asked=asked[one.chunk]) for one in self._read(list(asked))]
            telling = [one for one in wanted if one.passage.strip()]
            self._drop(model, [one for one in wanted if not one.passage.strip()])
            if telling or not wanted:
                return telling

    def _lease(self, model: str, most: int, lease_s: float) -> dict[int, int]:
        """Return the chunks that are ours now, each with the number of the wish for it."""
        now = time.time()
        with self._db.write() as db:
            rows = db.execute(
                "UPDATE wanting SET leased_until_s = ? WHERE model = (SELECT n FROM models WHERE name = ?)"
                " AND chunk IN (SELECT chunk FROM wanting"
                "  WHERE model = (SELECT n FROM models WHERE name = ?)"
                "  AND leased_until_s < ? AND tries < ? ORDER BY chunk LIMIT ?)"
                " RETURNING chunk, asked",
                (now + lease_s, model, model, now, MOST_TRIES, most),
            ).fetchall()
        return dict(rows)

    def _drop(self, model: str, wanted: list[Wanted]) -> None:
        """Wish no vector for these chunks, unless it was asked for again meanwhile."""
        if not wanted:
            return
        with self._db.write() as db:
            db.executemany(
                "DELETE FROM wanting WHERE chunk = ? AND asked = ?"
                " AND model = (SELECT n FROM models WHERE name = ?)",
                [(one.chunk, one.asked, model) for one in wanted],
            )

    def _read(self, chunks: list[int]) -> list[Wanted]:
        """Read what a model should see of these chunks, each memory's text once."""
        unseal = self._db.codec.unseal
        texts: dict[int, tuple[str, str, str, str]] = {}
        found: list[Wanted] = []
        with self._db.read() as db:
            places = db.execute(
                "SELECT n, memory, heading, start, stop FROM chunks"
                f" WHERE n IN ({marks(chunks)}) ORDER BY n",
                chunks,
            ).fetchall()
            for n, memory, heading, start, stop in places:
                if memory not in texts:
                    row = db.execute(
                        f"SELECT title, context, text, {ROW} FROM memories WHERE n = ?",
                        (memory,),
                    ).fetchone()
                    if row is None:  # forgotten in this very moment
                        continue
                    title, context, text = map(unseal, row[:3])
                    text = _heard(row[3], text)
                    around = self._turns.around_row(memory, text, row[3:], by_model=True)
                    texts[memory] = (title, context, text, around)
                title, context, text, around = texts[memory]
                passage = text[start:stop]
                found.append(Wanted(n, title, unseal(heading), context, passage, around=around))
        return found

    def release(self, model: str, chunks: list[int], reason: str | None, *, tried: bool) -> None:
        """Give chunks back, with the reason; `tried` counts against them."""
        with self._db.write() as db:
            db.executemany(
                "UPDATE wanting SET leased_until_s = 0, tries = tries + ?, reason = ?"
                " WHERE chunk = ? AND model = (SELECT n FROM models WHERE name = ?)",
                [(int(tried), reason, chunk, model) for chunk in chunks],
            )

    def retry(self, model: str) -> None:
        """Forget earlier failures, so that they are tried again: vectors, and tokens without which."""
        with self._db.read() as db:
            lacking = db.execute(f"SELECT EXISTS (SELECT 1 {_LACKING})", (model,)).fetchone()[0]
        if not lacking and not self.left(model)[1]:
            return
        with self._db.write() as db:
            db.execute(
                "UPDATE wanting SET tries = 0 WHERE model = (SELECT n FROM models WHERE name = ?)",
                (model,),
            )
            db.execute(
                f"INSERT OR IGNORE INTO wanting (model, chunk) SELECT m.n, v.chunk {_LACKING}",
                (model,),
            )

    def left(self, model: str) -> tuple[int, int]:
        """Return how many chunks want a vector, and how many of them were given up."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT count(*), count(*) FILTER (WHERE tries >= ?) FROM wanting"
                " WHERE model = (SELECT n FROM models WHERE name = ?)",
                (MOST_TRIES, model),
            ).fetchone()
        return int(row[0]), int(row[1])

    def reasons(self, model: str, most: int = 5) -> list[str]:
        """Return why chunks were given up."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT DISTINCT reason FROM wanting WHERE reason IS NOT NULL AND tries >= ?"
                " AND model = (SELECT n FROM models WHERE name = ?) LIMIT ?",
                (MOST_TRIES, model, most),
            )
            return [reason for (reason,) in rows]


def _heard(type_: str, text: str) -> str:
    """Return what a model should read of a text: what a message repeats of a search is not its own."""
    if type_ != "message":
        return text
    from scrubjay.text.recall_tags import heard

    return heard(text)
