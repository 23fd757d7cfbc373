"""What a map is drawn from, in every kind of store."""

from __future__ import annotations

import numpy as np
from backends import a_memory, pieces

from scrubjay.insight.map.draw import Maps
from scrubjay.storage.sql.overview import SqlMap
from scrubjay.types import Scope

MODEL = "toy"
EVERYTHING = Scope()


def at(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def filled(backend) -> SqlMap:
    backend.activate(MODEL, 2)
    backend.records.put(a_memory("a", "one", topics=("tea", "cup")), pieces("one"))
    backend.records.put(a_memory("b", "two", title="Two"), pieces("twoo", 2))
    backend.records.put(a_memory("c", "three", namespace="theirs"), pieces("three"))
    backend.embed(MODEL, {"a": [at(1, 0)], "b": [at(1, 0), at(0, 1)]})
    return SqlMap(backend.db)


def test_memories_with_a_vector_are_told_from_those_without(backend):
    """Under a scope, each once, as they were stored."""
    table = filled(backend)

    found, left_out = table.embedded(MODEL, EVERYTHING)
    assert ([one.id for one in found], left_out) == (["a", "b"], 1)
    found, left_out = table.embedded(MODEL, Scope(namespaces=("theirs",)))
    assert (found, left_out) == ([], 1)
    found, left_out = table.embedded("another", EVERYTHING)
    assert (found, left_out) == ([], 3)


def test_a_memory_has_the_mean_of_its_passages(backend):
    """Of length 1; what has no vector is left out."""
    table = filled(backend)
    numbers = {one.id: one.memory for one in table.embedded(MODEL, EVERYTHING)[0]}
    there, rows = table.vectors(MODEL, [*numbers.values(), max(numbers.values()) + 1])

    found = dict(zip(there, rows.tolist(), strict=True))
    assert found[numbers["a"]] == [1, 0]
    assert np.allclose(found[numbers["b"]], [0.5**0.5, 0.5**0.5])
    assert len(found) == 2
    assert table.vectors(MODEL, [])[0] == []


def test_what_is_shown_is_read_by_number(backend):
    """A title, or else the text; the first topic, or none."""
    table = filled(backend)
    numbers = [one.memory for one in table.embedded(MODEL, EVERYTHING)[0]]
    a, b = table.labels(numbers).values()

    assert (a.id, a.words, a.topic) == ("a", "one", "tea")
    assert (b.id, b.words, b.topic) == ("b", "Two", None)
    assert a.updated_us == b.updated_us > 0


def test_a_map_is_drawn_anew_when_another_process_writes(backend):
    """And only then."""
    filled(backend)
    maps = Maps(backend.db)
    before = maps.drawn(EVERYTHING, MODEL, 10)
    assert maps.drawn(EVERYTHING, MODEL, 10) is before
    assert sorted(before.places.values()) == [(-1, 0), (1, 0)]

    backend.embed(MODEL, {"c": [at(0, 1)]})
    after = maps.drawn(EVERYTHING, MODEL, 10)
    assert sorted(after.places) == ["a", "b", "c"]
    assert (after.memories, after.left_out) == (3, 0)
