"""Answers over the limit are refused, with how to read them in parts."""

from __future__ import annotations

import pytest


@pytest.fixture
def client(serve):
    made = serve(max_answer_mb=0.05)
    for n in range(10):
        answer = made.post("/v1/add", {"text": f"kettle {n} " + "word " * 2000, "id": f"k{n}"})
        assert answer.status == 200
    return made


def test_a_list_that_is_too_large_says_how_to_page(client):
    """And each page is sent."""
    answer = client.get("/v1/ls?limit=100")

    assert answer.status == 413
    assert answer.json["type"] == "urn:scrubjay:problem:large-answer"
    for word in ("0.05 MB", "limit", "offset", "--max-answer-mb"):
        assert word in answer.problem
    found = [
        memory["id"]
        for offset in range(0, 12, 3)
        for memory in client.get(f"/v1/ls?limit=3&offset={offset}").json["memories"]
    ]
    assert sorted(found) == [f"k{n}" for n in range(10)]


def test_other_verbs_say_what_helps(client):
    ids = [f"k{n}" for n in range(10)]
    many = client.post("/v1/get_many", {"ids": ids})
    search = client.post("/v1/search", {"query": "kettle", "full": True, "limit": 50})

    assert (many.status, "fewer ids" in many.problem) == (413, True)
    assert (search.status, "smaller limit" in search.problem) == (413, True)
    assert client.post("/v1/get_many", {"ids": ids[:2]}).status == 200


def test_a_write_whose_answer_is_too_large_says_that_it_was_carried_out(client):
    memories = [{"text": f"tea {n} " + "leaf " * 2000, "id": f"t{n}"} for n in range(10)]
    answer = client.post("/v1/add_many", {"memories": memories})

    assert answer.status == 413
    assert "carried out" in answer.problem
    assert client.get("/v1/get?id=t9").status == 200


def test_by_default_32_mb_are_sent(serve):
    from scrubjay.surfaces.http.settings import ServerSettings

    assert ServerSettings().max_answer_mb == 32
