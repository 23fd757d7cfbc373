"""Scope as a Qdrant filter, as far as the replica has its fields; the database checks the rest later."""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_client.http.models import (
    FieldCondition,
    Filter,
    HasIdCondition,
    MatchAny,
    MatchValue,
    Range,
)

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import comparisons, visible_namespaces
from scrubjay.types import Scope

# Instead of an empty field: checking for one is slower, and one more condition.
ALWAYS_US = -(2**62)
NEVER_US = 2**62
# The server compares numbers as floats, which are inexact for far years.
_TOLERANCE_US = 1_000


def of_store(store: str) -> FieldCondition:
    return FieldCondition(key="store", match=MatchValue(value=store))


def one_per_memory(store: str) -> Filter:
    first = FieldCondition(key="first", match=MatchValue(value=True))
    return Filter(must=[of_store(store), first])


def memories_except(store: str, ids: Sequence[str], spared: Sequence[str]) -> Filter:
    """Return the filter of all points of these memories, except some."""
    must_not = [HasIdCondition(has_id=[*spared])] if spared else None
    return Filter(
        must=[of_store(store), of_these("id", ids)], must_not=[*must_not] if must_not else None
    )


def of_these(field: str, values: Sequence[str]) -> FieldCondition:
    return FieldCondition(key=field, match=MatchAny(any=list(values)))


def filter_of(scope: Scope, store: str, db: Database) -> Filter | None:
    """Return the filter of a scope; None when it sees nothing. Memberships are read from the database."""
    must: list[FieldCondition | Filter] = [of_store(store)]
    must_not: list[FieldCondition] = []
    namespaces = visible_namespaces(scope, db)
    visible = () if namespaces is None else (("namespace", "IN", namespaces),)
    for field, sign, value in (*visible, *comparisons(scope, db.codec)):
        if isinstance(value, int):
            must.append(_compared(field, sign, value))
        elif sign == "IN" and not value:
            return None
        elif value:
            (must if sign == "IN" else must_not).append(of_these(field, value))
    if scope.spoken is not None:
        shown: list[FieldCondition | Filter] = [
            Filter(must_not=[of_these("type", ("message",))]),
            _compared("created_us", "<=", scope.spoken.settled_us),
        ]
        if scope.spoken.session is not None:
            shown.append(of_these("session", (scope.spoken.session,)))
        must.append(Filter(should=[*shown]))
    return Filter(must=[*must], must_not=[*must_not] or None)


def _compared(field: str, sign: str, us: int) -> FieldCondition:
    until = Range(lte=us + _TOLERANCE_US)
    return FieldCondition(
        key=field, range=until if sign == "<=" else Range(gte=us - _TOLERANCE_US)
    )
