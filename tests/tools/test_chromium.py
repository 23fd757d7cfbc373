"""Where the browser of the tests comes from: named, found, or installed by apt-get."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from tools.chromium import chromium
from tools.servers import CannotRun

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is installed")
STARTS = "#!/bin/sh\nexit 0\n"
# The package is known only after `update`; what is installed is a browser beside this script.
APT = """#!/bin/sh
echo "$@" >> "$HERE/asked"
case "$*" in
  *update*) touch "$HERE/updated" ;;
  *install*) test -e "$HERE/updated" || exit 100
    printf '#!/bin/sh\\n' > "$HERE/chromium"; chmod +x "$HERE/chromium" ;;
esac
"""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A machine that has nothing but what a test puts there."""
    monkeypatch.delenv("SCRUBJAY_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HERE", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def put(name: str, text: str) -> Path:
        made = tmp_path / name
        made.write_text(text, "utf-8")
        made.chmod(0o755)
        return made

    for name in ("sh", "env", "touch", "chmod", "test"):
        (tmp_path / name).symlink_to(shutil.which(name, path=os.defpath) or "/bin/true")
    return put


def test_one_that_is_named_or_found_is_taken(programs, tmp_path, monkeypatch):
    """One that does not start is none: Ubuntu's package is a script that says to install another."""
    programs("chromium", "#!/bin/sh\nexit 1\n")
    programs("chromium-browser", "\x7fELF of another machine")
    chrome = programs("google-chrome", STARTS)
    assert chromium() == chrome
    mine = programs("mine", STARTS)
    monkeypatch.setenv("SCRUBJAY_CHROMIUM", str(mine))
    assert chromium() == mine
    monkeypatch.setenv("SCRUBJAY_CHROMIUM", "/nowhere/browser")
    with pytest.raises(CannotRun, match="SCRUBJAY_CHROMIUM is /nowhere/browser"):
        chromium()


def test_apt_get_installs_one_and_fetches_its_list_first(programs, tmp_path):
    """As in a bare container, whose lists of packages were removed."""
    programs("apt-get", APT)
    assert chromium() == tmp_path / "chromium"
    assert (tmp_path / "asked").read_text("utf-8").splitlines() == [
        "-q install -y --no-install-recommends chromium",
        "-q update",
        "-q install -y --no-install-recommends chromium",
    ]


def test_where_none_can_be_had_it_says_what_to_install(programs, monkeypatch):
    """Without apt-get, without a password for sudo, or without the package."""
    with pytest.raises(CannotRun, match="install Chromium, Google Chrome or Edge"):
        chromium()
    programs("apt-get", "#!/bin/sh\necho 'E: Unable to locate package chromium' >&2\nexit 100\n")
    with pytest.raises(CannotRun, match="Unable to locate package chromium"):
        chromium()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(CannotRun, match="sudo is not here"):
        chromium()
