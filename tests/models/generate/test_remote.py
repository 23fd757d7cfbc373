"""Models that write, behind HTTP: addresses, manners, failures, and a key that nobody sees."""

from __future__ import annotations

import json
import socket
import threading
import time
import traceback

import endpoints
import pytest
from endpoints import EXPANSION, Answer, EndpointServer, chat, refusal

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models import Generator
from scrubjay.models.endpoint import Endpoint, Refused, endpoint
from scrubjay.models.generate.remote import RemoteGenerator

KEY = "sk-very-secret-0123456789"
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"hyde": {"type": "string"}},
    "required": ["hyde"],
}


@pytest.fixture
def server():
    with EndpointServer() as running:
        yield running


def generator(server, *, path="/v1", model="tiny", timeout_s=20.0, most_tokens=400):
    at = endpoint(f"{server.url}{path}#{model}", api_key=KEY, timeout_s=timeout_s)
    return RemoteGenerator(at, most_tokens=most_tokens)


def complaint(call):
    """What a user reads when the call fails: one line, and nowhere in the traceback the key."""
    with pytest.raises(Unavailable) as caught:
        call()
    whole = "".join(traceback.format_exception(caught.value))
    assert KEY not in whole
    assert KEY not in repr(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestEndpoint:
    def test_one_line_is_an_address_and_a_model(self):
        """The part after # is the model's name, colons and slashes and all."""
        assert endpoint("http://localhost:11434/v1#qwen3:1.7b") == Endpoint(
            "http://localhost:11434/v1", "qwen3:1.7b", "", 10.0, ""
        )
        assert endpoint("https://host/v1/#org/name").url == "https://host/v1"
        assert endpoint("http://[::1]:8080").model == ""

    def test_a_model_is_called_by_its_name_or_its_host(self):
        """And known to caches by address and name; a query may be a secret and is left out."""
        named = endpoint("http://localhost:11434/v1?key=abc#qwen3")

        assert named.name == "qwen3"
        assert named.key == "http://localhost:11434/v1#qwen3"
        assert endpoint("http://localhost:8080/v1").name == "localhost:8080"

    def test_the_key_is_in_no_text(self):
        """Whichever way the object is printed."""
        at = endpoint("http://localhost/v1#m", api_key=f"{KEY}\n")

        assert at.api_key == KEY
        for text in (repr(at), str(at), f"{at}", repr(RemoteGenerator(at)), repr([at])):
            assert KEY not in text
        assert repr(endpoint("http://h")).count("***") == 0

    @pytest.mark.parametrize(
        ("spec", "hint"),
        [
            ("", "http://"),
            ("localhost:11434/v1", "http://"),
            ("qwen3", "http://"),
            ("ftp://host/v1", "https://"),
            ("http://", "host"),
            ("http:///v1", "host"),
            ("http://#model", "host"),
            ("http://host:port/v1", "1 to 65535"),
            ("http://host:99999/v1", "1 to 65535"),
            ("http://host:0/v1", "1 to 65535"),
            ("http://[::1/v1", "host or port"),
            ("http://host/a b", "%20"),
            ("http://host/ä", "%20"),
            ("http://ho\x7fst/", "%20"),
        ],
    )
    def test_what_is_no_address_is_refused(self, spec, hint):
        """With what would be right."""
        with pytest.raises(InvalidInput, match="(?s).*" + hint):
            endpoint(spec)

    @pytest.mark.parametrize(
        "spec",
        [
            f"http://user:{KEY}@host/v1",
            f"http://{KEY}@host/v1",
            f"https://user:{KEY}@host:bad/v1",
            f"user:{KEY}@host/v1",
            f"http://user:{KEY}@/v1",
            f"ftp://user:{KEY}@host",
        ],
    )
    def test_a_password_in_the_address_is_refused_and_not_repeated(self, spec):
        """It would stand in every log."""
        with pytest.raises(InvalidInput) as caught:
            endpoint(spec)

        assert KEY not in "".join(traceback.format_exception(caught.value))

    def test_the_refusal_of_a_password_names_the_setting(self):
        """So that the user knows where the key belongs."""
        with pytest.raises(InvalidInput, match="api key setting"):
            endpoint("http://user:pass@host/v1")

    @pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), float("inf"), 1e12])
    def test_a_time_limit_is_a_span_above_zero(self, timeout_s):
        """Also for an endpoint that was made by hand."""
        with pytest.raises(InvalidInput, match="greater than 0"):
            endpoint("http://host", timeout_s=timeout_s)
        with pytest.raises(InvalidInput, match="greater than 0"):
            RemoteGenerator(Endpoint("http://host", timeout_s=timeout_s))

    @pytest.mark.parametrize("key", [f"{KEY}\nX-Other: 1", f"{KEY}é", f"{KEY}\0"])
    def test_a_key_that_no_header_carries_is_refused_without_showing_it(self, key):
        """The HTTP library's own error would have it in its text."""
        with pytest.raises(InvalidInput) as caught:
            endpoint("http://host", api_key=key)
        assert KEY not in str(caught.value)

        said = complaint(
            lambda: Endpoint("http://127.0.0.1:9/", "", key, 5).post("http://127.0.0.1:9/", {})
        )
        assert "cannot be" in said or "Cannot connect" in said


class TestAsking:
    @pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
    def test_any_form_of_the_address_works(self, server, path):
        """A host, a base, or the full address."""
        assert generator(server, path=path).complete("hello") == EXPANSION
        assert server.paths == ["/v1/chat/completions"]

    def test_another_base_and_a_query_are_kept(self, server):
        """As hosted services have them."""
        server.answers = [chat("yes")]

        assert generator(server, path="/openai/v4?version=2").complete("hello") == "yes"
        assert server.paths == ["/openai/v4/chat/completions?version=2"]

    def test_what_is_sent(self, server):
        """GN-2: one user message, no randomness, a limit, and the schema."""
        remote = generator(server, most_tokens=77)
        assert isinstance(remote, Generator)

        remote.complete("Where is 'é' \ud800?", schema=SCHEMA)

        (asked,) = server.requests
        assert asked.json == {
            "model": "tiny",
            "messages": [{"role": "user", "content": "Where is 'é' ??"}],
            "stream": False,
            "temperature": 0,
            "max_tokens": 77,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": SCHEMA},
            },
        }
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        assert asked.headers["content-type"] == "application/json"

    def test_no_key_and_no_model_are_not_sent(self, server):
        """Local servers want neither."""
        remote = RemoteGenerator(endpoint(server.url))

        remote.complete("hello")

        (asked,) = server.requests
        assert "authorization" not in asked.headers
        assert "model" not in asked.json
        assert "response_format" not in asked.json
        assert remote.name == server.url.removeprefix("http://")

    def test_a_server_that_wants_a_model_is_explained(self, server):
        """The complaint alone would not say where the name goes."""
        server.answers = [refusal(400, "you must provide a model parameter")]
        remote = RemoteGenerator(endpoint(server.url))

        assert f"{server.url}#name" in complaint(lambda: remote.complete("hello"))

    @pytest.mark.parametrize(
        ("formats", "tried"),
        [
            (("json_schema",), ["json_schema"]),
            (("json_object",), ["json_schema", "json_object"]),
            ((), ["json_schema", "json_object", None]),
        ],
    )
    def test_the_strictest_form_of_json_is_found_and_remembered(self, server, formats, tried):
        """GN-2: every server gives what it can, and the second call is one request."""
        server.formats = formats
        remote = generator(server)

        assert remote.complete("one", schema=SCHEMA) == EXPANSION
        first = [one.json.get("response_format", {}).get("type") for one in server.requests]
        assert remote.complete("two", schema=SCHEMA) == EXPANSION

        assert first == tried
        assert len(server.requests) == len(tried) + 1
        assert server.requests[-1].json.get("response_format", {}).get("type") == tried[-1]

    def test_the_newer_names_are_found_and_remembered(self, server):
        """OpenAI's reasoning models know neither max_tokens nor a temperature of 0."""
        server.limit, server.takes_temperature = "max_completion_tokens", False
        remote = generator(server)

        remote.complete("one", schema=SCHEMA)
        count = len(server.requests)
        remote.complete("two", schema=SCHEMA)

        last = server.requests[-1].json
        assert (count, len(server.requests)) == (3, 4)
        assert last["max_completion_tokens"] == 400
        assert "max_tokens" not in last
        assert "temperature" not in last
        assert last["response_format"]["type"] == "json_schema"

    def test_a_refusal_of_everything_ends_and_changes_nothing(self, server):
        """A prompt that is too long says nothing about formats."""
        server.answers = [refusal(400, "the prompt is longer than the context")]
        remote = generator(server)

        assert "longer than the context" in complaint(lambda: remote.complete("x", schema=SCHEMA))
        assert len(server.requests) == 3
        server.answers = []
        remote.complete("x", schema=SCHEMA)
        assert server.requests[-1].json["response_format"]["type"] == "json_schema"

    def test_all_attempts_share_one_time_limit(self, server):
        """Three slow refusals are not three time limits."""
        server.answers = [Answer({"error": "unknown"}, 400, wait_s=0.4)]

        said = complaint(lambda: generator(server, timeout_s=0.6).complete("x", schema=SCHEMA))

        assert "timed out after 0.6 s" in said

    def test_two_threads_may_ask_at_once(self, server):
        """One object serves a whole process."""
        remote, answers = generator(server), []
        threads = [
            threading.Thread(target=lambda: answers.append(remote.complete("x"))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert answers == [EXPANSION] * 8


class TestReading:
    @pytest.mark.parametrize(
        ("answer", "text"),
        [
            (endpoints.THINKING, EXPANSION),
            (chat(f"  <think></think>{EXPANSION} "), EXPANSION),
            (chat(f"The end of a thought</think>{EXPANSION}"), EXPANSION),
            (chat('{"hyde": "</think> ends a thought"}'), '{"hyde": "</think> ends a thought"}'),
            (chat("A <think> in the </think> middle"), "A <think> in the </think> middle"),
            (endpoints.FENCED, f"```json\n{EXPANSION}\n```"),
            (endpoints.HALF, EXPANSION[: len(EXPANSION) // 2].strip()),
            (
                chat(
                    [
                        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                        {"type": "text", "text": "in "},
                        {"type": "text", "text": "parts"},
                    ]
                ),
                "in parts",
            ),
            (chat("out", reasoning_content="hm"), "out"),
        ],
    )
    def test_the_words_are_found(self, server, answer, text):
        """Without the thoughts of a reasoning model; what JSON is worth is the caller's to say."""
        server.answers = [answer]

        assert generator(server).complete("x") == text

    @pytest.mark.parametrize(
        ("answer", "hint"),
        [
            (endpoints.EMPTY, "empty (finish_reason stop)"),
            (chat(None, finish_reason="tool_calls"), "empty (finish_reason tool_calls)"),
            (chat(None, finish_reason="length"), "400 tokens were used up"),
            (chat("<think>and on and on", finish_reason="length"), "400 tokens were used up"),
            (chat("<think>only thought</think>"), "empty"),
            (chat(None, refusal=f"I cannot. {KEY}"), "refused: I cannot. ***"),
            (chat([{"type": "image"}, 7]), "empty"),
            (chat(None, finish_reason=KEY), "empty"),
            (Answer({"choices": []}), "choices[0]"),
            (Answer({"choices": [{"text": "old"}]}), "choices[0]"),
            (Answer({"choices": [{"message": "text"}]}), "choices[0]"),
            (Answer({"error": {"message": f"overloaded {KEY}"}}), "it says: overloaded ***"),
            (Answer([]), "choices[0]"),
            (Answer("null"), "choices[0]"),
        ],
    )
    def test_an_answer_without_words_says_why(self, server, answer, hint):
        """An empty text would be taken for an expansion into nothing."""
        server.answers = [answer]

        assert hint in complaint(lambda: generator(server).complete("x"))


class TestFailing:
    @pytest.mark.parametrize(
        ("answer", "hints"),
        [
            (endpoints.UNAUTHORISED, ["401", "check the api key", "Incorrect API key"]),
            (refusal(403, f"not for {KEY}"), ["403", "check the api key", "not for ***"]),
            (endpoints.NOT_FOUND, ["404", "the address and the model's name", "try pulling it"]),
            (endpoints.BUSY, ["429", "how often", "wait 7 s", "Rate limit reached"]),
            (refusal(429), ["429", "how often"]),
            (endpoints.BROKEN, ["500", "the server failed", "out of memory"]),
            (Answer("Bad gateway\n" * 99, 502), ["502", "the server failed", "Bad gateway", "…"]),
            (Answer({"detail": [{"msg": "field required"}]}, 418), ["418", "field required"]),
            (Answer(b"\xff\xfe", 503), ["503"]),
            (endpoints.WEB_PAGE, ["not JSON", "Welcome"]),
            (Answer(""), ["not JSON"]),
            (Answer("[" * 100_000), ["not JSON"]),
            (Answer(f"no JSON but {KEY}"), ["not JSON", "***"]),
            (endpoints.ELSEWHERE, ["307", "elsewhere.invalid", "not followed"]),
            (Answer("", 302), ["302", "no address"]),
            (endpoints.CUT, ["closed the connection"]),
            (endpoints.HUGE, ["more than 4 MB"]),
        ],
    )
    def test_every_failure_is_one_sentence(self, server, answer, hints):
        """GN-2: it says what happened and what to do, and never the key."""
        server.answers = [answer]

        said = complaint(lambda: generator(server).complete("x"))

        assert server.url in said
        for hint in hints:
            assert hint in said
        assert len(said) < 450
        assert len(server.requests) == 1

    def test_the_number_and_the_words_of_a_refusal_are_kept(self, server):
        """Callers choose by them what to try next; the key is not among the words."""
        server.answers = [refusal(404, f"nothing for {KEY}")]

        with pytest.raises(Refused) as caught:
            Endpoint(server.url, "", KEY, 20).post(server.url, {})

        assert caught.value.status == 404
        assert caught.value.body == '{"error": {"message": "nothing for ***"}}'

    def test_a_redirect_is_not_followed(self, server):
        """The key would go to whoever it names."""
        with EndpointServer() as other:
            server.answers = [Answer("", 307, {"Location": f"{other.url}/v1/chat/completions"})]

            assert other.url in complaint(lambda: generator(server).complete("x"))
            assert other.requests == []

    @pytest.mark.parametrize("answer", [endpoints.HANGS, endpoints.DRIPS])
    def test_the_time_limit_holds_for_the_whole_answer(self, server, answer):
        """A byte now and then does not buy a server more time."""
        server.answers = [answer]

        said = complaint(lambda: generator(server, timeout_s=0.3).complete("x"))

        assert "timed out after 0.3 s" in said

    def test_a_limit_that_is_over_asks_nothing(self, server):
        """The last of several attempts may come too late."""
        since = time.monotonic() - 5

        said = complaint(
            lambda: Endpoint(server.url, "", KEY, 5).post(server.url, {}, since=since)
        )

        assert "timed out after 5 s" in said
        assert server.requests == []

    def test_no_server_at_all(self):
        """The commonest failure of all."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        remote = RemoteGenerator(endpoint(f"http://127.0.0.1:{port}/v1#m", api_key=KEY))

        said = complaint(lambda: remote.complete("x"))

        assert f"Cannot connect to http://127.0.0.1:{port}/v1/chat/completions" in said
        assert "is the server running there?" in said

    @pytest.mark.parametrize("greeting", [b"SSH-2.0-OpenSSH_9.6\r\n", b""])
    def test_something_else_listens_there(self, greeting):
        """A port mistyped by one."""
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def greet():
                connection, _ = listening.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(greeting)

            thread = threading.Thread(target=greet)
            thread.start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            said = complaint(lambda: Endpoint(url, "", KEY, 20).post(url, {}))
            thread.join()

        assert "web server" in said or "closed the connection" in said


class TestProxies:
    @pytest.fixture(autouse=True)
    def no_exceptions_from_the_proxy(self, monkeypatch):
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)

    def test_this_machine_is_asked_without_a_proxy(self, server, monkeypatch):
        """A proxy elsewhere cannot reach our loopback."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            dead = f"http://127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("http_proxy", dead)

        assert generator(server).complete("x") == EXPANSION
        local = server.url.replace("127.0.0.1", "localhost")
        assert RemoteGenerator(endpoint(local)).complete("x") == EXPANSION

    def test_other_hosts_are_asked_by_the_proxy(self, server, monkeypatch):
        """Behind a company's wall there is no other way."""
        monkeypatch.setenv("http_proxy", server.url)
        server.answers = [chat("by proxy")]

        assert RemoteGenerator(endpoint("http://model.invalid/v1")).complete("x") == "by proxy"
        assert server.paths == ["http://model.invalid/v1/chat/completions"]


def test_an_answer_that_is_json_comes_back_as_it_is(server):
    """Numbers, lists and words alike."""
    server.answers = [Answer({"a": [1, 2.5, "ü"]})]

    assert Endpoint(server.url, "", "", 20).post(server.url, {}) == {"a": [1, 2.5, "ü"]}


def test_a_limit_of_no_tokens_is_refused():
    """It could never write anything."""
    with pytest.raises(InvalidInput, match="at least 1"):
        RemoteGenerator(endpoint("http://host"), most_tokens=0)


def test_the_prose_of_the_test_server_holds_its_json():
    """What the bad habits hide is a good answer."""
    assert EXPANSION in endpoints.PROSE.body["choices"][0]["message"]["content"]
    assert json.loads(EXPANSION).keys() == {"lexical", "semantic", "hyde"}
