"""How far a model is said to be while it is fetched in the background."""

from __future__ import annotations

import threading

import pytest

from scrubjay.models.shared import ModelLoader

PATIENCE_S = 60.0


class Fetched:
    """A model of one file, of which so much has come when its gate opens."""

    name = "slow"

    def __init__(self, progress, done: int, total: int) -> None:
        self.come = lambda: progress(done, total)
        self.has_come, self.gate = threading.Event(), threading.Event()

    def is_here(self) -> bool:
        """Not yet."""
        return False

    def fetch(self) -> None:
        """Tell how much is here, then wait."""
        self.come()
        self.has_come.set()
        assert self.gate.wait(PATIENCE_S)

    def load(self) -> None:
        """Nothing is left to do."""


@pytest.mark.parametrize(
    ("done", "says"),
    [
        (1, "slow is being fetched (1% is here); found by word"),
        (995, "slow is being fetched (99% is here); found by word"),
        (1000, "slow is being fetched and checked; found by word"),
    ],
)
def test_what_is_not_all_here_is_not_said_to_be(monkeypatch, done, says):
    """A file that has come is checked, and that it is 'being fetched, 100% is here' was no answer."""
    monkeypatch.delenv("SCRUBJAY_OFFLINE", raising=False)
    loader = ModelLoader(lambda progress: Fetched(progress, done, 100 if done == 1 else 1000))
    loader.begin()
    assert loader.model.has_come.wait(PATIENCE_S)
    assert loader.why_not(fetch="", instead="found by word") == says
    loader.model.gate.set()
    loader.wait(PATIENCE_S)
    assert loader.ready()
