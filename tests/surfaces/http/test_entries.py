"""Entries of a vault over HTTP: a scan to choose from, whole entries with their signals."""

from __future__ import annotations

import pytest

SIGNALS = ["semantic", "vector", "severity", "temporal_decay", "tag_overlap", "domain_match"]
LONG = "Retry with exponential backoff and jitter. " * 70
CONTEXT = "Three outages began with a retry storm."
ASKED = {"query": "how to retry", "profile": "vault", "tags": ["network"], "domain": "operations"}


@pytest.fixture
def client(serve):
    started = serve()
    entry = {"text": LONG, "id": "retry-001", "title": "Backoff", "context": CONTEXT}
    entry |= {"topics": ["network", "retry"], "severity": "warning", "domain": "operations"}
    assert started.post("/v1/add", {**entry, "type": "pattern"}).status == 200
    return started


def test_a_scan_is_light(client):
    """SV-1: id, title, score, type, domain, tags, 120 characters, token estimate; no more text."""
    answer = client.post("/v1/search", {**ASKED, "mode": "scan"}).json
    (hit,) = answer["hits"]

    assert answer["entries"] == "brief"
    assert (hit["id"], hit["title"], hit["type"], hit["domain"], hit["topics"]) == (
        *("retry-001", "Backoff", "pattern", "operations"),
        ["network", "retry"],
    )
    assert hit["snippet"] == hit["text"] == LONG[:120]
    assert hit["token_estimate"] == -(-len(LONG) // 4)
    assert (hit["context"], hit["complete"]) == ("", False)
    assert hit["score"] > 0


@pytest.mark.parametrize("mode", [{}, {"mode": "full"}])
def test_full_has_the_whole_entry_and_the_breakdown(client, mode):
    """SV-1: whatever its length; the score is the sum of the signals."""
    answer = client.post("/v1/search", {**ASKED, **mode}).json
    (hit,) = answer["hits"]

    assert answer["entries"] == "whole"
    assert (hit["text"], hit["context"]) == (LONG, CONTEXT)
    assert list(hit["why"]) == SIGNALS
    weights = dict.fromkeys(SIGNALS, 0.15) | {"semantic": 0.40, "vector": 0.0}
    summed = sum(weight * hit["why"][name] for name, weight in weights.items())
    assert hit["score"] == pytest.approx(summed, abs=1e-6)
    assert hit["why"]["tag_overlap"] == 0.5


def test_the_chosen_are_loaded_by_their_ids(client):
    """SV-1: then load those."""
    (hit,) = client.post("/v1/search", {**ASKED, "mode": "scan"}).json["hits"]
    (loaded,) = client.get(f"/v1/get_many?ids={hit['id']}").json["memories"]

    assert (loaded["text"], loaded["context"], loaded["severity"]) == (LONG, CONTEXT, "warning")


def test_other_profiles_show_passages_of_long_texts(client):
    """As before; nothing says that these are entries."""
    answer = client.post("/v1/search", {"query": "how to retry"}).json

    assert "entries" not in answer
    assert len(answer["hits"][0]["text"]) < 300


def test_a_long_document_is_whole_only_in_the_mode_full(client):
    """SV-1: a folder of books is searched, too, and its answers stay small unless asked."""
    book = "The zeppelin lands. " + "The weather is fair today. " * 200
    client.post("/v1/add", {"text": book, "type": "document", "id": "book"})
    ways = ({}, {"mode": "full"}, {"full": True})

    texts = [
        client.post("/v1/search", {"query": "zeppelin", "profile": "vault", **way}).json
        for way in ways
    ]

    assert [answer["hits"][0]["text"] == book for answer in texts] == [False, True, True]


def test_a_small_corpus_is_shown_whole_unless_a_limit_is_given(client):
    """SV-11: the request gave no limit."""
    memories = [{"text": f"lamp {n}"} for n in range(30)]
    client.post("/v1/add_many", {"memories": memories})
    asked = {"query": "lamp", "profile": "vault"}

    assert len(client.post("/v1/search", asked).json["hits"]) == 30
    assert len(client.post("/v1/search", {**asked, "limit": 10}).json["hits"]) == 10
