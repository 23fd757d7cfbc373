"""Embedders by name in a store: nothing is asked when it is opened, and nothing is lost when one fails."""

from __future__ import annotations

import sqlite3

import embedding_answers
import pytest
import tiny_embedders as tiny
from embedding_answers import DIMS, data
from endpoints import WEB_PAGE, EndpointServer, refusal
from fakes import HashingEmbedder

import scrubjay
from scrubjay.config import load
from scrubjay.errors import InvalidInput
from scrubjay.ops.doctor.run import examine, examine_store


@pytest.fixture
def server():
    with EndpointServer() as running:
        running.answers = [embedding_answers.openai]
        yield running


@pytest.fixture
def db(tmp_path):
    return tmp_path / "notes.db"


def models_of(db):
    with sqlite3.connect(db) as file:
        rows = file.execute(
            "SELECT m.name, m.dims, m.token_dims, count(v.n) FROM models AS m"
            " LEFT JOIN vectors AS v ON v.model = m.n GROUP BY m.n"
        ).fetchall()
    return {name: numbers for name, *numbers in rows}


def finding(found, component):
    return next(one for one in found if one.component == component)


class TestServer:
    def test_is_asked_for_vectors_only(self, server, db):
        """Opening, counting and reading need no request; the width is stored with the first vectors."""
        spec = f"{server.url}/v1#m"
        with scrubjay.open(db, embedder=spec) as store:
            store.status()
            assert server.requests == []
            store.add("jays hide acorns", id="jay")
            assert store.pending() == 0
            hits = store.search("jays hide acorns", mode="vector")
        assert [hit.id for hit in hits] == ["jay"]
        assert models_of(db)[spec] == [DIMS, 0, 1]

        server.requests.clear()
        with scrubjay.open(db, embedder=spec) as store:
            assert store.status().pending == 0
            assert server.requests == []
            assert store.search("jays hide acorns", mode="vector")[0].id == "jay"
            (query,) = server.requests
            assert query.json["input"] == ["jays hide acorns"]

    def test_that_is_down_at_first_loses_nothing(self, server, db):
        """Not even where no vector was ever made: the text is stored, and found by keyword."""
        server.answers = [WEB_PAGE]
        spec = f"{server.url}/v1#m"
        with scrubjay.open(db, embedder=spec) as store:
            store.add("jays hide acorns", id="jay")
            assert store.pending() == 1
            found = store.search("acorns")
            assert [hit.id for hit in found] == ["jay"]
            assert any("not JSON" in note for note in found.degraded)
            assert "not JSON" in store.status().why_pending

            server.answers = [embedding_answers.openai]
            assert store.pending() == 0
            assert store.search("jays", mode="vector")[0].id == "jay"
        assert models_of(db)[spec] == [DIMS, 0, 1]

    def test_whose_model_changed_leaves_the_index_as_it_is(self, server, db):
        spec = f"{server.url}/v1#m"
        with scrubjay.open(db, embedder=spec) as store:
            store.add("jays hide acorns", id="jay")
            store.pending()
        wider = data({"index": 0, "embedding": [1.0] * (DIMS + 1)})
        server.answers = [wider]
        with scrubjay.open(db, embedder=spec) as store:
            store.add("tea is at four", id="tea")
            assert store.pending() == 1
            found = store.search("acorns")
            assert [hit.id for hit in found] == ["jay"]
            assert any("another model" in note for note in found.degraded)
        assert models_of(db)[spec] == [DIMS, 0, 1]

        server.answers = [embedding_answers.openai]
        with scrubjay.open(db, embedder=spec) as store:
            assert store.pending() == 0
            assert len(store.search("jays hide acorns", mode="vector")) == 2

    def test_that_gives_no_numbers_stores_nothing(self, server, db):
        server.answers = [data({"index": 0, "embedding": [float("nan")] * DIMS})]
        spec = f"{server.url}/v1#m"
        with scrubjay.open(db, embedder=spec) as store:
            store.add("jays hide acorns")
            assert store.pending() == 1
            assert "not numbers" in store.status().why_pending
        assert models_of(db)[spec] == [0, 0, 0]

    def test_is_named_by_the_environment_and_counts_its_tokens(self, server, db, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER", f"{server.url}/v1#m")
        with scrubjay.open(db) as store:
            store.add("jays hide acorns")
            store.pending()
            assert store._context.embedding.embedder.tokens_sent == 5

    def test_beside_another_model_keeps_its_vectors(self, server, db):
        """The old index stays, and answers whoever still uses that model."""
        with scrubjay.open(db, embedder=HashingEmbedder()) as store:
            store.add("jays hide acorns", id="jay")
            store.pending()
        spec = f"{server.url}/v1#m"
        with scrubjay.open(db, embedder=spec) as store:
            assert store.pending() == 0
        with scrubjay.open(db, embedder=HashingEmbedder()) as store:
            assert store.search("acorns", mode="vector")[0].id == "jay"
        assert models_of(db)[spec] == [DIMS, 0, 1]


class TestFolder:
    def test_gives_vectors_and_token_vectors(self, tmp_path, db):
        """In a new process as well, the store knows both widths before the model is loaded."""
        folder = str(tiny.make(tmp_path / "tiny"))
        for _ in range(2):
            with scrubjay.open(db, embedder=folder) as store:
                store.add("blue key", id="key")
                store.add("green river", id="river")
                assert store.pending() == 0
                found = store.search("key")
                assert found[0].id == "key"
                assert not [note for note in found.degraded if "token" in note]
        stored = next(row for name, row in models_of(db).items() if name.startswith("./tiny#"))
        assert stored == [tiny.DIMS, tiny.DIMS, 2]

    def test_that_is_incomplete_loses_nothing(self, tmp_path, db):
        folder = tiny.make(tmp_path / "tiny")
        (folder / "tokenizer.json").rename(folder / "away")
        with scrubjay.open(db, embedder=str(folder)) as store:
            store.add("blue key", id="key")
            assert store.pending() == 1
            found = store.search("key")
            assert [hit.id for hit in found] == ["key"]
            assert any("tokenizer.json" in note for note in found.degraded)
            (folder / "away").rename(folder / "tokenizer.json")
            assert store.pending() == 0

    def test_whose_model_was_replaced_is_refused(self, tmp_path, db):
        folder = tiny.make(tmp_path / "tiny")
        with scrubjay.open(db, embedder=str(folder)) as store:
            store.add("blue key", id="key")
            store.pending()
        tiny.say_pooling(folder, "cls_token", pooling_mode_mean_tokens=True)
        with scrubjay.open(db, embedder=str(folder)) as store:
            found = store.search("key")
            assert [hit.id for hit in found] == ["key"]
            assert any("another model" in note for note in found.degraded)


def test_an_unknown_name_is_an_error_at_the_first_use(db):
    with (
        scrubjay.open(db, embedder="multilingual-e5-smal") as store,
        pytest.raises(InvalidInput, match="did you mean"),
    ):
        store.add("jays hide acorns")


class TestDoctor:
    def test_embeds_one_sentence_with_a_server(self, server, db, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER", f"{server.url}/v1#m")
        found = finding(examine(load(db=str(db))), "embedding")
        assert found.state == "ok"
        for part in (f"{server.url}/v1#m", f"{DIMS} dimensions", " ms ", "5 tokens"):
            assert part in found.detail
        assert len(server.requests) == 1

    def test_names_the_reason(self, server, db, monkeypatch):
        server.answers = [WEB_PAGE]
        monkeypatch.setenv("SCRUBJAY_EMBEDDER", f"{server.url}/v1#m")
        found = finding(examine(load(db=str(db))), "embedding")
        assert found.state == "degraded"
        assert "not JSON" in found.detail
        assert "doctor" in found.fix

    def test_says_which_device_a_folder_uses(self, tmp_path, db, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER", str(tiny.make(tmp_path / "tiny")))
        with scrubjay.open(db) as store:
            store.add("blue key")
            store.pending()
            inside = examine_store(store)
        outside = examine(load(db=str(db)))
        for found in (inside, outside):
            assert finding(found, "vectors").detail == "none is pending"
            detail = finding(found, "embedding").detail
            assert "8 dimensions" in detail
            assert "on the device cpu (device = auto" in detail

    def test_reports_an_unknown_name(self, db, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER", "word2vec")
        found = finding(examine(load(db=str(db))), "model")
        assert found.state == "failed"
        assert "owner/name" in found.detail

    def test_of_a_model_of_the_hub_that_is_not_here(self, db, monkeypatch, tmp_path):
        """Nothing is downloaded by looking."""
        monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("SCRUBJAY_EMBEDDER", "intfloat/multilingual-e5-small")
        found = examine(load(db=str(db)))
        assert finding(found, "model").state == "missing"
        assert finding(found, "model").fix.startswith("scrubjay models pull")
        assert "embedding" not in {one.component for one in found}


class TestOnServers:
    def test_postgres_learns_the_width_with_the_first_vectors(self, server, emptied_postgres_url):
        server.answers = [WEB_PAGE]
        with scrubjay.open(emptied_postgres_url, embedder=f"{server.url}/v1#m") as store:
            store.add("jays hide acorns", id="jay")
            assert store.pending() == 1
            assert store.search("acorns")[0].id == "jay"
            server.answers = [embedding_answers.openai]
            assert store.pending() == 0
            assert store.search("jays hide acorns", mode="vector")[0].id == "jay"

    def test_qdrant_gets_vectors_once_there_are_any(self, server, db, qdrant_url):
        server.answers = [WEB_PAGE]
        spec = f"{server.url}/v1#m"
        with scrubjay.open(db, embedder=spec, vectors=qdrant_url) as store:
            store.add("jays hide acorns", id="jay")
            store.pending()
            server.answers = [embedding_answers.openai]
            assert store.pending() == 0
            (replica,) = store.servers()
            assert (replica.reason, replica.behind) == ("", 0)
            assert store.search("jays hide acorns", mode="vector")[0].id == "jay"


def test_background_work_waits_for_a_server_that_is_busy(server, db):
    """One call of pending ends with every vector, whatever the server refused in between."""
    busy = refusal(429, "Rate limit reached", Retry_After="1")
    server.answers = [busy, embedding_answers.openai]
    with scrubjay.open(db, embedder=f"{server.url}/v1#m") as store:
        store.add("jays hide acorns", type="message", session="s")
        store.add("yes", type="message", session="s")
        assert store.pending() == 0
        assert store.status().pending == 0
