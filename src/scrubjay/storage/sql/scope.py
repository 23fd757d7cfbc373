"""Scope to SQL: a WHERE clause over `memories`, short ways to run it, and cached sets of visible memories.

Filters are applied in SQL, never afterwards.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from scrubjay.errors import StoreError
from scrubjay.runtime.command_hints import to_type
from scrubjay.text.analysis import fold_label
from scrubjay.times import micros
from scrubjay.types import SHARED_PREFIX, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.codec import Codec
    from scrubjay.storage.database import Connection, Database

T = TypeVar("T")
_Values = Sequence[Any]

EVERYTHING = "TRUE"
TOPIC = "topics.topic"  # its place, as the codec knows it
# A few memories by id under a scope: without this hint SQLite reads a whole namespace, or all of a type.
# Of 100,000 memories, 64 took eight times as long.
BY_ID = "memories AS m INDEXED BY sqlite_autoindex_memories_1"
_PERSONAL_PREFIX = "user:"
PRIVATE_PREFIXES = (_PERSONAL_PREFIX, SHARED_PREFIX)
FIRST_US, LAST_US = -(2**62), 2**62  # before and after every time

MAX_TRIES = 3  # how often a language model is asked about a message
# Of the messages that it was asked about, those that it will read again; and the others.
UNREAD = f"x.outcome IN ('failed', 'waiting') AND x.tries < {MAX_TRIES}"
READ = f"EXISTS (SELECT 1 FROM extractions AS x WHERE x.message = m.n AND NOT ({UNREAD}))"
_VISIBLE_MESSAGE = (
    "(m.type <> 'message' OR m.session = ? OR (m.created_us <= ? AND NOT EXISTS"
    " (SELECT 1 FROM extractions AS x WHERE x.message = m.n AND x.outcome = 'facts'"
    " AND EXISTS (SELECT 1 FROM spans AS s WHERE s.message = m.n)){read}))"
)


class SqlTable:
    """Base of the tables: runs a statement in one call.

    A Scope among the arguments is replaced by its condition: `{scope}` in the statement is one on
    `memories AS m`, `{namespaces}` one on a column `namespace`.
    """

    table = ""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._seal, self._unseal = db.codec.seal, db.codec.unseal

    def is_empty(self) -> bool:
        return self._row(f"SELECT 1 FROM {self.table} LIMIT 1") is None

    def transaction(self) -> AbstractContextManager[object]:
        return self._db.write()

    def _rows(self, statement: str, arguments: _Values = ()) -> list[Any]:
        with self._db.read() as db:
            return db.execute(*self._bound(statement, arguments)).fetchall()

    def _row(self, statement: str, arguments: _Values = ()) -> Any:
        with self._db.read() as db:
            return db.execute(*self._bound(statement, arguments)).fetchone()

    def _column(self, statement: str, arguments: _Values = ()) -> list[Any]:
        return [value for (value,) in self._rows(statement, arguments)]

    def _number(self, statement: str, arguments: _Values = ()) -> int:
        return int(self._row(statement, arguments)[0])

    def _rows_in(
        self, statement: str, values: _Values, after: _Values = (), *, before: _Values = ()
    ) -> list[Any]:
        """Run a statement with `IN ({values})`, in as many parts as needed, in one read."""
        statement, after = self._bound(statement, after)
        with self._db.read() as db:
            return [
                row
                for several, part in in_parts(values)
                for row in db.execute(
                    statement.replace("{values}", several), (*before, *part, *after)
                )
            ]

    def _ids_and_times(self, numbers: Collection[int], scope: Scope) -> list[tuple[int, str, int]]:
        """Return number, id and time of update of those of these memories that a scope may see."""
        # NOT INDEXED: by number only; otherwise SQLite reads a whole namespace.
        return named(
            self._rows_in(
                "SELECT m.n, m.id, m.updated_us FROM memories AS m NOT INDEXED"
                " WHERE m.n IN ({values}) AND {scope}",
                list(numbers),
                (scope,),
            )
        )

    def _write(self, statement: str, arguments: _Values = ()) -> int:
        """Run one statement in a write; return how many rows were changed."""
        with self._db.write() as db:
            return db.execute(*self._bound(statement, arguments)).rowcount

    def _write_in(self, statement: str, values: _Values, before: _Values = ()) -> int:
        """Run a statement with `IN ({values})`, in parts, in one write; return how many rows changed."""
        with self._db.write() as db:
            return sum(
                db.execute(statement.replace("{values}", several), (*before, *part)).rowcount
                for several, part in in_parts(values)
            )

    def _write_each(self, statement: str, rows: Sequence[_Values]) -> None:
        """Run one statement for each of these arguments, in one write; without any, none is begun."""
        if rows:
            with self._db.write() as db:
                db.executemany(statement, rows)

    def _bound(self, statement: str, arguments: _Values) -> tuple[str, _Values]:
        bound: list[object] = []
        for argument in arguments:
            if not isinstance(argument, Scope):
                bound.append(argument)
                continue
            if "{scope}" in statement:
                placeholder, (condition, more) = "{scope}", where(argument, self._db)
            else:
                placeholder = "{namespaces}"
                condition, more = namespace_condition(argument, "namespace")
            statement = statement.replace(placeholder, condition, 1)
            bound += more
        return statement, bound


def named(rows: Iterable[tuple[int, Any, Any]]) -> list[tuple[int, str, int]]:
    """Return number, id and time of memories. One without a readable id is left out; one without a
    readable time stays, so that the damage is reported when it is read."""
    return [
        (n, id_, updated_us if type(updated_us) is int else 0)
        for n, id_, updated_us in rows
        if type(id_) is str
    ]


def comparisons(scope: Scope, codec: Codec) -> list[tuple[str, str, Any]]:
    """Return what a scope asks of fields, as field, sign and value; SQL, Qdrant and Cypher filter by
    these alike. Namespaces, messages and words are not among them."""
    alone = {
        "collection": scope.collection,
        "session": scope.session,
        "owner": scope.owner,
        "agent": scope.agent,
        "domain_label": None if scope.domain is None else fold_label(scope.domain),
    }
    found: list[tuple[str, str, Any]] = [
        ("id", "IN", scope.ids),
        ("type", "IN", scope.types),
        ("type", "NOT IN", scope.not_types),
        *((field, "IN", None if value is None else (value,)) for field, value in alone.items()),
        ("topics", "IN", None if scope.topics is None else _topics(scope.topics, codec)),
        ("created_us", ">=", None if scope.since is None else micros(scope.since)),
        ("created_us", "<=", None if scope.until is None else micros(scope.until)),
        ("valid_from_us", "<=", scope.valid_us),
        ("valid_until_us", ">", scope.valid_us),
    ]
    return [asked for asked in found if asked[2] is not None]


def _topics(topics: Iterable[str], codec: Codec) -> list[str]:
    return [codec.exact(topic, TOPIC) for topic in topics]


def where(scope: Scope, db: Database) -> tuple[str, list[object]]:
    """Return a condition on `memories AS m` and its arguments; "TRUE" when the scope sees everything."""
    visible, arguments = namespace_condition(scope, "m.namespace")
    conditions = [] if visible == EVERYTHING else [visible]
    for field, sign, value in comparisons(scope, db.codec):
        if isinstance(value, int):
            conditions.append(f"({unset(field)}m.{field} {sign} ?)")
            arguments.append(value)
        elif field == "topics":
            among = f"SELECT memory FROM topics WHERE topic IN ({marks(value)})"
            conditions.append(f"m.n IN ({among})")
            arguments.extend(value)
        else:
            filled = padded(value)
            conditions.append(f"m.{field} {sign} ({marks(filled)})")
            arguments.extend(filled)
    if scope.spoken is not None:
        read = f" AND {READ}" if scope.spoken.only_read else ""
        conditions.append(_VISIBLE_MESSAGE.format(read=read))
        arguments += (scope.spoken.session, scope.spoken.settled_us)
    # The context of a message is what others said around it: it neither holds nor lacks that itself.
    for term, sign in (*((t, "") for t in scope.holds), *((t, "NOT ") for t in scope.lacks)):
        held, itself = db.holding(term)
        conditions.append(
            f"{sign}(m.n IN ({held.sql}) AND (m.type <> 'message' OR m.n IN ({itself.sql})))"
        )
        arguments += (*held.arguments, *itself.arguments)
    return " AND ".join(conditions) or EVERYTHING, arguments


def unset(field: str) -> str:
    """Return the part of a condition that accepts a memory without a time, which only validity lacks."""
    return "" if field == "created_us" else f"m.{field} IS NULL OR "


def namespace_condition(scope: Scope, column: str) -> tuple[str, list[object]]:
    """Return the condition of a scope on a column of namespaces, with its arguments. The statement
    itself looks up memberships: a removed member sees nothing in the next one."""
    conditions: list[str] = []
    arguments: list[object] = []
    if scope.namespaces is not None:
        filled = padded(scope.namespaces)
        conditions.append(f"{column} IN ({marks(filled)})")
        arguments.extend(filled)
    for person, memberships in _memberships(scope):
        conditions.append(f"{column} IN (SELECT ? UNION ALL {memberships})")
        arguments += (personal_namespace(person), person)
    return " AND ".join(conditions) or EVERYTHING, arguments


def visible_namespaces(scope: Scope, db: Database) -> list[str] | None:
    """Return the namespaces that a scope may see, shared collections included; None for all."""
    visible = None if scope.namespaces is None else set(scope.namespaces)
    for person, memberships in _memberships(scope):
        with db.read() as connection:
            rows = connection.execute(memberships, (person,)).fetchall()
        theirs = {personal_namespace(person), *(namespace for (namespace,) in rows)}
        visible = theirs if visible is None else visible & theirs
    return None if visible is None else sorted(visible)


def _memberships(scope: Scope) -> Iterator[tuple[str, str]]:
    for person, role in ((scope.reader, ""), (scope.writer, " AND role <> 'reader'")):
        if person is not None:
            yield person, f"SELECT namespace FROM members WHERE person = ?{role}"


def personal_namespace(person: str) -> str:
    return f"{_PERSONAL_PREFIX}{person}"


_MAX_VALUES = 512  # every SQLite takes 999 arguments


def padded(values: Sequence[T]) -> list[T]:
    """Repeat the last value until the length is a power of two, which changes nothing for IN.

    SQLite caches a compiled statement by its text, and compiling takes longer than running: so there
    should be few lengths.
    """
    missing = (1 << (len(values) - 1).bit_length()) - len(values) if values else 0
    return [*values, *[values[-1]] * missing] if missing else list(values)


def in_parts(values: Sequence[T]) -> Iterator[tuple[str, list[T]]]:
    """Yield placeholders and values for IN, in parts that every SQLite accepts."""
    for start in range(0, len(values), _MAX_VALUES):
        part = padded(values[start : start + _MAX_VALUES])
        yield marks(part), part


def marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


class SqlValidity(SqlTable):
    """Validity windows of memories."""

    def last_change_us(self, now_us: int) -> int | None:
        """Return the last time until now at which a window began or ended; None without any window.

        What is valid then is valid now. The number stays the same until a window begins or ends, so
        cached sets of memories stay usable.
        """
        last, any_from, any_until = self._row(
            "SELECT (SELECT max(at) FROM (SELECT max(valid_from_us) AS at FROM memories"
            " WHERE valid_from_us <= ?1 UNION ALL"
            " SELECT max(valid_until_us) FROM memories WHERE valid_until_us <= ?1) AS ends),"
            # IS NOT NULL makes SQLite use the partial indexes; otherwise it reads all memories.
            " (SELECT min(valid_from_us) FROM memories WHERE valid_from_us IS NOT NULL),"
            " (SELECT min(valid_until_us) FROM memories WHERE valid_until_us IS NOT NULL)",
            (now_us,),
        )
        if any_from is None and any_until is None:
            return None
        return FIRST_US if last is None else int(last)

    def ending(self, now_us: int, within_us: int | None, scope: Scope) -> list[str]:
        """Return the ids of memories that end after now, within a period, the soonest first."""
        until_us = LAST_US if within_us is None else min(now_us + within_us, LAST_US)
        return self._ends(now_us + 1, until_us, scope, "")

    def ended(self, now_us: int, within_us: int | None, scope: Scope) -> list[str]:
        """Return the ids of memories that have ended by now, within a period, the latest first."""
        since_us = FIRST_US if within_us is None else max(now_us - within_us, FIRST_US)
        return self._ends(since_us, now_us, scope, " DESC")

    def _ends(self, first_us: int, last_us: int, scope: Scope, order: str) -> list[str]:
        return self._column(
            "SELECT m.id FROM memories AS m WHERE m.valid_until_us >= ? AND m.valid_until_us <= ?"
            f" AND {{scope}} ORDER BY m.valid_until_us{order}, m.id",
            (first_us, last_us, scope),
        )


_MAX_BYTES = 64_000_000
_ENTRY_BYTES = 256  # an empty set takes memory as well
_UPDATED = "updated"
_DENSE = 8  # with more than 1 of 8 memories, a set is a flag for each of all; otherwise a list

_MAX_NUMBER = 1 << 32  # of a memory; a set has a byte for each

_Key = Scope | bytes | str  # a scope, the hash of a topic, or `_UPDATED`


class MemorySets:
    """Sets of memories as arrays by number, cached until the next commit of any process.

    Any commit can change what a scope may see: a membership ends, a memory moves. Inside a write,
    nothing is cached.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._commit: int | None = None
        self._cached: OrderedDict[_Key, NDArray[Any]] = OrderedDict()
        self._bytes = 0

    def visible(self, scope: Scope) -> NDArray[np.bool_] | None:
        """Return a flag for each memory by number, the last one False; None for everything."""
        return None if scope.everything else self._get((scope,))[scope]

    def with_topics(
        self, hashes: Sequence[bytes], scope: Scope
    ) -> tuple[list[NDArray[Any]], NDArray[np.bool_] | None]:
        """Return the memories of each topic, as flags or as numbers, and the visible ones, as flags."""
        # In one call: both are of one state of the database, so flags have one length.
        sets = self._get(hashes if scope.everything else (*hashes, scope))
        return [sets[hash_] for hash_ in hashes], sets.get(scope)

    def updated_us(self) -> NDArray[np.int64]:
        return self._get((_UPDATED,))[_UPDATED]

    def _get(self, keys: Sequence[_Key]) -> dict[_Key, NDArray[Any]]:
        with self._db.watched() as (db, commit):
            if commit is None:
                return self._read(db, keys)
            if commit != self._commit:
                self._cached.clear()
                self._commit, self._bytes = commit, 0
            missing = [key for key in keys if key not in self._cached]
            for key, array in self._read(db, missing).items() if missing else ():
                self._cached[key] = array
                self._bytes += array.nbytes + _ENTRY_BYTES
            sets = {key: self._cached[key] for key in keys}
            for key in keys:
                self._cached.move_to_end(key)
            while self._bytes > _MAX_BYTES:
                self._bytes -= self._cached.popitem(last=False)[1].nbytes + _ENTRY_BYTES
            return sets

    def _read(self, db: Connection, keys: Sequence[_Key]) -> dict[_Key, NDArray[Any]]:
        import numpy as np

        (newest,) = db.execute("SELECT coalesce(max(n), 0) FROM memories").fetchone()
        if newest > _MAX_NUMBER:
            raise StoreError(
                f"{self._db.path}: the number of a memory is damaged; run:"
                f" {to_type('doctor --repair', self._db.path)}"
            )
        size = newest + 2
        hashes = [key for key in keys if isinstance(key, bytes)]
        sets: dict[_Key, NDArray[Any]] = {hash_: np.empty(0, np.int64) for hash_ in hashes}
        for several, part in in_parts(hashes):
            for hash_, joined in db.execute(
                "SELECT hash, group_concat(memory) FROM topic_hashes"
                f" WHERE hash IN ({several}) GROUP BY hash",
                part,
            ):
                numbers = _numbers(joined)
                sets[hash_] = _flags(numbers, size) if len(numbers) * _DENSE > size else numbers
        for key in keys:
            if isinstance(key, Scope):
                condition, arguments = where(key, self._db)
                (joined,) = db.execute(
                    f"SELECT group_concat(m.n) FROM memories AS m WHERE {condition}", arguments
                ).fetchone()
                sets[key] = _flags(_numbers(joined), size)
            elif key == _UPDATED:
                numbers, updated = db.execute(
                    # A damaged time is 0: both lists must have one length.
                    "SELECT group_concat(n), group_concat(us) FROM (SELECT n,"
                    " coalesce(CAST(updated_us AS BIGINT), 0) AS us FROM memories) AS dated"
                ).fetchone()
                sets[key] = np.zeros(size, np.int64)
                sets[key][_numbers(numbers)] = _numbers(updated)
        return sets


def _numbers(joined: str | None) -> NDArray[np.int64]:
    # One text of all numbers: rows take four times as long.
    import numpy as np

    return np.fromstring(joined or "", dtype=np.int64, sep=",")


def _flags(numbers: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    import numpy as np

    flags = np.zeros(size, np.bool_)
    flags[numbers] = True
    return flags
