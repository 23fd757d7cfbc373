"""One store of every kind, for each test of a contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from backends import BACKENDS, Backend, opened


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """One empty store of each kind."""
    store = opened(request.param, request)
    yield store
    store.close()
