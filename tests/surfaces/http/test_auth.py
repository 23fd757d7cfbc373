"""Who is let in: tokens, scopes, tenants, and how often."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time

import pytest

import scrubjay
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http import auth
from scrubjay.surfaces.http.auth import CACHE_S, ApiKeyLookup, CallerCache, RateLimiter
from scrubjay.surfaces.http.logins import Logins
from scrubjay.surfaces.http.problems import Problem
from scrubjay.text.api_key_format import new_secret

from .conftest import Client, logged, validate


@pytest.fixture
def token(db):
    """Make a token in the store of the server."""

    def make(name="laptop", *scopes, **more):
        with scrubjay.open(db, embedder=False) as store:
            return store.api_keys.create(name, scopes=scopes or ("read",), **more).secret

    return make


def test_without_any_token_whoever_is_on_this_machine_may_ask(serve):
    """Works at once; but a wrong token is wrong."""
    client = serve()

    assert client.post("/v1/add", {"text": "mine"}).status == 200
    assert client.get("/v1/status", Authorization="Bearer nonsense").status == 401


def test_as_soon_as_there_is_a_token_everybody_needs_one(serve, token):
    """Without the server being started anew."""
    client = serve()
    assert client.get("/v1/status").status == 200
    secret = token()
    time.sleep(CACHE_S)

    for path in ("/v1/status", "/v1/openapi.json", "/v1/nope", "/mcp", "/metrics"):
        answer = client.get(path)
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == 'Bearer realm="scrubjay"'
        assert "Authorization: Bearer" in answer.problem
    assert client.get("/livez").status == 200
    assert client.get("/readyz").status == 200
    assert client.get("/v1/status", Authorization=f"bearer {secret}").status == 200


@pytest.mark.parametrize("loopback", [True, False])
def test_to_revoke_the_last_token_opens_no_door(serve, token, db, loopback):
    """Whoever runs it, now or later, says when nobody needs one; on other addresses all do even then."""
    client = serve(loopback=loopback)
    secret = token()
    assert client.get("/v1/status", Authorization=f"Bearer {secret}").status == 200

    with scrubjay.open(db, embedder=False) as store:
        store.api_keys.revoke("laptop")
        time.sleep(CACHE_S)

        assert client.get("/v1/status").status == 401
        assert serve(loopback=loopback).get("/v1/status").status == 401
        assert client.get("/v1/status", Authorization=f"Bearer {secret}").status == 401
        store.api_keys.open_door()

    assert client.get("/v1/status").status == (200 if loopback else 401)


@pytest.mark.skipif(os.name == "nt", reason="Windows removes no file that is open")
def test_a_file_that_is_taken_away_opens_no_door(serve, token, db):
    """The server has asked for tokens, and goes on; it makes no empty file in the place of the other."""
    client = serve()
    token()
    assert client.get("/v1/status").status == 401
    for one in db.parent.glob("served.db*"):
        one.unlink()

    answers = {client.get("/v1/status").status for _ in range(10)}

    assert answers <= {401, 503}
    assert client.get("/readyz").json == {"ready": False, "degraded": ["store"]}
    assert not db.exists()


def test_an_empty_store_in_the_place_of_one_with_tokens_opens_no_door(stores, token, db):
    """As when somebody restores yesterday's backup, and the store is opened anew meanwhile."""
    find = ApiKeyLookup(stores, loopback=True, no_auth=True)
    assert find(None) == Principal()
    token()
    assert find(None) is None
    with scrubjay.open(db, embedder=False) as store, store._context.db.write() as connection:
        connection.execute("DELETE FROM access")

    assert find(None) is None
    assert ApiKeyLookup(stores, loopback=True, no_auth=True)(None) == Principal()


def test_a_server_of_one_tenant_takes_the_tokens_of_that_tenant_alone(stores, token):
    """They are kept where those of all tenants are."""
    acme, globex, own = token("a", tenant="acme"), token("g", tenant="globex"), token("own")
    find = ApiKeyLookup(stores, loopback=True, own=Principal(tenant="acme"), no_auth=True)

    assert find(None) is None
    assert find(acme) == Principal("a", ("read",), "acme")
    assert (find(globex), find(own)) == (None, None)


@pytest.mark.parametrize(
    "given",
    ["Bearer", "Bearer ", "Basic YTpi", "Bearer wrong", "wrong", "Bearer a b", "Bearer \x80", ""],
)
def test_a_wrong_token_is_refused_before_anything_is_read(serve, token, given):
    """Nor does the answer repeat it."""
    token()
    answer = serve().ask(
        "POST", "/v1/add", b"{" * 100, {"Authorization": given, "Content-Type": "application/json"}
    )

    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "wrong" not in answer.problem


def test_a_token_may_do_what_its_scope_says(serve, token):
    """Who may write may read; who may read may not write."""
    reader, writer = token("reader"), token("writer", "write")
    client = serve()
    reads, writes = Client(client.url, reader), Client(client.url, writer)

    kept = writes.post("/v1/add", {"text": "one", "id": "one"})
    refused = reads.post("/v1/add", {"text": "two"})

    assert kept.status == 200
    assert reads.get("/v1/get?id=one").status == 200
    assert writes.get("/v1/get?id=one").status == 200
    assert refused.status == 403
    assert 'scope="write"' in refused.headers["www-authenticate"]
    assert "add needs the scope write; the API key 'reader' has read" in refused.problem
    assert writes.post("/v1/reindex", {}).status == 403
    assert len(reads.get("/v1/ls").json["memories"]) == 1


def test_a_token_of_another_tenant_sees_and_changes_nothing_of_ours(serve, token):
    """Whatever it asks for: the tenant is named by the token, not by the request."""
    ours, theirs = token("ours", "admin"), token("theirs", "admin", tenant="others")
    client = serve()
    mine, other = Client(client.url, ours), Client(client.url, theirs)
    mine.post("/v1/add", {"text": "Our secret kettle", "id": "kettle"})

    assert other.get("/v1/get?id=kettle").status == 404
    assert other.get("/v1/search?query=kettle").json["hits"] == []
    assert other.post("/v1/forget", {"ids": ["kettle"]}).status in (200, 404, 422)
    assert other.get("/v1/search?query=kettle&tenant=default").status == 422
    assert other.post("/v1/add", {"text": "Their teapot", "id": "kettle"}).status == 200
    assert mine.get("/v1/search?query=kettle").json["hits"][0]["text"] == "Our secret kettle"


def test_two_people_share_a_server_and_see_what_is_theirs(serve, token):
    """A token names its person."""
    client = serve()
    ann = Client(client.url, token("ann", "write", user="ann"))
    ben = Client(client.url, token("ben", "write", user="ben"))
    ann.post("/v1/add", {"text": "Ann likes kettles"})

    assert len(ann.get("/v1/search?query=kettles").json["hits"]) == 1
    assert ben.get("/v1/search?query=kettles").json["hits"] == []


def test_whoever_asks_too_often_is_told_when_to_come_again(serve, token):
    """Each token for itself."""
    often, rarely = token("often"), token("rarely")
    client = serve(rate_per_s=0.05)
    first, second = Client(client.url, often), Client(client.url, rarely)

    answers = [first.get("/v1/status") for _ in range(3)]

    assert [one.status for one in answers] == [200, 429, 429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
    assert "wait" in answers[-1].problem
    assert second.get("/v1/status").status == 200
    assert first.get("/livez").status == 200


def test_whoever_tries_tokens_is_slowed_down(serve, token, monkeypatch):
    """But not those who have a right one: behind a proxy all have the same address."""
    monkeypatch.setattr(auth, "WRONG_PER_S", 0.05)
    secret = token()
    client = serve()

    wrong = [client.get("/v1/status", Authorization=f"Bearer {n}") for n in range(3)]

    assert [one.status for one in wrong] == [401, 429, 429]
    assert wrong[-1].headers["retry-after"]
    assert client.get("/v1/status", Authorization=f"Bearer {new_secret()}").status == 429
    assert client.get("/v1/status", Authorization=f"Bearer {secret}").status == 200


def test_nothing_is_looked_up_for_a_token_that_is_not_whole(stores):
    """Its sum is wrong, so it is no token; without one, who may ask is looked up each time."""
    asked = []

    class Desk:
        async def do(self, call):
            return call()

    def find(secret):
        asked.append(secret)

    one = auth.Authenticator(find, Desk(), Logins())
    for given in ("junk", new_secret()[:-1]):
        scope = {"headers": [(b"authorization", f"Bearer {given}".encode())]}
        with pytest.raises(Problem, match="cut short"):
            asyncio.run(one.authenticate(scope))
    assert asked == []
    with pytest.raises(Problem):
        asyncio.run(one.authenticate({"headers": [(b"host", b"localhost")]}))
    assert asked == [None]


def test_a_token_that_was_cut_short_is_told_from_one_that_was_revoked(serve, token):
    """By its sum: nothing is looked up for it, and nothing is said of tokens that there are."""
    secret, other = token(), new_secret()
    client = serve()

    cut = client.get("/v1/status", Authorization=f"Bearer {secret[:-1]}")
    unknown = client.get("/v1/status", Authorization=f"Bearer {other}")

    assert (cut.status, unknown.status) == (401, 401)
    assert "cut short" in cut.problem
    assert "revoked" in unknown.problem


def test_who_was_let_in_is_not_looked_up_again_for_a_second():
    """A token is looked up once a second: that took longer than a search by word."""
    now = [10.0]
    remembered = CallerCache(lambda: now[0])
    ann = Principal("ann")
    remembered.put("secret", now[0], ann)

    now[0] += CACHE_S - 0.01
    assert remembered.get("secret") == ann
    assert remembered.get("other") is None
    assert remembered.get(None) is None
    now[0] += 0.01
    assert remembered.get("secret") is None


def test_who_comes_in_is_remembered_for_many_but_not_for_any_number():
    """Nor are secrets kept."""
    remembered = CallerCache(lambda: 0.0)
    for n in range(1001):
        remembered.put(f"secret {n}", 0.0, Principal(str(n)))

    assert remembered.get("secret 0") is None
    assert remembered.get("secret 1000") == Principal("1000")
    assert "secret" not in repr(vars(remembered))


def test_a_bucket_fills_with_time():
    """Two seconds' worth at once, then as many a second as were agreed."""
    now = [0.0]
    buckets = RateLimiter(10.0, lambda: now[0])

    assert [buckets.take("a") for _ in range(20)] == [0.0] * 20
    assert buckets.take("a") == pytest.approx(0.1)
    now[0] = 0.25
    assert [buckets.take("a") for _ in range(2)] == [0.0, 0.0]
    assert buckets.take("a") == pytest.approx(0.05)
    assert buckets.take("b") == 0.0


def test_the_log_names_the_token_and_never_shows_it(serve, token, caplog):
    """Right or wrong."""
    caplog.set_level(logging.DEBUG)
    secret = token("laptop")
    client = serve()
    client.get("/v1/status", Authorization=f"Bearer {secret}", X_Request_Id="right")
    client.get("/v1/status", Authorization="Bearer sj_guess", X_Request_Id="wrong")

    assert logged(caplog, " right ").endswith(" laptop")
    assert logged(caplog, " wrong ").endswith(" -")
    assert secret not in caplog.text
    assert "sj_guess" not in caplog.text


def test_what_a_store_says_of_its_place_is_for_those_who_run_it(serve, token, db, caplog):
    """A file that is no store: an admin learns which, a reader that the log has the reason."""
    reader, admin = token("reader", tenant="broken"), token("admin", "admin", tenant="broken")
    client = serve()
    with scrubjay.open(db, embedder=False, tenant="broken") as store:
        place = store.status().path
    with open(place, "wb") as opened:
        opened.write(b"no database" * 1000)

    less = client.get("/v1/ls", Authorization=f"Bearer {reader}")
    more = client.get("/v1/ls", Authorization=f"Bearer {admin}")

    assert (less.status, more.status) == (503, 503)
    assert less.headers["retry-after"]
    assert str(db.parent) not in less.problem
    assert str(place) in more.problem
    assert str(place) in caplog.text


def test_where_a_store_is_is_for_those_who_run_it(serve, token, db):
    """Of a path the name of the file is left, and the answer is of its schema still."""
    reader, admin = token("reader"), token("admin", "admin")
    client = serve()

    for verb, place in (
        ("status", lambda one: one["path"]),
        ("tiers", lambda one: one["tiers"][0]["path"]),
    ):
        less = client.get(f"/v1/{verb}", Authorization=f"Bearer {reader}")
        more = client.get(f"/v1/{verb}", Authorization=f"Bearer {admin}")
        assert place(less.json) == db.name
        assert str(db.parent).encode() not in less.body
        assert place(more.json) == str(db)
        validate(verb, less.json)


def test_one_person_waits_while_others_are_let_in(serve, token, stores, monkeypatch):
    """The entry has threads of its own: searches that hang keep nobody from being known."""
    from scrubjay.surfaces.verbs.table import VERBS

    held = threading.Event()
    monkeypatch.setitem(
        VERBS,
        "status",
        VERBS["status"]._replace(run=lambda store, given: {"held": held.wait(60)}, shape=None),
    )
    client = serve()
    asking = [threading.Thread(target=client.get, args=("/v1/status",)) for _ in range(20)]
    for one in asking:
        one.start()
    try:
        assert client.get("/livez").status == 200
        assert client.get("/readyz").status == 200
        assert client.get("/v1/openapi.json").status == 200
    finally:
        held.set()
        for one in asking:
            one.join(60)
