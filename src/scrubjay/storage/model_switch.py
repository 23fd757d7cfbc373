"""The model that a store has chosen for itself, the one whose index is being built, and the change over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.database import NOTE, Connection
from scrubjay.storage.sql.scope import SqlTable
from scrubjay.storage.sql.vectors import KEPT, MAIN, MAX_TRIES, MULTILINGUAL, NEXT, is_width

REFILLED = (
    "vectors_refilled"  # key of `meta`: up to this row of the outbox, a replica has old vectors
)
BUILDING, IN_USE = "building", "in_use"
_MAX_FAILED_SHARE = 20  # one chunk in this many may fail, before a model does not take over
# Shares of the chunks that an index must have to answer at once; others are completed first. A kept index
# was complete, and lacks what was written since; another may have been begun by a setting, and left.
_KEPT_SHARE, _COMPLETE_SHARE = 0.5, 0.9
_UNEMBEDDED = (
    "FROM chunks AS c WHERE NOT EXISTS"
    " (SELECT 1 FROM vectors AS v WHERE v.chunk = c.n AND v.model = ?)"
)


class StoredModel(NamedTuple):
    """A model as the store names it; `spec` says how it is loaded."""

    name: str
    spec: str
    dims: int
    token_dims: int


class BuildProgress(NamedTuple):
    """How many chunks of a store the next model has read; `failed` cannot be read by it."""

    done: int
    total: int
    failed: int


class PrunedIndex(NamedTuple):
    """An index that was removed."""

    model: str
    vectors: int
    size_bytes: int


class _Row(NamedTuple):
    n: int
    role: str
    dims: int
    spec: str


class SqlModelSwitch(SqlTable):
    """The columns `role` and `spec` of the table `models`."""

    def chosen(self) -> tuple[StoredModel | None, StoredModel | None]:
        """Return the model that the store has chosen, and the one whose index is being built."""
        rows = self._rows(
            "SELECT role, name, spec, dims, token_dims FROM models"
            " WHERE role IN ('main', 'next') AND spec <> ''"
        )
        found = {role: StoredModel(*model) for role, *model in rows}
        return found.get(MAIN), found.get(NEXT)

    def oldest_index(self, names: Sequence[str]) -> str | None:
        """Return the first of these models that has vectors as a main one; None where none has."""
        marks = ", ".join("?" * len(names))
        row = self._row(
            f"SELECT name FROM models AS m WHERE role = '{MAIN}' AND name IN ({marks})"
            # No index of the vectors begins with the model; the first chunks mostly have theirs.
            " AND EXISTS (SELECT 1 FROM chunks AS c CROSS JOIN vectors AS v"
            " WHERE v.chunk = c.n AND v.model = m.n) ORDER BY n LIMIT 1",
            tuple(names),
        )
        return None if row is None else str(row[0])

    def count_chunks(self) -> int:
        return self._number("SELECT count(*) FROM chunks")

    def is_known(self, name: str) -> bool:
        return self._row("SELECT 1 FROM models WHERE name = ?", (name,)) is not None

    def choose(self, model: StoredModel, in_use: str | None) -> str:
        """Make a model the store's own: at once where its index is there, else by building that.

        `in_use` is the model of the process that asks. Returns IN_USE or BUILDING.
        """
        with self._db.write() as db:
            rows = self._models(db)
            self._check(model, rows, in_use)
            row = rows.get(model.name)
            if row is None:
                row = self._add(db, model, MAIN if model.name == in_use else NEXT)
            else:
                db.execute("UPDATE models SET spec = ? WHERE n = ?", (model.spec, row.n))
            is_own = row.role == MAIN and (model.name == in_use or bool(row.spec))
            if row.role != NEXT and self._answers(db, row, is_own=is_own):
                self._make_main(db, row)
                return IN_USE
            db.execute("UPDATE models SET role = ? WHERE n = ?", (NEXT, row.n))
            return IN_USE if self._finish(db, row.n) else BUILDING

    def progress(self, name: str) -> BuildProgress | None:
        """Return how far an index is; None when it is not being built."""
        row = self._row("SELECT n FROM models WHERE name = ? AND role = ?", (name, NEXT))
        if row is None:
            return None
        total, left, failed = self._row(
            "SELECT (SELECT count(*) FROM chunks), count(*), count(*) FILTER (WHERE tries >= ?)"
            " FROM wanting WHERE model = ?",
            (MAX_TRIES, row[0]),
        )
        return BuildProgress(max(total - left, 0), total, failed)

    def take_over(self, name: str) -> bool:
        """Make a complete index the one that answers, in one step; False while it is not complete."""
        built = self.progress(name)
        if built is None or not _is_complete(built):
            return False
        with self._db.write() as db:
            row = self._models(db).get(name)
            return row is not None and row.role == NEXT and self._finish(db, row.n)

    def prune(self, name: str | None = None) -> list[PrunedIndex]:
        """Remove the indexes that do not answer: kept and unfinished ones, or the one of that name."""
        with self._db.write() as db:
            rows = self._models(db)
            unused = {key: row for key, row in rows.items() if row.role in (KEPT, NEXT)}
            if name is not None and name not in unused:
                raise InvalidInput(_cannot_prune(name, name in rows, list(unused)))
            if name is not None:
                unused = {name: unused[name]}
            if unused and self._replica_has_old_vectors(db):
                raise Unavailable(
                    "the replica of the vectors still has those of the old model; run"
                    f" {to_type('models prune', self._db.path)} again when it is up to date"
                )
            return [self._remove(db, key, row) for key, row in unused.items()]

    def _models(self, db: Connection) -> dict[str, _Row]:
        rows = db.execute("SELECT name, n, role, dims, spec FROM models").fetchall()
        return {name: _Row(*row) for name, *row in rows}

    def _check(self, model: StoredModel, rows: dict[str, _Row], in_use: str | None) -> None:
        building = next((name for name, row in rows.items() if row.role == NEXT), None)
        if building not in (None, model.name) and model.name != in_use:
            raise InvalidInput(
                f"the index of {building} is being built; wait for it, or give it up first:"
                f" {to_type(f'models prune {building}', self._db.path)}"
            )
        row = rows.get(model.name)
        if row is not None and is_width(row.dims) and row.dims != model.dims:
            raise InvalidInput(
                f"{self._db.path} has vectors of {model.name} with {row.dims} dimensions, but this"
                f" model has {model.dims}; give the other model another name"
            )

    def _add(self, db: Connection, model: StoredModel, role: str) -> _Row:
        """Register a new model, and queue every chunk."""
        db.execute(
            "INSERT INTO models (name, dims, token_dims, role, spec) VALUES (?, ?, ?, ?, ?)",
            (model.name, model.dims, model.token_dims, role, model.spec),
        )
        row = self._models(db)[model.name]
        db.execute("INSERT INTO wanting (model, chunk) SELECT ?, n FROM chunks", (row.n,))
        return row

    def _answers(self, db: Connection, row: _Row, *, is_own: bool) -> bool:
        """True when an existing index can answer now; static vectors stand in for the few it lacks."""
        if row.role == MULTILINGUAL:  # its vectors have one byte a number: they are made again
            db.execute(
                "INSERT INTO meta (key, value) VALUES ('asked', 1)"
                " ON CONFLICT (key) DO UPDATE SET value = meta.value + 1"
            )
            db.execute(
                "INSERT INTO wanting (model, chunk, asked) SELECT ?, c.n, meta.value"
                " FROM chunks AS c, meta WHERE meta.key = 'asked' ON CONFLICT (model, chunk)"
                " DO UPDATE SET asked = excluded.asked, tries = 0",
                (row.n,),
            )
            return True
        total, lacking = db.execute(
            f"SELECT (SELECT count(*) FROM chunks), (SELECT count(*) {_UNEMBEDDED})", (row.n,)
        ).fetchone()
        if lacking:
            db.execute(
                f"INSERT OR IGNORE INTO wanting (model, chunk) SELECT ?, c.n {_UNEMBEDDED}",
                (row.n, row.n),
            )
        complete = _KEPT_SHARE if row.role == KEPT else _COMPLETE_SHARE
        return is_own or lacking <= total * (1 - complete)

    def _finish(self, db: Connection, n: int) -> bool:
        """Let a model take over if it has read every chunk that it can read."""
        total, left, failed = db.execute(
            "SELECT (SELECT count(*) FROM chunks), count(*), count(*) FILTER (WHERE tries >= ?)"
            " FROM wanting WHERE model = ?",
            (MAX_TRIES, n),
        ).fetchone()
        if not _is_complete(BuildProgress(total - left, total, failed)):
            return False
        self._make_main(db, _Row(n, NEXT, 0, ""))
        return True

    def _make_main(self, db: Connection, row: _Row) -> None:
        """Give a model the role of the main one. Links and near-duplicates are found again by its
        vectors, and a replica of the vectors gets them."""
        others = db.execute(
            "UPDATE models SET role = ? WHERE role = ? AND n <> ?", (KEPT, MAIN, row.n)
        ).rowcount
        if row.role == MAIN and others < 1:
            return
        db.execute("UPDATE models SET role = ? WHERE n = ?", (MAIN, row.n))
        for statement in (
            "DELETE FROM edges WHERE made = 'near'",
            "DELETE FROM sketches",
            "DELETE FROM unsketched",
        ):
            db.execute(statement)
        db.execute(
            "INSERT INTO unsketched (vector) SELECT v.n FROM vectors AS v"
            " JOIN chunks AS c ON c.n = v.chunk WHERE v.model = ? AND c.ordinal = 0",
            (row.n,),
        )
        db.execute(
            "INSERT INTO unlinked (memory) SELECT DISTINCT c.memory FROM meta, vectors AS v"
            " JOIN chunks AS c ON c.n = v.chunk WHERE meta.key = 'links' AND v.model = ?"
            " ON CONFLICT (memory) DO NOTHING",
            (row.n,),
        )
        db.execute(
            "INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, memories AS m"
            " WHERE p.tier = 'vectors'"
        )
        (last,) = db.execute("SELECT coalesce(max(n), 0) FROM outbox").fetchone()
        db.execute(NOTE, (REFILLED, last))

    def _replica_has_old_vectors(self, db: Connection) -> bool:
        return db.execute(f"SELECT {IS_REFILLING}").fetchone()[0] not in (0, False)

    def _remove(self, db: Connection, name: str, row: _Row) -> PrunedIndex:
        vectors, size = db.execute(
            "SELECT count(*), coalesce(sum(length(vector)), 0) FROM vectors WHERE model = ?",
            (row.n,),
        ).fetchone()
        (tokens,) = db.execute(
            "SELECT coalesce(sum(length(codes)), 0) FROM tokens WHERE model = ?", (row.n,)
        ).fetchone()
        self._db.vectors.drop_index(row.n)
        db.execute("DELETE FROM models WHERE n = ?", (row.n,))
        return PrunedIndex(name, int(vectors), int(size) + int(tokens))


# True while a replica of the vectors has not received all vectors of a model that has taken over.
IS_REFILLING = (
    "EXISTS (SELECT 1 FROM meta AS k JOIN outbox AS o ON o.n <= k.value"
    f" WHERE k.key = '{REFILLED}' AND o.tier = 'vectors')"
)


def _is_complete(built: BuildProgress) -> bool:
    """True when every chunk is read but a few that break the model; those are found by other means."""
    left = built.total - built.done
    return left <= built.failed and built.failed * _MAX_FAILED_SHARE <= built.total


def _cannot_prune(name: str, known: bool, unused: list[str]) -> str:
    others = f"; not in use are: {', '.join(unused)}" if unused else ""
    why = "is in use and stays" if known else "has no index in this store"
    return f"{name} {why}{others}"
