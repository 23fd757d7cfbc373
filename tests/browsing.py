"""A served store with a browser in front of it, for the tests of the page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from tools.servers.programs import axe

import scrubjay
from fakes import HashingEmbedder
from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.http import serving
from scrubjay.surfaces.http.admission import Admission
from scrubjay.surfaces.http.app import Doors, make_app
from scrubjay.surfaces.http.settings import ServerSettings
from scrubjay.surfaces.http.watching import Watch

CHROMIUM = "/usr/bin/chromium"
WAIT_MS = 15_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """One browser, which asks for nothing by itself."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync",
                  "--disable-background-networking", "--disable-component-update"],
        )  # fmt: skip
        yield browser
        browser.close()


class Site:
    """A store in a file, the server in a thread, and pages that are held to account at the end."""

    def __init__(self, browser: Browser, db: Path) -> None:
        self.browser = browser
        self.db = db
        self.embedder = HashingEmbedder(meanings={"automobil": "car"})
        self.store = scrubjay.open(db, embedder=self.embedder)
        self.port = 0
        self.pages: list[tuple[Page, list[str]]] = []
        self.start()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Serve, at the same port as before."""
        self._stores = OpenStores(self._open)
        find = Admission(self._stores, loopback=True)
        watch = Watch()
        self._doors = Doors.of(self._stores, find, ServerSettings(), watch)
        socket = serving.bind("127.0.0.1", self.port)
        self.port = socket.getsockname()[1]
        up = threading.Event()
        self._server = serving.listener(make_app(self._doors), up.set, finish_s=1)
        self._thread = threading.Thread(target=self._server.run, args=([socket],))
        self._thread.start()
        assert up.wait(60)

    def stop(self) -> None:
        """Stop serving; the port stays ours in the sense that `start` takes it again."""
        self._server.should_exit = True
        self._thread.join(60)
        self._doors.workers.close(5)
        self._doors.desk.close(5)
        self._stores.close()

    def open(self, path: str = "#/search", **options: Any) -> Page:
        """Return a page in a context of its own, signed in."""
        context = self.browser.new_context(**options)
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        wrong: list[str] = []
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: one.url.startswith(self.url) or wrong.append(one.url))
        self.pages.append((page, wrong))
        page.goto(self.url + path)
        return page

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
        for page, _ in self.pages:
            page.context.close()
        self.pages.clear()
        assert wrong == []

    def close(self) -> None:
        """End everything."""
        self.stop()
        self.store.close()

    def _open(self, who: Principal) -> scrubjay.Store:
        return scrubjay.open(self.db, embedder=self.embedder, tenant=who.tenant, user=who.user)
