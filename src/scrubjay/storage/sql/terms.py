"""How many memories hold each token, in SQLite, and how often it stands in one.

The table `terms` has a count for each token and namespace, and one for the token "" that counts the
memories themselves. It is written in the transactions that write the words, so it is never off. The
tokens of a memory are not stored a second time: they are read from the keyword index.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from scrubjay.storage.database import Connection, Database, Gathered
from scrubjay.storage.sql.scope import in_parts, in_sight
from scrubjay.storage.sql.token_lines import TokenLines
from scrubjay.storage.sql.words import FIELDS
from scrubjay.text.tfidf import Bag, Counted
from scrubjay.types import Scope

MEMORIES = ""  # counts the memories themselves: no token is empty
_MOST_KNOWN = (
    100_000  # tokens whose counts are kept until anybody commits: most are asked for again
)
_BATCH = 500
_MOST_GATHERED = 200_000  # tokens; a large store has millions, and need not be held at once


class SqlTerms:
    """The counts of one file, to be read."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lines = TokenLines(db.codec.token)
        self._commit: int | None = None
        self._known: dict[str | None, dict[str, int]] = {}

    def asked(self, text: str, language: str) -> dict[str, int]:
        """Return the tokens of a query, as a text of this language has them, with how often each stands."""
        return bag_of([self._lines.of(text, language)])

    def bags(self, ids: Sequence[str]) -> dict[str, Bag]:
        """Return, by id, the tokens of title, text, context and topics, with how often each stands."""
        found: dict[str, Bag] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    f"SELECT m.id, m.language, {_columns()} FROM memories AS m"
                    f" JOIN words AS w ON w.rowid = m.n WHERE m.id IN ({several})",
                    part,
                )
                found.update((id_, Bag(spoken, bag_of(lines))) for id_, spoken, *lines in rows)
        return found

    def counted(self, tokens: Collection[str], scope: Scope) -> Counted:
        """Return how many memories hold each token, of all that the scope's person may see.

        Nothing else of the scope counts: a filter does not make a word rarer. What others have stored
        does not either, or scores would tell of it.
        """
        with self._db.watched() as (db, commit):
            if commit is None:
                self._db.write_gathered()
            known = self._known_by(scope.reader, commit)
            if missing := [token for token in (MEMORIES, *tokens) if token not in known]:
                known.update(_counts(db, missing, scope.reader))
            held_by = {token: held for token in tokens if (held := known[token])}
            return Counted(known[MEMORIES], held_by)

    def _known_by(self, reader: str | None, commit: int | None) -> dict[str, int]:
        """Return what was counted for a person since anybody committed; inside a write, nothing."""
        if commit is None:
            return {}
        if commit != self._commit or sum(map(len, self._known.values())) > _MOST_KNOWN:
            self._commit, self._known = commit, {}
        return self._known.setdefault(reader, {})


def _counts(db: Connection, tokens: list[str], reader: str | None) -> Iterator[tuple[str, int]]:
    """Yield how many memories in sight hold each token."""
    condition, arguments = in_sight(Scope(reader=reader), "namespace")
    # One statement, so all counts are of the same moment; summed token by token, because to group them
    # takes twice as long.
    rows = db.execute(
        "SELECT value, (SELECT sum(held_by) FROM terms"
        f" WHERE token = value AND {condition}) FROM json_each(?)",
        (*arguments, json.dumps(tokens)),
    )
    return ((token, held or 0) for token, held in rows)


class Changes(Gathered):
    """How many more memories hold a token in a namespace, or fewer, than the table says."""

    def __init__(self) -> None:
        self._more: dict[str, Counter[str]] = {}

    def gain(self, lines: Iterable[str], namespace: str) -> None:
        """Note a memory that is new in a namespace, by its lines of tokens."""
        self._more.setdefault(namespace, Counter()).update(_held(lines))

    def lose(self, lines: Iterable[str], namespace: str) -> None:
        """Note a memory that is gone from a namespace."""
        self._more.setdefault(namespace, Counter()).subtract(_held(lines))

    def __len__(self) -> int:
        return sum(map(len, self._more.values()))

    def write(self, db: Connection) -> None:
        """Bring the table up to date; a token that nobody holds any more is not kept."""
        for namespace, tokens in self._more.items():
            changed = [(token, namespace, by) for token, by in sorted(tokens.items()) if by]
            more = [one for one in changed if one[2] > 0]
            fewer = [(by, token, namespace) for token, _, by in changed if by < 0]
            db.executemany(
                "INSERT INTO terms (token, namespace, held_by) VALUES (?, ?, ?)"
                " ON CONFLICT (token, namespace) DO UPDATE SET held_by = terms.held_by + excluded.held_by",
                more,
            )
            db.executemany(
                "UPDATE terms SET held_by = held_by + ? WHERE token = ? AND namespace = ?", fewer
            )
            db.executemany(
                "DELETE FROM terms WHERE token = ? AND namespace = ? AND held_by < 1",
                [key for _, *key in fewer],
            )
        self._more.clear()


def count_again(db: Connection) -> None:
    """Count everything anew from the keyword index, inside the caller's transaction."""
    db.execute("DELETE FROM terms")
    changes, after = Changes(), 0
    while batch := db.execute(
        f"SELECT w.rowid, m.namespace, {_columns()} FROM words AS w"
        " JOIN memories AS m ON m.n = w.rowid WHERE w.rowid > ? ORDER BY w.rowid LIMIT ?",
        (after, _BATCH),
    ).fetchall():
        after = batch[-1][0]
        for _, namespace, *lines in batch:
            changes.gain(lines, namespace)
        if len(changes) > _MOST_GATHERED:
            changes.write(db)
    changes.write(db)


def write_anew(db: Connection) -> None:
    """Write the table once more on clean pages, so that no trace of a deleted token is left."""
    db.execute("CREATE TEMP TABLE copied AS SELECT token, namespace, held_by FROM terms")
    db.execute("DELETE FROM terms")
    db.execute("INSERT INTO terms SELECT token, namespace, held_by FROM copied")
    db.execute("DROP TABLE copied")


def bag_of(lines: Iterable[str]) -> Counter[str]:
    """Return how often each token stands in lines of tokens."""
    return Counter(" ".join(lines).split())


def _held(lines: Iterable[str]) -> set[str]:
    return {MEMORIES, *" ".join(lines).split()}


def _columns() -> str:
    return ", ".join(f"w.{field}" for field in FIELDS)
