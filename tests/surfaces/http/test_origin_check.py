"""Pages of other sites, names that are made to mean this machine, and paths that mean another."""

from __future__ import annotations

import asyncio

import pytest

from scrubjay.surfaces.http.origin_check import OriginCheck
from scrubjay.surfaces.http.problems import Problem

GET = "GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


@pytest.fixture
def client(shared):
    return shared


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example@127.0.0.1",
        "127.0.0.1@evil.example",
        "127.0.0.1/evil",
        "localhost:port",
        "",
        "[::1",
        "127.0.0.2",
    ],
)
@pytest.mark.parametrize("path", ["/v1/status", "/livez", "/"])
def test_a_name_that_is_not_the_servers_is_refused(client, host, path):
    """DNS rebinding: a page that asks under its own name, which leads here (complaint 29)."""
    answer = client.get(path, Host=host)

    assert answer.status == 421
    assert "--allow-host" in answer.problem


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost:8765", "LOCALHOST", "localhost.", "[::1]:80", "memory.example.org"],
)
def test_a_name_of_the_server_is_taken(client, host):
    """Those of loopback, and those that were allowed, at any port: a proxy may have another."""
    assert client.get("/v1/status", Host=host).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "file://",
        "http://localhost:3000",
        "http://localhost.evil.example:8765",
        "chrome-extension://abc",
        "http://[",
        "http://localhost:x",
        "http://localhost:8765/page",
        "http://localhost:8765?a",
        "http://you@localhost:8765",
        "",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_page_of_another_origin_is_refused(client, origin, method):
    """Also another server of this very machine."""
    headers = {"Host": "localhost:8765", "Origin": origin}
    answer = client.ask(method, "/v1/status", {} if method == "POST" else None, headers)

    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8765", "http://localhost:8765"),
        ("memory.example.org", "https://memory.example.org"),
        ("memory.example.org:443", "https://memory.example.org"),
    ],
)
def test_a_page_of_the_server_itself_may_ask(client, host, origin):
    """TLS may end in a proxy before us. It has to be signed in, but it is no other site."""
    answer = client.get("/v1/status", Host=host, Origin=origin)

    assert answer.status == 401
    assert "has to be signed in" in answer.problem


def test_what_a_browser_says_of_the_site_that_asks_is_believed(client):
    """A picture or a script of another page comes without an Origin."""
    for site in ("cross-site", "same-site"):
        for path in ("/v1/search?query=x", "/session", "/session/link"):
            assert client.get(path, Sec_Fetch_Site=site).status == 403
        assert client.get("/", Sec_Fetch_Site=site).status == 200  # a link may lead to the page
    # Our own page may ask, once somebody is signed in there.
    assert client.get("/v1/status", Sec_Fetch_Site="same-origin").status == 401
    assert client.get("/session", Sec_Fetch_Site="same-origin").status == 200


def test_a_program_that_says_less_than_a_browser_is_no_browser(client):
    """Node.js sends Sec-Fetch-Mode with what a program fetches, and nothing else of its kind."""
    assert client.get("/v1/status", Sec_Fetch_Mode="cors").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/../livez",
        "/v1/%2e%2e/livez",
        "/v1/..%2flivez",
        "/v1/.%2e/%2e./etc/passwd",
        "//livez",
        "/v1//search?query=x",
        "/v1/./search?query=x",
        "/v1/search%00?query=x",
        "/v1/search%0a?query=x",
        "/v1/search;x?query=x",
        "/v1\\search?query=x",
        "/v1/%73earch?query=x",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/v1/search%c0%ae",
        "/V1/search?query=x",
        "http://127.0.0.1/livez",
        "livez",
        "*",
        "/" + "a" * 600,
    ],
)
def test_a_path_with_tricks_leads_nowhere(client, path):
    """No two programs may read one path as two."""
    said = client.raw(GET.format(path).encode("latin-1"))

    assert said[9:12] in (b"404", b"400", b"414")
    assert b"application/problem+json" in said
    assert b"root:" not in said


def test_a_body_with_two_lengths_is_refused_and_the_connection_closed(client):
    """A proxy may end it elsewhere than we do, and take the rest for another request."""
    said = client.raw(
        b"POST /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\n{}\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    )

    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"send one of them" in said
    assert said.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("reached", "host", "right"),
    [
        ("::ffff:192.0.2.7", "192.0.2.7:8765", True),
        ("::FFFF:192.0.2.7", "192.0.2.7", True),
        ("::ffff:192.0.2.7", "192.0.2.8", False),
        ("2001:db8::7", "[2001:db8::7]:8765", True),
        ("::ffff:0:7", "[::ffff:0:7]", True),
    ],
)
def test_on_a_socket_of_both_kinds_an_address_of_ipv4_is_named_as_people_write_it(
    reached, host, right
):
    """`--host ::` is reached at 192.0.2.7, of which the socket says ::ffff:192.0.2.7."""
    called = []

    async def app(scope, receive, send):
        called.append(scope["path"])

    scope = {"type": "http", "path": "/livez", "raw_path": b"/livez", "query_string": b""}
    scope |= {"headers": [(b"host", host.encode())], "server": (reached, 8765)}
    asked = OriginCheck(app, ())(scope, None, None)
    if right:
        asyncio.run(asked)
    else:
        with pytest.raises(Problem, match="not a name of this server"):
            asyncio.run(asked)
    assert called == (["/livez"] if right else [])
