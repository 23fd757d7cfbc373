"""Folders of scrubjay on this machine: data, settings and cache.

Paths are plain strings here: pathlib alone costs a cold shell more than its keyword search.
"""

from __future__ import annotations

import os
import sys

APP = "scrubjay"


def data_dir() -> str:
    """Return the folder of the default store; `SCRUBJAY_HOME` overrides it."""
    return _home() or _platform_dir(
        "XDG_DATA_HOME", (".local", "share"), ("Library", "Application Support"), "LOCALAPPDATA"
    )


def config_dir() -> str:
    """Return the folder of the settings file; `SCRUBJAY_HOME` overrides it, too."""
    return _home() or _platform_dir(
        "XDG_CONFIG_HOME", (".config",), ("Library", "Application Support"), "APPDATA"
    )


def cache_dir() -> str:
    """Return the folder of what can be downloaded again, such as models; `SCRUBJAY_CACHE` overrides it."""
    if chosen := os.environ.get("SCRUBJAY_CACHE"):
        return os.path.expanduser(chosen)
    base = _platform_dir("XDG_CACHE_HOME", (".cache",), ("Library", "Caches"), "LOCALAPPDATA")
    # Windows has data and cache in one folder: without a subfolder, clearing the cache would
    # delete the memories.
    return os.path.join(base, "Cache") if sys.platform == "win32" else base


def _home() -> str:
    return os.path.expanduser(os.environ.get("SCRUBJAY_HOME", ""))


def _platform_dir(xdg: str, unix: tuple[str, ...], mac: tuple[str, ...], windows: str) -> str:
    """Return the folder by platform; an XDG variable wins on every platform."""
    chosen = os.environ.get(xdg, "")
    if os.path.isabs(chosen):  # the XDG rules say to ignore a relative one
        return os.path.join(chosen, APP)
    if sys.platform == "win32":
        root = os.environ.get(windows) or os.path.join(_user_home(), "AppData", "Local")
        return os.path.join(root, APP)
    return os.path.join(_user_home(), *(mac if sys.platform == "darwin" else unix), APP)


def _user_home() -> str:
    """Return the home folder, or the working folder where there is no home (some containers)."""
    home = os.path.expanduser("~")
    return home if os.path.isabs(home) else os.getcwd()
