"""Tables of a store in Postgres, and their migrations.

The tables, columns and row numbers are those of SQLite, so every row of one database can be a row of the
other. Texts are compared by their bytes, as in SQLite. Instead of FTS5 there are lines of tokens, and
token vectors. Tables that only serve copies in memory, such as the log of deleted vectors, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SQL = Path(__file__).with_name("schema.sql").read_text("utf-8")
# The name and the columns of each table; a comma inside parentheses belongs to a constraint.
TABLES = tuple(
    (name, tuple(re.split(r",\s+(?![^(]*\))", columns.strip())))
    for name, columns in re.findall(r"(?ms)^CREATE TABLE (\w+) \((.*?)\);$", _SQL)
)
_INDEXES_AND_TRIGGERS = re.findall(
    r"(?ms)^CREATE (?:INDEX|TRIGGER) [^;]*;|^CREATE FUNCTION .*?^END \$\$;", _SQL
)
# Tables that were added later, by version.
_SINCE = {"access": 11}


def p010_all(execute: Callable[[str], Any]) -> None:
    """Create everything: the first version that supported Postgres had these tables."""
    _create_tables(execute, None)
    for statement in _INDEXES_AND_TRIGGERS:
        execute(statement)
    execute("INSERT INTO keys (name, key) VALUES ('store', uuid_send(gen_random_uuid()))")


def p011_access(execute: Callable[[str], Any]) -> None:
    _create_tables(execute, 11)


def p012_model_roles(execute: Callable[[str], Any]) -> None:
    """Add the role of a model, and the functions that read it; a new database has them already."""
    for column, default in (("role", "main"), ("spec", "")):
        execute(
            f"ALTER TABLE models ADD COLUMN IF NOT EXISTS {column} TEXT"
            f" COLLATE \"C\" NOT NULL DEFAULT '{default}'"
        )
    for statement in _INDEXES_AND_TRIGGERS:
        if re.match(
            r"CREATE FUNCTION (vector_made|vector_gone|chunk_moved|memory_changed)\b", statement
        ):
            execute(statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1))


def _create_tables(execute: Callable[[str], Any], since: int | None) -> None:
    for name, columns in TABLES:
        if _SINCE.get(name) == since:
            execute(f"CREATE TABLE {name} ({', '.join(map(_collated, columns))})")


def _collated(column: str) -> str:
    """Compare a text by its bytes: the order of results must not depend on a server's locale."""
    name, _, rest = column.partition(" ")
    if not rest.startswith("TEXT"):
        return column
    return f'{name} TEXT COLLATE "C"{rest.removeprefix("TEXT")}'


# By the schema version that each leads to; SQLite's have the same numbers.
MIGRATIONS: dict[int, Callable[[Callable[[str], Any]], None]] = {
    10: p010_all,
    11: p011_access,
    12: p012_model_roles,
}
