"""Takes the screenshots of the web UI for the docs: `make screenshots`.

The store is that of `scrubjay demo`: sample memories and these docs, with the real model.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page

from tools.chromium import browsing, chromium

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
WAIT_MS = 30_000


def search(page: Page) -> None:
    """Results while the user types."""
    page.get_by_role("searchbox").press_sequentially("when may we deploy?")
    page.locator("article.card mark").first.wait_for()


def explain(page: Page) -> None:
    """The stages of a search, and the sum behind its best hit."""
    _go(page, "#/search?q=who+is+allergic+to+seafood%3F&limit=3")
    page.locator("article.card").nth(2).wait_for()
    page.get_by_role("button", name="Stages").click()
    page.locator(".waterfall").wait_for()
    page.get_by_role("button", name="Why").first.click()
    page.locator(".reasons .sum").first.wait_for()


def compare(page: Page) -> None:
    """Two profiles side by side."""
    _go(page, "#/compare?q=how+are+scores+fused%3F&a=default&b=novamem&limit=8")
    page.locator(".compare svg path").first.wait_for(state="attached")


def plane(page: Page) -> None:
    """All memories as points, and where a question lands."""
    _go(page, "#/map?q=what+happens+when+a+server+is+away%3F&by=type")
    page.get_by_text("nearest", exact=False).first.wait_for()


SHOTS: dict[str, tuple[Callable[[Page], None], int]] = {
    "search": (search, 760),
    "explain": (explain, 1560),
    "compare": (compare, 940),
    "map": (plane, 820),
}


def main() -> int:
    """Write one PNG for each."""
    IMAGES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as link,
        browsing(chromium()) as browser,
    ):
        page = browser.new_page(color_scheme="light", reduced_motion="reduce")
        page.set_default_timeout(WAIT_MS)
        page.goto(link)
        page.locator("#who").wait_for()
        for name, (show, height_px) in SHOTS.items():
            page.set_viewport_size({"width": 1120, "height": height_px})
            show(page)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
            print(f"docs/images/{name}.png")
    return 0


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Make the demo's store and serve it; gives the link that signs in."""
    scrubjay = [sys.executable, "-m", "scrubjay"]
    db = folder / "demo.db"
    # A copy, because the screenshots show paths, which should not be local ones.
    docs = shutil.copytree(ROOT / "docs", folder / "docs")
    subprocess.run([*scrubjay, "demo", "--docs", docs, "--keep", db], check=True)
    with subprocess.Popen(
        [*scrubjay, "serve", "--db", db, "--port", "0", "--json"], stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["page"]
        finally:
            server.terminate()


def _go(page: Page, view: str) -> None:
    page.goto(page.url.partition("#")[0] + view)


if __name__ == "__main__":
    sys.exit(main())
