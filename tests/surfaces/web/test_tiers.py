"""A store with replicas: what the web UI shows while one of them is unavailable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import Site
from playwright.sync_api import Browser, Page, expect
from tools.servers import FalkorDB, Qdrant, Server

PATIENCE_S = 60.0


@pytest.fixture
def _site(browser: Browser, tmp_path: Path, qdrant_url: str, falkordb_url: str) -> Iterator[Site]:
    one = Site(browser, tmp_path / "notes.db", vectors=qdrant_url, graph=falkordb_url)
    yield one
    one.close()


@pytest.fixture
def site(_site: Site) -> Site:
    """Three memories that both servers know."""
    texts = ("a red car", "a blue car", "bread of the day")
    _site.store.add_many({"text": text, "id": text.split()[1]} for text in texts)
    end = time.monotonic() + PATIENCE_S
    while _site.store.pending():  # a busy machine's server may not answer in time at first
        assert time.monotonic() < end, _site.store.servers()
    return _site


def until(page: Page, key: str, holds: Callable[[], bool]) -> None:
    """Look again and again, as a reader would."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, page.locator("main").inner_text()
        page.reload() if key == "F5" else page.keyboard.press(key)
        page.wait_for_timeout(500)


@pytest.mark.parametrize("tier", ["vectors", "graph"])
def test_health_and_search_say_which_server_is_away_until_it_is_back(
    site: Site, qdrant: Qdrant, falkordb: FalkorDB, tier: str
):
    """NM-6: nothing is lost, nothing fails, and the page says what was done without, and why."""
    server: Server = qdrant if tier == "vectors" else falkordb
    page = site.open("#/health")
    until(page, "r", lambda: page.get_by_text("No problems found.").count() == 1)

    server.kill()
    site.store.add("a green car", id="green")
    site.store.link("green", "red")
    wanting = page.locator(".wanting li").filter(has_text=f"The {tier} replica cannot be updated")
    until(page, "r", lambda: wanting.count() == 1)
    expect(wanting).to_contain_text(f"127.0.0.1:{server.port}")
    waits = page.locator("section:has(> h2:text-is('Pending work'))")
    expect(waits).to_contain_text(f"for the {tier} replica")

    page.goto(f"{site.url}#/search?q=green+car&profile=novamem")
    expect(page.locator("article.card").first).to_contain_text("a green car")
    said = page.locator(".answer .notice li").filter(has_text="cannot be reached").first
    expect(said).to_contain_text("vector: " if tier == "vectors" else "graph: ")

    server.start()
    page.goto(f"{site.url}#/health")
    # What is asked first may be behind a moment longer than what is asked last.
    until(
        page,
        "r",
        lambda: (
            page.get_by_text("No pending work.").count() == 1
            and "replica" not in page.locator(".wanting").inner_text()
        ),
    )
    expect(page.locator(".wanting")).to_contain_text("ran without")
    page.goto(f"{site.url}#/search?q=green+car&profile=novamem")
    # It is asked again when it has answered a ping, which may be some seconds later.
    card, said = page.locator("article.card"), page.locator(".answer .notice")
    until(page, "F5", lambda: card.count() > 0 and said.count() == 0)
    expect(card.first).to_contain_text("a green car")
