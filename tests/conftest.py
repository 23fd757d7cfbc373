"""A home of its own for every test, a clock that stands still, and a model that needs no weights."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # so that tests in any folder can import these two

import scrubjay
from clocks import Clock
from fakes import HashingEmbedder

# A store on a busy machine is slow now and then; that is no reason to fail.
settings.register_profile(
    "scrubjay",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("scrubjay")


@pytest.fixture(autouse=True)
def nobody_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the person who runs the tests, and no store of theirs."""
    mine = ("DB", "USER", "PROFILE", "CONFIG", "EMBEDDER")
    for role in ("RERANKER", "GENERATOR"):
        mine += (role, f"{role}_API_KEY", f"{role}_TIMEOUT_S", f"{role}_DIALECT")
    for name in mine:
        monkeypatch.delenv(f"SCRUBJAY_{name}", raising=False)
    monkeypatch.setenv("SCRUBJAY_HOME", str(tmp_path / "home"))


@pytest.fixture
def clock() -> Clock:
    """Noon on 3 May 2026, until a test moves it."""
    return Clock()


@pytest.fixture
def embedder() -> HashingEmbedder:
    """A model for which "car" and "automobile" mean the same."""
    return HashingEmbedder(meanings={"automobil": "car"})


@pytest.fixture
def memory(tmp_path: Path, clock: Clock, embedder: HashingEmbedder) -> Iterator[scrubjay.Store]:
    """An empty store in a file, with the fixed model and the fixed clock."""
    with scrubjay.open(tmp_path / "notes.db", embedder=embedder, clock=clock) as store:
        yield store


@pytest.fixture
def words_only(tmp_path: Path, clock: Clock) -> Iterator[scrubjay.Store]:
    """An empty store in a file, without any model."""
    with scrubjay.open(tmp_path / "words.db", embedder=False, clock=clock) as store:
        yield store
