"""Both lookups of gnosis against the simplest way to do the same, while others write."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from backends import Backend, InPostgres, a_memory, pieces

from scrubjay.storage.sql.topics import SqlTopics
from scrubjay.types import Scope

MODEL = "plain-8"
DIMS = 8
WORDS = "tea milk port east west ship".split()
TOPICS = (*WORDS, "tea milk", "milk tea", "east port", "ship of tea")
NAMESPACES = ("ann", "ben", "cat")
KEYWORDS = (
    ("tea",),
    ("nowhere",),
    ("tea", "milk", "tea milk"),
    ("east port",),
    tuple(TOPICS),
    ("Milk", "ship", "milk ship", "west"),
)


class Memories:
    """What is stored, as plain as can be: by id its fields and vectors."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.kept: dict[str, dict] = {}

    def write(self, backend: Backend, ids) -> None:
        """Write memories with other fields than before, most of them with vectors."""
        vectors = {}
        for id_ in ids:
            fields = {
                "namespace": self.chance.choice(NAMESPACES),
                "type": self.chance.choice(("fact", "task")),
                "hours": self.chance.randrange(4),
                "topics": tuple(self.chance.sample(TOPICS, self.chance.randrange(4))),
            }
            chunks = self.chance.choice((1, 1, 1, 3))
            text = f"text {self.chance.random()} of {id_}"
            backend.records.put(a_memory(id_, text, **fields), pieces(text, chunks))
            rows = [self.vector() for _ in range(chunks)] if self.chance.random() < 0.9 else []
            if rows:
                vectors[id_] = rows
            self.kept[id_] = fields | {"vectors": rows, "filed": set(fields["topics"])}
        backend.embed(MODEL, vectors)

    def vector(self):
        """Few numbers, and all of them exact, so that very many tie."""
        return np.array([self.chance.randrange(-4, 5) / 8 for _ in range(DIMS)], np.float32)

    def seen(self, scope: Scope) -> list[str]:
        """Return the ids that a scope may see."""
        return [
            id_
            for id_, one in self.kept.items()
            if (scope.namespaces is None or one["namespace"] in scope.namespaces)
            and (scope.types is None or one["type"] in scope.types)
            and (scope.topics is None or one["filed"] & set(scope.topics))
        ]

    def near(self, id_: str, vector) -> tuple[float, int] | None:
        """Return the best cosine of a memory and the first chunk that has it."""
        cosines = [float(row @ vector) for row in self.kept[id_]["vectors"]]
        return (max(cosines), cosines.index(max(cosines))) if cosines else None

    def nearest(self, vector, scope: Scope, limit: int):
        """Return what the vector lookup should."""
        rows = [(id_, self.near(id_, vector)) for id_ in self.seen(scope)]
        rows = [(id_, *near) for id_, near in rows if near]
        rows.sort(key=lambda row: (-row[1], -self.kept[row[0]]["hours"], row[0]))
        return rows[:limit]

    def tagged(self, keywords, vector, scope: Scope, limit: int):
        """Return what the topic lookup should."""
        rows = []
        for id_ in self.seen(scope):
            count = len(self.matched(id_, [one.lower() for one in keywords]))
            near = self.near(id_, vector) if vector is not None else None
            if count:
                order = (-count, -near[0] if near else 2.0, -self.kept[id_]["hours"], id_)
                rows.append((order, (id_, count, near[1] if near else None)))
        return [row for _, row in sorted(rows)][:limit]

    def matched(self, id_: str, keywords) -> set[str]:
        """Return the keywords that a memory's topics match; a whole stands for its words."""
        found = set()
        for topic in self.kept[id_]["topics"]:
            for key in keywords:
                if key == topic or (key != "of" and key in topic.split()):
                    found |= set(key.split()) & set(keywords) or {key}
        return found


def check(memories: Memories, backend: Backend, topics: SqlTopics) -> None:
    """Compare both lookups, under one scope after the other."""
    chance = memories.chance
    scopes = (
        Scope(),
        Scope(namespaces=("ann",)),
        Scope(namespaces=("ann", "ben"), types=("fact",)),
        Scope(topics=("tea", "filed here")),
        Scope(namespaces=("nobody",)),
    )
    for scope in scopes:
        vector = np.zeros(DIMS, np.float32)
        vector[chance.sample(range(DIMS), 2)] = 0.5
        for limit in (1, 5, 48):
            found = backend.vectors.search(vector, MODEL, scope, limit).rows
            rows = [(row.id, row.score, row.chunk) for row in found]
            assert rows == memories.nearest(vector, scope, limit)
            keywords = chance.choice(KEYWORDS)
            for asked in (vector, None):
                found = topics.search(keywords, asked, MODEL, scope, limit).rows
                rows = [(row.id, row.score, row.chunk) for row in found]
                assert rows == memories.tagged(keywords, asked, scope, limit)


@pytest.fixture
def other(backend):
    """A second opening of the same file; of a store in memory, the same one."""
    if backend.path == ":memory:":
        yield backend
        return
    again = backend.again()
    yield again
    again.close()


@pytest.mark.parametrize("most_read", [0, 256], ids=["arrays", "few"])
@pytest.mark.parametrize("seed", range(3))
def test_lookups_find_what_brute_force_finds(backend, other, monkeypatch, seed, most_read):
    """GS-3, GS-4, R-5: after every write of anybody, the same rows in the same order."""
    monkeypatch.setattr("scrubjay.storage.sql.topics._MAX_READ", most_read)
    if seed and isinstance(backend, InPostgres):
        pytest.skip("one seed is enough where a write takes so much longer")
    backend.activate(MODEL, DIMS)
    memories = Memories(random.Random(seed))
    topics = SqlTopics(backend.db, backend.vectors)
    check(memories, backend, topics)
    for turn in range(4):
        writer = (backend, other)[turn % 2]
        with writer.records.transaction():
            ids = [f"m{n:03}" for n in range(120)]
            memories.write(writer, memories.chance.sample(ids, 60))
        check(memories, backend, topics)
        gone = memories.chance.sample(sorted(memories.kept), 10)
        other.records.delete(gone)
        for id_ in gone:
            del memories.kept[id_]
        check(memories, backend, topics)


def test_a_commit_that_touches_no_memory_can_change_what_a_scope_sees(backend, other):
    """GS-5: as when a membership begins or ends, in another process."""
    backend.activate(MODEL, DIMS)
    memories = Memories(random.Random(7))
    topics = SqlTopics(backend.db, backend.vectors)
    memories.write(backend, [f"m{n:02}" for n in range(40)])
    check(memories, backend, topics)
    for statement, change in (
        ("INSERT INTO topics SELECT 'filed here', n FROM memories WHERE id = ?", "add"),
        ("DELETE FROM topics WHERE memory = (SELECT n FROM memories WHERE id = ?)", "clear"),
    ):
        for id_ in ("m03", "m17"):
            with other.db.write() as db:
                db.execute(statement, (id_,))
            filed = memories.kept[id_]["filed"]
            filed.add("filed here") if change == "add" else filed.clear()
            check(memories, backend, topics)


def test_what_a_write_has_not_committed_is_not_kept(backend):
    """Inside, its own rows are found; after it has failed, nobody finds them."""
    topics = SqlTopics(backend.db, backend.vectors)
    scope = Scope(namespaces=("ann",))
    backend.records.put(a_memory("a", topics=("tea",), namespace="ann"), pieces("some text"))

    def found(scope):
        return [row.id for row in topics.search(["tea"], None, None, scope, 9).rows]

    def seen(scope):
        return topics._sets.visible(scope).sum()

    assert (found(scope), seen(scope)) == (["a"], 1)

    def fail():
        with backend.records.transaction():
            backend.records.put(a_memory("b", topics=("tea",), namespace="ann"), pieces("some"))
            assert (found(scope), seen(scope)) == (["a", "b"], 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (found(scope), seen(scope)) == (["a"], 1)


def test_arrays_are_kept_until_a_commit_and_not_without_end(backend, other, monkeypatch):
    """The same array serves while nothing was written; the least used go when there are too many."""
    kept = backend.vectors.sets
    scope = Scope(namespaces=("ann",))
    assert kept.visible(Scope()) is None
    first = kept.visible(scope)
    assert kept.visible(scope) is first
    other.records.put(a_memory("a", namespace="ann"), pieces("some text"))
    second = kept.visible(scope)
    assert second is not first
    assert (first.sum(), second.sum()) == (0, 1)
    monkeypatch.setattr("scrubjay.storage.sql.scope._MAX_BYTES", 3 * (len(second) + 256))
    for n in range(5):
        kept.visible(Scope(owner=f"o{n}"))
    assert len(kept._cached) == 3
    assert kept.visible(Scope(owner="o4")).sum() == 0
    assert kept.visible(scope) is not second


def test_a_reader_that_stands_at_an_older_state_does_not_make_others_see_it(backend, other):
    """Somebody may go through rows slowly while another process writes."""
    if backend.path == ":memory:":
        pytest.skip("a store in memory has one connection")
    scope = Scope(namespaces=("ann",))
    for id_ in "ab":
        backend.records.put(a_memory(id_, namespace="ann"), pieces("some text"))
    with backend.db.read() as db:
        slow = db.execute("SELECT n FROM memories")
        slow.fetchone()
        other.records.put(a_memory("c", namespace="ann"), pieces("some text"))
        assert backend.vectors.sets.visible(scope).sum() == 3
        slow.close()


def test_threads_that_ask_the_same_and_other_things_at_once_get_their_own_answers(backend):
    """GS-3: the scan that two lookups share is that of their query, also while others ask."""
    backend.activate(MODEL, DIMS)
    memories = Memories(random.Random(11))
    memories.write(backend, [f"m{n:03}" for n in range(200)])
    topics = SqlTopics(backend.db, backend.vectors)
    asked = [row * 0.5 for row in np.eye(DIMS, dtype=np.float32)]
    everything = Scope()

    def ask(number):
        vector, limit = asked[number % DIMS], 7
        near = backend.vectors.search(vector, MODEL, everything, limit).rows
        tagged = topics.search(["tea"], vector, MODEL, everything, limit).rows
        return (
            [(row.id, row.score, row.chunk) for row in near],
            [(row.id, row.score, row.chunk) for row in tagged],
        )

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(ask, range(120)))
    for number, answer in enumerate(answers):
        vector = asked[number % DIMS]
        nearest = memories.nearest(vector, everything, 7)
        assert answer == (nearest, memories.tagged(["tea"], vector, everything, 7))
