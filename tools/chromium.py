"""Where a browser is for the tests of the page; Debian and Ubuntu install theirs where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tools.servers.programs import CannotRun

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VARIABLE = "SCRUBJAY_CHROMIUM"
_ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
            "chrome", "microsoft-edge", "msedge")  # fmt: skip
_ELSEWHERE = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
        r"C:\Program Files\Microsoft\Edge\Application\msedge.exe",
    ),
}
_TO_INSTALL = (
    f"install Chromium, Google Chrome or Edge, or say where one is with {VARIABLE}=/path/to/it."
)
_PACKAGE = "chromium"
_TIME_S = 600
_ARGUMENTS = ("--disable-quic", "--no-first-run", "--disable-sync", "--disable-dev-shm-usage",
              "--disable-background-networking", "--disable-component-update")  # fmt: skip
_START_S = 60


def chromium() -> Path:
    """The program of a browser; CannotRun says what to install where there is none to be had."""
    if named := os.environ.get(VARIABLE):
        if shutil.which(named) is None:
            raise CannotRun(f"{VARIABLE} is {named}, where no program is; {_TO_INSTALL}")
        return Path(named)
    found = _found()
    if found is None and sys.platform == "linux" and shutil.which("apt-get"):
        _install()
        found = _found()
    if found is None:
        raise CannotRun(f"There is no browser for the tests of the page: {_TO_INSTALL}")
    return found


@contextmanager
def browsing(program: Path) -> Iterator[Browser]:
    """One browser, which asks for nothing by itself."""
    as_root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_ARGUMENTS, *as_root])
        yield browser
        browser.close()


def _found() -> Path | None:
    """A browser that starts. Ubuntu's package is a script that only says to install another."""
    for name in (*_ON_PATH, *_ELSEWHERE.get(sys.platform, ())):
        program = shutil.which(name)
        if program is not None and (sys.platform != "linux" or _starts(program)):
            return Path(program)
    return None


def _starts(program: str) -> bool:
    asked = (program, "--version")
    try:
        done = subprocess.run(asked, capture_output=True, timeout=_START_S, check=False)
    except (OSError, subprocess.TimeoutExpired):  # of another kind of machine, or it hangs
        return False
    return done.returncode == 0


def _install() -> None:
    """Install the package; where that fails, the lists of packages may be old, or were never fetched."""
    install = ("install", "-y", "--no-install-recommends", _PACKAGE)
    if _apt(*install).returncode == 0:
        return
    _apt("update")
    done = _apt(*install)
    if done.returncode:
        said = done.stderr.strip()[-300:]
        raise CannotRun(f"apt-get could not install {_PACKAGE} ({said}); {_TO_INSTALL}")


def _apt(*words: str) -> subprocess.CompletedProcess[str]:
    # Without a terminal nothing may be asked: not for a password, nor how to set something up.
    as_root: Sequence[str] = () if os.geteuid() == 0 else ("sudo", "-n")
    try:
        return subprocess.run(
            [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", *words],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIME_S,
            check=False,
        )
    except FileNotFoundError as missing:
        raise CannotRun(f"{missing.filename} is not here; {_TO_INSTALL}") from None
    except subprocess.TimeoutExpired:
        raise CannotRun(f"apt-get took more than {_TIME_S} seconds; {_TO_INSTALL}") from None
