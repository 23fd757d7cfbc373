"""A text is found by meaning as soon as `add` returns; better vectors replace static ones later."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.models.embed.static import NAME

SEAFOOD = "Oriel must never eat shrimp, crab or mussels"
MONEY = "The mortgage is due on the third of each month"
QUESTION = "who is allergic to seafood?"


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No network and an empty home: no model but the table in the package."""
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SCRUBJAY_EMBEDDER", raising=False)


@pytest.fixture
def path(tmp_path, offline):
    return tmp_path / "notes.db"


def vectors_of(path):
    with sqlite3.connect(path) as db:
        rows = db.execute(
            "SELECT m.name, m.role, count(v.n) FROM models AS m"
            " LEFT JOIN vectors AS v ON v.model = m.n GROUP BY m.n"
        ).fetchall()
    return {name: (role, count) for name, role, count in rows}


def test_what_was_just_added_is_found_by_meaning(path):
    with scrubjay.open(path) as store:
        store.add(SEAFOOD, id="seafood")
        store.add(MONEY, id="money")
        results = store.search(QUESTION)

    assert results[0].id == "seafood"
    assert results.counts["vector"] == 2
    assert any("all-MiniLM-L6-v2" in reason for reason in results.degraded)


def test_the_vector_is_in_the_same_transaction(path):
    with scrubjay.open(path) as store:
        store.add_many({"text": f"note {n} about the harbour", "id": f"n{n}"} for n in range(1200))

        assert vectors_of(path)[NAME] == ("static", 1200)


def test_a_changed_text_is_found_by_its_new_meaning_alone(path):
    with scrubjay.open(path) as store:
        store.add("The violin lesson is on Tuesday", id="a")
        store.add(MONEY, id="money")
        store.update("a", text=SEAFOOD)
        hit = store.search(QUESTION)[0]
        old = store.search("when do we play music?", mode="vector")

    assert (hit.id, hit.text) == ("a", SEAFOOD)
    assert all(one.score < 0.3 for one in old)


def test_forgetting_removes_it(path):
    with scrubjay.open(path) as store:
        store.add(SEAFOOD, id="seafood")
        store.forget("seafood")

        assert vectors_of(path)[NAME] == ("static", 0)
        assert len(store.search(QUESTION)) == 0


def test_a_store_of_before_gets_its_vectors_in_the_background(path):
    with scrubjay.open(path, embedder=False) as store:
        store.add(SEAFOOD, id="seafood")
        store.add(MONEY, id="money")

    with scrubjay.open(path) as store:
        store.pending(wait=True)
        results = store.search(QUESTION, mode="vector")

    assert results[0].id == "seafood"


def test_an_embedder_given_as_an_object_has_the_only_vectors(path):
    with scrubjay.open(path, embedder=HashingEmbedder()) as store:
        store.add(SEAFOOD)
        store.pending(wait=True)

    assert NAME not in vectors_of(path)


def test_links_and_near_duplicates_wait_for_the_main_model(path):
    with scrubjay.open(path, profile="novamem") as store:
        store.add("The staging database moved to port 5433", id="a")
        store.add("The staging database has moved to port 5433", id="b")
        store.search("staging", profile="novamem")

        assert store.neighbors("a") == []


def test_another_table_replaces_the_vectors_of_the_old_one(path):
    with scrubjay.open(path) as store:
        store.add(SEAFOOD, id="seafood")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE models SET name = 'an older table' WHERE role = 'static'")

    with scrubjay.open(path) as store:
        store.pending(wait=True)
        assert store.search(QUESTION, mode="vector")[0].id == "seafood"

    assert "an older table" not in vectors_of(path)
    assert vectors_of(path)[NAME] == ("static", 1)


def test_verify_and_repair_know_them(path):
    from scrubjay.surfaces.cli import main

    with scrubjay.open(path) as store:
        store.add(SEAFOOD, id="seafood")
    assert main(["verify", "--db", str(path)]) == 0
    with sqlite3.connect(path) as db:
        db.execute("UPDATE vectors SET vector = x'00ff'")

    assert main(["verify", "--db", str(path)]) != 0
    assert main(["doctor", "--repair", "--db", str(path)]) in (0, 1)
    with scrubjay.open(path) as store:
        store.pending(wait=True)
        assert store.search(QUESTION, mode="vector")[0].id == "seafood"


@pytest.mark.slow
def test_the_first_hit_needs_no_download_and_no_onnxruntime(tmp_path):
    """With an empty home and no network, in a new process."""
    program = f"""
import json, sys, scrubjay
with scrubjay.open() as store:
    store.add({SEAFOOD!r})
    store.add({MONEY!r})
    hits = [hit.text for hit in store.search({QUESTION!r})]
print(json.dumps([hits, 'onnxruntime' in sys.modules]))
"""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "PYTHONPATH", "SYSTEMROOT")
        if name in os.environ
    }
    environment = {**kept, "HOME": str(tmp_path), "SCRUBJAY_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )

    assert json.loads(done.stdout) == [[SEAFOOD, MONEY], False]


@pytest.mark.model
class TestBeside:
    """Static vectors beside those of the default model."""

    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "notes.db"

    def waiting(self, path, *ids):
        """Take the main vectors of some memories away, as if the model had not read them yet."""
        with sqlite3.connect(path) as db:
            (model,) = db.execute("SELECT n FROM models WHERE role = 'main'").fetchone()
            for id_ in ids:
                chunks = db.execute(
                    "SELECT c.n FROM chunks AS c JOIN memories AS m ON m.n = c.memory WHERE m.id = ?",
                    (id_,),
                ).fetchall()
                for (chunk,) in chunks:
                    db.execute("DELETE FROM vectors WHERE model = ? AND chunk = ?", (model, chunk))
                    db.execute(
                        "INSERT INTO wanting (model, chunk, leased_until_s) VALUES (?, ?, 9e12)",
                        (model, chunk),
                    )

    def test_both_kinds_rank_in_one_list(self, path):
        with scrubjay.open(path) as store:
            store.add(SEAFOOD, id="seafood")
            store.add(MONEY, id="money")
            store.add("The lease of the flat ends in May", id="flat")
            assert store.pending(wait=True) == 0
        self.waiting(path, "seafood")

        with scrubjay.open(path) as store:
            by_static = store.search(QUESTION, mode="vector")
            by_main = store.search("when do we have to pay for the house?", mode="vector")

        assert by_static[0].id == "seafood"
        assert {hit.id for hit in by_static} == {"seafood", "money", "flat"}
        assert any("static vectors find them" in reason for reason in by_static.degraded)
        assert by_main[0].id == "money"

    def test_once_embedded_the_main_vector_alone_counts(self, path):
        with scrubjay.open(path) as store:
            store.add(SEAFOOD, id="seafood")
            assert store.pending(wait=True) == 0
            results = store.search(QUESTION, mode="vector")
            cosine = results[0].cosine

        with scrubjay.open(path, embedder=store_embedder()) as store:
            assert store.search(QUESTION, mode="vector")[0].cosine == pytest.approx(
                cosine, abs=1e-6
            )
        assert results.degraded == ()


def store_embedder():
    from scrubjay.models.registry import load_embedder

    return load_embedder()


class TestServers:
    """The same in Postgres, and beside Qdrant, which has no copy of static vectors."""

    def test_postgres_finds_it_at_once(self, postgres_url, offline):
        with scrubjay.open(postgres_url) as store:
            store.add(SEAFOOD, id="seafood")
            store.add(MONEY, id="money")
            results = store.search(QUESTION)
            store.update("money", text="Squid and oysters make him ill")
            changed = store.search(QUESTION, mode="vector")

        assert results[0].id == "seafood"
        assert results.counts["vector"] == 2
        assert {hit.id for hit in list(changed)[:2]} == {"seafood", "money"}

    def test_qdrant_is_not_asked_for_them(self, path, qdrant_url):
        with scrubjay.open(path, vectors=qdrant_url) as store:
            store.add(SEAFOOD, id="seafood")
            store.add(MONEY, id="money")
            results = store.search(QUESTION, mode="vector")
            store.pending(wait=True)
            behind = [server.behind for server in store.servers()]

        assert results[0].id == "seafood"
        assert behind == [0]
