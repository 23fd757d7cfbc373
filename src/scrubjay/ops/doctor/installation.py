"""Check the installation: Python, packages, models and settings."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from scrubjay.config import Access, Settings, offline
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models.breaker import paused_s
from scrubjay.models.bundled import ENCODER, PACKAGE, RANKER, find_bundled, how_to_install
from scrubjay.models.download.pull import is_cached
from scrubjay.models.endpoint import is_loopback
from scrubjay.models.guard import GuardedEmbedder, is_ready
from scrubjay.models.onnx_session import required_packages
from scrubjay.models.process import caller
from scrubjay.models.process.place import VARIABLE, can_share
from scrubjay.models.registry import (
    CORPUS,
    LATE,
    NONE,
    card_of,
    is_remote,
    load_bundled_reranker,
    load_generator,
    load_reranker,
)
from scrubjay.ops.doctor import Finding, State
from scrubjay.ops.doctor.embedder import check_embedder
from scrubjay.runtime.command_hints import to_fetch
from scrubjay.storage.codec import readable
from scrubjay.storage.sqlite.location import is_small

_OLDEST_PYTHON = (3, 11)
_OLDEST_SQLITE = (3, 37, 0)
# Module, package, state without it, and what is lost. Only keyword search needs its package.
_PACKAGES: tuple[tuple[str, str, State, str], ...] = (
    ("Stemmer", "PyStemmer", "failed", "nothing can be stored or searched"),
    ("numpy", "numpy", "missing", "keyword search only"),
    ("onnxruntime", "onnxruntime", "missing", "keyword search only"),
    ("tokenizers", "tokenizers", "missing", "keyword search only"),
    ("simsimd", "simsimd", "degraded", "vector search may be slow or unavailable"),
)
# What is lost without the packages of the extra `files`.
_FILE_KINDS = {
    "PDF": ("pypdfium2",),
    "DOCX": ("mammoth", "markdownify", "bs4"),
    "HTML": ("markdownify", "bs4"),
    "the structure of code": ("tree_sitter",),
    "--watch": ("watchfiles",),
}
# The extras that a command needs: their modules, and the command.
_OPTIONAL = {
    "mcp": (("mcp",), "scrubjay mcp"),
    "server": (("mcp", "prometheus_client", "starlette", "uvicorn"), "scrubjay serve"),
}
_CONNECT_S = 2.0
_EXAMPLE_GENERATOR = "http://localhost:11434/v1#qwen3:1.7b"


def check_packages() -> Iterator[Finding]:
    yield _python()
    yield _sqlite()
    yield from (_package(*package) for package in _PACKAGES)
    yield _file_readers()
    yield from (_optional(extra, *needs) for extra, needs in _OPTIONAL.items())
    yield _bundled_models()
    yield _model_process()


def check_configuration(
    settings: Settings, embedder: GuardedEmbedder | None = None
) -> Iterator[Finding]:
    """Check models and settings; `embedder` is that of an open store."""
    yield from check_embedder(settings, embedder)
    yield _reranker(settings)
    yield _generator(settings)
    yield from _outages(settings.db)
    yield _settings(settings)
    yield from _profiles(settings)


def pip_install(*packages: str) -> str:
    words = [sys.executable, "-m", "pip", "install", *packages]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return Finding("python", "failed", f"{version} is too old; 3.11 or newer is required")
    return Finding("python", "ok", f"{version} at {sys.executable}")


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        return Finding("sqlite", "failed", f"{version} is too old; 3.37 or newer is required")
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE VIRTUAL TABLE probe USING fts5(words)")
    except sqlite3.Error as error:
        return Finding("sqlite", "failed", f"{version} has no FTS5 ({error}); use another Python")
    return Finding("sqlite", "ok", f"{version} with FTS5")


def _package(module: str, package: str, without: State, loss: str) -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    from scrubjay.models.onnx_session import disable_telemetry

    disable_telemetry()
    try:
        importlib.import_module(module)
        return Finding(package, "ok", version(package))
    except PackageNotFoundError:
        return Finding(package, "ok", "version unknown")
    except (ImportError, OSError) as error:  # OSError: a shared library that does not load
        return Finding(package, without, f"does not load ({error}): {loss}", pip_install(package))


def _file_readers() -> Finding:
    lost = [kind for kind, modules in _FILE_KINDS.items() if not all(map(_is_there, modules))]
    if not lost:
        return Finding("files", "ok", f"{', '.join(_FILE_KINDS)}: all packages are installed")
    fix = pip_install("scrubjay[files]")
    return Finding("files", "degraded", f"packages are missing for: {', '.join(lost)}", fix)


def _optional(extra: str, modules: tuple[str, ...], command: str) -> Finding:
    lost = [module for module in modules if not _is_there(module)]
    if not lost:
        return Finding(extra, "ok", f"`{command}`: all packages are installed")
    detail = f"optional: `{command}` needs {', '.join(lost)}"
    return Finding(extra, "missing", detail, pip_install(f"scrubjay[{extra}]"))


def _bundled_models() -> Finding:
    """Report the models of the package scrubjay-models; the reranker scores one pair."""
    found = {name: files for name in (ENCODER.name, RANKER) if (files := find_bundled(name))}
    if not found:
        detail = "not installed: changes of facts are not detected, and there is no model without a download"
        return Finding(PACKAGE, "ok", f"{detail}; to install it: {how_to_install()}")
    if RANKER in found:
        try:
            with required_packages(RANKER):
                load_bundled_reranker().score("which tree?", ["The acorns are in the oak."])
        except Unavailable as error:
            if isinstance(error.__cause__, ImportError):  # of a package with a check of its own
                return Finding(PACKAGE, "missing", str(error))
            return Finding(PACKAGE, "failed", str(error), how_to_install())
    version = next(iter(found.values())).version.removeprefix(f"{PACKAGE} ")
    return Finding(PACKAGE, "ok", f"{version}: {', '.join(found)}")


def _model_process() -> Finding:
    """Report the process that runs the models for the others, without starting one."""
    name = "model process"
    if not can_share():
        return Finding(
            name, "ok", f"not used ({VARIABLE}=0, or no Unix): models run in each process"
        )
    found = caller.status()
    if found is None:
        detail = "none runs; `scrubjay mcp` and `scrubjay serve` start it when they need a model"
        return Finding(name, "ok", detail)
    models = ", ".join(found["models"]) or "no model yet"
    memory = f", {found['memory_bytes'] / 1e6:.0f} MB" if found["memory_bytes"] else ""
    others = "1 process" if found["processes"] == 1 else f"{found['processes']} processes"
    return Finding(name, "ok", f"{found['pid']} runs {models} for {others}{memory}")


def _is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _reranker(settings: Settings) -> Finding:
    access = settings.reranker
    if access.spec == NONE:
        detail = "disabled: results are in the order of fusion"
        return Finding("reranker", "degraded", detail, _set("reranker", LATE))
    if access.spec == LATE:
        found = _late_interaction(settings)
        if settings.reranker_named or find_bundled(RANKER) is None:
            return found
        return replace(found, detail=f"{found.detail}; {RANKER} for the profiles gno and gnosis")
    try:
        reranker = load_reranker(access)
    except (InvalidInput, NotFound, Unavailable) as error:
        return Finding("reranker", "failed", str(error), _set("reranker", LATE))
    if not is_ready(reranker):
        detail = f"{reranker.name} is not on this machine: it does not rerank results"
        fix = f"scrubjay models pull {reranker.name}" if "/" in reranker.name else ""
        return Finding("reranker", "missing", detail, fix)
    return _endpoint("reranker", access, reranker.name)


def _late_interaction(settings: Settings) -> Finding:
    detail = f"late interaction on the token vectors of {settings.embedder}"
    if is_remote(settings.embedder):
        detail = f"{settings.embedder} gives no token vectors: results are in the order of fusion"
        return Finding("reranker", "degraded", detail)
    if settings.embedder == ENCODER.name and find_bundled(ENCODER.name) is None:
        return Finding("reranker", "missing", f"{detail}, which is not here", how_to_install())
    card = card_of(settings.embedder)
    if card is None or is_cached(card):
        return Finding("reranker", "ok", detail)
    fetch = to_fetch(settings.db_given)
    return Finding("reranker", "missing", f"{detail}, which is not on this machine", fetch)


def _generator(settings: Settings) -> Finding:
    access = settings.generator
    if access.spec == NONE:
        detail = "none is configured: queries are not expanded, nothing is sent anywhere"
        fix = _set("generator", _EXAMPLE_GENERATOR)
        return Finding("generator", "ok", f"{detail}; to use one: {fix}")
    if access.spec == CORPUS:
        return Finding("generator", "ok", "queries are expanded from the first results")
    try:
        generator = load_generator(access)
    except (InvalidInput, NotFound, Unavailable) as error:
        return Finding("generator", "failed", str(error), _set("generator", NONE))
    return _endpoint("generator", access, generator.name)


def _set(role: str, value: str) -> str:
    variable = f"SCRUBJAY_{role.upper()}"
    return f"set {variable}={value}" if os.name == "nt" else f"export {variable}='{value}'"


def _endpoint(role: str, access: Access, name: str) -> Finding:
    """Check that a server listens at a model's URL; no request is sent."""
    if "://" not in access.spec:
        return Finding(role, "ok", name)
    parts = urlsplit(access.spec)
    if offline() and not is_loopback(access.spec):
        detail = f"{name}: SCRUBJAY_OFFLINE forbids requests to {parts.hostname}"
        return Finding(role, "degraded", detail)
    place = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    try:
        socket.create_connection(place, _CONNECT_S).close()
    except (OSError, ValueError) as error:  # ValueError: a name that no host can have
        reason = getattr(error, "strerror", None) or error
        detail = f"{name}: no answer at {place[0]}:{place[1]} ({reason})"
        return Finding(role, "degraded", detail, "start the server, then: scrubjay doctor")
    return Finding(role, "ok", f"{name} at {place[0]}:{place[1]}")


def _outages(db: str) -> Iterator[Finding]:
    """Report the models that searches do not call for now, because they failed."""
    if not Path(db).is_file() or is_small(db):  # SQLite deletes the log of an empty file
        return
    try:
        with closing(sqlite3.connect(f"{Path(db).absolute().as_uri()}?mode=ro", uri=True)) as file:
            rows = file.execute("SELECT key, value FROM kept WHERE kind = 'outage'").fetchall()
    except (
        sqlite3.Error,
        UnicodeDecodeError,
    ):  # an older schema, or damaged: another check reports it
        return
    now_s = time.time()
    for key, left_s in readable(lambda row: (row[0], paused_s(row[1], now_s)), rows):
        if left_s > 0:
            detail = f"the {key} failed: searches do not call it for another {left_s:.0f} s"
            yield Finding("outage", "degraded", detail)


def _settings(settings: Settings) -> Finding:
    exists = bool(settings.config_file) and Path(settings.config_file).is_file()
    file = settings.config_file if exists else f"no file at {settings.config_file}, using defaults"
    return Finding("settings", "ok", f"{file}; profile {settings.profile}")


def _profiles(settings: Settings) -> Iterator[Finding]:
    from scrubjay.search import profiles

    for name in settings.profiles:
        try:
            profiles.get(name)
        except InvalidInput as error:
            fix = f"correct [profile.{name}] in {settings.config_file}"
            yield Finding("settings", "failed", f"profile {name}: {error}", fix)
