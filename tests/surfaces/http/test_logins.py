"""Signing in at the page: two halves, one-time links, and everything that must not let anybody in."""

from __future__ import annotations

import re
import time

import pytest

import scrubjay
from scrubjay.errors import StoreError
from scrubjay.surfaces.callers import UNRESTRICTED
from scrubjay.surfaces.http import auth, logins
from scrubjay.surfaces.http.app import ServerContext
from scrubjay.surfaces.http.auth import CACHE_S, ApiKeyLookup
from scrubjay.surfaces.http.logins import IDLE_S, LIFETIME_S, LINK_S, Logins
from scrubjay.surfaces.http.metrics import Monitoring
from scrubjay.surfaces.http.settings import ServerSettings
from scrubjay.text.api_key_format import new_secret

from .conftest import Client, served, stores_at


class Visitor:
    """A browser, as far as a server sees one: it says where its page is from, and keeps cookies."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.cookie = ""
        self.headers = {"Origin": client.url, "Sec-Fetch-Site": "same-origin"}

    def ask(self, method, path, body=None, **headers):
        """Send a request, and take the cookie of the answer."""
        named = {**self.headers, **{key.replace("_", "-"): one for key, one in headers.items()}}
        if self.cookie:
            named.setdefault("Cookie", self.cookie)
        answer = self.client.ask(method, path, body, named)
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def sign_in(self, **how):
        """Sign in, and send the key from now on."""
        answer = self.ask("POST", "/session", how)
        assert answer.status == 200
        assert set(answer.json) == {"key"}
        self.headers["X-Scrubjay-Page"] = answer.json["key"]
        return self


class Now:
    """A clock that a test moves."""

    s = 1000.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture(scope="module")
def now():
    return Now()


@pytest.fixture(scope="module")
def context(tmp_path_factory, now):
    """What an open server stands on, with a clock of its own for the sessions."""
    stores = stores_at(tmp_path_factory.mktemp("sessions") / "notes.db")
    made = ServerContext.create(
        stores, ApiKeyLookup(stores, loopback=True, no_auth=True), ServerSettings(), Monitoring()
    )
    yield made._replace(logins=Logins(now))
    stores.close()


@pytest.fixture(scope="module")
def client(context):
    with served(context) as one:
        yield one


@pytest.fixture
def visitor(client, context):
    """Somebody who opened the link."""
    return Visitor(client).sign_in(code=context.logins.new_link_code())


@pytest.fixture
def token(db):
    def make(name="laptop", *scopes, **more):
        with scrubjay.open(db, embedder=False) as store:
            return store.api_keys.create(name, scopes=scopes or ("read",), **more).secret

    return make


def test_a_link_signs_in_whoever_opens_it(client, visitor):
    """With both halves everything is allowed that whoever started the server may do."""
    assert visitor.ask("POST", "/v1/add", {"text": "mine", "id": "mine"}).status == 200
    told = visitor.ask("GET", "/session").json
    assert told | {"version": ""} == {
        "signed_in": True,
        "why": None,
        "name": "",
        "scopes": ["read", "write", "admin"],
        "tenant": None,
        "user": None,
        "store": "notes.db",
        "version": "",
        "asks_for_token": False,
    }
    assert visitor.ask("GET", "/metrics").status == 200


def test_the_cookie_is_for_this_port_and_no_script(client, context):
    """Cookies know no ports, so its name does; Secure where the page came by TLS."""
    answer = Visitor(client).ask("POST", "/session", {"code": context.logins.new_link_code()})
    plain = answer.headers["set-cookie"].split("; ")
    assert plain[0].startswith(f"scrubjay-{client.address[1]}=")
    assert plain[1:] == ["Path=/", "HttpOnly", "SameSite=Strict"]
    by_tls = Visitor(client)
    by_tls.headers = {"Host": "localhost", "Origin": "https://localhost"}
    answer = by_tls.ask("POST", "/session", {"code": context.logins.new_link_code()})
    assert answer.headers["set-cookie"].split("; ")[-1] == "Secure"
    assert answer.headers["set-cookie"].startswith("scrubjay-web=")


def test_one_half_is_not_enough(client, visitor, context):
    """A server on another port is sent the cookie; it must not get in with it, nor with another's key."""
    other = Visitor(client).sign_in(code=context.logins.new_link_code())
    key = visitor.headers["X-Scrubjay-Page"]
    theirs = other.headers["X-Scrubjay-Page"]
    cases = (
        {"X_Scrubjay_Page": ""},
        {"X_Scrubjay_Page": theirs},
        {"X_Scrubjay_Page": key[:-1]},
        {"X_Scrubjay_Page": "ÿ" * 43},
        {"Cookie": "a=b"},
        {"Cookie": other.cookie},
        {"Cookie": visitor.cookie[:-1]},
        {"Cookie": visitor.cookie.replace("scrubjay-", "scrubjay-1")},
        {"Cookie": f"{visitor.cookie.partition('=')[0]}={key}"},
    )
    for wrong in cases:
        answer = visitor.ask("GET", "/v1/status", **wrong)
        assert answer.status == 401, wrong
        assert "signed in" in answer.problem
        assert visitor.ask("GET", "/session", **wrong).json["signed_in"] is False
    assert visitor.ask("GET", "/v1/status").status == 200


def test_a_cookie_that_another_server_of_this_host_set_does_no_harm(client, visitor):
    """It can set one of the same name, which may come first: neither is it taken, nor shuts it us out."""
    name = visitor.cookie.partition("=")[0]
    both = f"{name}=planted; {visitor.cookie}; {name}=again"
    assert visitor.ask("GET", "/v1/status", Cookie=both).status == 200
    planted = Visitor(client)
    planted.cookie = f"{name}=planted"
    planted.headers["X-Scrubjay-Page"] = "planted"
    assert planted.ask("GET", "/session").json["signed_in"] is False


def test_signing_in_makes_new_halves_and_ends_the_old_session(client, visitor, context):
    """Fixation: what a browser brings along is never what it is known by afterwards."""
    before = (visitor.cookie, visitor.headers["X-Scrubjay-Page"])
    visitor.sign_in(code=context.logins.new_link_code())
    after = (visitor.cookie, visitor.headers["X-Scrubjay-Page"])
    assert before[0] != after[0]
    assert before[1] != after[1]
    old = {"Cookie": before[0], "X_Scrubjay_Page": before[1]}
    assert visitor.ask("GET", "/v1/status", **old).status == 401
    assert visitor.ask("GET", "/v1/status").status == 200


def test_pages_of_other_ports_get_nothing_with_or_without_the_halves(client, visitor, context):
    """By fetch, by a form, by a picture: to sign in, to sign out, to ask, to make links."""
    port = client.address[1]
    for origin in (f"http://127.0.0.1:{port + 1}", f"http://localhost:{port}", "null"):
        for method, path in (
            ("GET", "/v1/status"),
            ("GET", "/session"),
            ("POST", "/session"),
            ("DELETE", "/session"),
            ("POST", "/session/link"),
            ("OPTIONS", "/session"),
        ):
            body = {"code": context.logins.new_link_code()} if method == "POST" else None
            answer = visitor.ask(method, path, body, Origin=origin)
            assert answer.status == 403, (origin, method, path)
            assert not any(name.startswith("access-control") for name in answer.headers)
    for path in ("/v1/status", "/session", "/session/link"):
        del visitor.headers["Origin"]
        answer = visitor.ask("GET", path, Sec_Fetch_Site="same-site")
        assert answer.status == 403
        visitor.headers["Origin"] = client.url
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    code = context.logins.new_link_code()
    answer = Visitor(client).ask("POST", "/session", f"code={code}".encode(), **form)
    assert answer.status == 415
    assert visitor.ask("GET", "/v1/status").status == 200


def test_a_browser_on_an_open_door_needs_a_session_and_a_program_does_not(client):
    """Whoever is on this machine may ask; not every page that is open there."""
    for header in (
        {"Origin": client.url},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Dest": "image"},
    ):
        for path in ("/v1/status", "/metrics", "/mcp", "/v1/openapi.json"):
            answer = client.ask("GET", path, headers=header)
            assert answer.status == 401
            assert "scrubjay serve printed" in answer.problem
    assert client.get("/v1/status").status == 200


def test_a_link_is_good_once_and_for_ten_minutes(client, context, now):
    """A used one, an old one and one that never was read the same."""
    used, late, last = (context.logins.new_link_code() for _ in range(3))
    Visitor(client).sign_in(code=used)
    now.s += LINK_S - 1
    Visitor(client).sign_in(code=last)
    now.s += 1
    for code in (used, late, "junk", "", "ÿ", "\ud800"):
        answer = Visitor(client).ask("POST", "/session", {"code": code})
        assert answer.status == 401
        assert "used before" in answer.problem
        assert f"scrubjay signin {client.url}" in answer.problem
        assert "set-cookie" not in answer.headers


def test_a_session_ends_twelve_hours_after_it_was_last_used(client, visitor, now):
    """And says what to do."""
    now.s += IDLE_S - 1
    assert visitor.ask("GET", "/v1/status").status == 200
    now.s += IDLE_S - 1
    assert visitor.ask("GET", "/v1/status").status == 200
    now.s += IDLE_S
    answer = visitor.ask("GET", "/v1/status")
    assert answer.status == 401
    assert "no longer signed in" in answer.problem
    told = visitor.ask("GET", "/session").json
    assert (told["signed_in"], told["store"], told["why"]) == (False, None, answer.problem)


def test_a_session_ends_a_week_after_it_began_however_much_it_is_used(client, visitor, now):
    """A page left open at Health looks every half minute; that must not keep it signed in for ever."""
    last = now.s + LIFETIME_S
    while now.s + IDLE_S / 2 < last:
        now.s += IDLE_S / 2
        assert visitor.ask("GET", "/v1/status").status == 200
    now.s = last - 1
    assert visitor.ask("GET", "/v1/status").status == 200
    now.s = last
    assert visitor.ask("GET", "/v1/status").status == 401
    assert visitor.ask("GET", "/session").json["signed_in"] is False


def test_signing_out_ends_the_session_for_every_tab(client, visitor):
    """The cookie is taken away, and would not do any more."""
    cookie = visitor.cookie
    answer = visitor.ask("DELETE", "/session")
    assert answer.status == 204
    assert answer.headers["set-cookie"].endswith("; Max-Age=0")
    assert visitor.ask("GET", "/v1/status", Cookie=cookie).status == 401
    assert visitor.ask("DELETE", "/session").status == 204


def test_what_is_no_way_to_sign_in_is_told_what_would_be(client):
    """Junk of every kind is refused in a sentence."""
    visitor = Visitor(client)
    for body in ({}, {"code": 1}, {"token": None}, {"code": "a", "token": "b"}, {"secret": "x"}):
        answer = visitor.ask("POST", "/session", body)
        assert answer.status == 422
        assert '{"code": …}' in answer.problem
    assert visitor.ask("POST", "/session", b"[]").status == 400
    assert visitor.ask("POST", "/session", b"{" * 3000).status == 400
    large = visitor.ask("POST", "/session", {"code": "x" * 5000})
    assert (large.status, '{"code": …}' in large.problem) == (413, True)
    assert "--max-body-mb" not in large.problem  # which is for verbs
    for method, path, right in (
        ("PUT", "/session", "GET, HEAD, POST, DELETE, OPTIONS"),
        ("GET", "/session/link", "POST, OPTIONS"),
    ):
        answer = client.ask(method, path)
        assert (answer.status, answer.headers["allow"]) == (405, right)
        assert client.ask("OPTIONS", path).headers["allow"] == right


def test_a_further_link_is_made_for_a_program_or_a_page(client, visitor):
    """By curl on this machine, or by the page in one browser for another."""
    by_curl = client.ask("POST", "/session/link").json
    by_page = visitor.ask("POST", "/session/link").json
    for one in (by_curl, by_page):
        assert one["expires_in_s"] == LINK_S
        code = re.fullmatch(rf"{client.url}/#/signin\?code=([\w-]{{43}})", one["page"])
        assert code is not None
        Visitor(client).sign_in(code=code[1])


def test_a_token_signs_in_and_says_who(serve, token):
    """The page may do what the token may, where a store asks for one."""
    client, secret = serve(), token("ann-reads", "read", user="ann")
    nobody = Visitor(client).ask("GET", "/session").json
    assert (nobody["signed_in"], nobody["asks_for_token"]) == (False, True)
    root = Visitor(client).sign_in(token=token("root", "admin"))
    assert root.ask("GET", "/session").json["scopes"] == ["read", "write", "admin"]
    visitor = Visitor(client).sign_in(token=f" {secret}\n")
    told = visitor.ask("GET", "/session").json
    assert (told["name"], told["scopes"], told["user"]) == ("ann-reads", ["read"], "ann")
    assert (told["store"], told["asks_for_token"]) == ("served.db", True)
    assert visitor.ask("GET", "/v1/status").status == 200
    answer = visitor.ask("POST", "/v1/add", {"text": "x"})
    assert answer.status == 403
    assert "the API key 'ann-reads' has read" in answer.problem
    assert visitor.ask("POST", "/session/link").status == 403
    assert "requires an API key" in root.ask("POST", "/session/link").problem


def test_a_session_ends_with_its_token(serve, token, db):
    """Revoked, or past its end: a second later nothing is answered, and the page says why."""
    client = serve()
    revoked = Visitor(client).sign_in(token=token("laptop", "admin"))
    expired = Visitor(client).sign_in(token=token("short", "admin", expires="1h"))
    for one in (revoked, expired):
        assert one.ask("GET", "/v1/status").status == 200
    with scrubjay.open(db, embedder=False) as store:
        store.api_keys.revoke("laptop")
        with store._context.db.write() as connection:
            connection.execute("UPDATE access SET expires_us = 1 WHERE name = 'short'")
    again = token("laptop", "admin")  # another token of the same name is another token
    time.sleep(CACHE_S)
    for one in (revoked, expired):
        answer = one.ask("GET", "/v1/status")
        assert answer.status == 401
        assert "revoked or has expired" in answer.problem
        assert one.ask("GET", "/v1/status").status == 401
    assert revoked.sign_in(token=again).ask("GET", "/v1/status").status == 200


def test_a_link_is_not_used_up_while_the_store_does_not_answer(stores):
    """Whoever tries again a moment later is signed in."""
    answers = iter((StoreError("the disk is gone"), UNRESTRICTED))

    def find(secret):
        found = next(answers)
        if isinstance(found, StoreError):
            raise found
        return found

    context = ServerContext.create(stores, find, ServerSettings(), Monitoring())
    with served(context) as client:
        code = context.logins.new_link_code()
        assert Visitor(client).ask("POST", "/session", {"code": code}).status == 503
        Visitor(client).sign_in(code=code)


def test_a_session_of_a_link_ends_when_the_store_asks_for_a_token(serve, token, stores):
    """And a link that was printed before no longer opens."""
    find = ApiKeyLookup(stores, loopback=True, no_auth=True)
    context = ServerContext.create(stores, find, ServerSettings(), Monitoring())
    with served(context) as client:
        visitor = Visitor(client).sign_in(code=context.logins.new_link_code())
        unused = context.logins.new_link_code()
        token()
        time.sleep(CACHE_S)
        assert "requires an API key now" in visitor.ask("GET", "/v1/status").problem
        answer = Visitor(client).ask("POST", "/session", {"code": unused})
        assert answer.status == 401
        assert "requires an API key now" in answer.problem


def test_a_wrong_token_signs_nobody_in_and_is_counted(serve, token, monkeypatch):
    """As in the header: with junk and with codes in one bucket, which keeps no right one out."""
    monkeypatch.setattr(auth, "WRONG_PER_S", 1.0)
    client, secret = serve(), token()
    visitor = Visitor(client)
    answer = visitor.ask("POST", "/session", {"token": new_secret()})
    assert answer.status == 401
    assert "unknown, revoked" in answer.problem
    assert "set-cookie" not in answer.headers
    answers = [visitor.ask("POST", "/session", one) for one in ({"token": "x"}, {"code": "x"})]
    assert "cut short" in answers[0].problem
    assert answers[1].status == 429
    visitor.sign_in(token=secret)


def test_there_are_not_endlessly_many_sessions(monkeypatch):
    """Those that were not used for the longest time go; nobody drives out the sessions of others."""
    monkeypatch.setattr(logins, "MAX_LOGINS_PER_KEY", 3)
    monkeypatch.setattr(logins, "MAX_LOGINS", 5)
    made = Logins()
    ann = made.start("ann")
    ben = [made.start("ben") for _ in range(4)]
    assert made.find([ben[0].cookie], ben[0].key) is None
    assert all(made.find([one.cookie], one.key) for one in [*ben[1:], ann])
    links = [made.start(None) for _ in range(2)]
    assert all(made.find([one.cookie], one.key) for one in [ann, *links, *ben[2:]])
    assert made.find([ben[1].cookie], ben[1].key) is None


def test_nothing_that_opens_a_session_is_kept_or_shown():
    """Of the halves and of codes there are hashes; what is printed by mistake shows nothing."""
    made = Logins()
    code = made.new_link_code()
    halves = made.start("sj_secret")
    kept = repr(vars(made))
    assert not any(one in kept for one in (code, halves.cookie, halves.key, "sj_secret"))
    assert halves.key not in repr(halves)
    for _ in range(100):
        made.new_link_code()
    assert made.use_link_code(code) is False  # there are not endlessly many links, either
