"""Embedders behind HTTP: every server's answers, limits and failures, and a key that is never shown."""

from __future__ import annotations

import re
import socket
import threading
import time
import traceback

import embedding_answers
import numpy as np
import pytest
from embedding_answers import DIMS, SERVERS, data, unit, vector_of
from endpoints import NOT_FOUND, UNAUTHORISED, WEB_PAGE, Answer, EndpointServer, refusal

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models import Embedder
from scrubjay.models.embed import remote
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.models.registry import load_embedder

KEY = "sk-very-secret-0123456789"
TEXTS = ["jays hide acorns", "tea at four", "the blue key"]


@pytest.fixture
def server():
    with EndpointServer() as running:
        running.answers = [embedding_answers.openai]
        yield running


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SCRUBJAY_EMBEDDER_API_KEY", KEY)


def embedder(server, path="/v1", model="m"):
    return load_embedder(f"{server.url}{path}#{model}")


def expected(texts=TEXTS, dims=DIMS):
    return np.stack([unit(vector_of(text, dims)) for text in texts])


def complaint(call):
    """What a user reads: one line, and nowhere in the traceback the key."""
    with pytest.raises(Unavailable) as caught:
        call()
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestServers:
    @pytest.mark.parametrize("name", SERVERS)
    def test_every_answer_is_read_in_the_order_of_the_texts(self, server, name):
        server.answers = [SERVERS[name]]
        found = GuardedEmbedder(embedder(server))

        assert found.embed(TEXTS) == pytest.approx(expected(), abs=1e-6)
        assert found.dims == DIMS
        assert isinstance(found.inner, Embedder)

    @pytest.mark.parametrize(
        ("name", "tokens", "estimated"),
        [("openai", 15, False), ("vllm", 7, False), ("lm_studio", 12, True), ("base64", 12, True)],
    )
    def test_tokens_are_counted_or_estimated(self, server, name, tokens, estimated):
        """LM Studio says 0, which is not so."""
        server.answers = [SERVERS[name]]
        found = embedder(server)
        found.embed(TEXTS)
        assert (found.tokens_sent, found.is_estimated) == (tokens, estimated)

    @pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
    def test_any_form_of_the_address_works_and_is_one_index(self, server, path):
        found = embedder(server, path)
        found.embed(TEXTS)
        assert server.paths == ["/v1/embeddings"]
        assert found.name == f"{server.url}/v1#m"

    def test_what_is_sent(self, server):
        embedder(server).embed(TEXTS)
        (asked,) = server.requests
        assert asked.json == {"model": "m", "input": TEXTS, "encoding_format": "float"}
        assert asked.headers["authorization"] == f"Bearer {KEY}"

    def test_a_server_that_does_not_know_the_format_is_asked_without(self, server):
        server.answers = [
            refusal(422, "extra fields not permitted: encoding_format"),
            embedding_answers.openai,
        ]
        found = embedder(server)
        assert found.embed(TEXTS).shape == (3, DIMS)
        found.embed(TEXTS)
        assert ["encoding_format" in asked.json for asked in server.requests] == [
            True,
            False,
            False,
        ]

    def test_prompts_of_a_family_are_sent(self, server):
        """A server adds none; those of the settings come first."""
        found = embedder(server, model="nomic-embed-text")
        found.embed(["tea"])
        found.embed(["tea"], as_query=True)
        assert [asked.json["input"] for asked in server.requests] == [
            ["search_document: tea"],
            ["search_query: tea"],
        ]

    def test_prompts_of_the_settings(self, server, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_TEXT_PROMPT", "text: ")
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_QUERY_PROMPT", "")
        found = embedder(server, model="nomic-embed-text")
        found.embed(["tea"])
        found.embed(["tea"], as_query=True)
        assert [asked.json["input"] for asked in server.requests] == [["text: tea"], ["tea"]]
        assert found.name.endswith('[text_prompt="text: "]')

    def test_blank_texts_are_not_sent_empty(self, server):
        """OpenAI refuses an empty text."""
        embedder(server).embed(["", " \n"])
        assert all(text.strip() for text in server.requests[0].json["input"])

    def test_nothing_is_asked_for_nothing(self, server):
        assert embedder(server).embed([]).shape[0] == 0
        assert server.requests == []

    def test_half_a_surrogate_pair_can_be_sent(self, server):
        assert embedder(server).embed(["left \ud800 right"]).shape == (1, DIMS)


class TestDimensions:
    def test_are_asked_for_and_part_of_the_name(self, server, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_DIMS", "4")
        found = embedder(server)

        assert found.dims == 4
        assert GuardedEmbedder(found).embed(TEXTS) == pytest.approx(expected(dims=4), abs=1e-6)
        assert server.requests[0].json["dimensions"] == 4
        assert found.name == f"{server.url}/v1#m[dims=4]"

    def test_are_cut_where_a_server_does_not(self, server, monkeypatch):
        """llama.cpp ignores the field."""
        server.answers = [embedding_answers.ollama]
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_DIMS", "4")
        found = GuardedEmbedder(embedder(server)).embed(TEXTS)
        cut = np.stack([unit(vector_of(text)[:4]) for text in TEXTS])
        assert found == pytest.approx(cut, abs=1e-6)

    def test_cannot_be_more_than_there_are(self, server, monkeypatch):
        server.answers = [embedding_answers.ollama]
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_DIMS", "64")
        assert "64" in complaint(lambda: embedder(server).embed(TEXTS))

    def test_that_change_are_refused_with_what_to_do(self, server):
        found = GuardedEmbedder(embedder(server))
        found.embed(TEXTS)
        server.answers = [data({"index": 0, "embedding": [1.0] * (DIMS + 2)})]
        said = complaint(lambda: found.embed(["tea"]))
        assert "another model" in said
        assert f"{DIMS} dimensions" in said

    def test_that_differ_within_an_answer(self, server):
        rows = ({"index": 0, "embedding": [1.0] * 3}, {"index": 1, "embedding": [1.0] * 4})
        server.answers = [data(*rows)]
        assert "3 and of 4" in complaint(lambda: embedder(server).embed(["a", "b"]))


class TestBatches:
    def test_have_a_limit_of_texts(self, server):
        texts = [f"note {number}" for number in range(70)]
        found = embedder(server).embed(texts)
        assert [len(asked.json["input"]) for asked in server.requests] == [32, 32, 6]
        assert found.shape == (70, DIMS)

    def test_have_a_limit_of_characters(self, server):
        embedder(server).embed(["a" * 25_000] * 5)
        assert [len(asked.json["input"]) for asked in server.requests] == [2, 2, 1]

    @pytest.mark.parametrize(
        ("status", "message"),
        [
            (413, "Payload Too Large"),
            (422, "batch size 8 > maximum allowed batch size 4"),
            (400, "max 300000 tokens per request: too many tokens"),
        ],
    )
    def test_that_are_too_large_are_halved(self, server, status, message):
        def at_most_four(asked):
            if len(asked.json["input"]) > 4:
                return refusal(status, message)
            return embedding_answers.openai(asked)

        server.answers = [at_most_four]
        texts = [f"note {number}" for number in range(10)]

        found = GuardedEmbedder(embedder(server)).embed(texts)

        assert found == pytest.approx(expected(texts), abs=1e-6)

    @pytest.mark.parametrize(
        ("status", "message"),
        [
            (400, "This model's maximum context length is 8192 tokens"),
            (500, "input (2001 tokens) is too large to process. increase the physical batch size"),
        ],
    )
    def test_of_one_text_that_is_too_long_are_cut_and_averaged(self, server, status, message):
        """Nothing of it is lost, and the server is not paused for it."""

        def short_only(asked):
            if any(len(text) > 300 for text in asked.json["input"]):
                return refusal(status, message)
            return embedding_answers.openai(asked)

        server.answers = [short_only]
        found = embedder(server)
        text = "oak trees and quiet mornings " * 40

        (vector,) = found.embed([text])

        parts = {
            asked.json["input"][0]
            for asked in server.requests
            if len(asked.json["input"][0]) <= 300
        }
        assert len(vector) == DIMS
        assert sum(map(len, parts)) > 0
        assert not found._backoff.left_s

    def test_of_a_short_text_that_is_refused_end(self, server):
        server.answers = [refusal(400, "input is too long")]
        assert "too long" in complaint(lambda: embedder(server).embed(["tea"]))
        assert len(server.requests) == 1

    def test_of_texts_longer_than_the_window_are_sent_in_parts(self, server, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_WINDOW", "100")
        embedder(server).embed(["oak trees " * 100])
        (asked,) = server.requests
        assert len(asked.json["input"]) == 4
        assert "".join(asked.json["input"]) == "oak trees " * 100


class TestFailures:
    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            (UNAUTHORISED, "401.*api key"),
            (NOT_FOUND, "404.*model's name"),
            (WEB_PAGE, "not JSON"),
            (refusal(500, "CUDA error"), "500.*CUDA"),
            (Answer({"error": {"message": "no"}}), "an error inside"),
            (Answer({"object": "list"}), "no list of vectors"),
            (data({"index": 0, "embedding": [1.0]}), "1 vectors for 3 texts"),
            (data(*[{"index": 0, "embedding": [1.0]}] * 3), "index 0 twice"),
            (data(*[{"index": 9, "embedding": [1.0]}] * 3), "index 9 for 3 texts"),
            (data(*[{"index": n, "embedding": "§"} for n in range(3)]), "not a list of numbers"),
            (data(*[{"index": n, "embedding": ["x"]} for n in range(3)]), "not a list of numbers"),
            (data(*[{"index": n} for n in range(3)]), "not a list of numbers"),
            (data(*[{"index": n, "embedding": []} for n in range(3)]), "not a list of numbers"),
            (data(*[{"index": n, "embedding": [[1.0], [2.0]]} for n in range(3)]), "pooling"),
            (data(*[{"index": n, "embedding": [float("nan")]} for n in range(3)]), "not numbers"),
            (data(*[{"index": n, "embedding": [None, 1]} for n in range(3)]), "not numbers"),
        ],
    )
    def test_each_has_a_reason(self, server, answer, says):
        server.answers = [answer]
        found = GuardedEmbedder(embedder(server))
        assert re.search(says, complaint(lambda: found.embed(TEXTS)))

    def test_of_a_server_that_is_down(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        found = load_embedder(f"http://127.0.0.1:{port}/v1#m")
        assert "is the server running" in complaint(lambda: found.embed(["tea"]))

    def test_of_a_slow_server_end_at_the_time_limit(self, server, monkeypatch):
        """And the next query does not wait for it again."""
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_TIMEOUT_S", "1.2")
        server.answers = [Answer(wait_s=30)]
        found = embedder(server)
        started = time.monotonic()
        assert "timed out after 1.2 s" in complaint(lambda: found.embed(["tea"], as_query=True))
        assert "is not asked for another" in complaint(lambda: found.embed(["tea"], as_query=True))
        assert time.monotonic() - started < 4

    def test_offline_no_other_machine_is_asked(self, monkeypatch, server):
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        far = load_embedder("https://api.example.org/v1#m")
        assert "SCRUBJAY_OFFLINE" in complaint(lambda: far.embed(["tea"]))
        assert embedder(server).embed(["tea"]).shape == (1, DIMS)

    def test_of_an_address_are_found_when_it_is_read(self):
        for spec in ("ftp://host/v1#m", "http://user:pass@host/v1#m", "http://host:port/#m"):
            with pytest.raises(InvalidInput):
                load_embedder(spec)


class TestRateLimits:
    def test_are_waited_for_in_the_background(self, server):
        """Twice asked to wait, then answered: nothing fails."""
        server.answers = [
            refusal(429, "Rate limit reached", Retry_After="1"),
            refusal(503, "loading model"),
            embedding_answers.openai,
        ]
        started = time.monotonic()
        assert embedder(server).embed_patiently(TEXTS).shape == (3, DIMS)
        assert 2.5 < time.monotonic() - started < 10
        assert len(server.requests) == 3

    def test_do_not_delay_a_query_beyond_its_limit(self, server):
        server.answers = [refusal(429, "Rate limit reached", Retry_After="700")]
        found = embedder(server)
        started = time.monotonic()
        assert "429" in complaint(lambda: found.embed(["tea"], as_query=True))
        assert "is not asked" in complaint(lambda: found.embed_patiently(["tea"]))
        assert time.monotonic() - started < 2
        assert len(server.requests) == 1

    def test_of_google_are_in_the_body(self, server):
        body = {"error": {"code": 429, "message": "quota", "details": [{"retryDelay": "34.5s"}]}}
        server.answers = [Answer(body, 429)]
        found = embedder(server)
        complaint(lambda: found.embed(["tea"]))
        assert 30 < found._backoff.left_s <= 34.5

    def test_of_an_account_without_money_are_not_waited_for(self, server):
        server.answers = [Answer({"error": {"message": "no", "code": "insufficient_quota"}}, 429)]
        started = time.monotonic()
        assert "429" in complaint(lambda: embedder(server).embed_patiently(["tea"]))
        assert time.monotonic() - started < 2

    def test_can_be_dates(self, server):
        server.answers = [refusal(429, "later", Retry_After="Wed, 21 Oct 2099 07:28:00 GMT")]
        found = embedder(server)
        complaint(lambda: found.embed(["tea"]))
        assert found._backoff.left_s > 3600

    def test_end_with_the_first_answer(self, server):
        found = embedder(server)
        found._backoff.failed()
        found.embed(TEXTS)
        assert not found._backoff.left_s


class TestKeys:
    def test_are_in_no_text(self, server):
        found = embedder(server)
        for text in (repr(found), str(found.endpoint), repr(found.access), found.name):
            assert KEY not in text

    def test_of_openai_are_for_openai_only(self, server, monkeypatch):
        monkeypatch.delenv("SCRUBJAY_EMBEDDER_API_KEY")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        embedder(server).embed(["tea"])
        assert "authorization" not in server.requests[0].headers
        theirs = load_embedder("https://api.openai.com/v1#text-embedding-3-small")
        assert theirs.endpoint.api_key == KEY
        plain = load_embedder("http://api.openai.com/v1#text-embedding-3-small")
        assert plain.endpoint.api_key == ""

    @pytest.mark.parametrize(
        ("spec", "variable"),
        [
            ("https://api.openai.com/v1#text-embedding-3-small", "OPENAI_API_KEY"),
            ("gemini#gemini-embedding-001", "GEMINI_API_KEY"),
        ],
    )
    def test_that_are_missing_are_named(self, monkeypatch, spec, variable):
        monkeypatch.delenv("SCRUBJAY_EMBEDDER_API_KEY")
        assert variable in complaint(lambda: load_embedder(spec).embed(["tea"]))

    def test_of_the_settings_file_are_for_its_embedder(self, server, tmp_path, monkeypatch):
        """The file names the variable; another address gets nothing."""
        monkeypatch.delenv("SCRUBJAY_EMBEDDER_API_KEY")
        monkeypatch.setenv("MY_KEY", KEY)
        file = tmp_path / "scrubjay.toml"
        spec = f"{server.url}/v1#m"
        file.write_text(
            f'embedder = "{spec}"\nembedder_api_key_env = "MY_KEY"\n', encoding="utf-8"
        )
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
        load_embedder(spec).embed(["tea"])
        load_embedder(f"{server.url}/v1#other").embed(["tea"])
        sent = [asked.headers.get("authorization") for asked in server.requests]
        assert sent == [f"Bearer {KEY}", None]


class TestGemini:
    @pytest.fixture
    def google(self, server):
        server.answers = [embedding_answers.gemini]
        return f"gemini+{server.url}/v1beta#gemini-embedding-001"

    def test_what_is_sent(self, server, google):
        found = load_embedder(google)
        assert GuardedEmbedder(found).embed(TEXTS) == pytest.approx(expected(), abs=1e-6)
        found.embed(["tea"], as_query=True)

        first, second = server.requests
        assert first.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
        assert first.headers["x-goog-api-key"] == KEY
        assert "authorization" not in first.headers
        assert first.json["requests"][0] == {
            "model": "models/gemini-embedding-001",
            "content": {"parts": [{"text": TEXTS[0]}]},
            "taskType": "RETRIEVAL_DOCUMENT",
        }
        assert second.json["requests"][0]["taskType"] == "RETRIEVAL_QUERY"

    def test_shorter_vectors_are_normalised(self, server, google, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_DIMS", "4")
        found = GuardedEmbedder(load_embedder(google)).embed(TEXTS)
        assert server.requests[0].json["requests"][0]["outputDimensionality"] == 4
        assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-6)

    def test_a_model_that_reads_its_task_in_the_text(self, server):
        server.answers = [embedding_answers.gemini]
        load_embedder(f"gemini+{server.url}#gemini-embedding-2").embed(["tea"], as_query=True)
        (request,) = server.requests[0].json["requests"]
        assert request["content"]["parts"][0]["text"].startswith("task: search result")
        assert "taskType" not in request

    @pytest.mark.parametrize(
        ("model", "dims", "lengths"),
        [
            ("gemini-embedding-001", 768, (128, 256, 512, 768)),
            ("gemini-embedding-2", 300, (128, 256)),
            ("text-embedding-004", 768, ()),
        ],
    )
    def test_vectors_that_can_be_cut_say_so(self, server, monkeypatch, model, dims, lengths):
        """CG-1: their beginning is a short vector: 256 of 768. Their width comes with an answer."""
        server.answers = [embedding_answers.gemini]
        monkeypatch.setattr(embedding_answers, "DIMS", dims)
        found = GuardedEmbedder(load_embedder(f"gemini+{server.url}#{model}"))
        assert found.matryoshka == ()
        found.embed(["tea"])
        assert found.matryoshka == lengths

    def test_the_name_is_the_setting(self, monkeypatch):
        found = load_embedder("gemini#gemini-embedding-001")
        assert found.name == "gemini#gemini-embedding-001"
        assert found.endpoint.url == "https://generativelanguage.googleapis.com/v1beta"

    @pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
    def test_the_key_is_that_of_google(self, monkeypatch, name):
        monkeypatch.delenv("SCRUBJAY_EMBEDDER_API_KEY")
        monkeypatch.setenv(name, KEY)
        assert load_embedder("gemini#gemini-embedding-001").endpoint.api_key == KEY

    @pytest.mark.parametrize("spec", ["gemini#", "gemini#a/b", "gemini#a b"])
    def test_without_a_model_it_is_refused(self, spec):
        with pytest.raises(InvalidInput, match="names no model"):
            load_embedder(spec)

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            (Answer({"embeddings": [{"values": [1.0]}]}), "1 vectors for 3"),
            (Answer({"embeddings": [{}] * 3}), "not a list of numbers"),
            (Answer([]), "no list of vectors"),
            (refusal(400, "API key not valid"), "API key not valid"),
        ],
    )
    def test_failures(self, server, google, answer, says):
        server.answers = [answer]
        assert says in complaint(lambda: load_embedder(google).embed(TEXTS))


def test_it_may_be_shared_between_threads(server):
    """Each gets its own answer, and every token is counted."""
    found = embedder(server)
    results = {}

    def ask(number):
        results[number] = found.embed([f"note {number}"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for number, (vector,) in results.items():
        assert unit(vector) == pytest.approx(unit(vector_of(f"note {number}")), abs=1e-6)
    assert found.tokens_sent == 8 * 5


def test_no_request_has_more_than_the_limits():
    texts = ["a" * size for size in (1, 70_000, 5, 59_999, 1, 1)]
    batches = list(remote._batches(texts))
    assert [text for batch in batches for text in batch] == texts
    assert [len(batch) for batch in batches] == [1, 1, 1, 2, 1]
