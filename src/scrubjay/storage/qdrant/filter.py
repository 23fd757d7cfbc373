"""Scope as a Qdrant filter, as far as the replica has its fields; the database checks the rest later."""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_client.http.models import FieldCondition, Filter, MatchAny, MatchValue, Range

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import allowed_values, visible_namespaces
from scrubjay.times import micros
from scrubjay.types import Scope

# Instead of an empty field: checking for one is slower, and one more condition.
ALWAYS_US = -(2**62)
NEVER_US = 2**62
# The server compares numbers as floats, which are inexact for far years.
_TOLERANCE_US = 1_000


def of_store(store: str) -> FieldCondition:
    return FieldCondition(key="store", match=MatchValue(value=store))


def of_these(field: str, values: Sequence[str]) -> FieldCondition:
    return FieldCondition(key=field, match=MatchAny(any=list(values)))


def filter_of(scope: Scope, store: str, db: Database) -> Filter | None:
    """Return the filter of a scope; None when it sees nothing. Memberships are read from the database."""
    must: list[FieldCondition | Filter] = [of_store(store)]
    allowed = allowed_values(scope)
    namespaces = visible_namespaces(scope, db)
    if namespaces is not None:
        allowed["namespace"] = namespaces
    if scope.topics is not None:
        allowed["topics"] = [db.codec.token(topic) for topic in scope.topics]
    for field, values in allowed.items():
        if not values:
            return None
        must.append(of_these(field, values))
    if scope.since is not None:
        must.append(_from("created_us", micros(scope.since)))
    if scope.until is not None:
        must.append(_until("created_us", micros(scope.until)))
    if scope.valid_us is not None:
        must.append(_until("valid_from_us", scope.valid_us))
        must.append(_from("valid_until_us", scope.valid_us))
    if scope.spoken is not None:
        visible: list[FieldCondition | Filter] = [
            Filter(must_not=[of_these("type", ("message",))]),
            _until("created_us", scope.spoken.settled_us),
        ]
        if scope.spoken.session is not None:
            visible.append(of_these("session", (scope.spoken.session,)))
        must.append(Filter(should=[*visible]))
    must_not = [of_these("type", scope.not_types)] if scope.not_types else None
    return Filter(must=[*must], must_not=[*must_not] if must_not else None)


def _from(field: str, us: int) -> FieldCondition:
    return FieldCondition(key=field, range=Range(gte=us - _TOLERANCE_US))


def _until(field: str, us: int) -> FieldCondition:
    return FieldCondition(key=field, range=Range(lte=us + _TOLERANCE_US))
