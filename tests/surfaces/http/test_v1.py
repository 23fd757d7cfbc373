"""`/v1`: the verbs, asked as their users would, and as nobody should."""

from __future__ import annotations

import json
import logging

import pytest

import scrubjay
from scrubjay.models.shared import SharedModels
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http import health
from scrubjay.surfaces.render.json import results
from scrubjay.surfaces.verbs.table import VERBS

from .conftest import logged


@pytest.fixture
def client(serve):
    return serve()


@pytest.fixture
def kettle(client):
    client.post("/v1/add", {"text": "The kettle whistles", "id": "kettle", "topics": ["kitchen"]})
    return client


def without_times(answer):
    return {key: value for key, value in answer.items() if key != "took_ms"}


def test_a_search_answers_what_the_library_answers(kettle, db):
    """One answer through every door, whichever way it is asked."""
    asked = {"query": "kettle", "limit": 3, "topics": ["kitchen"]}
    with scrubjay.open(db, embedder=False) as store:
        expected = results(store.search(**asked), mode="default", explain=False, full=False)

    by_post = kettle.post("/v1/search", asked)
    by_address = kettle.get("/v1/search?query=kettle&limit=3&topics=kitchen")
    by_both = kettle.post("/v1/search?limit=3&topics=kitchen", {"query": "kettle"})

    assert [one.status for one in (by_post, by_address, by_both)] == [200, 200, 200]
    assert [hit["id"] for hit in by_post.json["hits"]] == ["kettle"]
    for one in (by_post, by_address, by_both):
        assert without_times(one.json) == without_times(json.loads(json.dumps(expected)))


def test_a_search_with_previews_says_what_a_client_needs(client):
    """GS-13, GS-14, GS-15, GS-16: preview, both scores, `complete`, band, counts in words, topics."""
    text = "The kettle whistles. " * 30
    client.post("/v1/add", {"text": text, "id": "kettle", "topics": ["kitchen"]})
    asked = {"query": "kitchen kettle", "profile": "gnosis"}

    found = client.post("/v1/search", asked).json
    nothing = client.post("/v1/search", {**asked, "min_score": 0.99}).json

    (hit,) = found["hits"]
    assert text.startswith(hit["snippet"])
    assert len(hit["snippet"]) <= 200
    assert (hit["complete"], hit["rerank_score"], hit["band"]) == (False, None, "unread")
    assert 0.4 <= hit["score"] <= 0.7
    assert hit["cosine"] is None or 0 <= hit["cosine"] <= 1
    assert (hit["type"], hit["topics"]) == ("fact", ["kitchen"])
    assert (found["summary"], found["topics"]) == ("Reranked 0 of 1, returned 1", {"kitchen": 1})
    assert nothing["hits"] == []
    assert nothing["searched"].endswith("topics 1; 1 candidates, none of them good enough")
    assert found["searched"] == ""


def test_the_trace_is_asked_for_in_the_address(kettle):
    """`?explain=1`, as the documentation of the pipeline says."""
    assert "trace" not in kettle.get("/v1/search?query=kettle").json
    assert kettle.get("/v1/search?query=kettle&explain=1").json["trace"][0]["stage"]


@pytest.mark.parametrize(("profile", "most"), [("gnosis", 32), ("gno", 1000)])
def test_a_limit_above_the_maximum_is_cut_to_it(kettle, db, profile, most):
    """R-3: as in the library, and `counts` has the limit that was asked for."""
    asked = {"query": "kettle", "profile": profile, "limit": most + 1}
    with scrubjay.open(db, embedder=False) as store:
        expected = store.search(**asked).counts

    by_post = kettle.post("/v1/search", asked)
    by_address = kettle.get(f"/v1/search?query=kettle&profile={profile}&limit={most + 1}")

    for answer in (by_post, by_address):
        assert answer.json["counts"] == expected
        assert answer.json["counts"]["limit_cut_from"] == most + 1
    assert kettle.post("/v1/context", {"question": "kettle", "limit": 2000}).status == 200


def test_what_is_written_is_there(client, db):
    """And says so with the shape of the shell."""
    kept = client.post("/v1/add", {"text": "Teapots crack"})

    assert kept.status == 200
    with scrubjay.open(db, embedder=False) as store:
        assert [one.text for one in store.ls()] == ["Teapots crack"]


def test_what_changes_something_is_not_asked_by_address(client):
    """An image in a web page could ask it."""
    answer = client.get("/v1/add?text=hello")

    assert answer.status == 405
    assert answer.headers["allow"] == "POST, OPTIONS"
    assert "POST" in answer.problem
    assert client.get("/v1/ls").json["memories"] == []


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/v1/serch?query=x", 404, "did you mean 'search'?"),
        ("/v1/search?qery=x", 422, "did you mean 'query'?"),
        ("/v1/search", 422, "search needs query"),
        ("/v1/search?query=x&limit=many", 422, "limit is 'many'; it must be a whole number"),
        ("/v1/search?query=x&profile=nope", 422, "nope"),
        ("/v1/get?id=nothing-there", 404, "nothing-there"),
        ("/v1/search?query=%ff", 400, "UTF-8"),
        ("/v1/search?" + "&".join(f"a{n}" for n in range(1001)), 400, "1000 parameters"),
        ("/v2/search", 404, "openapi.json"),
        ("/v1/search/", 404, "openapi.json"),
        ("/v1/", 404, "openapi.json"),
    ],
)
def test_a_wrong_address_is_answered_with_what_would_be_right(shared, path, status, said):
    """Complaint: unknown parameters that are silently ignored."""
    answer = shared.get(path)

    assert answer.status == status
    assert said in answer.problem


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b'{"query": "a"', 400, "line 1, column 14"),
        (b'{"query": "a",\n "limit": }', 400, "line 2, column 11"),
        (b"[1, 2]", 400, "must be a JSON object"),
        (b'"text"', 400, "must be a JSON object"),
        (b'{"query": "a", "query": "b"}', 400, "'query'"),
        (b'{"query": "a", "overrides": {"rrf": {"k": NaN}}}', 400, "NaN"),
        (b'{"query": "a", "min_score": -Infinity}', 400, "-Infinity"),
        (b'{"query": "a", "min_score": 1e999}', 422, "min_score"),
        (b'{"query": "a", "limit": ' + b"9" * 5000 + b"}", 400, "parsed"),
        (b'{"query": "a", "limit": ' + b"9" * 50 + b"}", 422, "limit"),
        (b'{"query": "\\ud800"}', 422, "surrogate"),
        (b'{"query": "caf\xe9"}', 400, "byte 14 of the body is not UTF-8"),
        (b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "deep"),
        (b'{"query": "a", "overrides": {"a": ' + b"[" * 50 + b"]" * 50 + b"}}", 422, "levels"),
        (b'\xef\xbb\xbf{"query": "a"}', 400, "not JSON"),
        (b'{"query": 5}', 422, "query is 5"),
        (b'{"query": "' + b"a* " * 35_000 + b'"}', 422, "at most 20,000 characters"),
        (b"", 422, "search needs query"),
    ],
)
def test_a_body_that_means_nothing_is_refused_saying_where(shared, body, status, said):
    """And one that could mean two things."""
    answer = shared.ask("POST", "/v1/search", body, {"Content-Type": "application/json"})

    assert answer.status == status
    assert said in answer.problem


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"Content-Type": "text/plain"}, "is 'text/plain'"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "application/json"),
        ({"Content-Type": ""}, "is missing"),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, "'gzip'"),
    ],
)
def test_a_body_must_say_that_it_is_json(shared, headers, said):
    """A form of a web page cannot."""
    answer = shared.ask("POST", "/v1/add", b'{"text": "from a form"}', headers)

    assert answer.status == 415
    assert said in answer.problem
    assert shared.get("/v1/ls").json["memories"] == []


def test_where_everything_stands_in_the_address_a_post_needs_no_body(shared):
    """But only to read, as by GET; to write it must say that it is JSON, which no form can."""
    assert shared.ask("POST", "/v1/search?query=tea").json["query"] == "tea"
    assert shared.ask("POST", "/v1/status").status == 200
    assert shared.ask("POST", "/v1/add?text=from+a+form").status == 415
    assert shared.ask("POST", "/v1/search?query=tea", b"{}", {"Content-Type": ""}).status == 415
    assert shared.get("/v1/ls").json["memories"] == []


def test_a_parameter_in_two_places_is_refused(shared):
    """Which one was meant cannot be known."""
    assert "'query'" in shared.post("/v1/search?query=a", {"query": "b"}).problem
    assert shared.ask("GET", "/v1/search?query=a", {"query": "b"}).status == 400


def test_every_method_is_answered(shared):
    """HEAD like GET without the body; OPTIONS without a word about other origins; the rest 405."""
    head = shared.ask("HEAD", "/v1/status")
    options = shared.ask("OPTIONS", "/v1/search")

    assert (head.status, head.body) == (200, b"")
    assert (options.status, options.headers["allow"]) == (204, "GET, HEAD, POST, OPTIONS")
    assert not any(name.startswith("access-control") for name in options.headers)
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "BREW"):
        for path in ("/v1/search", "/livez", "/"):
            answer = shared.ask(method, path)
            assert (answer.status, "GET" in answer.headers["allow"]) == (405, True)


def test_every_answer_has_the_headers_of_a_careful_server(shared):
    """Not kept, not guessed at, and without the name of the software."""
    for answer in (shared.get("/v1/status"), shared.get("/nope"), shared.get("/livez")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


def test_a_request_has_an_id_in_answer_problem_and_log(shared, caplog):
    """The one that a client gives, if it can stand in a log; and the log has no words of anybody."""
    caplog.set_level(logging.INFO, "scrubjay.access")
    own = shared.get("/v1/search?query=secretword", X_Request_Id="mine-42")
    bad = shared.get("/v1/nope", X_Request_Id="two\tparts")
    long = shared.get("/livez", X_Request_Id="a" * 129)

    assert own.headers["x-request-id"] == "mine-42"
    assert bad.json["instance"] == f"urn:scrubjay:request:{bad.headers['x-request-id']}"
    assert len(bad.headers["x-request-id"]) == len(long.headers["x-request-id"]) == 32
    line = logged(caplog, "mine-42")
    assert line.startswith("GET /v1/search 200 ")
    assert line.endswith(" ms mine-42 -")
    assert "secretword" not in caplog.text


def test_an_error_of_ours_does_not_tell_how_we_are_made(shared, caplog, monkeypatch):
    """The shared gets a number, the log everything."""

    def broken(store, given):
        raise ZeroDivisionError("SELECT secret FROM /home/ann")

    monkeypatch.setitem(VERBS, "status", VERBS["status"]._replace(run=broken))
    answer = shared.get("/v1/status")

    assert answer.status == 500
    assert answer.headers["x-request-id"] in answer.problem
    assert b"secret" not in answer.body
    assert b"ZeroDivision" not in answer.body
    logged = [one for one in caplog.records if answer.headers["x-request-id"] in one.getMessage()]
    assert any(one.exc_info for one in logged)


def test_whether_it_lives_and_is_ready_is_told_to_anybody(shared):
    """And where to go from here."""
    assert shared.get("/livez").json == {"live": True}
    assert shared.get("/readyz").json == {"ready": True, "degraded": []}
    assert shared.get("/").json["verbs"] == "/v1/openapi.json"


def test_an_unknown_id_points_to_the_list_of_this_door(kettle):
    """And one that is gone can be forgotten again: whoever got no answer asks twice."""
    gone = kettle.post("/v1/get", {"id": "nobody"})
    assert gone.status == 404
    assert gone.json["detail"] == "no memory has the id 'nobody'; /v1/ls lists the ids"
    forgotten = kettle.post("/v1/forget", {"id": "nobody"})
    assert (forgotten.status, forgotten.json["missing"]) == (200, ["nobody"])
    assert "did you mean" not in kettle.post("/v1/nope", {}).json["detail"]


def test_a_store_that_cannot_be_written_is_ready_to_be_read(client, monkeypatch):
    """What is wrong is named, so that whoever watches is told before the first write fails."""
    client.post("/v1/add", {"text": "one"})
    monkeypatch.setattr(health, "MIN_FREE_BYTES", 10**18)
    monkeypatch.setattr(health, "_CACHE_S", 0.0)

    answer = client.get("/readyz")

    assert (answer.status, answer.json) == (200, {"ready": True, "degraded": ["writes"]})
    assert len(client.get("/v1/ls").json["memories"]) == 1


def test_a_model_that_cannot_come_is_named(client, stores, monkeypatch):
    """Not the reason, which may name a place: that is in the log."""
    with stores.lend(Principal()) as store:
        store._context.shared_models = SharedModels()
        warming = store._context.shared_models.embedder("all-MiniLM-L6-v2")
    monkeypatch.setattr(warming, "failed", lambda: True)
    monkeypatch.setattr(health, "_CACHE_S", 0.0)

    assert client.get("/readyz").json == {"ready": True, "degraded": ["embedder"]}


def test_a_search_returns_whole_passages_within_its_tokens(client):
    """And the context of a question the same, as text."""
    text = "\n\n".join(f"In year {n} the jay hid acorns below oak number {n}." for n in range(99))
    client.post("/v1/add", {"text": text, "id": "oaks", "source": "notes/oaks.md"})
    for tokens in (50, 500, 5_000):
        found = client.post("/v1/search", {"query": "oak number 42", "tokens": tokens}).json
        (passage,) = found["passages"]
        assert passage["text"] in text
        assert passage["source"] == "notes/oaks.md"
        first, last = passage["lines"]
        assert "\n".join(text.split("\n")[first - 1 : last]).startswith(passage["text"])
        context = client.post("/v1/context", {"question": "oak number 42", "tokens": tokens}).json
        assert context["token_estimate"] <= tokens
        assert context["passages"] == found["passages"]
        assert passage["text"] in context["text"]
    assert passage["complete"] is True
    assert "passages" not in client.post("/v1/search", {"query": "oak"}).json
    assert client.post("/v1/search", {"query": "oak", "tokens": 5}).status == 422


def test_lines_of_a_memory_are_read_by_range(client):
    """With the first, the last and how many there are."""
    client.post("/v1/add", {"text": "one\ntwo\nthree", "id": "three"})
    (memory,) = client.get("/v1/get?id=three&lines=2-9").json["memories"]
    assert (memory["text"], memory["lines"], memory["line_count"]) == ("two\nthree", [2, 3], 3)
    (memory,) = client.get("/v1/get?id=three:1-2").json["memories"]
    assert memory["text"] == "one\ntwo"
    wrong = client.get("/v1/get?id=three&lines=4-5")
    assert wrong.status == 422
    assert "has 3 lines" in wrong.problem
