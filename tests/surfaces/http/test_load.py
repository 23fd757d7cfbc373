"""Many who ask at once: each has a share, and a store that is locked keeps nobody else waiting."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from functools import partial
from itertools import count

import pytest

import scrubjay
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http import listen, mcp_mount
from scrubjay.surfaces.http.app import ServerContext, make_app
from scrubjay.surfaces.http.auth import ApiKeyLookup
from scrubjay.surfaces.http.mcp_mount import McpSessions, principal_in, threads_of
from scrubjay.surfaces.http.metrics import Monitoring
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.http.settings import ServerSettings
from scrubjay.surfaces.http.workers import Workers
from scrubjay.surfaces.mcp.server import make_server
from scrubjay.surfaces.verbs.table import VERBS

from .conftest import WAIT_S, Client, served

ONE, TWO = Principal("one", tenant="one"), Principal("two", tenant="two")
IDS = count(2)
BOTH = "application/json, text/event-stream"


def initialize():
    about = {"protocolVersion": "2025-06-18", "capabilities": {}}
    about["clientInfo"] = {"name": "test", "version": "1"}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}


def call(name, **given):
    params = {"name": name, "arguments": given}
    return {"jsonrpc": "2.0", "id": next(IDS), "method": "tools/call", "params": params}


def begin(client):
    begun = client.post("/mcp", initialize(), Accept=BOTH)
    assert begun.status == 200
    return {"Mcp_Session_Id": begun.headers["mcp-session-id"], "Accept": BOTH}


@pytest.fixture
def context(stores):
    """ServerContext with MCP, in the threads of HTTP."""
    made = ServerContext.create(
        stores, ApiKeyLookup(stores, loopback=True, no_auth=True), ServerSettings(), Monitoring()
    )
    return made._replace(
        mcp=make_server(stores, principal_in, "default", threads_of(made.workers))
    )


def test_a_tenant_whose_store_is_locked_keeps_nobody_else_waiting(process, db):
    """Over HTTP and MCP: sixteen writes that wait leave room for the search of another tenant."""
    with scrubjay.open(db, embedder=False) as store:
        made = store.api_keys.create
        one = made("one", scopes=("write",), tenant="one").secret
        two = made("two", tenant="two").secret
    url = process().client().url
    as_one, as_two = Client(url, one), Client(url, two)
    assert as_one.post("/v1/add", {"text": "a"}).status == 200
    session, theirs = begin(as_one), begin(as_two)
    answers = []

    def write(n):
        if n % 2:
            answers.append(as_one.post("/v1/add", {"text": f"b{n}"}).status)
        else:
            stored = as_one.post("/mcp", call("memory_store", text=f"b{n}"), **session)
            answers.append(stored.status)

    writes = [threading.Thread(target=write, args=(n,)) for n in range(24)]
    with closing(sqlite3.connect(db.with_suffix(".one.db"), isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        for each in writes:
            each.start()
        time.sleep(0.5)
        assert as_two.post("/v1/search", {"query": "a"}).status == 200
        assert as_two.post("/mcp", call("memory_search", query="a"), **theirs).status == 200
        assert not answers
        lock.execute("ROLLBACK")
    for each in writes:
        each.join(WAIT_S)
    assert answers == [200] * 24


def test_a_tenant_has_a_share_of_the_threads_and_a_caller_one_of_the_line():
    """Whatever is asked for in the store of one, the next of another begins at once."""
    held, ran = threading.Event(), Counter()

    def hold(who):
        ran[who] += 1
        return held.wait(WAIT_S)

    async def main():
        workers = Workers(4, 6, "test", 2)
        of_one = [asyncio.ensure_future(workers.do(lambda: hold("one"), ONE)) for _ in range(5)]
        await asyncio.sleep(0.1)
        assert ran == {"one": 2}
        with pytest.raises(Problem, match="of your own") as told:
            await workers.do(lambda: None, ONE)
        assert (told.value.status, "Retry-After" in told.value.headers) == (503, True)
        assert await workers.do(lambda: "at once", TWO) == "at once"
        with pytest.raises(KeyError):
            await workers.do(lambda: {}["nothing"], TWO)

        other = ONE._replace(name="other")
        of_other = [asyncio.ensure_future(workers.do(lambda: hold("other"), other)) for _ in "ab"]
        await asyncio.sleep(0.1)
        of_other.pop().cancel()
        held.set()
        assert await asyncio.gather(*of_one, *of_other) == [True] * 6
        assert ran == {"one": 5, "other": 1}
        await asyncio.sleep(0.1)
        assert workers.busy == 0
        assert workers.close(WAIT_S)

    asyncio.run(main())


def test_those_who_ask_in_one_store_take_turns():
    """Whoever asks once is not behind all that another has asked."""
    order = []

    async def main():
        workers = Workers(1, 20, "test")
        held = threading.Event()
        first = workers.do(lambda: held.wait(WAIT_S), ONE)
        asked = [asyncio.ensure_future(first)]
        await asyncio.sleep(0)
        asked += [
            asyncio.ensure_future(workers.do(partial(order.append, n), ONE)) for n in range(5)
        ]
        asked.append(asyncio.ensure_future(workers.do(lambda: order.append("two"), TWO)))
        await asyncio.sleep(0)
        held.set()
        await asyncio.gather(*asked)

    asyncio.run(main())
    assert order.index("two") <= 1
    assert [one for one in order if one != "two"] == [0, 1, 2, 3, 4]


def test_an_agent_is_told_that_the_server_is_busy(context, monkeypatch):
    """As the error of a tool, which a model reads, and not as one of the protocol."""
    held, begun = threading.Event(), threading.Semaphore(0)

    def wait(store, given):
        begun.release()
        assert held.wait(WAIT_S)
        return VERBS["ls"].call(store, {})

    monkeypatch.setitem(VERBS, "ls", VERBS["ls"]._replace(run=wait, shape=None))
    workers = Workers(2, 2, "asking", 1)
    server = make_server(context.stores, principal_in, "default", threads_of(workers))
    with served(context._replace(workers=workers, mcp=server)) as client:
        session = begin(client)
        asking = [threading.Thread(target=client.get, args=("/v1/ls",)) for _ in range(2)]
        for one in asking:
            one.start()
        assert begun.acquire(timeout=WAIT_S)
        while workers.busy < 2:
            time.sleep(0.01)
        answer = client.post("/mcp", call("memory_status"), **session)
        held.set()
        for one in asking:
            one.join(WAIT_S)

    result = answer.json["result"]
    assert (answer.status, result["isError"]) == (200, True)
    assert "busy" in result["content"][0]["text"]
    assert "try again" in result["content"][0]["text"]


def test_a_caller_has_a_limited_number_of_sessions(context, monkeypatch):
    """A problem that says when to come again; others begin theirs, and one that is ended makes room."""
    monkeypatch.setattr(mcp_mount, "MAX_SESSIONS_PER_CALLER", 2)
    with served(context) as client:
        first, _ = begin(client), begin(client)
        refused = client.post("/mcp", initialize(), Accept=BOTH)
        assert (refused.status, "2 sessions" in refused.problem) == (503, True)
        assert refused.headers["retry-after"]
        assert client.post("/mcp", call("memory_status"), **first).status == 200
        assert client.post("/mcp", call("memory_status"), Accept=BOTH).status == 503

        assert client.ask("DELETE", "/mcp", None, _heads(first)).status == 200
        begin(client)


def _heads(session):
    return {name.replace("_", "-"): value for name, value in session.items()}


def test_sessions_are_counted_until_they_are_idle(monkeypatch):
    """One that is used stays; one that could not begin is none."""
    monkeypatch.setattr(mcp_mount, "MAX_SESSIONS_PER_CALLER", 2)
    monkeypatch.setattr(mcp_mount, "MAX_SESSIONS", 3)
    now = [0.0]
    sessions = McpSessions(lambda: now[0])

    def begin_as(who, session_id=None):
        with sessions.starting(who) as told:
            if session_id:
                told(session_id)

    begin_as(ONE)
    begin_as(ONE, "a")
    with sessions.starting(ONE), pytest.raises(Problem, match="2 sessions"):
        begin_as(ONE, "while another begins")
    begin_as(ONE, "b")
    begin_as(TWO, "c")
    with pytest.raises(Problem, match="too many sessions"):
        begin_as(TWO, "d")
    now[0] = mcp_mount.IDLE_S + 1
    with sessions.used("a"):
        begin_as(ONE, "e")
        with pytest.raises(Problem, match="2 sessions"):
            begin_as(ONE, "f")
    sessions.ended("e")
    begin_as(ONE, "g")


def test_json_that_could_mean_two_things_is_refused_over_http_and_mcp(context):
    """Of two values for a name, another program may have looked at the other one."""
    twice = json.dumps(call("memory_status")).replace(
        '{"name"', '{"name": "memory_forget", "name"'
    )
    with served(context) as client:
        session = begin(client)
        answer = client.post("/mcp", twice.encode(), **session)
        no_json = client.post("/mcp", b"{", **session)

    assert (answer.status, "twice" in answer.problem) == (400, True)
    assert (no_json.status, no_json.json["error"]["code"]) == (400, -32700)


# The SDK forgets to close the first's stream, which Python says when it is thrown away.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_disconnected_client_is_not_answered_for_ever(context):
    """A client that gives two requests one id is never answered the first, and leaves at last."""
    held = threading.Event()
    lend = context.stores.lend

    def slowly(who):
        if threading.current_thread().name.startswith("scrubjay-asking"):
            assert held.wait(WAIT_S)
        return lend(who)

    context.stores.lend = slowly
    same = json.dumps(call("memory_status")).encode()
    with served(context) as client:
        session = begin(client)
        heads = {**_heads(session), "Host": "localhost", "Content-Type": "application/json"}
        heads["Content-Length"] = str(len(same))
        lines = "".join(f"{name}: {value}\r\n" for name, value in heads.items())
        with socket.create_connection(client.address, WAIT_S) as leaving:
            leaving.sendall(f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + same)
            while context.workers.busy < 1:
                time.sleep(0.01)
            other = threading.Thread(target=client.post, args=("/mcp", same), kwargs=session)
            other.start()
            while context.workers.busy < 2:
                time.sleep(0.01)
            held.set()
            other.join(WAIT_S)
        deadline = time.monotonic() + WAIT_S
        while _under_way(client) > 1:  # that of the figures itself
            assert time.monotonic() < deadline
            time.sleep(0.05)
    gc.collect()


def _under_way(client):
    page = client.get("/metrics").body.decode()
    found = re.search(r"^scrubjay_http_requests_in_flight (\S+)$", page, re.M)
    assert found, page
    return float(found[1])


def test_a_call_of_an_agent_that_is_under_way_is_answered_before_the_end(process, db):
    """It is stored, so whoever asked must be told."""
    running = process()
    client = running.owner()
    assert client.post("/v1/add", {"text": "first"}).status == 200
    session = begin(client)
    answers = []
    stored = threading.Thread(
        target=lambda: answers.append(
            client.post("/mcp", call("memory_store", text="under way"), **session)
        )
    )
    with closing(sqlite3.connect(db, isolation_level=None)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        stored.start()
        time.sleep(0.5)
        running.popen.send_signal(signal.SIGTERM)
        time.sleep(1.5)
        lock.execute("ROLLBACK")
    stored.join(WAIT_S)

    assert running.popen.wait(WAIT_S) == 0
    assert answers[0].status == 200
    assert not answers[0].json["result"].get("isError")
    with scrubjay.open(db, embedder=False) as store:
        assert len(store.search("under way")) == 1
    assert "ASGI" not in running.said()


def test_a_stop_does_not_wait_for_ever_for_an_agent(context, monkeypatch):
    """The call goes on in its thread; whoever asked is told that the server stops."""
    held, begun, up = threading.Event(), threading.Event(), threading.Event()
    opened = listen.bind("127.0.0.1", 0)
    client = Client(listen.url_of(opened))
    server = listen.http_server(make_app(context), up.set, shutdown_s=1)
    running = threading.Thread(target=server.run, args=([opened],))
    running.start()
    assert up.wait(WAIT_S)
    session = begin(client)
    answers = []
    lend = context.stores.lend

    def hold(who):
        asking = threading.current_thread().name.startswith("scrubjay-asking")
        return Holding(begun, held) if asking else lend(who)

    monkeypatch.setattr(context.stores, "lend", hold)
    asking = threading.Thread(
        target=lambda: answers.append(client.post("/mcp", call("memory_status"), **session))
    )
    asking.start()
    assert begun.wait(WAIT_S)

    server.should_exit = True
    running.join(10)

    assert not running.is_alive()
    assert server.left_s == 1.0
    assert not context.workers.close(0.05)
    held.set()
    assert context.workers.close(WAIT_S)
    asking.join(WAIT_S)
    assert (answers[0].status, "stopped" in answers[0].problem) == (503, True)


class Holding:
    """A store that is not lent before somebody says so, and then not either."""

    def __init__(self, begun, held):
        self._begun, self._held = begun, held

    def __enter__(self):
        self._begun.set()
        self._held.wait(WAIT_S)
        raise scrubjay.StoreError("held")

    def __exit__(self, *_):
        pass


def test_that_no_connection_can_be_taken_is_said_once_a_minute(caplog):
    """There were two thousand lines a second."""
    server = listen.http_server(None, lambda: None)
    loop = asyncio.new_event_loop()
    full = {"message": "socket.accept() out of system resource"}
    try:
        for _ in range(100):
            server._log_uncaught(loop, {**full, "exception": OSError(24, "Too many open files")})
        server._log_uncaught(loop, {"message": "something else", "exception": ValueError("odd")})
    finally:
        loop.close()

    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]
    assert len(said) == 2
    assert "Too many open files" in said[0]
    assert "something else" in said[1]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such bound")
def test_a_process_may_open_as_much_as_it_is_allowed_to():
    """The usual bound is far below what is allowed; half of it is for the files of the stores."""
    program = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 300))
from scrubjay.surfaces.http.listen import max_connections
print(max_connections(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert said.stdout.split() == [b"150", b"300"]
