"""Scope as a Cypher condition, as far as the replica has its fields.

The database checks the rest later: which words a memory holds, and the outcome of a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.storage.falkordb.replica import plain
from scrubjay.storage.sql.scope import allowed_values, visible_namespaces
from scrubjay.times import micros

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrubjay.storage.database import Database
    from scrubjay.types import Scope


def where(scope: Scope, db: Database) -> tuple[str, dict[str, object]]:
    """Return a condition on the node `m` and its arguments; "true" when the graph need not filter."""
    conditions: list[str] = []
    arguments: dict[str, object] = {}

    def bind(condition: str, name: str, value: object) -> None:
        conditions.append(condition)
        arguments[name] = value

    def one_of(condition: str, name: str, values: Iterable[str] | None) -> None:
        if values is not None:
            bind(condition, name, list(map(plain, values)))

    one_of("m.namespace IN $namespaces", "namespaces", visible_namespaces(scope, db))
    one_of("m.id IN $ids", "ids", scope.ids)
    one_of("NOT m.type IN $not_types", "not_types", scope.not_types)
    for field, values in allowed_values(scope).items():
        one_of(f"m.{field} IN ${field}", field, values)
    if scope.topics is not None:
        topics = map(db.codec.token, scope.topics)
        one_of("any(topic IN m.topics WHERE topic IN $topics)", "topics", topics)
    if scope.since is not None:
        bind("m.created_us >= $since", "since", micros(scope.since))
    if scope.until is not None:
        bind("m.created_us <= $until", "until", micros(scope.until))
    if scope.valid_us is not None:
        bind("(m.valid_from_us IS NULL OR m.valid_from_us <= $valid)", "valid", scope.valid_us)
        conditions.append("(m.valid_until_us IS NULL OR m.valid_until_us > $valid)")
    if scope.spoken is not None:
        visible = "m.type <> 'message' OR m.created_us <= $settled"
        if scope.spoken.session is not None:
            arguments["spoken"] = plain(scope.spoken.session)
            visible += " OR m.session = $spoken"
        bind(f"({visible})", "settled", scope.spoken.settled_us)
    return " AND ".join(conditions) or "true", arguments
