"""Each platform's own folders, and the variables that move them."""

import sys
from pathlib import Path

import pytest

from scrubjay.runtime.paths import cache_dir, config_dir, data_dir


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in ("SCRUBJAY_HOME", "SCRUBJAY_CACHE", "LOCALAPPDATA", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("platform", "data", "config", "cache"),
    [
        ("linux", ".local/share/scrubjay", ".config/scrubjay", ".cache/scrubjay"),
        (
            "darwin",
            "Library/Application Support/scrubjay",
            "Library/Application Support/scrubjay",
            "Library/Caches/scrubjay",
        ),
        (
            "win32",
            "AppData/Local/scrubjay",
            "AppData/Local/scrubjay",
            "AppData/Local/scrubjay/Cache",
        ),
    ],
)
def test_each_platform_has_its_own_folders(monkeypatch, platform, data, config, cache):
    """Without any variable the platform's custom holds."""
    monkeypatch.setattr(sys, "platform", platform)

    assert (data_dir(), config_dir(), cache_dir()) == tuple(
        str(Path.home() / path) for path in (data, config, cache)
    )


def test_our_own_variables_come_first(monkeypatch, tmp_path):
    """SCRUBJAY_HOME moves data and settings, SCRUBJAY_CACHE the cache."""
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    monkeypatch.setenv("SCRUBJAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))

    assert data_dir() == config_dir() == str(tmp_path / "home")
    assert cache_dir() == str(tmp_path / "cache")


def test_an_xdg_variable_counts_if_it_is_absolute(monkeypatch, tmp_path):
    """A relative one is ignored, as its rules say."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")

    assert data_dir() == str(tmp_path / "scrubjay")
    assert Path(config_dir()).is_absolute()
