"""What documents link to, as written: resolved into edges once the other file is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scrubjay.storage.database import NOTE, Database
from scrubjay.storage.sql.scope import in_parts

_UNSETTLED = "links of "


class StoredTarget(NamedTuple):
    """One link of a document: `name` is the last part of it, folded, by which a new file may claim it."""

    name: str
    kind: str
    text: str


class SqlTargets:
    """The link targets of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, id_: str, targets: Sequence[StoredTarget]) -> None:
        """Replace the targets of one document."""
        seal, token = self._db.codec.seal, self._db.codec.token
        with self._db.write() as db:
            (n,) = db.execute("SELECT n FROM memories WHERE id = ?", (id_,)).fetchone()
            db.execute("DELETE FROM targets WHERE memory = ?", (n,))
            db.executemany(
                "INSERT INTO targets (memory, name, kind, target) VALUES (?, ?, ?, ?)",
                [(n, token(one.name), one.kind, seal(one.text)) for one in targets],
            )

    def unsettle(self, namespace: str) -> None:
        """Note that links of a namespace may have to be resolved anew: a run may be cut short."""
        with self._db.write() as db:
            db.execute(NOTE, (_UNSETTLED + namespace, 1))

    def settle(self, namespace: str) -> None:
        """Note that the links of a namespace are resolved."""
        with self._db.write() as db:
            db.execute("DELETE FROM meta WHERE key = ?", (_UNSETTLED + namespace,))

    def are_settled(self, namespace: str) -> bool:
        """False when the last run was cut short."""
        with self._db.read() as db:
            found = db.execute("SELECT 1 FROM meta WHERE key = ?", (_UNSETTLED + namespace,))
            return found.fetchone() is None

    def of(self, ids: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
        """Return (kind, text) of every target of these documents."""
        unseal = self._db.codec.unseal
        found: dict[str, list[tuple[str, str]]] = {id_: [] for id_ in ids}
        with self._db.read() as db:
            for several, part in in_parts(list(found)):
                for id_, kind, text in db.execute(
                    "SELECT m.id, t.kind, t.target FROM targets AS t"
                    f" JOIN memories AS m ON m.n = t.memory WHERE m.id IN ({several})",
                    part,
                ):
                    found[id_].append((kind, unseal(text)))
        return found

    def naming(self, names: Iterable[str], namespace: str) -> set[str]:
        """Return the documents of a namespace that link to something of one of these names."""
        token = self._db.codec.token
        found: set[str] = set()
        with self._db.read() as db:
            for several, part in in_parts([token(name) for name in names]):
                found.update(
                    id_
                    for (id_,) in db.execute(
                        "SELECT DISTINCT m.id FROM targets AS t JOIN memories AS m ON m.n = t.memory"
                        f" WHERE t.name IN ({several}) AND m.namespace = ?",
                        (*part, namespace),
                    )
                )
        return found
