"""Tables of a store in Postgres, and their migrations.

The tables, columns and row numbers are those of SQLite, so every row of one database can be a row of the
other. Texts are compared by their bytes, as in SQLite. Instead of postings there are lines of tokens, and
token vectors. Tables that only serve copies in memory, such as the log of deleted vectors, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scrubjay.storage.schema import HISTORY_WORD

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
_SINCE = {"access": 11, "versions": 14}
_OF_CHANGES = ("uncompared", "refused")


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
    _replace_functions(execute, "vector_made|vector_gone|chunk_moved|memory_changed")


def p013_changes(execute: Callable[[str], Any]) -> None:
    """Add what changes need; a new database has it already."""
    for name, columns in TABLES:
        if name in _OF_CHANGES:
            execute(f"CREATE TABLE IF NOT EXISTS {name} ({', '.join(map(_collated, columns))})")
    execute("CREATE INDEX IF NOT EXISTS refused_back ON refused (b)")
    execute("ALTER TABLE edges ADD COLUMN IF NOT EXISTS made_us BIGINT")
    execute(
        "CREATE INDEX IF NOT EXISTS edges_changes ON edges (b)"
        " WHERE kind IN ('supersedes', 'updates')"
    )
    _replace_functions(execute, "memory_made|memory_changed")


def _replace_functions(execute: Callable[[str], Any], names: str) -> None:
    for statement in _INDEXES_AND_TRIGGERS:
        if re.match(rf"CREATE FUNCTION ({names})\b", statement):
            execute(statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1))


def p014_versions(execute: Callable[[str], Any]) -> None:
    """Create the table of versions, and move the history of single fields there, if there is one."""
    _create_tables(execute, 14)
    # NUL is escaped in texts (`codec.EscapeNul`), but JSON has its own escape for it.
    earlier = (
        "json_build_object(h.change, CASE h.change WHEN 'valid_until' THEN nullif(h.before, '')"
    )
    earlier += " ELSE h.before END)::text"
    for escaped, character in (("0", "0000"), ("1", "001a")):
        earlier = rf"replace({earlier}, '\u001a{escaped}', '\u{character}')"
    execute(
        "DO $$ BEGIN IF to_regclass('history') IS NOT NULL THEN"
        " INSERT INTO versions SELECT h.memory,"
        " row_number() OVER (PARTITION BY h.memory ORDER BY h.n), h.at_us,"
        f" {HISTORY_WORD}, '', m.namespace, 0, {earlier}"
        " FROM history AS h JOIN memories AS m ON m.n = h.memory;"
        " DROP TABLE history; END IF; END $$"
    )


def p015_postings(execute: Callable[[str], Any]) -> None:
    """Do nothing: only SQLite has a keyword index of its own."""


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
    13: p013_changes,
    14: p014_versions,
    15: p015_postings,
}
