"""What every store of records does."""

from __future__ import annotations

import pytest
from backends import a_memory, asking, pieces
from clocks import NOON

from scrubjay.storage.sql.records import project_namespaces
from scrubjay.types import Scope

EVERYTHING = Scope()


def put(backend, *memories):
    for one in memories:
        backend.records.put(one, pieces(one.text))


def test_what_is_put_comes_back_equal(backend):
    """Every field, to the microsecond and the last character."""
    full = a_memory(
        "a",
        "line one\r\nline \0 two 😀 \u0301",
        title="T",
        type="decision",
        topics=("x", "y z"),
        namespace="work",
        collection="c",
        session="s",
        role="user",
        owner="o",
        agent="g",
        severity="critical",
        domain="d",
        context="ctx",
        event_time=NOON.replace(microsecond=123456),
        valid_from=NOON,
        valid_until=NOON.replace(year=9999),
        source="/tmp/x",
        metadata={"n": [1, 2.5, None, True, {"k": "ü"}]},
        content_hash="abc",
        language="en",
    )
    put(backend, full)

    assert backend.records.get(["a"], EVERYTHING) == {"a": full}


def test_put_replaces_the_memory_of_the_same_id(backend):
    """Chunks, topics and words of the old one are gone."""
    old = a_memory("a", "old words", topics=("t",))
    backend.records.put(old, pieces(old.text, 3))
    put(backend, a_memory("a", "new"))

    assert backend.records.get(["a"], EVERYTHING)["a"].text == "new"
    assert backend.records.get(["a"], Scope(topics=("t",))) == {}
    assert list(backend.records.chunks([("a", 0), ("a", 1), ("a", 2)])) == [("a", 0)]
    assert backend.keyword.search(asking("old"), EVERYTHING, 10, {}).rows == ()


def test_get_leaves_out_what_is_not_there_or_not_in_scope(backend):
    """R-3: a scope binds every read."""
    put(backend, a_memory("a", namespace="mine"), a_memory("b", namespace="theirs"))

    assert set(backend.records.get(["a", "b", "x"], Scope(namespaces=("mine",)))) == {"a"}
    assert backend.records.get(["a"], Scope(namespaces=())) == {}
    assert backend.records.get([], EVERYTHING) == {}


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        (Scope(), "abc"),
        (Scope(namespaces=("n1", "n2")), "ab"),
        (Scope(ids=("c", "x")), "c"),
        (Scope(types=("fact",)), "ac"),
        (Scope(topics=("red",)), "ab"),
        (Scope(topics=("red", "blue")), "abc"),
        (Scope(topics=()), ""),
        (Scope(collection="k"), "b"),
        (Scope(session="s"), "c"),
        (Scope(owner="o", agent="g"), "a"),
        (Scope(domain="d"), "b"),
        (Scope(since=NOON), "abc"),
        (Scope(since=NOON.replace(hour=13)), "bc"),
        (Scope(until=NOON.replace(hour=13)), "ab"),
        (Scope(since=NOON.replace(hour=13), until=NOON.replace(hour=13)), "b"),
        (Scope(namespaces=("n1",), types=("decision",)), ""),
    ],
)
def test_every_filter_of_a_scope_binds(backend, scope, seen):
    """R-3: both ends of a time span are inside it; several filters all bind."""
    put(
        backend,
        a_memory("a", namespace="n1", topics=("red",), owner="o", agent="g"),
        a_memory(
            "b", hours=1, namespace="n2", type="decision", topics=("red",), collection="k"
        )._replace(domain="d"),
        a_memory("c", hours=2, namespace="n3", topics=("blue",), session="s", owner="o"),
    )

    assert "".join(sorted(backend.records.get(["a", "b", "c"], scope))) == seen
    assert "".join(sorted(one.id for one in backend.records.scan(scope, 10))) == seen
    words = backend.keyword.search(asking("text"), scope, 10, {})
    assert "".join(sorted(row.id for row in words.rows)) == seen


def test_scan_gives_the_newest_first_and_pages(backend):
    """Ties by id, so that a page is never shown twice."""
    put(backend, *(a_memory(id_, hours=n // 2) for n, id_ in enumerate("fedcba")))

    ids = [one.id for one in backend.records.scan(EVERYTHING, 10)]
    assert ids == ["a", "b", "c", "d", "e", "f"]
    assert [one.id for one in backend.records.scan(EVERYTHING, 2, 2)] == ["c", "d"]


def test_chunks_are_found_by_id_and_ordinal(backend):
    """Those that there are."""
    text = "abcdefghij"
    backend.records.put(a_memory("a", text), pieces(text, 2))

    found = backend.records.chunks([("a", 1), ("a", 7), ("x", 0)])

    assert dict(found) == {("a", 1): pieces(text, 2)[1]}
    assert backend.records.chunk_counts(["a", "x"]) == {"a": 2}
    assert backend.records.chunk_counts([]) == {}


def test_delete_counts_and_takes_everything_with_it(backend):
    """Words, topics, chunks and links; the others stay."""
    put(backend, a_memory("a", topics=("t",)), a_memory("b"), a_memory("c"))
    backend.graph.link("a", "b", 1.0, "related")
    backend.graph.link("b", "c", 1.0, "related")

    assert backend.records.delete(["a", "nobody"]) == 1

    assert backend.records.delete(["a"]) == 0
    assert set(backend.records.get(["a", "b", "c"], EVERYTHING)) == {"b", "c"}
    assert dict(backend.records.chunks([("a", 0)])) == {}
    assert [one.id for one in backend.graph.walk(["b"], EVERYTHING, 1, 9)] == ["c"]
    assert [row.id for row in backend.keyword.search(asking("text"), EVERYTHING, 9, {}).rows] == [
        "b",
        "c",
    ]


def test_a_failed_transaction_leaves_nothing(backend):
    """All of it is durable afterwards, or none of it."""

    def half_done():
        with backend.records.transaction():
            put(backend, a_memory("a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_done()

    assert backend.records.scan(EVERYTHING, 10) == []
    put(backend, a_memory("b"))
    assert [one.id for one in backend.records.scan(EVERYTHING, 10)] == ["b"]


def test_inside_a_transaction_one_sees_ones_own_rows_and_others_do_not(backend):
    """Readers go on with what was there before."""
    other = backend.again()
    with backend.records.transaction():
        put(backend, a_memory("a"))
        assert set(backend.records.get(["a"], EVERYTHING)) == {"a"}
        assert other.records.get(["a"], EVERYTHING) == {}

    assert set(other.records.get(["a"], EVERYTHING)) == {"a"}
    other.close()


def test_namespaces_are_listed_by_name_as_far_as_one_sees_them(backend):
    """NM-5: each once, so many at most, and those of a project by how they begin."""
    for n, place in enumerate(("work/web", "home", "work/api", "work", "workshop/a", "home")):
        backend.records.put(a_memory(f"m{n}", namespace=place), pieces("some text"))

    assert backend.records.namespaces(Scope(), 9) == [
        "home",
        "work",
        "work/api",
        "work/web",
        "workshop/a",
    ]
    assert backend.records.namespaces(Scope(), 2) == ["home", "work"]
    assert backend.records.namespaces(Scope(reader="ann"), 9) == []
    assert project_namespaces(backend.db, "work/", Scope()) == ["work/api", "work/web"]
    assert project_namespaces(backend.db, "work/", Scope(namespaces=("work/api", "home"))) == [
        "work/api"
    ]
    assert project_namespaces(backend.db, "w%/", Scope()) == []
