"""A Scope as a filter of Qdrant: all of it that a copy can know. The truth checks the whole of it later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qdrant_client.http.models import FieldCondition, Filter, MatchAny, MatchValue, Range

from scrubjay.storage.sql.scope import namespaces
from scrubjay.text.analysis import fold_label
from scrubjay.times import micros

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.types import Scope

# Instead of "no limit": to ask whether a field is empty is slower, and one more condition.
ALWAYS_US = -(2**62)
NEVER_US = 2**62
# The server compares numbers as floats, which of far years are only so near.
_NEAR_US = 1_000


def of_store(store: str) -> FieldCondition:
    """Return the condition that a point is of this store."""
    return FieldCondition(key="store", match=MatchValue(value=store))


def of_these(field: str, values: Sequence[str]) -> FieldCondition:
    """Return the condition that a field has one of these values."""
    return FieldCondition(key=field, match=MatchAny(any=list(values)))


def filter_of(scope: Scope, store: str, db: Database) -> Filter | None:
    """Return the filter of a scope; None when it sees nothing. People's namespaces are looked up."""
    must: list[FieldCondition | Filter] = [of_store(store)]
    must_not: list[FieldCondition] = []
    token = db.codec.token
    topics = None if scope.topics is None else [token(topic) for topic in scope.topics]
    for field, values in (
        ("namespace", namespaces(scope, db)),
        ("type", scope.types),
        ("topics", topics),
    ):
        if values is not None:
            if not values:
                return None
            must.append(of_these(field, values))
    if scope.not_types:
        must_not.append(of_these("type", scope.not_types))
    for field, value in (
        ("collection", scope.collection),
        ("session", scope.session),
        ("owner", scope.owner),
        ("agent", scope.agent),
        ("domain_label", None if scope.domain is None else fold_label(scope.domain)),
    ):
        if value is not None:
            must.append(of_these(field, (value,)))
    if scope.since is not None:
        must.append(_from("created_us", micros(scope.since)))
    if scope.until is not None:
        must.append(_until("created_us", micros(scope.until)))
    if scope.valid_us is not None:
        must.append(_until("valid_from_us", scope.valid_us))
        must.append(_from("valid_until_us", scope.valid_us))
    if scope.spoken is not None:
        seen: list[FieldCondition | Filter] = [
            Filter(must_not=[of_these("type", ("message",))]),
            _until("created_us", scope.spoken.settled_us),
        ]
        if scope.spoken.session is not None:
            seen.append(of_these("session", (scope.spoken.session,)))
        must.append(Filter(should=[*seen]))
    return Filter(must=[*must], must_not=[*must_not] or None)


def _from(field: str, us: int) -> FieldCondition:
    return FieldCondition(key=field, range=Range(gte=us - _NEAR_US))


def _until(field: str, us: int) -> FieldCondition:
    return FieldCondition(key=field, range=Range(lte=us + _NEAR_US))
