"""Models that score, behind HTTP: every dialect, any order, and no wrong number gets through."""

from __future__ import annotations

import math
import threading
import traceback

import endpoints
import pytest
from endpoints import Answer, EndpointServer, refusal, results

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models import Reranker
from scrubjay.models.endpoint import endpoint
from scrubjay.models.rerank.remote import DIALECTS, RemoteReranker

KEY = "jina_very-secret-0123456789"
QUERY = "where jays hide acorns"
TEXTS = ["nothing of that", "jays hide acorns", "acorns", "where jays hide acorns"]
SHARES = [0.0, 0.75, 0.25, 1.0]
LOGITS = [1 / (1 + math.exp(10 - 20 * share)) for share in SHARES]


@pytest.fixture
def server():
    with EndpointServer() as running:
        yield running


def reranker(server, *, path="", dialect="", timeout_s=20.0, model="tiny"):
    spec = f"{server.url}{path}#{model}"
    return RemoteReranker(endpoint(spec, api_key=KEY, timeout_s=timeout_s, dialect=dialect))


def complaint(call):
    with pytest.raises(Unavailable) as caught:
        call()
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_spoken_and_found(server, dialect, named):
    """GN-10: scores come back in the order of the texts, whatever order they were sent in."""
    server.dialect = dialect
    remote = reranker(server, dialect=dialect if named else "")
    assert isinstance(remote, Reranker)

    first, second = remote.score(QUERY, TEXTS), remote.score(QUERY, TEXTS)

    assert first == pytest.approx(LOGITS if dialect == "llamacpp" else SHARES)
    assert first == second
    searched = 1 if dialect == "tei" and not named else 0
    assert len(server.requests) == 2 + searched


@pytest.mark.parametrize(
    ("dialect", "path", "sent"),
    [
        ("jina", "/v1/rerank", {"model": "tiny", "top_n": 4, "return_documents": False}),
        ("cohere", "/v2/rerank", {"model": "tiny", "top_n": 4}),
        ("vllm", "/v1/rerank", {"model": "tiny", "top_n": 4}),
        ("llamacpp", "/v1/rerank", {"model": "tiny", "top_n": 4}),
        ("voyage", "/v1/rerank", {"model": "tiny", "top_k": 4, "return_documents": False}),
        ("tei", "/rerank", {"raw_scores": False, "truncate": True}),
    ],
)
def test_what_is_sent(server, dialect, path, sent):
    """All results are asked for, and no text back."""
    server.dialect = dialect
    reranker(server, dialect=dialect).score(QUERY, TEXTS)

    (asked,) = server.requests
    texts = "texts" if dialect == "tei" else "documents"
    assert asked.path == path
    assert asked.json == {"query": QUERY, texts: TEXTS} | sent
    assert asked.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("dialect", "given", "asked"),
    [
        ("", "", "/v1/rerank"),
        ("", "/", "/v1/rerank"),
        ("", "/v1", "/v1/rerank"),
        ("", "/v1/rerank", "/v1/rerank"),
        ("", "/rerank/", "/rerank"),
        ("", "/infinity", "/infinity/rerank"),
        ("", "/v1/reranking?a=b", "/v1/reranking?a=b"),
        ("cohere", "", "/v2/rerank"),
        ("cohere", "/v1", "/v1/rerank"),
        ("tei", "/v1", "/rerank"),
        ("tei", "/models/tei", "/models/tei/rerank"),
        ("tei", "/v1/rerank", "/v1/rerank"),
    ],
)
def test_any_form_of_the_address_works(server, dialect, given, asked):
    """A host, a base, or the full address."""
    server.answers = [results(0.5)]
    spec = f"{server.url}{given}"

    assert RemoteReranker(endpoint(spec, dialect=dialect)).score("q", ["t"]) == [0.5]
    assert server.paths == [asked]


@pytest.mark.parametrize("path", ["", "/v1", "/rerank"])
@pytest.mark.parametrize("status", [400, 404, 405, 422])
def test_a_tei_server_is_found_whatever_its_first_refusal(server, path, status):
    """And from then on it is asked in its own form only."""
    rows = [{"index": 0, "score": 0.3}]
    server.answers = [Answer("", status), Answer(rows)]
    remote = reranker(server, path=path)

    assert remote.score("q", ["t"]) == [0.3]
    assert remote.score("q", ["t"]) == [0.3]
    assert [("texts" in one.json) for one in server.requests] == [False, True, True]
    assert server.paths[1:] == ["/rerank", "/rerank"]


def test_two_refusals_are_both_told(server):
    """Either may be the one that helps."""
    server.answers = [refusal(404, "no such route"), refusal(422, "batch size 40 > 32")]

    said = complaint(lambda: reranker(server).score("q", ["t"]))

    assert "no such route" in said
    assert "batch size 40 > 32" in said


def test_a_named_dialect_is_not_guessed_at(server):
    """One request, one refusal."""
    server.dialect = "tei"

    assert "404" in complaint(lambda: reranker(server, dialect="jina").score("q", ["t"]))
    assert len(server.requests) == 1


def test_an_unknown_dialect_is_refused():
    """With those that are known."""
    with pytest.raises(InvalidInput, match="jina, cohere, vllm, llamacpp, tei, voyage"):
        RemoteReranker(endpoint("http://host", dialect="klingon"))


def test_no_texts_need_no_server():
    """There is nothing to ask."""
    assert RemoteReranker(endpoint("http://127.0.0.1:9")).score("q", []) == []


def test_names(server):
    """The model's name is shown; with the address it is a cache's key. The API key is in neither."""
    remote = reranker(server)

    assert remote.name == "tiny"
    assert remote.key == f"{server.url}#tiny"
    assert KEY not in repr(remote)
    assert RemoteReranker(endpoint("http://host:80/rerank")).name == "host:80"


@pytest.mark.parametrize("dialect", ["", "vllm", "llamacpp"])
def test_one_score_outside_makes_all_of_them_logits(server, dialect):
    """A 0.5 between logits is a logit, too."""
    server.answers = [results(-3.0, 0.5, 1000.0, -1000.0)]

    scores = reranker(server, dialect=dialect).score("q", ["a", "b", "c", "d"])

    assert scores == pytest.approx([0.0474258731, 0.6224593312, 1.0, 0.0])


def test_logits_that_look_like_shares_are_settled_by_the_dialect(server):
    """Unnamed they are taken as they are; llamacpp always applies the logistic function."""
    server.answers = [results(0.0, 1.0)]

    assert reranker(server).score("q", ["a", "b"]) == [0.0, 1.0]
    named = reranker(server, dialect="llamacpp").score("q", ["a", "b"])
    assert named == pytest.approx([0.5, 0.7310585786])


@pytest.mark.parametrize("dialect", ["jina", "cohere", "tei", "voyage"])
@pytest.mark.parametrize("score", [-0.5, 1.5])
def test_a_broken_promise_is_no_score(server, dialect, score):
    """Who says 0..1 and sends something else is not understood."""
    server.answers = [results(0.5, score)]

    said = complaint(lambda: reranker(server, dialect=dialect).score("q", ["a", "b"]))

    assert f"a score of {score}, though {dialect} promises 0..1" in said


@pytest.mark.parametrize("dialect", ["", "jina"])
def test_a_rounding_error_is_no_broken_promise(server, dialect):
    """Nor does it make logits of the rest."""
    server.answers = [results(1.0000001192, 0.25, -1e-8, 1)]

    assert reranker(server, dialect=dialect).score("q", ["a"] * 4) == [1.0, 0.25, 0.0, 1.0]


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (results(0.1), "1 results for 2 texts"),
        (results(0.1, 0.2, 0.3), "3 results for 2 texts"),
        (results(), "0 results for 2 texts"),
        (results(0.1, math.nan), "for index 1 that is not a finite number"),
        (results(0.1, math.inf), "for index 1 that is not a finite number"),
        (results(-math.inf, 0.1), "for index 0 that is not a finite number"),
        (results(10**400, 0.1), "for index 0 that is not a finite number"),
        (results(0.1, None), "no score for index 1"),
        (results(0.1, KEY), "for index 1 that is not a number"),
        (results(0.1, True), "for index 1 that is not a number"),
        (Answer([{"index": 0, "score": 0.1}] * 2), "index 0 twice"),
        (Answer([{"index": 0, "score": 0.1}, {"index": 2, "score": 0.1}]), "index 2 for 2 texts"),
        (Answer([{"index": -1, "score": 0.1}] * 2), "index -1 for 2 texts"),
        (Answer([{"index": 10**99, "score": 0.1}] * 2), "index 1000"),
        (Answer([{"score": 0.1}] * 2), "without a number as its index"),
        (Answer([{"index": KEY, "score": 0.1}] * 2), "without a number as its index"),
        (Answer([{"index": True, "score": 0.1}] * 2), "without a number as its index"),
        (Answer([0.1, 0.2]), "without a number as its index"),
        (Answer([{"index": 0}, {"index": 1}]), "no score for index 0"),
        (Answer({"results": {"0": 1}}), "no list of results"),
        (Answer({"error": f"overloaded {KEY}"}), "an error inside results"),
        (Answer("null"), "no list of results"),
        (endpoints.WEB_PAGE, "not JSON"),
        (endpoints.UNAUTHORISED, "check the api key"),
        (endpoints.BUSY, "wait 7 s"),
        (endpoints.BROKEN, "the server failed"),
        (endpoints.ELSEWHERE, "not followed"),
        (endpoints.CUT, "closed the connection"),
        (endpoints.HUGE, "more than 4 MB"),
    ],
)
def test_a_wrong_answer_says_what_is_wrong(server, answer, hint):
    """GN-15: no reranking is better than a wrong one."""
    server.answers = [answer]

    said = complaint(lambda: reranker(server).score("q", ["a", "b"]))

    assert hint in said
    assert server.url in said
    assert len(server.requests) == 1


def test_a_wrong_answer_does_not_settle_the_dialect(server):
    """What did not work is not remembered."""
    server.answers = [results(0.1)]
    remote = reranker(server)
    complaint(lambda: remote.score("q", ["a", "b"]))
    server.answers, server.dialect = [], "tei"

    assert remote.score(QUERY, TEXTS) == SHARES


def test_both_forms_share_one_time_limit(server):
    """A slow refusal leaves less for the second form."""
    server.answers = [Answer("", 404, wait_s=0.4)]

    said = complaint(lambda: reranker(server, timeout_s=0.6).score("q", ["t"]))

    assert "timed out after 0.6 s" in said


def test_many_threads_may_ask_at_once(server):
    """Also while the dialect is still being found."""
    server.dialect = "tei"
    remote, answers = reranker(server), []
    threads = [
        threading.Thread(target=lambda: answers.append(remote.score(QUERY, TEXTS)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [SHARES] * 8
