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


def _read_tables() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the name and the columns of each table in schema.sql."""
    sql = Path(__file__).with_name("schema.sql").read_text("utf-8")
    found = re.findall(r"^CREATE TABLE (\w+) \((.*?)\);$", sql, re.MULTILINE | re.DOTALL)
    # Commas inside parentheses belong to a constraint.
    return tuple(
        (name, tuple(re.split(r",\s+(?![^(]*\))", columns.strip()))) for name, columns in found
    )


TABLES = _read_tables()

# Tables that were added later, by version.
_SINCE = {"access": 11}

# A B-tree takes no value above 2,704 bytes: an unbounded value, such as the target of a link, is indexed
# by its hash.
_INDEXES = (
    "memories_by_hash ON memories (content_hash, type, namespace)",
    "memories_by_age ON memories (namespace, updated_us)",
    "memories_by_session ON memories USING hash (session) WHERE session IS NOT NULL",
    "memories_by_language ON memories (language)",
    "memories_by_collection ON memories (collection) WHERE collection IS NOT NULL",
    "memories_by_type ON memories (type)",
    "memories_by_beginning ON memories (valid_from_us) WHERE valid_from_us IS NOT NULL",
    "memories_by_end ON memories (valid_until_us) WHERE valid_until_us IS NOT NULL",
    "messages_in_order ON memories (namespace, session, owner, agent, created_us, n)"
    " WHERE type = 'message' AND session IS NOT NULL",
    "messages_by_age ON memories (created_us) WHERE type = 'message'",
    "memories_by_moment ON memories (coalesce(event_us, created_us))",
    "memories_by_event_end ON memories (event_until_us) WHERE event_until_us IS NOT NULL",
    "topics_by_memory ON topics (memory)",
    "wanting_by_chunk ON wanting (chunk)",
    "edges_back ON edges (b)",
    "feedback_by_memory ON feedback (memory)",
    "feedback_by_person ON feedback (person, action)",
    "files_by_digest ON files (digest)",
    "targets_by_memory ON targets (memory)",
    "targets_by_name ON targets USING hash (name)",
    "topic_hashes_by_memory ON topic_hashes (memory)",
    "history_by_memory ON history (memory)",
    "members_by_namespace ON members (namespace)",
    "published_by_memory ON published (memory)",
    "sketches_first ON sketches ((bits & 1048575))",
    "sketches_second ON sketches ((bits >> 20 & 1048575))",
    "sketches_third ON sketches ((bits >> 40 & 1048575))",
    "extractions_leased ON extractions (leased_until_s) WHERE leased_until_s > 0",
    "spans_by_message ON spans (message)",
    "outbox_by_tier ON outbox (tier, n)",
    "parted_back ON parted (b)",
    "word_parts_main ON word_parts USING gin (main)",
    "word_parts_ident ON word_parts USING gin (ident)",
)

# Name, event and action: as in SQLite's schema, which gives the reason for each.
_TRIGGERS = (
    (
        "vector_made",
        "AFTER INSERT ON vectors",
        "INSERT INTO unsketched SELECT new.n FROM chunks WHERE n = new.chunk AND ordinal = 0"
        " ON CONFLICT DO NOTHING;"
        " INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, chunks AS c"
        " JOIN memories AS m ON m.n = c.memory WHERE p.tier = 'vectors' AND c.n = new.chunk;"
        " INSERT INTO unlinked SELECT c.memory FROM meta, chunks AS c"
        " WHERE meta.key = 'links' AND c.n = new.chunk ON CONFLICT DO NOTHING;",
    ),
    (
        "vector_gone",
        "AFTER DELETE ON vectors",
        "INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, chunks AS c"
        " JOIN memories AS m ON m.n = c.memory WHERE p.tier = 'vectors' AND c.n = old.chunk;",
    ),
    (
        "chunk_moved",
        "AFTER UPDATE OF ordinal ON chunks",
        "IF new.ordinal <= 0 THEN"
        " DELETE FROM sketches WHERE vector IN (SELECT n FROM vectors WHERE chunk = new.n);"
        " INSERT INTO unsketched SELECT n FROM vectors WHERE chunk = new.n AND new.ordinal = 0"
        " ON CONFLICT DO NOTHING; END IF;",
    ),
    (
        "memory_changed",
        "AFTER UPDATE ON memories",
        "IF old.namespace <> new.namespace OR"
        " (old.type IN ('message', 'document')) <> (new.type IN ('message', 'document')) THEN"
        " INSERT INTO unsketched SELECT v.n FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
        " WHERE c.memory = new.n AND c.ordinal = 0 ON CONFLICT DO NOTHING; END IF;"
        " IF old.type = 'message' AND old.content_hash <> new.content_hash THEN"
        " DELETE FROM extractions WHERE message = new.n; END IF;"
        " IF old.namespace <> new.namespace THEN"
        " DELETE FROM edges WHERE a = new.n AND made = 'auto';"
        " DELETE FROM edges WHERE b = new.n AND made = 'auto';"
        " INSERT INTO unlinked SELECT new.n FROM meta WHERE key = 'links' ON CONFLICT DO NOTHING;"
        " END IF;"
        " INSERT INTO outbox (tier, id) SELECT tier, new.id FROM projections;",
    ),
    (
        "compared_anew",
        "AFTER INSERT ON unsketched",
        "DELETE FROM sketches WHERE vector = new.vector;",
    ),
    (
        "sketch_gone",
        "AFTER DELETE ON sketches",
        "DELETE FROM edges WHERE a = old.memory AND made = 'near';"
        " DELETE FROM edges WHERE b = old.memory AND made = 'near';",
    ),
    (
        "memory_made",
        "AFTER INSERT ON memories",
        "INSERT INTO outbox (tier, id) SELECT tier, new.id FROM projections WHERE tier = 'graph';",
    ),
    (
        "memory_gone",
        "AFTER DELETE ON memories",
        "INSERT INTO outbox (tier, id, other)"
        " SELECT tier, old.id, CASE tier WHEN 'graph' THEN '' END FROM projections;",
    ),
    *(
        (
            f"link_{event}d".replace("td", "ted"),
            f"AFTER {event.upper()} ON edges",
            "INSERT INTO outbox (tier, id, other) SELECT p.tier, x.id, y.id"
            " FROM projections AS p, memories AS x, memories AS y"
            f" WHERE p.tier = 'graph' AND x.n = {row}.a AND y.n = {row}.b;",
        )
        for event, row in (("insert", "new"), ("update", "new"), ("delete", "old"))
    ),
)


def p010_all(execute: Callable[[str], Any]) -> None:
    """Create everything: the first version that supported Postgres had these tables."""
    _create_tables(execute, None)
    for index in _INDEXES:
        execute(f"CREATE INDEX {index}")
    for name, event, action in _TRIGGERS:
        execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN {action} RETURN NULL; END $$"
        )
        execute(f"CREATE TRIGGER {name} {event} FOR EACH ROW EXECUTE FUNCTION {name}()")
    execute("INSERT INTO keys (name, key) VALUES ('store', uuid_send(gen_random_uuid()))")


def p011_access(execute: Callable[[str], Any]) -> None:
    _create_tables(execute, 11)


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
}
