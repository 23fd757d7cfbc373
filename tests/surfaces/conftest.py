"""A shell in a home of its own: `shell("add", "…")` runs a command and returns what it said."""

from __future__ import annotations

import io
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.models import registry
from scrubjay.runtime.paths import cache_dir
from scrubjay.surfaces.cli import main

USER_CACHE = str(cache_dir())  # before any test moves it
# Who is started in the background ignores Ctrl-C, and so do the commands it starts: tests that press it
# waited for a minute.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Words that mean the same to the fake model, as stems: enough to ask by meaning.
SAME = {"allerg": "harm", "shrimp": "harm", "seafood": "sea", "crab": "sea"}


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, read as one JSON document."""
        return json.loads(self.out)


class Keyboard(io.StringIO):
    """A standard input that is a terminal with a person at it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, no settings, no network, a fixed width, no colours."""
    for name in ("SCRUBJAY_DB", "SCRUBJAY_PROFILE", "SCRUBJAY_CONFIG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SCRUBJAY_HOME", str(home / "data"))
    monkeypatch.setenv("SCRUBJAY_CACHE", str(home / "cache"))
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "100")
    return home


@pytest.fixture
def bare_shell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Run commands on a machine without a model and without a network."""

    def run(*words: str, stdin: str = "", keyboard: str | None = None) -> Outcome:
        given = io.StringIO(stdin) if keyboard is None else Keyboard(keyboard)
        monkeypatch.setattr(sys, "stdin", given)
        capsys.readouterr()
        code = main(list(words))
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return run


@pytest.fixture
def embedder() -> HashingEmbedder:
    """The model of `shell`."""
    return HashingEmbedder(meanings=SAME)


@pytest.fixture
def shell(
    bare_shell: Callable[..., Outcome],
    embedder: HashingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Outcome]:
    """Run commands with a small fixed model, so that vectors are there and always the same."""
    real_open, fake = scrubjay.open, embedder

    def with_fake(
        path: str | None, *, user: str | None = None, embedder: bool | None = None
    ) -> scrubjay.Store:
        return real_open(path, user=user, embedder=fake if embedder is None else embedder)

    monkeypatch.setattr(scrubjay, "open", with_fake)
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", embedder.name)  # not one that scrubjay would fetch
    found = registry._plugins
    plugin = SimpleNamespace(name=embedder.name, value="fakes", load=lambda: lambda: fake)
    of_group = {registry.GROUP: {embedder.name: plugin}}
    monkeypatch.setattr(registry, "_plugins", lambda group: of_group.get(group) or found(group))
    return bare_shell


@pytest.fixture
def real_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real model out of the real user's cache, fetched there if it is not."""
    monkeypatch.delenv("SCRUBJAY_OFFLINE")
    monkeypatch.setenv("SCRUBJAY_CACHE", USER_CACHE)
