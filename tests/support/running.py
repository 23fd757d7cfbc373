"""Servers for tests, one of each kind for the whole run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NoReturn, TypeVar

import pytest
from tools.servers import CannotRun, Server
from tools.servers.programs import on_linux_x64

S = TypeVar("S", bound=Server)


def running(kind: type[S]) -> Iterator[S]:
    """One server for the whole run; where it cannot be had its tests are skipped, but never in CI."""
    try:
        server = kind().start()
    except CannotRun as error:
        skip(error)
    yield server
    server.close()


def skip(error: CannotRun) -> NoReturn:
    """Skip what cannot be had here; in CI, and where everything can be had, that is an error."""
    if "CI" in os.environ or on_linux_x64():
        raise error
    pytest.skip(str(error))
