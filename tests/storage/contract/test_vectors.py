"""What every vector index does, against a brute force in float32."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from backends import BACKENDS, InPostgres, SqliteWithQdrant, a_memory, opened, pieces
from places import SUPPORT

from scrubjay import InvalidInput
from scrubjay.types import Scope

EVERYTHING = Scope()


@pytest.fixture(params=[*BACKENDS, "qdrant"])
def backend(request, tmp_path):
    """One empty store of each kind, and one whose vectors are found by a server."""
    if request.param == "qdrant":
        server = request.getfixturevalue("qdrant")
        store = SqliteWithQdrant(str(tmp_path / "notes.db"), f"{server.url}/shared?timeout_s=60")
    else:
        store = opened(request.param, request)
    yield store
    store.close()


def units(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def clustered(count, dims, clusters=50, seed=3):
    """Vectors as texts have them: bunches, where the neighbours are close to each other."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(clusters, dims))
    return units(
        centres[chance.integers(0, clusters, count)] + 0.25 * chance.normal(size=(count, dims))
    )


def fill(backend, vectors, model="m", **fields):
    """One memory a vector."""
    backend.activate(model, vectors.shape[1])
    with backend.records.transaction():
        for n in range(len(vectors)):
            backend.records.put(a_memory(f"v{n:05}", f"t{n}", **fields), pieces("tttt"))
    backend.embed(model, {f"v{n:05}": [row] for n, row in enumerate(vectors)})


def ids(found):
    return [row.id for row in found.rows]


def test_a_search_with_a_shortlist_says_what_it_compared(backend):
    """CG-1: in a small store every vector, whole, in every database; without a shortlist nothing is said."""
    fill(backend, clustered(20, 96))
    query = clustered(1, 96, seed=8)[0]

    found = backend.vectors.search(query, "m", EVERYTHING, 5, shortlist=5)

    assert re.match("all (20 )?vectors, whole", found.compared)
    assert ids(found) == ids(backend.vectors.search(query, "m", EVERYTHING, 5))
    assert backend.vectors.search(query, "m", EVERYTHING, 5).compared == ""


def test_recall_against_brute_force(backend):
    """Of the ten nearest of thousands of clustered vectors, 99 % are found, with exact cosines."""
    vectors = clustered(backend.many, 96)
    fill(backend, vectors)
    queries = clustered(50, 96, seed=4)
    queries[:25] = units(vectors[:25] + 0.1 * queries[:25])
    hits = 0
    for query in queries:
        exact = vectors @ query
        best = np.argsort(-exact, kind="stable")[:10]
        found = backend.vectors.search(query, "m", EVERYTHING, 10)
        hits += len({f"v{n:05}" for n in best} & set(ids(found)))
        for row in found.rows:
            assert row.score == pytest.approx(float(exact[int(row.id[1:])]), abs=1e-5)
        assert [row.score for row in found.rows] == sorted(
            (r.score for r in found.rows), reverse=True
        )

    assert hits >= 0.99 * 500


def test_a_memory_counts_once_by_its_best_chunk(backend):
    """R-4: and the chunk is named."""
    one, two, far = units([[1, 0.1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    backend.activate("m", 4)
    backend.records.put(a_memory("long", "abcdefgh"), pieces("abcdefgh", 4))
    backend.records.put(a_memory("short", "abcd"), pieces("abcd", 1))
    backend.embed("m", {"long": [far, one, two, far], "short": [one]})

    found = backend.vectors.search(two, "m", EVERYTHING, 10)

    assert [(row.id, row.chunk) for row in found.rows] == [("long", 2), ("short", 0)]
    assert [row.score for row in found.rows] == pytest.approx([1.0, float(one @ two)])


def test_many_chunks_of_one_memory_do_not_hide_the_others(backend):
    """R-4: the index looks further until it has as many memories as were asked for."""
    chance = np.random.default_rng(1)
    near, base = 300, units(chance.normal(size=16))
    text = "x" * near
    backend.activate("m", 16)
    backend.records.put(a_memory("long", text), pieces(text, near))
    backend.embed("m", {"long": list(units(base + 0.01 * chance.normal(size=(near, 16))))})
    for n in range(5):
        backend.records.put(a_memory(f"s{n}", "abcd"), pieces("abcd"))
        backend.embed("m", {f"s{n}": [units(base + 0.5 * chance.normal(size=16))]})

    found = backend.vectors.search(base, "m", EVERYTHING, 6)

    assert sorted(ids(found)) == ["long", "s0", "s1", "s2", "s3", "s4"]
    assert ids(found)[0] == "long"


def test_equal_cosines_are_ordered_by_age_then_id(backend):
    """R-5: the same vector ten times."""
    backend.activate("m", 4)
    same = units([1, 2, 3, 4])
    for n, id_ in enumerate("jihgfedcba"):
        backend.records.put(a_memory(id_, "abcd", hours=n % 2), pieces("abcd"))
        backend.embed("m", {id_: [same]})

    right = ["a", "c", "e", "g", "i", "b", "d", "f", "h", "j"]
    assert ids(backend.vectors.search(same, "m", EVERYTHING, 10)) == right


@pytest.mark.parametrize("share", [1, 40])
def test_a_scope_binds_the_search(backend, share):
    """R-3: the nearest that the scope allows, however far down the whole list they are."""
    vectors = clustered(800, 16)
    backend.activate("m", 16)
    with backend.records.transaction():
        for n in range(800):
            kind = "rare" if n % (800 // share) == 0 else "common"
            backend.records.put(a_memory(f"v{n:05}", "abcd", type=kind), pieces("abcd"))
    backend.embed("m", {f"v{n:05}": [row] for n, row in enumerate(vectors)})
    query = clustered(1, 16, seed=9)[0]
    rare = [n for n in range(800) if n % (800 // share) == 0]
    best = sorted(rare, key=lambda n: -float(vectors[n] @ query))[:5]

    found = backend.vectors.search(query, "m", Scope(types=("rare",)), 5)

    assert ids(found) == [f"v{n:05}" for n in best]
    assert ids(backend.vectors.search(query, "m", Scope(namespaces=()), 5)) == []
    chosen = Scope(ids=("v00003", "v00005", "nobody"))
    assert set(ids(backend.vectors.search(query, "m", chosen, 5))) == {"v00003", "v00005"}


def test_models_are_never_mixed(backend):
    """A vector of one model is not compared with a query of another."""
    one, two = units([[1, 0, 0, 0], [0, 1, 0, 0]])
    backend.activate("first", 4)
    backend.activate("second", 4)
    backend.records.put(a_memory("a", "abcd"), pieces("abcd"))
    backend.records.put(a_memory("b", "abcd"), pieces("abcd"))
    backend.embed("first", {"a": [one]})
    backend.embed("second", {"b": [one], "a": [two]})

    assert ids(backend.vectors.search(one, "first", EVERYTHING, 9)) == ["a"]
    assert ids(backend.vectors.search(one, "second", EVERYTHING, 9)) == ["b", "a"]
    assert backend.vectors.search(one, "third", EVERYTHING, 9).rows == ()


def test_a_model_keeps_its_dimensions(backend):
    """Another width under the same name is refused, with both numbers."""
    backend.activate("m", 4)
    backend.activate("m", 4)

    with pytest.raises(InvalidInput, match="4 dimensions"):
        backend.activate("m", 8)


def test_missing_counts_the_chunks_without_a_vector(backend):
    """Per model and under a scope."""
    backend.records.put(a_memory("a", "abcdef", namespace="x"), pieces("abcdef", 3))
    backend.activate("m", 4)
    backend.records.put(a_memory("b", "abcd"), pieces("abcd", 2))

    assert backend.vectors.missing("m", EVERYTHING) == 5
    backend.embed("m", {"a": list(units(np.eye(4)[:2]))})
    assert backend.vectors.missing("m", EVERYTHING) == 3
    assert backend.vectors.missing("m", Scope(namespaces=("x",))) == 1
    assert backend.vectors.missing("other", EVERYTHING) == 0


def test_a_vector_goes_with_its_text(backend):
    """Replaced or deleted, the old vector finds nothing any more."""
    one, two = units([[1, 0, 0, 0], [0, 1, 0, 0]])
    backend.activate("m", 4)
    for id_ in "ab":
        backend.records.put(a_memory(id_, "abcd"), pieces("abcd"))
    backend.embed("m", {"a": [one], "b": [two]})
    assert ids(backend.vectors.search(one, "m", EVERYTHING, 9)) == ["a", "b"]

    backend.records.put(a_memory("a", "wxyz"), pieces("wxyz"))
    assert ids(backend.vectors.search(one, "m", EVERYTHING, 9)) == ["b"]
    backend.embed("m", {"a": [two]})
    assert backend.vectors.search(two, "m", EVERYTHING, 9).rows[0].score == pytest.approx(1.0)
    backend.records.delete(["a", "b"])
    assert backend.vectors.search(one, "m", EVERYTHING, 9).rows == ()


def test_a_warm_cache_notices_what_others_write_change_and_delete(backend):
    """Through a second opening of the same file."""
    other = backend.again()
    vectors = clustered(300, 8)
    fill(backend, vectors[:200])
    assert len(other.vectors.search(vectors[0], "m", EVERYTHING, 500).rows) == 200

    with backend.records.transaction():
        for n in range(200, 300):
            backend.records.put(a_memory(f"v{n:05}", "abcd"), pieces("abcd"))
    backend.embed("m", {f"v{n:05}": [vectors[n]] for n in range(200, 300)})
    assert other.vectors.search(vectors[250], "m", EVERYTHING, 1).rows[0].id == "v00250"
    backend.records.delete([f"v{n:05}" for n in range(0, 300, 2)])
    left = ids(other.vectors.search(vectors[250], "m", EVERYTHING, 500))
    assert sorted(left) == [f"v{n:05}" for n in range(1, 300, 2)]
    for n in (1, 77, 299):
        exact = sorted(range(1, 300, 2), key=lambda at, n=n: -float(vectors[at] @ vectors[n]))[:3]
        found = other.vectors.search(vectors[n], "m", EVERYTHING, 3)
        assert ids(found) == [f"v{at:05}" for at in exact]
    other.close()


def test_a_cache_lets_go_of_what_is_gone(backend):
    """Memory does not grow with every change of the same few memories, nor does a server's."""
    vectors = clustered(50, 8)
    fill(backend, vectors)
    for change in "wxyz":
        for n in range(50):
            backend.records.put(a_memory(f"v{n:05}", f"{change}bcd"), pieces("abcd"))
        backend.embed("m", {f"v{n:05}": [row] for n, row in enumerate(vectors)})
        found = backend.vectors.search(vectors[0], "m", EVERYTHING, 100)
        assert len(found.rows) == 50
        assert found.rows[0].id == "v00000"

    if isinstance(backend, SqliteWithQdrant):
        assert backend.replica.count() == 50
    elif isinstance(backend, InPostgres):
        with backend.db.read() as db:
            assert db.execute("SELECT count(*) FROM embeddings").fetchone() == (50,)
    else:
        assert len(backend.vectors.copies.loaded("m")) == 50


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[2])
import scrubjay
from fakes import HashingEmbedder
with scrubjay.open(sys.argv[1], embedder=HashingEmbedder(32)) as store:
    store.add("written in another process", id="new")
    store.update("changed", text="completely different words now")
    store.forget("gone")
    assert store.pending(wait=True) == 0
"""


@pytest.mark.slow
def test_a_warm_cache_notices_another_process(tmp_path):
    """What it adds is found, what it changes is changed, what it forgets is gone."""
    from fakes import HashingEmbedder

    import scrubjay

    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=HashingEmbedder(32)) as store:
        for id_ in ("stays", "changed", "gone"):
            store.add(f"{id_} original text", id=id_)
        before = {hit.id: hit.cosine for hit in store.search("original text", mode="vector")}
        assert before.keys() == {"stays", "changed", "gone"}

        tests = str(SUPPORT)
        subprocess.run([sys.executable, "-c", SCRIPT, str(path), tests], check=True, timeout=60)

        after = {hit.id: hit.cosine for hit in store.search("original text", mode="vector")}
        assert after.keys() == {"stays", "changed", "new"}
        assert after["stays"] == before["stays"]
        assert after["changed"] < before["changed"]
        fresh = store.search("written in another process", mode="vector")[0]
        assert (fresh.id, fresh.cosine > 0.99) == ("new", True)
