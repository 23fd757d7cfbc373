"""Candidates of a change: memories near a memory that it may update or be updated by.

They are the nearest by vector in its namespace, and those that share an identifier or a name with it.
What cannot be an update by its speaker, its time or its words is dropped before a model reads it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.text.analysis import fold_text, words
from scrubjay.text.query_syntax import parse_query
from scrubjay.types import Memory, Scope
from scrubjay.types.files import NOT_NOTES
from scrubjay.write.changes.judge import NAME, content

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.sql.keyword_ranking import KeywordIndex
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.vectors import SqlVectors

NOT_COMPARED = NOT_NOTES  # types of memories
MOST_CHARS = 1000  # of a memory that is compared
NEIGHBORS = 8
# Of the pairs in docs/decisions/040-detecting-changes.md, updates have a cosine of 0.5 or more.
FLOOR = 0.4
NAMED_FLOOR = 0.25  # of those that share an identifier or a name
_OVERLAP = 0.4  # how much shared words count beside the cosine
_MOST_NAMES = 4
_DIALOGUE_TURNS = 4
_EVERYTHING = Scope()
_BREATH = timedelta(seconds=20)  # two messages of one conversation so near say two things
# A word with a digit, an underscore or letters of both cases.
_IDENTIFIER = re.compile(r"\d|_|[a-z][A-Z]|\w[./:@#]\w")


class Candidate(NamedTuple):
    """A memory near another one, how much so, and the cosine of both."""

    memory: Memory
    nearness: float
    cosine: float


class Candidates:
    """Finds candidates in one database, by the vectors of one model."""

    def __init__(self, records: SqlRecords, vectors: SqlVectors, keyword: KeywordIndex) -> None:
        self._records, self._vectors, self._keyword = records, vectors, keyword

    def of(
        self,
        memory: Memory,
        vector: NDArray[np.float32],
        model: str,
        without: Collection[str] = (),
    ) -> list[Candidate]:
        """Return the candidates of a memory, the nearest first; none for one that is not compared."""
        if not is_comparable(memory):
            return []
        scope = Scope(namespaces=(memory.namespace,), not_types=NOT_COMPARED)
        limit = NEIGHBORS + 1 + len(without)  # the nearest of all is the memory itself
        near = self._vectors.search(vector, model, scope, limit).rows
        cosines = {row.id: row.score for row in near if row.score >= FLOOR}
        named = self._named(memory, scope) - cosines.keys()
        if named:
            of_named = scope._replace(ids=tuple(sorted(named)))
            rows = self._vectors.search(vector, model, of_named, NEIGHBORS).rows
            cosines |= {row.id: row.score for row in rows if row.score >= NAMED_FLOOR}
        ids = [id_ for id_ in cosines if id_ != memory.id and id_ not in without]
        found = self._records.get(ids, scope).values()
        likely = [
            Candidate(one, cosines[one.id] + _OVERLAP * _overlap(memory, one), cosines[one.id])
            for one in found
            if is_comparable(one) and may_be_changed(memory, one)
        ]
        return sorted(likely, key=lambda one: (-round(one.nearness, 6), one.memory.id))

    def in_dialogue(self, memory: Memory) -> bool:
        """True for a turn of a dialogue: a message with several others around it in its session."""
        if memory.type != "message" or memory.session is None:
            return False
        beside = self._records.around([memory.id], _DIALOGUE_TURNS, _EVERYTHING).get(memory.id, ())
        return sum(map(len, beside)) >= _DIALOGUE_TURNS

    def _named(self, memory: Memory, scope: Scope) -> set[str]:
        """Return memories that share an identifier or a name with this one."""
        names = names_in(memory.text)
        if not names:
            return set()
        query = parse_query(" ".join(names), self._records.languages(), bind=())
        found = self._keyword.search(query.words, scope, NEIGHBORS, {}, every_first=False)
        return {row.id for row in found.rows}


def names_in(text: str) -> list[str]:
    """Return the first few identifiers and names in a text."""
    found = [word for word in words(text) if _IDENTIFIER.search(word)]
    found += [name for name in NAME.findall(text) if name[0].isupper()]
    return list(dict.fromkeys(found))[:_MOST_NAMES]


def is_comparable(memory: Memory) -> bool:
    """True for a short text that states something: no document, no question, no small talk."""
    return (
        memory.type not in NOT_COMPARED
        and len(memory.text) <= MOST_CHARS
        and memory.created_at is not None
        and not memory.text.rstrip().endswith("?")
        and len(content(memory)) > 1
    )


def may_be_changed(one: Memory, other: Memory) -> bool:
    """False for two memories of which the later one cannot update the earlier one."""
    if one.created_at is None or other.created_at is None or one.created_at == other.created_at:
        return False
    if fold_text(one.text) == fold_text(other.text):
        return False
    for mine, theirs in ((one.role, other.role), (one.owner, other.owner)):
        if mine and theirs and mine != theirs:  # "I" is another person
            return False
    if one.language and other.language and one.language != other.language:
        return False
    apart = abs(one.created_at - other.created_at)
    if one.session and one.session == other.session and apart < _BREATH:
        return False
    return not _from_one_message(one, other)


def _from_one_message(one: Memory, other: Memory) -> bool:
    """True for a fact and the message that it was extracted from, and for two facts from one."""
    sources = [memory.metadata.get("message") for memory in (one, other)]
    return other.id == sources[0] or one.id == sources[1] or None is not sources[0] == sources[1]


def _overlap(one: Memory, other: Memory) -> float:
    mine = content(one)
    return len(mine & content(other)) / (1 + len(mine))
