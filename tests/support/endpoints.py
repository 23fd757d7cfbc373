"""A model server on a port of this machine: it speaks like the real ones, and misbehaves on request.

    with EndpointServer() as server:
        generator = RemoteGenerator(endpoint(server.url))

Left alone it answers chat completions with `server.says`, and scores texts by the words they share
with the query, as the server named by `server.dialect` would. `server.answers` come first, one a
request; the last of them stays. `server.requests` has all that was asked.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

EXPANSION = '{"lexical": ["acorn cache"], "semantic": ["hidden food"], "hyde": "It hid acorns."}'


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    """By their names in lower case."""
    json: Any


@dataclass(frozen=True)
class Answer:
    """One answer, and how badly it is given."""

    body: Any = ""
    """Text and bytes go out as they are, everything else as JSON."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    """Before anything is said."""
    drip_s: float = 0.0
    """Between two bytes, those of the headers as well."""
    cut_at: int | None = None
    """Bytes of the body after which the connection closes, though more were promised."""

    @property
    def raw(self) -> bytes:
        """The body as it goes out."""
        if isinstance(self.body, bytes):
            return self.body
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return text.encode()


def chat(content: Any, *, finish_reason: str = "stop", **message: Any) -> Answer:
    """Say something as chat completions do."""
    message = {"role": "assistant", "content": content} | message
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return Answer({"object": "chat.completion", "choices": [choice]})


def results(*scores: Any) -> Answer:
    """Give scores as Jina, Cohere, vLLM and llama.cpp do, the last text first."""
    rows = [{"index": index, "relevance_score": one} for index, one in enumerate(scores)]
    return Answer({"results": rows[::-1]})


def refusal(status: int, message: str = "", **headers: str) -> Answer:
    """Refuse as OpenAI does; `Retry_After="7"` becomes a header."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer({"error": {"message": message}}, status, named)


PROSE = chat(f"Sure! Here is the expansion:\n{EXPANSION}\nHope that helps.")
FENCED = chat(f"```json\n{EXPANSION}\n```")
HALF = chat(EXPANSION[: len(EXPANSION) // 2], finish_reason="length")
THINKING = chat(f"<think>\nThe user wants {{}}…\n</think>\n\n{EXPANSION}")
EMPTY = chat("")
UNAUTHORISED = refusal(401, "Incorrect API key provided")
NOT_FOUND = refusal(404, "model 'gone' not found, try pulling it first")
BUSY = refusal(429, "Rate limit reached", Retry_After="7")
BROKEN = refusal(500, "CUDA error: out of memory")
WEB_PAGE = Answer("<html><body>Welcome!</body></html>", headers={"Content-Type": "text/html"})
ELSEWHERE = Answer("", 307, {"Location": "http://elsewhere.invalid/v1/chat/completions"})
HANGS = Answer(wait_s=3600.0)
DRIPS = Answer(chat(EXPANSION).body, drip_s=0.05)
CUT = Answer(chat(EXPANSION).body, cut_at=20)
HUGE = Answer(b'"' + b"a" * (8 << 20) + b'"')


class EndpointServer:
    """A threaded server for the length of a `with`; its settings may change at any time."""

    def __init__(self) -> None:
        self.answers: list[Answer | Callable[[Asked], Answer]] = []
        self.says = EXPANSION
        self.formats: tuple[str, ...] = ("json_schema", "json_object")
        """The response formats it knows; others are refused with 400."""
        self.limit = "max_tokens"
        """The name it has for the limit of tokens; the other one is refused with 400."""
        self.takes_temperature = True
        self.dialect = "jina"
        """One of jina, cohere, vllm, llamacpp, tei, voyage."""
        self.requests: list[Asked] = []
        self._closing = threading.Event()

    @property
    def url(self) -> str:
        """The address without any path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def paths(self) -> list[str]:
        """The paths that were asked, in order."""
        return [one.path for one in self.requests]

    def __enter__(self) -> EndpointServer:
        self._server = _Quiet(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        """Return the next answer of the list, or what a server in good health says."""
        self.requests.append(asked)
        if not self.answers:
            return self._chat(asked) if asked.path.endswith("/completions") else self._rank(asked)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer if isinstance(answer, Answer) else answer(asked)

    def pause(self, seconds: float) -> bool:
        """Wait, but not beyond the end of the server; say whether it ended."""
        return self._closing.wait(seconds)

    def _chat(self, asked: Asked) -> Answer:
        if asked.path != "/v1/chat/completions":
            return Answer("404 page not found", 404)
        wanted = asked.json.get("response_format", {}).get("type")
        if wanted and wanted not in self.formats:
            return refusal(400, f"response_format {wanted} is not supported")
        for limit in ("max_tokens", "max_completion_tokens"):
            if limit != self.limit and limit in asked.json:
                return refusal(400, f"Unsupported parameter: '{limit}'. Use '{self.limit}'.")
        if "temperature" in asked.json and not self.takes_temperature:
            return refusal(400, "Unsupported value: 'temperature' does not support 0.")
        return chat(self.says)

    def _rank(self, asked: Asked) -> Answer:
        known = {"tei": ("/rerank",), "cohere": ("/v2/rerank", "/v1/rerank")}
        if asked.path not in known.get(self.dialect, ("/v1/rerank", "/rerank")):
            return Answer("", 404)
        field_of_texts = "texts" if self.dialect == "tei" else "documents"
        if field_of_texts not in asked.json:
            return Answer(f"missing field `{field_of_texts}`", 422)
        words = set(asked.json["query"].lower().split())
        shares = [
            len(words & set(text.lower().split())) / len(words)
            for text in asked.json[field_of_texts]
        ]
        if self.dialect == "llamacpp":
            shares = [20 * share - 10 for share in shares]
        name = "score" if self.dialect == "tei" else "relevance_score"
        rows = [{"index": index, name: share} for index, share in enumerate(shares)]
        rows.sort(key=lambda row: row[name], reverse=True)
        if self.dialect == "tei":
            return Answer(rows)
        return Answer({"data" if self.dialect == "voyage" else "results": rows})


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked may hang up at any time."""


def _handler(server: EndpointServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, json.loads(self.rfile.read(length)))
            _send(self, server, server.answer(asked))

        def log_message(self, *args: object) -> None:
            pass

    return Handler


def _send(request: BaseHTTPRequestHandler, server: EndpointServer, answer: Answer) -> None:
    if answer.wait_s and server.pause(answer.wait_s):
        return
    body = answer.raw
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = [f"HTTP/1.1 {answer.status} Said"]
    lines += [f"{name}: {value}" for name, value in (headers | answer.headers).items()]
    head = "\r\n".join([*lines, "Connection: close", "", ""]).encode()
    whole = head + (body if answer.cut_at is None else body[: answer.cut_at])
    pieces = [whole[at : at + 1] for at in range(len(whole))] if answer.drip_s else [whole]
    with suppress(ConnectionError):
        for piece in pieces:
            request.wfile.write(piece)
            if answer.drip_s and server.pause(answer.drip_s):
                return
