"""A Scope as a WHERE clause over the table of memories: filters are bound in SQL, never afterwards."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from scrubjay.storage.database import Database
from scrubjay.text.analysis import fold_label
from scrubjay.times import micros
from scrubjay.types import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.codec import Codec
    from scrubjay.storage.database import Connection, Database
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
        arguments.append(fold_label(scope.domain))
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


_MOST_BYTES = 64_000_000
_ENTRY_BYTES = 256  # a topic that nobody has takes room as well
_AGES = "ages"
# A set that holds one memory of so many is kept as a flag for each of all, otherwise as a list.
_DENSE = 8

# A scope, a topic's hash, or `_AGES`.
Key = Scope | bytes | str


class Unchanged:
    """Which memories a scope sees, which have a topic, and how old all are, by their numbers."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._number: int | None = None
        self._kept: OrderedDict[Key, NDArray[Any]] = OrderedDict()
        self._bytes = 0

    def seen_by(self, scope: Scope) -> NDArray[np.bool_] | None:
        """Return a flag for each memory, by its number, the last one False; None for everything."""
        return None if scope.everything else self._of((scope,))[scope]

    def with_topics(
        self, hashes: Sequence[bytes], scope: Scope
    ) -> tuple[list[NDArray[Any]], NDArray[np.bool_] | None]:
        """Return who has each topic, as flags or as a list of numbers, and who is seen, as flags."""
        # In one go: both are of one state of the file, so flags have one length.
        found = self._of(hashes if scope.everything else (*hashes, scope))
        return [found[one] for one in hashes], found.get(scope)

    def ages(self) -> NDArray[np.int64]:
        """Return when each memory was updated, in microseconds, by its number."""
        return self._of((_AGES,))[_AGES]

    def _of(self, keys: Sequence[Key]) -> dict[Key, NDArray[Any]]:
        with self._db.watched() as (db, number):
            if number is None:
                return self._read(db, keys)
            if number != self._number:
                self._kept.clear()
                self._number, self._bytes = number, 0
            missing = [key for key in keys if key not in self._kept]
            for key, array in self._read(db, missing).items() if missing else ():
                self._kept[key] = array
                self._bytes += array.nbytes + _ENTRY_BYTES
            found = {key: self._kept[key] for key in keys}
            for key in keys:
                self._kept.move_to_end(key)
            while self._bytes > _MOST_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes + _ENTRY_BYTES
            return found

    def _read(self, db: Connection, keys: Sequence[Key]) -> dict[Key, NDArray[Any]]:
        """Read what is asked for, each number once."""
        import numpy as np

        (newest,) = db.execute("SELECT coalesce(max(n), 0) FROM memories").fetchone()
        size = newest + 2
        found: dict[Key, NDArray[Any]] = {}
        hashes = [key for key in keys if isinstance(key, bytes)]
        for several, part in in_parts(hashes):
            rows = db.execute(
                "SELECT hash, group_concat(memory) FROM topic_hashes"
                f" WHERE hash IN ({several}) GROUP BY hash",
                part,
            )
            for hash_, joined in rows:
                numbers = _numbers(joined)
                dense = len(numbers) * _DENSE > size
                found[hash_] = _flags(numbers, size) if dense else numbers
        for hash_ in hashes:
            found.setdefault(hash_, np.empty(0, np.int64))
        for key in keys:
            if isinstance(key, Scope):
                condition, arguments = where(key, self._db)
                (joined,) = db.execute(
                    f"SELECT group_concat(m.n) FROM memories AS m WHERE {condition}", arguments
                ).fetchone()
                found[key] = _flags(_numbers(joined), size)
            elif key == _AGES:
                row = db.execute(
                    "SELECT group_concat(n), group_concat(updated_us) FROM memories"
                ).fetchone()
                ages = np.zeros(size, np.int64)
                ages[_numbers(row[0])] = _numbers(row[1])
                found[key] = ages
        return found


def _numbers(joined: str | None) -> NDArray[np.int64]:
    # A text of all numbers: as rows of their own, they take four times as long.
    import numpy as np

    return np.fromstring(joined or "", dtype=np.int64, sep=",")


def _flags(numbers: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    import numpy as np

    flags = np.zeros(size, np.bool_)
    flags[numbers] = True
    return flags


_BEFORE_ALL_US, _AFTER_ALL_US = -(2**62), 2**62


class SqlValidity:
    """The validity windows of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def state_us(self, now_us: int) -> int | None:
        """Return the last moment until now at which a window began or ended; None without any window.

        What is valid then is valid now. It stays the same number until something begins or ends, so
        sets of memories that were made for it can be kept.
        """
        with self._db.read() as db:
            last, any_from, any_until = db.execute(
                "SELECT (SELECT max(at) FROM (SELECT max(valid_from_us) AS at FROM memories"
                " WHERE valid_from_us <= ?1 UNION ALL"
                " SELECT max(valid_until_us) FROM memories WHERE valid_until_us <= ?1) AS ends),"
                # Said in so many words, or the indexes are not used and all memories are read.
                " (SELECT min(valid_from_us) FROM memories WHERE valid_from_us IS NOT NULL),"
                " (SELECT min(valid_until_us) FROM memories WHERE valid_until_us IS NOT NULL)",
                (now_us,),
            ).fetchone()
        if any_from is None and any_until is None:
            return None
        return _BEFORE_ALL_US if last is None else int(last)

    def ending(self, now_us: int, within_us: int | None, scope: Scope) -> list[str]:
        """Return the ids of what ends after now, within so long, the soonest first."""
        until_us = _AFTER_ALL_US if within_us is None else min(now_us + within_us, _AFTER_ALL_US)
        return self._ends("> ?", "<= ?", now_us, until_us, scope, "")

    def ended(self, now_us: int, within_us: int | None, scope: Scope) -> list[str]:
        """Return the ids of what has ended by now, within so long before, the latest first."""
        since_us = _BEFORE_ALL_US if within_us is None else max(now_us - within_us, _BEFORE_ALL_US)
        return self._ends(">= ?", "<= ?", since_us, now_us, scope, " DESC")

    def _ends(
        self, above: str, below: str, first_us: int, last_us: int, scope: Scope, order: str
    ) -> list[str]:
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT m.id FROM memories AS m WHERE m.valid_until_us {above}"
                f" AND m.valid_until_us {below} AND {condition} ORDER BY m.valid_until_us{order}, m.id",
                (first_us, last_us, *arguments),
            )
            return [id_ for (id_,) in rows]
