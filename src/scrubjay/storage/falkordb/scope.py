"""A Scope as a condition of a Cypher query, as far as the graph knows what it asks for.

The rest, which words a memory holds and what became of a message, is asked of the records afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.storage.falkordb.replica import plain
from scrubjay.storage.sql.scope import namespaces
from scrubjay.text.analysis import fold_label
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
        arguments[name] = plain(value) if isinstance(value, str) else value

    def one_of(condition: str, name: str, values: Iterable[str] | None) -> None:
        if values is not None:
            bind(condition, name, list(map(plain, values)))

    one_of("m.namespace IN $namespaces", "namespaces", namespaces(scope, db))
    one_of("m.id IN $ids", "ids", scope.ids)
    one_of("m.type IN $types", "types", scope.types)
    one_of("NOT m.type IN $not_types", "not_types", scope.not_types)
    for field in ("collection", "session", "owner", "agent"):
        value = getattr(scope, field)
        if value is not None:
            bind(f"m.{field} = ${field}", field, value)
    if scope.domain is not None:
        bind("m.domain_label = $domain", "domain", fold_label(scope.domain))
    if scope.topics is not None:
        wanted = map(db.codec.token, scope.topics)
        one_of("any(topic IN m.topics WHERE topic IN $topics)", "topics", wanted)
    if scope.since is not None:
        bind("m.created_us >= $since", "since", micros(scope.since))
    if scope.until is not None:
        bind("m.created_us <= $until", "until", micros(scope.until))
    if scope.valid_us is not None:
        bind("(m.valid_from_us IS NULL OR m.valid_from_us <= $valid)", "valid", scope.valid_us)
        conditions.append("(m.valid_until_us IS NULL OR m.valid_until_us > $valid)")
    if scope.spoken is not None:
        seen = "m.type <> 'message' OR m.created_us <= $settled"
        if scope.spoken.session is not None:
            arguments["spoken"] = plain(scope.spoken.session)
            seen += " OR m.session = $spoken"
        bind(f"({seen})", "settled", scope.spoken.settled_us)
    return " AND ".join(conditions) or "true", arguments
