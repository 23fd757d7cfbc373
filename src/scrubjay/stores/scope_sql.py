"""A Scope as a WHERE clause over the table of memories: filters are bound in SQL, never afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.times import micros

if TYPE_CHECKING:
    from scrubjay.stores.protocols import Codec
    from scrubjay.types import Scope


def where(scope: Scope, codec: Codec) -> tuple[str, list[object]]:
    """Return a condition on `memories AS m` and its arguments; "1" when the scope sees everything."""
    conditions: list[str] = []
    arguments: list[object] = []

    def one_of(column: str, values: Sequence[str] | None) -> None:
        if values is not None:
            conditions.append(f"{column} IN ({marks(values)})")
            arguments.extend(values)

    def equals(column: str, value: str | None) -> None:
        one_of(column, None if value is None else (value,))

    one_of("m.namespace", scope.namespaces)
    one_of("m.id", scope.ids)
    one_of("m.type", scope.types)
    equals("m.collection", scope.collection)
    equals("m.session", scope.session)
    equals("m.owner", scope.owner)
    equals("m.agent", scope.agent)
    equals("m.domain", scope.domain)
    if scope.topics is not None:
        conditions.append(
            f"m.n IN (SELECT memory FROM topics WHERE topic IN ({marks(scope.topics)}))"
        )
        arguments.extend(codec.token(topic) for topic in scope.topics)
    if scope.since is not None:
        conditions.append("m.created_us >= ?")
        arguments.append(micros(scope.since))
    if scope.until is not None:
        conditions.append("m.created_us <= ?")
        arguments.append(micros(scope.until))
    return " AND ".join(conditions) or "1", arguments


def marks(values: Sequence[object]) -> str:
    """Return as many question marks as there are values."""
    return ", ".join("?" * len(values))
