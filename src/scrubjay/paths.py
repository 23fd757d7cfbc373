"""Where scrubjay keeps things on this machine: data, settings and what can be fetched again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APP = "scrubjay"


def data_dir() -> Path:
    """Return the folder of the default store; `SCRUBJAY_HOME` moves it."""
    return _home() or _platform_dir(
        xdg="XDG_DATA_HOME",
        unix=(".local", "share"),
        mac=("Library", "Application Support"),
        windows="LOCALAPPDATA",
    )


def config_dir() -> Path:
    """Return the folder of the settings file; `SCRUBJAY_HOME` moves it, too."""
    return _home() or _platform_dir(
        xdg="XDG_CONFIG_HOME",
        unix=(".config",),
        mac=("Library", "Application Support"),
        windows="APPDATA",
    )


def cache_dir() -> Path:
    """Return the folder of what can be fetched again, as models; `SCRUBJAY_CACHE` moves it."""
    if chosen := os.environ.get("SCRUBJAY_CACHE"):
        return Path(chosen).expanduser()
    base = _platform_dir(
        xdg="XDG_CACHE_HOME",
        unix=(".cache",),
        mac=("Library", "Caches"),
        windows="LOCALAPPDATA",
    )
    # Windows keeps data and cache under one roof: without a folder of its own, clearing
    # the cache would clear the memories.
    return base / "Cache" if sys.platform == "win32" else base


def _home() -> Path | None:
    chosen = os.environ.get("SCRUBJAY_HOME")
    return Path(chosen).expanduser() if chosen else None


def _platform_dir(*, xdg: str, unix: tuple[str, ...], mac: tuple[str, ...], windows: str) -> Path:
    """Pick by platform; an XDG variable wins wherever it is set, as people who set it expect."""
    chosen = os.environ.get(xdg)
    if chosen and Path(chosen).is_absolute():  # the XDG rules say to ignore a relative one
        return Path(chosen) / APP
    if sys.platform == "win32":
        root = os.environ.get(windows)
        return Path(root) / APP if root else _user_home() / "AppData" / "Local" / APP
    return _user_home().joinpath(*(mac if sys.platform == "darwin" else unix), APP)


def _user_home() -> Path:
    """Return the home folder, or the working one where there is no home (some containers)."""
    try:
        return Path.home()
    except RuntimeError:
        return Path.cwd()
