"""Servers for tests: `serve(…)` in a thread with a real socket, `Process` as `scrubjay serve` starts one."""

from __future__ import annotations

import http.client
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

import scrubjay
from scrubjay.surfaces import schemas
from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.http import listen
from scrubjay.surfaces.http.app import ServerContext, make_app
from scrubjay.surfaces.http.auth import ApiKeyLookup
from scrubjay.surfaces.http.metrics import Monitoring
from scrubjay.surfaces.http.settings import ServerSettings

WAIT_S = 60.0
SCHEMAS = schemas.load()
JSON = {"Content-Type": "application/json"}


class Answer(NamedTuple):
    """What a server said."""

    status: int
    headers: dict[str, str]
    """By their names in lower case."""
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The detail of a problem, which is what the rest of it says it is."""
        said = self.json
        assert self.headers["content-type"] == "application/problem+json"
        assert said["status"] == self.status
        assert said["instance"].endswith(self.headers["x-request-id"])
        assert set(said) == {"type", "title", "status", "detail", "instance"}
        return str(said["detail"])


class Client:
    """Asks one server, each time on a connection of its own."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = url
        self.address = (url.rpartition("/")[2].rpartition(":")[0], int(url.rpartition(":")[2]))
        self.headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and return the answer; what is neither text nor bytes goes out as JSON."""
        named = {**self.headers, **(JSON if body is not None else {}), **(headers or {})}
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection(*self.address, timeout=WAIT_S)
        try:
            connection.request(method, path, sent, named)
            got = connection.getresponse()
            heads = {name.lower(): value for name, value in got.getheaders()}
            return Answer(got.status, heads, got.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        """Ask by address; `Sec_Fetch_Site="none"` is a header."""
        return self.ask("GET", path, headers=_named(headers))

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        """Ask with a body."""
        return self.ask("POST", path, body, _named(headers))

    def raw(self, data: bytes) -> bytes:
        """Send bytes as they are and return everything that comes back until the end."""
        with socket.create_connection(self.address, WAIT_S) as opened:
            opened.sendall(data)
            return until_the_end(opened)


def validate(schema: str, answer: Any) -> None:
    """Hold an answer against its committed schema."""
    jsonschema.validate(answer, SCHEMAS[schema])


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def until_the_end(opened: socket.socket) -> bytes:
    """Read until the other side closes, which it may do by a reset."""
    read = b""
    try:
        while part := opened.recv(65536):
            read += part
    except ConnectionError:
        pass
    return read


def logged(caplog: pytest.LogCaptureFixture, words: str) -> str:
    """The line of the log with these words, which is written after the answer."""
    for _ in range(int(WAIT_S / 0.01)):
        for one in caplog.records:
            if one.name == "scrubjay.access" and words in one.getMessage():
                return one.getMessage()
        time.sleep(0.01)
    raise AssertionError(f"no line with {words!r}")


class Process:
    """`scrubjay serve` in a process of its own."""

    def __init__(self, db: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
        self.err = db.with_suffix(f".err{id(self)}")
        with open(self.err, "wb") as err:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "scrubjay", "serve", "--json", "--db", str(db)]
                + (["--port", "0"] if "--port" not in words else [])
                + list(words),
                stdout=subprocess.PIPE,
                stderr=err,
                env={**os.environ, "SCRUBJAY_OFFLINE": "1", **(env or {})},
            )

    def client(self, token: str | None = None) -> Client:
        """Wait until it listens."""
        assert self.popen.stdout is not None
        told = json.loads(self.popen.stdout.readline())
        jsonschema.validate(told, SCHEMAS["serving"])
        assert told["pid"] == self.popen.pid
        self.page, self.key_file = told["page"], told["key_file"]
        return Client(told["url"], token)

    def owner(self) -> Client:
        """Wait until it listens; the client sends the owner's key."""
        client = self.client()
        assert self.key_file is not None
        return Client(client.url, Path(self.key_file).read_text("ascii").strip())

    def said(self) -> str:
        """What it wrote to standard error."""
        return self.err.read_text("utf-8")

    def close(self) -> None:
        """End it, whatever it does."""
        self.popen.kill()
        self.popen.communicate(timeout=WAIT_S)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start servers of their own, which end with the test."""
    with ExitStack() as stack:

        def start(*words: str, db: Path | None = None, env: Any = None) -> Process:
            made = Process(db or tmp_path / "served.db", *words, env=env)
            stack.callback(made.close)
            return made

        yield start


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """The file of the store that is served."""
    return tmp_path / "served.db"


def stores_at(db: Path) -> OpenStores:
    """The stores that a server opens there: no model."""

    def open_for(who: Principal) -> scrubjay.Store:
        return scrubjay.open(db, embedder=False, tenant=who.tenant, user=who.user)

    return OpenStores(open_for)


@pytest.fixture
def stores(db: Path) -> Iterator[OpenStores]:
    """The stores of `serve`."""
    opened = stores_at(db)
    yield opened
    opened.close()


@pytest.fixture
def serve(stores: OpenStores) -> Iterator[Callable[..., Client]]:
    """Start a server in a thread, with `--no-auth`; `loopback=False` lets nobody in without a token.
    With `owner_key` it requires that key, as a server does by default."""
    with ExitStack() as stack:

        def start(
            *,
            loopback: bool = True,
            names: tuple[str, ...] = (),
            owner_key: str | None = None,
            **settings: Any,
        ) -> Client:
            find = ApiKeyLookup(
                stores, loopback=loopback, owner_key=owner_key, no_auth=owner_key is None
            )
            wanted = ServerSettings(**settings)
            context = ServerContext.create(
                stores, find, wanted, Monitoring(), names=names, owner_key=owner_key
            )
            return stack.enter_context(served(context))

        yield start


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server for the tests of a file, which leave nothing behind; memory.example.org is its name."""
    stores = stores_at(tmp_path_factory.mktemp("shared") / "served.db")
    find = ApiKeyLookup(stores, loopback=True, no_auth=True)
    names = ("memory.example.org",)
    with served(
        ServerContext.create(stores, find, ServerSettings(), Monitoring(), names=names)
    ) as client:
        yield client
    stores.close()


@contextmanager
def served(context: ServerContext) -> Iterator[Client]:
    """A server in a thread of this process, with a real socket."""
    listen.log_to_stderr()
    for name in (
        "scrubjay",
        "scrubjay.access",
        "uvicorn",
        "mcp",
        "asyncio",
    ):  # pytest reads the root
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True
    opened = listen.bind("127.0.0.1", 0)
    up = threading.Event()
    server = listen.http_server(make_app(context), up.set, shutdown_s=5)
    thread = threading.Thread(target=server.run, args=([opened],))
    thread.start()
    try:
        assert up.wait(WAIT_S)
        yield Client(listen.url_of(opened))
    finally:
        server.should_exit = True
        thread.join(WAIT_S)
        assert not thread.is_alive()
        assert context.workers.close(WAIT_S)
        assert context.auth_workers.close(WAIT_S)
