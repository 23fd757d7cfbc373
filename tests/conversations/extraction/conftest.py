"""A store with a language model that says what it is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from clocks import Clock
from fakes import ScriptedGenerator

import scrubjay


@pytest.fixture
def told(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., scrubjay.Store]]:
    """Open a store whose generator gives these answers, one after the other."""
    opened: list[scrubjay.Store] = []

    def open_one(*answers: object, **more: object) -> scrubjay.Store:
        store = scrubjay.open(
            tmp_path / "talk.db",
            **{
                "embedder": False,
                "clock": clock,
                "generator": ScriptedGenerator(*answers),
                **more,
            },
        )
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()
