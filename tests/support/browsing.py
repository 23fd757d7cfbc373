"""A served store with a browser in front of it, for the tests of the page."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

from fakes import HashingEmbedder
from playwright.sync_api import Browser, Page
from tools.servers.programs import axe

import scrubjay
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http import listen
from scrubjay.surfaces.http.app import ServerContext, make_app
from scrubjay.surfaces.http.auth import ApiKeyLookup
from scrubjay.surfaces.http.logins import Logins
from scrubjay.surfaces.http.metrics import Monitoring
from scrubjay.surfaces.http.settings import ServerSettings
from scrubjay.text.api_key_format import new_secret

WAIT_MS = 15_000


class Site:
    """A store in a file, the server in a thread, and pages that are held to account at the end."""

    def __init__(self, browser: Browser, db: Path, **tiers: str) -> None:
        self.browser = browser
        self.db = db
        self.tiers = tiers  # `vectors` and `graph`, where they are on servers
        self.embedder = HashingEmbedder(meanings={"automobil": "car"})
        self.store = self._open()
        self.port = 0
        self.owner_key = new_secret()
        self.pages: list[tuple[Page, list[str]]] = []
        self._forgiven: list[str] = []
        self.start(forget=True)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}/"

    def start(self, *, forget: bool = False) -> None:
        """Serve, at the same port as before; a server that was really stopped forgets who is signed in."""
        if forget:
            self.logins = Logins()
        self._watch = Monitoring()
        self._stores = self._watch.open_stores(self._open)
        find = ApiKeyLookup(self._stores, loopback=True, owner_key=self.owner_key)
        context = ServerContext.create(
            self._stores, find, ServerSettings(), self._watch, owner_key=self.owner_key
        )
        self._context = context._replace(logins=self.logins)
        socket = listen.bind("127.0.0.1", self.port)
        self.port = socket.getsockname()[1]
        up = threading.Event()
        self._server = listen.http_server(make_app(self._context), up.set, shutdown_s=1)
        self._thread = threading.Thread(target=self._server.run, args=([socket],))
        self._thread.start()
        assert up.wait(60)

    def stop(self) -> None:
        """Stop serving; the port stays ours in the sense that `start` takes it again."""
        self._server.should_exit = True
        self._thread.join(60)
        self._context.workers.close(5)
        self._context.auth_workers.close(5)
        self._stores.close()
        self._watch.close()

    def open(
        self,
        path: str = "#/search",
        *,
        signed_in: bool = True,
        token: str | None = None,
        **options: Any,
    ) -> Page:
        """Return a page in a context of its own, signed in by a link, or with a token."""
        if signed_in:
            options["storage_state"] = self._signed_in(token)
        context = self.browser.new_context(**options)
        context.set_default_timeout(WAIT_MS)
        page = self.watched(context.new_page())
        page.goto(self.url + path)
        return page

    def watched(self, page: Page) -> Page:
        """Hold a page to account: errors, and requests to others, fail the test at its end."""
        wrong: list[str] = []
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: one.url.startswith(self.url) or wrong.append(one.url))
        self.pages.append((page, wrong))
        return page

    def forgive(self, pattern: str) -> None:
        """Let errors like this be, in this test: Chromium writes each 401 to the console."""
        self._forgiven.append(pattern)

    def axe(self, page: Page) -> list[str]:
        """Return what shuts people out: each serious or critical finding in a line."""
        if not page.evaluate("Boolean(globalThis.axe)"):
            page.evaluate(axe().read_text("utf-8"))
        found = page.evaluate("axe.run()")["violations"]
        return [
            f"{one['id']}: {node['target']} {node['failureSummary']}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    def settle(self) -> None:
        """Close every page, and fail where one of them had an error or asked another host."""
        wrong = [said for _, errors in self.pages for said in errors]
        wrong = [one for one in wrong if not any(re.search(it, one) for it in self._forgiven)]
        for context in {page.context for page, _ in self.pages}:
            context.close()
        self.pages.clear()
        self._forgiven.clear()
        assert wrong == []

    def close(self) -> None:
        """End everything."""
        self.stop()
        self.store.close()

    def _signed_in(self, token: str | None) -> Any:
        """What a browser keeps of a session: both halves."""
        halves = self.logins.start(token or self.owner_key)
        cookie = {"name": f"scrubjay-{self.port}", "value": halves.cookie, "domain": "127.0.0.1"}
        cookie |= {
            "path": "/",
            "expires": -1,
            "httpOnly": True,
            "secure": False,
            "sameSite": "Strict",
        }
        kept = {"name": "scrubjay.key", "value": halves.key}
        origin = {"origin": self.url.rstrip("/"), "localStorage": [kept]}
        return {"cookies": [cookie], "origins": [origin]}

    def _open(self, who: Principal | None = None) -> scrubjay.Store:
        return scrubjay.open(
            self.db,
            embedder=self.embedder,
            tenant=who and who.tenant,
            user=who and who.user,
            vectors=self.tiers.get("vectors"),
            graph=self.tiers.get("graph"),
        )
