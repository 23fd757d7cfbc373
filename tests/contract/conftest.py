"""One store of every kind, for each test of a contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backends import BACKENDS, Sqlite


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sqlite]:
    """One empty store of each kind."""
    place = BACKENDS[request.param]
    opened = Sqlite(place if place == ":memory:" else str(tmp_path / place))
    yield opened
    opened.close()
