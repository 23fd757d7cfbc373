"""Vectors in Postgres by an index: what a scope has is found, however little that is of the store."""

from __future__ import annotations

import numpy as np
import pytest
from backends import InPostgres, a_memory, pieces
from fakes import HashingEmbedder

import scrubjay
from scrubjay.storage.postgres import vectors as postgres_vector
from scrubjay.storage.sql import vectors as sql_vectors
from scrubjay.types import Scope

DIMS = 8
NEAR, FAR = 150, 20


@pytest.fixture
def store(emptied_postgres_url, monkeypatch):
    """A store with an index, in which a namespace has nothing but the farthest vectors."""
    monkeypatch.setattr(postgres_vector, "MAX_EXACT", 100)
    monkeypatch.setattr(postgres_vector, "_EF_SEARCH", 10)
    opened = InPostgres(emptied_postgres_url)
    opened.activate("m", DIMS)
    draw = np.random.default_rng(1)
    vectors = {}
    with opened.records.transaction():
        for n in range(NEAR + FAR):
            opened.records.put(
                a_memory(f"m{n}", namespace="large" if n < NEAR else "small"), pieces("some text")
            )
            one = draw.normal(size=DIMS) * 0.5
            one[0] += 3 if n < NEAR else -3
            vectors[f"m{n}"] = [(one / np.linalg.norm(one)).astype(np.float32)]
    opened.embed("m", vectors)
    assert opened.vectors.fit("m", ())
    yield opened, {id_: float(one[0]) for id_, (one,) in vectors.items()}
    opened.close()


@pytest.mark.parametrize("few", [2_000, 0])
def test_a_small_namespace_of_a_large_store_is_found_as_a_whole(store, few, monkeypatch):
    """pgvector looks at so many vectors of its index and ends: then all of the scope are compared.

    A scope of few memories is compared at once, and one of more when the index gave too little.
    """
    opened, cosines = store
    monkeypatch.setattr(sql_vectors, "_FEW", few)
    query = np.eye(DIMS, dtype=np.float32)[0]
    with opened.db.read() as db:
        db.connection.execute("SET hnsw.max_scan_tuples = 1")
    found = opened.vectors.search(query, "m", Scope(namespaces=("small",)), 10)
    small = sorted((f"m{n}" for n in range(NEAR, NEAR + FAR)), key=lambda id_: -cosines[id_])
    assert [row.id for row in found.rows] == small[:10]
    everywhere = opened.vectors.search(query, "m", Scope(), 3)
    assert [row.id for row in everywhere.rows] == sorted(cosines, key=lambda id_: -cosines[id_])[
        :3
    ]


@pytest.mark.parametrize(("dims", "made"), [(2_500, True), (4_100, False)])
def test_wide_vectors_are_found(emptied_postgres_url, clock, monkeypatch, dims, made):
    """HNSW takes 2,000 numbers, or 4,000 rounded ones; what is wider has no index and none is due."""
    monkeypatch.setattr(postgres_vector, "MAX_EXACT", 2)
    embedder = HashingEmbedder(dims)
    with scrubjay.open(emptied_postgres_url, embedder=embedder, clock=clock) as store:
        store.add_many({"text": f"pump {i}", "id": f"m{i}"} for i in range(5))
        assert store.pending() == 0
        assert len(store.search("pump", profile="novamem", weights={"vector": 1})) == 5
        with store._context.db.read() as db:
            (defined,) = db.execute(
                "SELECT string_agg(indexdef, '') FROM pg_indexes"
                f" WHERE indexdef LIKE '%halfvec({dims})%'"
            ).fetchone()
        assert bool(defined) is made
