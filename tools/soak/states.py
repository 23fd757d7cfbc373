"""What a store must hold after a series of commands, some of them cut short, and whether it does."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import scrubjay
from scrubjay.errors import ScrubjayError
from scrubjay.storage.sqlite.postings.check import damage_of
from scrubjay.storage.sqlite.postings.migration import is_filled
from tools.soak.embedder import SoakEmbedder

Key = tuple[str, ...]
Value = str | None
ABSENT: Value = None


class States:
    """The values that each thing may have now: one when its last command was acknowledged, else two."""

    def __init__(self, values: Mapping[Key, frozenset[Value]] | None = None) -> None:
        self.values: dict[Key, frozenset[Value]] = dict(values or {})

    def begin(self, effects: Mapping[Key, Value]) -> None:
        """A command was begun: from now on both the old and the new state are right."""
        for key, value in effects.items():
            self.values[key] = self.values.get(key, frozenset({ABSENT})) | {value}

    def done(self, effects: Mapping[Key, Value]) -> None:
        """A command was acknowledged: only the new state is right."""
        for key, value in effects.items():
            self.values[key] = frozenset({value})

    def copy(self) -> States:
        return States(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def of(self, kind: str) -> dict[str, frozenset[Value]]:
        """Return the values of one kind of thing, by its name."""
        return {key[1]: value for key, value in self.values.items() if key[0] == kind}


def problems(place: str | Path, states: States) -> list[str]:
    """Return what is wrong in a store: lost, come back, double, or not what was acknowledged."""
    found = []
    try:
        with scrubjay.open(place, embedder=SoakEmbedder()) as store:
            found += wrong_memories(store, states)
            found += wrong_links(store, states)
            names = {key.name for key in store.api_keys.list()}
            found += wrong("API key", states.of("key"), dict.fromkeys(names, ""))
            given = {one.id for one in store.feedbacks(limit=1_000)}
            found += wrong("feedback", states.of("feedback"), dict.fromkeys(given, ""))
    except ScrubjayError as error:
        return [f"the store does not open: {error}"]
    if not str(place).startswith("postgres"):
        found += damage(place)
    return found


def wrong_memories(store: scrubjay.Store, states: States) -> list[str]:
    """Compare every memory with what was acknowledged; nothing may be there twice."""
    listed = {one.id: one.text for one in store.ls(limit=1_000_000)}
    named = {id_: text for id_, text in listed.items() if ("memory", id_) in states.values}
    found = wrong("memory", states.of("memory"), named)
    twice = [text for text, times in Counter(listed.values()).items() if times > 1]
    found += [f"stored twice: {text[:60]!r}" for text in twice]
    others = " ".join(text for id_, text in listed.items() if id_ not in named)
    words = set(others.split())
    documents = states.of("document")
    found += wrong("document", documents, {word: "" for word in documents if word in words})
    allowed = set(documents)
    unknown = [
        id_ for id_ in listed if id_ not in named and not allowed & set(listed[id_].split())
    ]
    return found + [f"memory {id_} was never stored" for id_ in unknown]


def wrong_links(store: scrubjay.Store, states: States) -> list[str]:
    """Compare the links that were made by hand."""
    there: dict[str, Value] = {}
    for pair in states.of("link"):
        a, _, b = pair.partition(" ")
        with_b = store.holds(a) and any(link.to == b for link in store.get(a).links)
        if with_b:
            there[pair] = ""
    return wrong("link", states.of("link"), there)


def wrong(
    kind: str, right: Mapping[str, frozenset[Value]], there: Mapping[str, Value]
) -> list[str]:
    """Return each thing whose value is not one of those that are right."""
    found = []
    for name, values in right.items():
        value = there.get(name)
        if value not in values:
            found.append(f"{kind} {name} is {shown(value)}, not {' or '.join(map(shown, values))}")
    return found


def shown(value: Value) -> str:
    return "absent" if value is None else repr(value[:60]) if value else "present"


def damage(path: str | Path) -> list[str]:
    """Return what SQLite itself finds wrong in a file and in its keyword index."""
    try:
        with closing(sqlite3.connect(path)) as db:
            found = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
            found += [f"foreign key: {row}" for row in db.execute("PRAGMA foreign_key_check")]
            found += filter(None, [damage_of(db, filled=is_filled(db))])
            rows = db.execute(
                "SELECT count(*) FROM memories WHERE n NOT IN (SELECT rowid FROM words)"
            )
            bare = rows.fetchone()[0]
            found += [f"{bare} memories are not in the keyword index"] if bare else []
    except sqlite3.Error as error:
        return [f"SQLite: {error}"]
    return found


def copy_problems(states: States, copies: Mapping[Path, States]) -> list[str]:
    """Check each backup and each restored file: whole if it was acknowledged, whole or absent if not."""
    found = []
    for path, then in copies.items():
        if path.exists():
            found += [f"{path.name}: {problem}" for problem in problems(path, then)]
        elif ABSENT not in states.values[("copy", str(path))]:
            found.append(f"{path.name} is missing")
    return found
