"""Sign-in by link and API key, and requests from another site on the same machine."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from browsing import Site
from playwright.sync_api import Browser, expect

REFUSED = r"status of 40[13]"


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    _site.store.add("The kettle whistles at six", id="kettle")
    return _site


@pytest.fixture(scope="module")
def asking(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server whose store asks for tokens."""
    one = Site(browser, tmp_path_factory.mktemp("asking") / "team.db")
    one.store.api_keys.create("first")
    yield one
    one.close()


# During sign-out, the server refuses another request before it answers the sign-out.
REFUSED_MEANWHILE = """() => {
  const real = fetch;
  sessionStorage.setItem("draft", "half a sentence");
  window.fetch = async (path, given) => {
    const answer = await real(path, given);
    if (given?.method !== "DELETE") return answer;
    await import("/ui/app/api.js").then((api) => api.call("status").catch(() => null));
    return new Promise((done) => setTimeout(done, 300, answer));
  };
}"""


def test_the_link_signs_in_and_goes_on_to_where_one_wanted(site: Site):
    """A page that is not signed in says how; the link leads on, is gone from the address, and works once."""
    page = site.open("#/signin?why=Run+this+at+once", signed_in=False)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert "Run this" not in page.locator("main").inner_text()  # the author of the link wrote that
    page.goto(f"{site.url}#/search?q=tea")
    expect(page).to_have_url(f"{site.url}#/signin")
    expect(page.get_by_text("scrubjay serve", exact=True)).to_be_visible()
    command = f"scrubjay signin {site.url.rstrip('/')}"
    expect(page.get_by_text(command)).to_be_visible()
    expect(page.get_by_role("navigation")).to_be_hidden()
    assert page.get_by_label("API key").count() == 0
    assert site.axe(page) == []

    code = site.logins.new_link_code()
    site.forgive("status of 503")
    busy = {"type": "urn:scrubjay:problem:busy", "title": "Busy", "detail": "the server is busy"}
    page.route("**/session", lambda one: one.fulfill(status=503, json=busy))
    page.goto(f"{site.url}#/signin?code={code}")
    expect(page.get_by_role("alert")).to_have_text("The server is busy.")
    page.unroute("**/session")
    page.get_by_role("button", name="Try again").click()
    expect(page).to_have_title("Search · scrubjay")
    assert page.url == f"{site.url}#/search?q=tea"
    page.reload()
    expect(page.get_by_role("button", name="notes.db")).to_be_visible()
    second = site.watched(page.context.new_page())  # another tab
    second.goto(f"{site.url}#/health")
    expect(second).to_have_title("Health · scrubjay")

    site.forgive(REFUSED)
    other = site.open(f"#/signin?code={code}", signed_in=False)  # another browser
    said = other.locator(".notice[role=alert]")
    expect(said).to_have_text("This link was used before or is older than 10 minutes.")
    expect(other.get_by_text(command)).to_have_count(1)
    assert "code" not in other.url
    box = other.get_by_label("Link, or its code")
    expect(box).to_be_focused()
    box.fill(code)
    other.keyboard.press("Enter")
    expect(other.locator(".wrong")).to_have_text(said.inner_text())
    box.fill(f" {site.url}#/signin?code={site.logins.new_link_code()} ")
    other.keyboard.press("Enter")
    expect(other).to_have_title("Search · scrubjay")

    further = page.evaluate("import('/ui/app/login.js').then((login) => login.createLoginLink())")
    second.evaluate(REFUSED_MEANWHILE)
    second.get_by_role("button", name="notes.db").click()
    second.get_by_role("button", name="Sign out").click()
    for tab in (page, second):
        expect(tab).to_have_title("Sign in · scrubjay")
    assert second.evaluate("({...sessionStorage})") == {}
    for tab in (page, second):
        assert tab.evaluate("localStorage.getItem('scrubjay.key')") is None
        expect(tab.locator("main > section")).to_have_count(1)
    second.goto(further)
    for tab in (page, second):  # who signs in in one tab is signed in in all
        expect(tab).to_have_title("Search · scrubjay")


def test_a_token_signs_in_by_keyboard_and_its_end_signs_out(asking: Site):
    """The form by Enter, a wrong one said, a revoked one said, with the way back to the same place."""
    access = asking.store.api_keys
    secret = access.create("reader", scopes=["read"]).secret
    asking.forgive(REFUSED)
    page = asking.open("#/health", signed_in=False)
    field = page.get_by_label("API key")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("type", "password")
    assert asking.axe(page) == []
    page.keyboard.type("sj_nonsense")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(
        "The API key is not valid: it is mistyped or cut short."
    )
    expect(field).to_be_focused()
    page.keyboard.type(secret)  # over what is selected
    page.keyboard.press("Enter")
    expect(page).to_have_title("Health · scrubjay")
    expect(page.get_by_role("button", name="Add a memory")).to_be_hidden()  # it may only read
    page.get_by_role("button", name="reader").click()
    menu = page.get_by_role("dialog", name="You and this store")
    expect(menu.locator("dl")).to_contain_text("with the API key reader")
    expect(menu.locator("dl")).to_contain_text("read only")
    expect(menu.get_by_role("button", name="Open in another browser")).to_have_count(0)
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#/search'")
    expect(page).to_have_title("Search · scrubjay")
    page.get_by_role("button", name="Keys").click()
    does = page.get_by_role("dialog", name="Keys").locator("td:last-child").all_inner_texts()
    assert "Next result (or ↓)" in does
    assert not {"Edit", "Forget", "Add a memory", "It answered: accept"} & set(does)
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#/health'")
    expect(page).to_have_title("Health · scrubjay")
    assert secret not in page.content()
    assert secret not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")

    access.revoke("reader")
    page.wait_for_timeout(1000)  # as long as a server remembers who a token is
    page.reload()
    expect(page.locator(".notice[role=alert]")).to_contain_text("was revoked or has expired")
    page.get_by_label("API key").fill(access.create("another").secret)
    page.keyboard.press("Enter")
    expect(page).to_have_title("Health · scrubjay")
    asking.settle()


# Stands between a page and its server, and keeps what it sees.
WORKER = b"""addEventListener("fetch", (event) => event.respondWith(seen(event.request)));
async function seen(request) {
  const answer = await fetch(request);
  if (request.url.endsWith("/session")) {
    await (await caches.open("seen")).put(`/${Math.random()}`, answer.clone());
  }
  return answer;
}"""


class _Elsewhere(BaseHTTPRequestHandler):
    """A page of another server on this machine, which notes what it is sent."""

    cookies: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.cookies.append(self.headers.get("Cookie", ""))
        is_script = self.path == "/worker.js"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_script else "text/html")
        self.end_headers()
        self.wfile.write(WORKER if is_script else b"<!doctype html><title>elsewhere</title>")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


ATTACKS = """async (url) => {
  const tried = (path, options) => fetch(url + path, {credentials: "include", ...options})
    .then((answer) => answer.type === "opaque" ? "opaque" : answer.text(), () => "refused");
  const form = (path) => new Promise((done) => {
    const made = (tag, given) => Object.assign(document.createElement(tag), given);
    const frame = made("iframe", {name: "there", onload: () => done("sent")});
    const sent = {action: url + path, method: "POST", target: "there", enctype: "text/plain"};
    const filled = made("form", sent);
    filled.append(made("input", {name: '{"id": "kettle", "x": "', value: '"}'}));
    document.body.append(frame, filled);
    filled.submit();
  });
  const picture = (path) => new Promise((done) => {
    const shown = {onload: () => done("shown"), onerror: () => done("refused"), src: url + path};
    Object.assign(new Image(), shown);
  });
  const json = {"Content-Type": "application/json"};
  return [
    await picture("ui/icon.svg"),
    await tried("v1/ls"),
    await tried("session"),
    await tried("v1/ls", {headers: {"X-Scrubjay-Page": "guess"}}),
    await tried("v1/forget", {method: "POST", headers: json, body: '{"id": "kettle"}'}),
    await tried("session/link", {method: "POST"}),
    await tried("v1/forget", {method: "POST", mode: "no-cors", body: '{"id": "kettle"}'}),
    await form("v1/forget"),
  ];
}"""


@contextmanager
def served_elsewhere(port: int = 0) -> Iterator[ThreadingHTTPServer]:
    elsewhere = ThreadingHTTPServer(("127.0.0.1", port), _Elsewhere)
    thread = threading.Thread(target=elsewhere.serve_forever)
    thread.start()
    try:
        yield elsewhere
    finally:
        elsewhere.shutdown()
        thread.join()
        elsewhere.server_close()


def test_a_worker_of_a_server_that_had_the_port_before_sees_no_key(site: Site):
    """For a browser it is of the same origin, and outlives its server."""
    site.stop()
    page = site.watched(site.browser.new_context().new_page())
    with served_elsewhere(site.port):
        page.goto(site.url)
        page.evaluate(
            "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)"
            ".then(() => null)"
        )
        page.goto("about:blank")
    site.start()
    page.goto(f"{site.url}#/signin?code={site.logins.new_link_code()}")
    expect(page).to_have_title("Search · scrubjay")
    assert page.evaluate("navigator.serviceWorker.controller") is None
    assert page.evaluate("caches.has('seen')") is False


def test_another_page_of_this_machine_gets_nothing(site: Site):
    """It is the same site for the browser, so it is sent the cookie; but it has no key, and may not ask."""
    mine = site.open("#/search")
    expect(mine).to_have_title("Search · scrubjay")
    with served_elsewhere() as elsewhere:
        theirs = mine.context.new_page()
        theirs.goto(f"http://127.0.0.1:{elsewhere.server_port}/")
        got = theirs.evaluate(ATTACKS, site.url)
        with mine.context.expect_page() as opened:
            theirs.evaluate("(url) => { window.hold = open(url); }", site.url)
        expect(opened.value).to_have_title("Search · scrubjay")
        assert theirs.evaluate("hold.closed")  # as far as they can tell
        assert opened.value.evaluate("opener") is None
    assert got == ["refused"] * 6 + ["opaque", "sent"]  # what cannot be read may have been sent
    assert [one.id for one in site.store.ls()] == ["kettle"]
    cookie = next(one for one in _Elsewhere.cookies if f"scrubjay-{site.port}=" in one)
    asked = http.client.HTTPConnection("127.0.0.1", site.port)
    asked.request("GET", "/v1/ls", headers={"Cookie": cookie, "Sec-Fetch-Site": "none"})
    assert asked.getresponse().status == 401
    asked.close()
