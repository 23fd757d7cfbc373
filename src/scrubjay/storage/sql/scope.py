"""A Scope as a WHERE clause over the table of memories: filters are bound in SQL, never afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from scrubjay.text.analysis import label
from scrubjay.times import micros

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.storage.protocols import Codec
    from scrubjay.types import Scope, Term


EVERYTHING = "TRUE"
# A few memories by id under a scope: without a word about it SQLite would rather go through a whole
# namespace, or all of a type. Of 100,000 memories, 64 took eight times as long.
BY_ID = "memories AS m INDEXED BY sqlite_autoindex_memories_1"

_SPOKEN = (
    "(m.type <> 'message' OR m.session = ? OR (m.created_us <= ? AND NOT EXISTS"
    " (SELECT 1 FROM extractions AS x WHERE x.message = m.n AND x.outcome = 'facts'"
    " AND EXISTS (SELECT 1 FROM spans AS s WHERE s.message = m.n))))"
)


def where(scope: Scope, db: Database) -> tuple[str, list[object]]:
    """Return a condition on `memories AS m` and its arguments; "TRUE" when the scope sees everything."""
    conditions: list[str] = []
    arguments: list[object] = []

    def one_of(column: str, values: Sequence[str] | None) -> None:
        if values is not None:
            filled = padded(values)
            conditions.append(f"{column} IN ({marks(filled)})")
            arguments.extend(filled)

    def equals(column: str, value: str | None) -> None:
        one_of(column, None if value is None else (value,))

    seen, who = in_sight(scope, "m.namespace")
    if seen != EVERYTHING:
        conditions.append(seen)
        arguments.extend(who)
    one_of("m.id", scope.ids)
    one_of("m.type", scope.types)
    if scope.not_types is not None:
        filled = padded(scope.not_types)
        conditions.append(f"m.type NOT IN ({marks(filled)})")
        arguments.extend(filled)
    equals("m.collection", scope.collection)
    equals("m.session", scope.session)
    equals("m.owner", scope.owner)
    equals("m.agent", scope.agent)
    if scope.domain is not None:
        conditions.append("m.domain_label = ?")
        arguments.append(label(scope.domain))
    if scope.topics is not None:
        conditions.append(
            f"m.n IN (SELECT memory FROM topics WHERE topic IN ({marks(scope.topics)}))"
        )
        arguments.extend(db.codec.token(topic) for topic in scope.topics)
    if scope.since is not None:
        conditions.append("m.created_us >= ?")
        arguments.append(micros(scope.since))
    if scope.until is not None:
        conditions.append("m.created_us <= ?")
        arguments.append(micros(scope.until))
    if scope.valid_us is not None:
        conditions.append("(m.valid_from_us IS NULL OR m.valid_from_us <= ?)")
        conditions.append("(m.valid_until_us IS NULL OR m.valid_until_us > ?)")
        arguments += (scope.valid_us, scope.valid_us)
    if scope.spoken is not None:
        conditions.append(_SPOKEN)
        arguments += scope.spoken
    # The context of a message is what others said around it: that it neither holds nor lacks.
    for term in scope.holds:
        held, itself = db.holding(term)
        conditions.append(
            f"m.n IN ({held.sql}) AND (m.type <> 'message' OR m.n IN ({itself.sql}))"
        )
        arguments += (*held.arguments, *itself.arguments)
    for term in scope.lacks:
        held, itself = db.holding(term)
        conditions.append(
            f"(m.n NOT IN ({held.sql}) OR (m.type = 'message' AND m.n NOT IN ({itself.sql})))"
        )
        arguments += (*held.arguments, *itself.arguments)
    return " AND ".join(conditions) or EVERYTHING, arguments


def in_sight(scope: Scope, column: str) -> tuple[str, list[object]]:
    """Return the condition that a scope sets on a namespace, and its arguments; "TRUE" when it sets none.

    Who belongs to a collection is looked up by the statement itself: whoever was removed a moment ago
    sees nothing of it in the next one.
    """
    conditions: list[str] = []
    arguments: list[object] = []
    if scope.namespaces is not None:
        filled = padded(scope.namespaces)
        conditions.append(f"{column} IN ({marks(filled)})")
        arguments.extend(filled)
    for person, role in ((scope.reader, ""), (scope.writer, " AND role <> 'reader'")):
        if person is not None:
            joined = f"SELECT namespace FROM members WHERE person = ?{role}"
            conditions.append(f"{column} IN (SELECT ? UNION ALL {joined})")
            arguments += (personal(person), person)
    return " AND ".join(conditions) or EVERYTHING, arguments


def namespaces(scope: Scope, db: Database) -> list[str] | None:
    """Return the namespaces that a scope may see, with the collections of its people; None for all."""
    seen = None if scope.namespaces is None else set(scope.namespaces)
    for person, role in ((scope.reader, ""), (scope.writer, " AND role <> 'reader'")):
        if person is None:
            continue
        with db.read() as connection:
            rows = connection.execute(
                f"SELECT namespace FROM members WHERE person = ?{role}", (person,)
            )
            theirs = {personal(person), *(name for (name,) in rows)}
        seen = theirs if seen is None else seen & theirs
    return None if seen is None else sorted(seen)


SHARED = "collection:"  # how the namespaces of shared collections begin
_OWN = "user:"
PEOPLES = (_OWN, SHARED)


def personal(person: str) -> str:
    """Return the namespace of a person's own memories."""
    return f"{_OWN}{person}"


def match(term: Term, codec: Codec) -> str:
    """Return a term as an FTS5 expression; a negated one passes over texts that hold it literally."""
    wanted = " OR ".join(match_run(run, codec) for run in term.any_of)
    if not term.unless:
        return f"({wanted})"
    literally = " OR ".join(match_run((token,), codec) for token in term.unless)
    return f"(({wanted}) NOT ({literally}))"


def match_run(run: Sequence[str], codec: Codec) -> str:
    """Return neighbouring tokens as an FTS5 phrase; with a star, the last is only begun so."""
    *others, last = run
    begun = len(last) > 1 and last.endswith("*")
    tokens = " ".join(map(codec.token, (*others, last[:-1] if begun else last)))
    quoted = tokens.replace('"', '""')
    return f'"{quoted}" *' if begun else f'"{quoted}"'


T = TypeVar("T")
_MOST_AT_ONCE = 512


def padded(values: Sequence[T]) -> list[T]:
    """Repeat the last value until the length is a power of two: it changes nothing for IN.

    SQLite keeps a compiled statement for each text of it, and compiling one takes longer than
    running it; so there should be few lengths.
    """
    missing = (1 << (len(values) - 1).bit_length()) - len(values) if values else 0
    return [*values, *[values[-1]] * missing] if missing else list(values)


def in_parts(values: Sequence[T]) -> Iterator[tuple[str, list[T]]]:
    """Yield question marks and values for IN, as many at a time as every SQLite takes."""
    for start in range(0, len(values), _MOST_AT_ONCE):
        part = padded(values[start : start + _MOST_AT_ONCE])
        yield marks(part), part


def marks(values: Sequence[object]) -> str:
    """Return as many question marks as there are values."""
    return ", ".join("?" * len(values))
