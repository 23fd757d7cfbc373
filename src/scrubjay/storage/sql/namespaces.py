"""Which namespaces there are, as far as a person may see them; `project/name` is one of a project."""

from __future__ import annotations

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import in_sight
from scrubjay.types import Scope


class SqlNamespaces:
    """The namespaces of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def first(self, scope: Scope, most: int) -> list[str]:
        """Return the first so many, by name. Each is one step in the index: memories are not counted."""
        condition, arguments = in_sight(scope, "m.namespace")
        found: list[str] = []
        last = ""
        with self._db.read() as db:
            while len(found) < most:
                row = db.execute(
                    f"SELECT m.namespace FROM memories AS m WHERE m.namespace > ? AND {condition}"
                    " ORDER BY m.namespace LIMIT 1",
                    (last, *arguments),
                ).fetchone()
                if row is None:
                    break
                last = row[0]
                found.append(last)
        return found

    def of_project(self, beginning: str, scope: Scope) -> list[str]:
        """Return all that begin so, by name."""
        condition, arguments = in_sight(scope, "m.namespace")
        with self._db.read() as db:
            rows = db.execute(
                "SELECT DISTINCT m.namespace FROM memories AS m"
                f" WHERE substr(m.namespace, 1, ?) = ? AND {condition} ORDER BY 1",
                (len(beginning), beginning, *arguments),
            )
            return [name for (name,) in rows]
