"""One browser per run, one server per test module."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from browsing import Site
from playwright.sync_api import Browser
from running import skip
from tools.chromium import browsing, chromium
from tools.servers import CannotRun

# Playwright's loop counts as running in this thread for as long as the browser is there, and then no
# other test could run one. So it is set aside after each test of the web UI, and back before the next.
_aside: list[asyncio.AbstractEventLoop | None] = [None]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run Playwright's loop during a test of the web UI; this hook is called for all other tests, too."""
    if Path(__file__).parent not in item.path.parents:
        return (yield)
    asyncio._set_running_loop(_aside[0])
    try:
        return (yield)
    finally:
        _aside[0] = asyncio._get_running_loop()
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    try:
        program = chromium()
    except CannotRun as error:
        skip(error)
    with browsing(program) as one:
        yield one
        asyncio._set_running_loop(_aside[0] or asyncio._get_running_loop())


@pytest.fixture(scope="module")
def _site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    one = Site(browser, tmp_path_factory.mktemp("site") / "notes.db")
    yield one
    one.close()


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """The server of this test module; a module overrides this to fill the store first."""
    return _site


@pytest.fixture(autouse=True)
def nothing_wrong(_site: Site) -> Iterator[None]:
    """Fail a test with an error in the browser's console, or a request to another host."""
    yield
    _site.settle()
