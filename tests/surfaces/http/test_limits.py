"""Requests that are too large, too slow, too many, or not HTTP at all."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.surfaces.http import listen, request_input
from scrubjay.surfaces.http.workers import Workers
from scrubjay.surfaces.verbs.table import VERBS

from .conftest import WAIT_S, Answer, until_the_end

HUNDRED_MB = 100_000_000
MB = 1024 * 1024
POST = b"POST /v1/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def pieces(total, size=65536):
    for _ in range(0, total, size):
        yield b"a" * size


def send_large(client, headers, body):
    connection = http.client.HTTPConnection(*client.address, timeout=WAIT_S)
    connection.request("POST", "/v1/add", body, {"Content-Type": "application/json", **headers})
    got = connection.getresponse()
    answer = Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
    connection.close()
    return answer


def send_for_ever(opened, part, every_s):
    for _ in range(int(WAIT_S / every_s)):
        opened.sendall(part)
        time.sleep(every_s)


def test_a_body_of_100_mb_is_refused_without_being_kept(shared):
    """Whether its length was said before or not; the answer arrives, and memory stays where it was."""
    process = psutil.Process(os.getpid())
    before = process.memory_info().rss
    most = [before]
    stop = threading.Event()

    def watch():
        while not stop.wait(0.01):
            most[0] = max(most[0], process.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        declared = send_large(shared, {"Content-Length": str(HUNDRED_MB)}, pieces(HUNDRED_MB))
        chunked = send_large(shared, {"Transfer-Encoding": "chunked"}, _chunks(HUNDRED_MB))
    finally:
        stop.set()
        watching.join()

    assert (declared.status, chunked.status) == (413, 413)
    assert "10 MB" in declared.problem
    assert "--max-body-mb" in chunked.problem
    assert most[0] - before < 60 * MB
    assert shared.get("/livez").status == 200


def _chunks(total):
    for part in pieces(total):
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def test_a_client_that_asks_first_is_refused_before_it_sends(shared):
    """As curl does with a large body."""
    with socket.create_connection(shared.address, WAIT_S) as opened:
        opened.sendall(POST + b"Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
        assert opened.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_how_large_a_body_may_be_is_a_setting(serve):
    """Just below is taken, just above is not."""
    client = serve(max_body_mb=0.001)

    assert client.post("/v1/add", {"text": "a" * 900}).status == 200
    assert client.post("/v1/add", {"text": "a" * 1000}).status == 413


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /v1/add HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/add HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n",
        POST + b"Transfer-Encoding: gzip\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET  /  HTTP/1.1\r\n\r\n",
        b"\x00" * 100 + b"\r\n\r\n",
    ],
)
def test_what_is_no_http_is_a_problem_like_any_other(shared, head):
    """And the connection ends."""
    said = shared.raw(head)

    status = int(said[9:12])
    head, _, body = said.partition(b"\r\n\r\n")
    problem, _ = json.JSONDecoder().raw_decode(body.decode())
    assert status in (400, 414, 421, 431)
    assert b"application/problem+json" in head
    assert problem["status"] == status


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=100).map(lambda more: POST + more + b"\r\n\r\n" + more),
        st.binary(max_size=100).map(lambda more: b"GET /v1/" + more + b" HTTP/1.1\r\n\r\n"),
        st.binary(max_size=100).map(
            lambda more: POST + b"Content-Length: %d\r\n\r\n" % len(more) + more
        ),
    )
)
def test_whatever_bytes_come_the_server_answers_the_next(shared, data):
    """Nothing it is sent makes it fail: no 500, no dead process."""
    with socket.create_connection(shared.address, WAIT_S) as opened:
        opened.sendall(data)
        opened.shutdown(socket.SHUT_WR)
        said = until_the_end(opened)

    assert not said.startswith(b"HTTP/1.1 5")
    assert b"Traceback" not in said


def test_after_the_garbage_it_answers(shared):
    """The same server as in the test before."""
    assert shared.get("/v1/status").status == 200


def test_a_request_that_comes_byte_by_byte_is_cut_off(serve, monkeypatch):
    """Slow loris: it has so long for its first lines, however often it sends a byte."""
    monkeypatch.setattr(listen, "HEADER_TIMEOUT_S", 0.3)
    client = serve()
    began = time.monotonic()
    with socket.create_connection(client.address, WAIT_S) as opened:
        with pytest.raises(ConnectionError):
            send_for_ever(opened, b"G", every_s=0.02)
        assert until_the_end(opened) == b""

    assert time.monotonic() - began < 15
    assert client.get("/livez").status == 200


def test_one_that_says_nothing_is_cut_off(serve, monkeypatch):
    """And holds no place."""
    monkeypatch.setattr(listen, "HEADER_TIMEOUT_S", 0.2)
    with socket.create_connection(serve().address, WAIT_S) as opened:
        assert until_the_end(opened) == b""


def test_a_body_that_never_ends_is_given_up(serve, monkeypatch):
    """With the right status; what it sends afterwards is not waited for."""
    monkeypatch.setattr(request_input.read_body, "__defaults__", (0.3,))
    client = serve()
    with socket.create_connection(client.address, WAIT_S) as opened:
        opened.sendall(POST + b"Content-Length: 1000\r\n\r\n{")
        said = until_the_end(opened)

    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"0.3 seconds" in said


def test_the_rest_of_a_body_that_was_refused_is_not_read_for_ever(serve, monkeypatch):
    """A client may send on and on what nobody will read."""
    monkeypatch.setattr(listen, "LINGER_S", 0.3)
    client = serve(max_body_mb=0.001)
    with socket.create_connection(client.address, WAIT_S) as opened:
        opened.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
        with pytest.raises(ConnectionError):
            send_for_ever(opened, b"400\r\n" + b"a" * 1024 + b"\r\n", every_s=0.005)


def test_an_answer_that_nobody_takes_is_dropped(serve, monkeypatch):
    """A client that does not read would otherwise keep the server from stopping."""
    monkeypatch.setattr(listen, "WRITE_TIMEOUT_S", 0.3)
    large = {"text": "a" * 50_000_000}
    status = VERBS["status"]._replace(run=lambda store, given: large, shape=None)
    monkeypatch.setitem(VERBS, "status", status)
    client = serve()
    with socket.create_connection(client.address, WAIT_S) as opened:
        opened.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
        opened.recv(1, socket.MSG_PEEK)  # it has begun to answer, which takes a while to write
        time.sleep(1.5)
        taken = until_the_end(opened)

    assert len(taken) < 50_000_000


def test_a_client_that_is_slow_gets_all_of_its_answer(serve, monkeypatch):
    """The time is for one that takes nothing, and begins anew with what it takes."""
    monkeypatch.setattr(listen, "WRITE_TIMEOUT_S", 0.5)
    large = {"text": "a" * 8_000_000}
    status = VERBS["status"]._replace(run=lambda store, given: large, shape=None)
    monkeypatch.setitem(VERBS, "status", status)
    client = serve()
    taken = bytearray()
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        opened.settimeout(WAIT_S)
        opened.connect(client.address)
        opened.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        begun = time.monotonic()
        while part := opened.recv(65536):
            taken += part
            time.sleep(0.02)

    assert time.monotonic() - begun > 4 * listen.WRITE_TIMEOUT_S
    assert taken.endswith(b'aaa"}')
    assert len(taken) > 8_000_000


def test_a_line_that_is_too_long_is_not_waited_in(serve, monkeypatch):
    """503 and when to come again; whoever waits already is answered."""
    from scrubjay.surfaces.http import app

    monkeypatch.setattr(app, "THREADS", 4)  # half of which are one tenant's
    monkeypatch.setattr(app, "MAX_QUEUED", 6)
    held, begun = threading.Event(), threading.Semaphore(0)

    def wait(store, given):
        begun.release()
        assert held.wait(WAIT_S)
        return {"waited": True}

    monkeypatch.setitem(VERBS, "status", VERBS["status"]._replace(run=wait, shape=None))
    client = serve()
    with ThreadPoolExecutor(12) as many:
        asked = [many.submit(client.get, "/v1/status") for _ in range(12)]
        assert begun.acquire(timeout=WAIT_S)
        assert begun.acquire(timeout=WAIT_S)
        while sum(one.done() for one in asked) < 7:
            time.sleep(0.01)
        assert client.get("/livez").status == 200
        held.set()
        answers = [one.result() for one in asked]

    statuses = sorted(one.status for one in answers)
    assert statuses == [200] * 5 + [503] * 7
    refused = next(one for one in answers if one.status == 503)
    assert refused.headers["retry-after"]
    assert "try again" in refused.problem


def test_a_write_that_began_is_finished_without_its_client(serve, monkeypatch):
    """Whoever hangs up while it is under way finds it there when they ask again."""
    held, begun = threading.Event(), threading.Event()
    add = VERBS["add"].call

    def slow(store, given):
        begun.set()
        assert held.wait(WAIT_S)
        return add(store, given)

    monkeypatch.setitem(VERBS, "add", VERBS["add"]._replace(run=slow, shape=None))
    client = serve()
    with socket.create_connection(client.address, WAIT_S) as opened:
        opened.sendall(POST + b'Content-Length: 25\r\n\r\n{"text": "sent and left"}')
        assert begun.wait(WAIT_S)
    held.set()

    deadline = time.monotonic() + WAIT_S
    while not client.get("/v1/search?query=sent").json["hits"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_workers_that_hang_are_told_of():
    """So that a process that was told to stop can leave them."""
    import asyncio

    held = threading.Event()
    workers = Workers(1, 1, "test")

    async def begin():
        task = asyncio.ensure_future(workers.do(lambda: held.wait(WAIT_S)))
        await asyncio.sleep(0.05)
        return task

    async def main():
        task = await begin()
        ended = workers.close(0.05)
        held.set()
        await task
        return ended

    assert asyncio.run(main()) is False
    assert workers.close(WAIT_S) is True
