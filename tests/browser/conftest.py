"""One browser for the run, one server for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from tools.chromium import chromium
from tools.servers import CannotRun

from browsing import Site, browsing
from running import skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    try:
        program = chromium()
    except CannotRun as error:
        skip(error)
    with browsing(program) as one:
        yield one


@pytest.fixture(scope="module")
def _site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    one = Site(browser, tmp_path_factory.mktemp("site") / "notes.db")
    yield one
    one.close()


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """The server of this file of tests; a file overrides this to fill the store first."""
    return _site


@pytest.fixture(autouse=True)
def nothing_wrong(_site: Site) -> Iterator[None]:
    """Fail a test whose page had an error in the console, or asked another host."""
    yield
    _site.settle()
