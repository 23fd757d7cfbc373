"""`scrubjay serve` as a process: how it begins, how it ends, and what is stored then."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

import pytest

import scrubjay
from scrubjay.surfaces.http import listen
from scrubjay.surfaces.http.auth import CACHE_S

from .conftest import WAIT_S, Client

pytestmark = pytest.mark.slow
HEAD = b"POST /v1/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def texts_in(db):
    with scrubjay.open(db, embedder=False) as store:
        return {one.text for one in store.ls(limit=5000)}


def head_of(client):
    return HEAD + f"Authorization: {client.headers['Authorization']}\r\n".encode()


def request(client, text):
    body = json.dumps({"text": text}).encode()
    return head_of(client) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def hang_up_while_sending(client):
    with socket.create_connection(client.address, WAIT_S) as opened:
        opened.sendall(request(client, "never complete")[:-5])


def hang_up_before_the_answer(client, text):
    with socket.create_connection(client.address, WAIT_S) as opened:
        opened.sendall(request(client, text))
        reset = b"\x01\x00\x00\x00\x00\x00\x00\x00"  # no good-bye: the connection is reset
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)


def test_200_requests_at_once_are_all_answered_and_kept(process, db):
    """Some may be told to come again; none is lost, also among clients that hang up."""
    client = process().owner()
    barrier = threading.Barrier(200, timeout=WAIT_S)

    def add(number):
        barrier.wait()
        if number % 20 == 0:
            hang_up_while_sending(client)
        if number % 20 == 1:
            hang_up_before_the_answer(client, f"left alone {number}")
        return number, client.post("/v1/add", {"text": f"memory number {number}"})

    with ThreadPoolExecutor(200) as many:
        answers = list(many.map(add, range(200)))

    statuses = {answer.status for _, answer in answers}
    kept = {f"memory number {number}" for number, answer in answers if answer.status == 200}
    assert statuses <= {200, 429, 503}
    assert len(kept) >= 100
    assert client.get("/v1/status").status == 200
    stored = texts_in(db)
    assert kept == {one for one in stored if one.startswith("memory")}
    assert "never complete" not in stored


class Load:
    """Clients that add until nobody answers any more."""

    def __init__(self, client, threads=6):
        self.kept = set()
        self.begun = threading.Semaphore(0)
        self._client = client
        self._threads = [
            threading.Thread(target=self._add, args=(number,)) for number in range(threads)
        ]
        for one in self._threads:
            one.start()

    def _add(self, number):
        for turn in range(100_000):
            text = f"kept {number} {turn}"
            try:
                answer = self._client.post("/v1/add", {"text": text})
            except (OSError, HTTPException):
                return
            if answer.status != 200:
                assert answer.status == 503
                return
            self.kept.add(text)
            self.begun.release()

    def join(self):
        for one in self._threads:
            one.join(WAIT_S)
            assert not one.is_alive()


@pytest.mark.parametrize("how", [signal.SIGTERM, getattr(signal, "SIGKILL", None)])
def test_what_was_answered_is_stored_however_the_server_ends(process, db, how):
    """Told to stop it finishes what is under way; killed, it has at least kept what it said it had."""
    if how is None:
        pytest.skip("Windows has no such signal")
    running = process()
    load = Load(running.owner())
    for _ in range(30):
        assert load.begun.acquire(timeout=WAIT_S)
    running.popen.send_signal(how)
    load.join()
    code = running.popen.wait(WAIT_S)

    assert load.kept <= texts_in(db)
    with sqlite3.connect(db) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    opened.close()
    if how != getattr(signal, "SIGKILL", None):
        assert code == 0
        assert "stopped; everything answered is stored" in running.said()
        assert "Traceback" not in running.said()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows ends a process at once anyway")
def test_told_twice_it_ends_at_once(process):
    """A request that never comes to its end holds up the first time, not the second."""
    running = process()
    client = running.owner()
    with socket.create_connection(client.address, WAIT_S) as opened:
        opened.sendall(head_of(client) + b"Content-Length: 1000\r\n\r\n{")
        time.sleep(0.2)
        running.popen.send_signal(signal.SIGINT)
        while True:  # until it no longer listens
            try:
                socket.create_connection(client.address, WAIT_S).close()
            except OSError:
                break
            time.sleep(0.02)
        assert running.popen.poll() is None
        running.popen.send_signal(signal.SIGTERM)
        assert running.popen.wait(10) == 128 + signal.SIGTERM


def test_how_a_server_that_cannot_start_says_so(process, bare_shell, db):
    """In a sentence, with the exit code of its kind."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        busy = bare_shell("serve", "--db", str(db), "--port", port)
    no_host = bare_shell("serve", "--db", str(db), "--host", "nowhere.invalid", "--port", "0")
    open_door = bare_shell("serve", "--db", str(db), "--host", "0.0.0.0", "--port", "0")
    no_port = bare_shell("serve", "--db", str(db), "--port", "70000")

    assert (busy.code, f"port {port}" in busy.err, "--port" in busy.err) == (1, True, True)
    assert (no_host.code, "no host 'nowhere.invalid'" in no_host.err) == (2, True)
    assert (open_door.code, "scrubjay key create" in open_door.err) == (2, True)
    assert (no_port.code, "65535" in no_port.err) == (2, True)
    assert all(len(one.err.splitlines()) == 1 for one in (busy, no_host, open_door, no_port))


def test_where_a_server_that_listens_everywhere_is_found(monkeypatch):
    """Nobody can open 0.0.0.0: on this machine by loopback, from others by a name or an address."""
    with listen.bind("0.0.0.0", 0) as everywhere, listen.bind("127.0.0.1", 0) as here:
        port = everywhere.getsockname()[1]
        monkeypatch.setattr(listen, "_own_address", lambda: "192.0.2.7")
        by_address = listen.browser_urls(everywhere)
        by_name = listen.browser_urls(everywhere, ["memory.example.org"])
        monkeypatch.setattr(listen, "_own_address", lambda: "")
        alone = listen.browser_urls(everywhere)
        assert listen.browser_urls(here, ["memory.example.org"]) == [listen.url_of(here)]
    at_home = f"http://127.0.0.1:{port}"
    assert by_address == [at_home, f"http://192.0.2.7:{port}"]
    assert by_name == [at_home, f"http://memory.example.org:{port}"]
    assert alone == [at_home]


def test_the_same_words_make_a_token_and_serve_its_tenant(process, bare_shell, db):
    """`token create --tenant acme`, then `serve --tenant acme`: in with that token, and with no other."""
    words, shell = ("--tenant", "acme", "--db", str(db)), bare_shell
    told = shell("serve", "--host", "0.0.0.0", "--port", "0", *words)
    assert told.err.count(f"scrubjay key create NAME --tenant acme --db {db}") == 1
    acme = shell("token", "create", "NAME", "--scope", "admin", *words).out.strip()
    other = shell("token", "create", "x", "--tenant", "other", "--db", str(db)).out.strip()
    shell("add", "Of acme alone", *words)

    client = process("--tenant", "acme").client()
    as_acme = Client(client.url, acme)

    assert client.get("/v1/status").status == 401
    assert Client(client.url, other).get("/v1/status").status == 401
    assert [one["text"] for one in as_acme.get("/v1/ls").json["memories"]] == ["Of acme alone"]
    assert as_acme.get("/metrics").status == 200  # it is of acme alone


def test_without_any_token_a_tenant_that_is_typed_is_served(process, shell, db):
    """Its store, and not the one without a tenant, in which tokens are looked for."""
    shell("add", "Of acme alone", "--tenant", "acme", "--db", str(db))
    shell("add", "Of nobody", "--db", str(db))

    running = process("--tenant", "acme")
    client = running.owner()

    found = client.get("/v1/ls").json["memories"]
    assert [one["text"] for one in found] == ["Of acme alone"]

    # The link that it prints signs a browser in, as whom it serves.
    start, _, code = running.page.partition("=")
    assert start == f"{client.url}/#/signin?code"
    own = {"Origin": client.url}
    client = Client(client.url)
    answer = client.ask("POST", "/session", {"code": code}, own)
    own |= {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
    own |= {"X-Scrubjay-Page": answer.json["key"]}
    assert client.ask("GET", "/session", headers=own).json["tenant"] == "acme"
    found = client.ask("GET", "/v1/ls", headers=own).json["memories"]
    assert [one["text"] for one in found] == ["Of acme alone"]
    assert running.said().count(code) == 1
    assert f"web UI: {running.page}\n" in running.said()


def test_a_tenant_beside_that_of_the_settings_is_refused(shell, db, monkeypatch):
    """No token for it could be made: the settings' tenant keeps tokens of its own alone."""
    monkeypatch.setenv("SCRUBJAY_TENANT", "globex")
    refused = shell("serve", "--tenant", "acme", "--db", str(db), "--port", "0")
    assert (refused.code, "the settings name the tenant globex" in refused.err) == (2, True)


def test_a_server_of_settings_is_theirs_alone_and_logs_no_secret(process, shell, db, monkeypatch):
    """A configured tenant and person: tokens, figures, and who asks without a token are theirs."""
    env = {"SCRUBJAY_TENANT": "acme", "SCRUBJAY_USER": "ann"}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    shell("add", "Of ann", "--db", str(db))
    shell("add", "Of ben", "--user", "ben", "--db", str(db))
    running = process("--no-auth", env=env)
    client = running.client()
    assert [one["text"] for one in client.get("/v1/ls").json["memories"]] == ["Of ann"]

    secret = shell("token", "create", "x", "--scope", "read", "--db", str(db)).out.strip()
    ben = shell("token", "create", "ben", "--user", "ben", "--db", str(db)).out.strip()
    assert Client(client.url, secret).get("/metrics").status == 200
    assert Client(client.url, ben).get("/metrics").status == 403

    time.sleep(CACHE_S)  # so long it is remembered that nobody needed a token
    client.get(f"/v1/{secret}", X_Request_Id=secret)
    client.get(f"/{secret}/x")
    running.popen.send_signal(signal.SIGTERM)
    assert running.popen.wait(WAIT_S) == 0
    assert "GET /v1/sj_… 401" in running.said()
    assert secret not in running.said()


def test_one_server_has_all_interfaces(process, db):
    """With tokens: /v1, /mcp and /metrics, each for whom it is meant."""
    with scrubjay.open(db, embedder=False) as store:
        made = store.api_keys.create
        ann = made("ann", scopes=("write",), user="ann").secret
        ben = made("ben", scopes=("write",), user="ben").secret
        figures = made("figures").secret
    running = process("--host", "0.0.0.0", "--tools", "full")
    port = running.client().address[1]
    url = f"http://127.0.0.1:{port}"
    assert running.page == f"{url}/"  # with tokens there is no link that needs none
    as_ann, as_ben, as_figures = (Client(url, one) for one in (ann, ben, figures))

    begun = as_ann.post("/mcp", initialize(), Accept="application/json, text/event-stream")
    session = {"Mcp_Session_Id": begun.headers["mcp-session-id"], "Accept": "text/event-stream"}
    session["Accept"] += ", application/json"
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {}}
    call["params"] = {"name": "memory_store", "arguments": {"text": "Ann likes kettles"}}

    assert begun.status == 200
    assert as_ben.post("/mcp", call, **session).status == 404
    assert as_ann.post("/mcp", call, **session).status == 200
    assert Client(url).post("/mcp", initialize()).status == 401
    assert len(as_ann.get("/v1/search?query=kettles").json["hits"]) == 1
    assert as_ben.get("/v1/search?query=kettles").json["hits"] == []
    assert as_ann.get("/metrics").status == 403
    page = as_figures.get("/metrics")
    assert page.status == 200
    assert b'scrubjay_http_requests_total{method="GET",route="/v1/search",status="200"} 2.0' in (
        page.body
    )
    assert b"scrubjay_searches_total" in page.body
    assert as_ann.get("/mcp", Host="evil.example").status == 421
    assert as_ann.ask("PUT", "/mcp").status == 405
    for wrong in ({}, [], {"jsonrpc": "2.0", "id": 1, "method": 5}, {"jsonrpc": "1.0"}):
        answer = as_ann.post("/mcp", wrong, **session)
        assert (answer.status, "not an MCP message" in answer.problem) == (400, True)
    large = as_ann.post("/mcp", {"a": "b" * 11_000_000}, **session)
    assert (large.status, "10 MB" in large.problem) == (413, True)

    with socket.create_connection(as_ann.address, WAIT_S) as stream:
        heads = {**as_ann.headers, "Host": "localhost", "Accept": "text/event-stream"}
        heads["Mcp-Session-Id"] = session["Mcp_Session_Id"]
        lines = "".join(f"{name}: {value}\r\n" for name, value in heads.items())
        stream.sendall(f"GET /mcp HTTP/1.1\r\n{lines}\r\n".encode())
        assert stream.recv(65536).startswith(b"HTTP/1.1 200 ")
        running.popen.send_signal(signal.SIGTERM)  # a stream that is open does not hold it up
        assert running.popen.wait(15) == 0
    assert running.said().splitlines()[-1] == "scrubjay: stopped; everything answered is stored"
    assert not [one for one in running.said().splitlines() if "ASGI" in one]


def initialize():
    about = {"protocolVersion": "2025-06-18", "capabilities": {}}
    about["clientInfo"] = {"name": "test", "version": "1"}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
