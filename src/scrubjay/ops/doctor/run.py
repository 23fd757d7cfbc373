"""What is here, what is missing, and what to type about it. Looks only: it changes nothing."""

from __future__ import annotations

import importlib
import importlib.util
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.models.download.http_file import sha256_of
from scrubjay.models.download.pull import folder, is_cached
from scrubjay.models.registry import CARDS, DEFAULT
from scrubjay.ops.doctor.finding import Finding, State
from scrubjay.ops.doctor.models import assistants
from scrubjay.ops.doctor.servers import tiers as servers
from scrubjay.ops.doctor.store import PULL, own_store, pip_install, tiers
from scrubjay.runtime.command_hints import to_fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.config import Settings
    from scrubjay.errors import InvalidInput
    from scrubjay.models.download.pull import ModelCard

_OLDEST_PYTHON = (3, 11)
_OLDEST_SQLITE = (3, 37, 0)

# Module, package, and what is lost without it. Only word search cannot do without its package.
_PACKAGES: tuple[tuple[str, str, State, str], ...] = (
    ("Stemmer", "PyStemmer", "failed", "words cannot be stored or found"),
    ("numpy", "numpy", "missing", "search by word only"),
    ("onnxruntime", "onnxruntime", "missing", "search by word only"),
    ("tokenizers", "tokenizers", "missing", "search by word only"),
    ("simsimd", "simsimd", "degraded", "search by meaning may be slow or absent"),
)


# What is lost without the packages of the extra `files`.
_FILE_KINDS = {
    "PDF": ("pypdfium2",),
    "DOCX": ("mammoth", "markdownify", "bs4"),
    "HTML": ("markdownify", "bs4"),
    "the structure of code": ("tree_sitter",),
    "--watch": ("watchfiles",),
}


def examine(settings: Settings) -> list[Finding]:
    """Look at every part of this installation and of the configured store."""
    store = (*own_store(settings), *tiers(settings), *servers(settings))
    return [*installed(), *store, *configured(settings)]


def installed() -> Iterator[Finding]:
    """Examine Python and the packages."""
    yield _python()
    yield _sqlite()
    yield from (_package(*package) for package in _PACKAGES)
    yield _files()


def configured(settings: Settings) -> Iterator[Finding]:
    """Examine what the settings name beside a store: models, and the settings themselves."""
    yield from _model(settings)
    yield from assistants(settings)
    yield _settings(settings)
    yield from _profiles(settings)


def unreadable(error: InvalidInput) -> Finding:
    """Say that the settings file itself is what is wrong."""
    return Finding("settings", "failed", str(error), "correct the file, then: scrubjay doctor")


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return Finding("python", "failed", f"{version} is too old; 3.11 or newer is needed")
    return Finding("python", "ok", f"{version} at {sys.executable}")


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        return Finding("sqlite", "failed", f"{version} is too old; 3.37 or newer is needed")
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
        return Finding(package, "ok", "of unknown version")
    except (ImportError, OSError) as error:  # OSError: a shared library that does not load
        return Finding(package, without, f"does not load ({error}): {loss}", pip_install(package))


def _files() -> Finding:
    """Say which kinds of files cannot be read for want of a package."""
    lost = [kind for kind, modules in _FILE_KINDS.items() if not all(map(_is_there, modules))]
    if not lost:
        return Finding("files", "ok", f"{', '.join(_FILE_KINDS)}: all can be read")
    fix = pip_install("scrubjay[files]")
    return Finding("files", "degraded", f"without their packages: {', '.join(lost)}", fix)


def _is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _model(settings: Settings) -> Iterator[Finding]:
    wanted = settings.embedder or DEFAULT
    card = CARDS.get(wanted.partition("/")[0])
    if card is None:
        yield Finding("model", "ok", f"{wanted}, which scrubjay does not fetch itself")
    elif not is_cached(card):
        fetch = to_fetch(settings.db_given)
        yield Finding("model", "missing", f"{card.name} is not in {folder(card)}", fetch)
    else:
        yield _checksums(card)
    yield _network(
        settings, "" if card is None or is_cached(card) else to_fetch(settings.db_given)
    )


def _network(settings: Settings, fetch: str) -> Finding:
    """Say whether models may be fetched; that they may not matters where one has to be."""
    if not settings.offline:
        return Finding("network", "ok", "allowed, for models only")
    said = "SCRUBJAY_OFFLINE is set: nothing is ever fetched"
    return Finding("network", "degraded" if fetch else "ok", said, fetch)


def _checksums(card: ModelCard) -> Finding:
    where = folder(card)
    damaged = [one.name for one in card.files if sha256_of(where / one.name) != one.sha256]
    if damaged:
        detail = f"{', '.join(damaged)} in {where} is damaged"
        return Finding("model", "failed", detail, PULL)
    return Finding("model", "ok", f"{card.name} in {where}, checksums match")


def _profiles(settings: Settings) -> Iterator[Finding]:
    """Build each profile of the settings file, and say what is wrong with one."""
    from scrubjay.errors import InvalidInput
    from scrubjay.search import profiles

    for name in settings.profiles:
        try:
            profiles.get(name)
        except InvalidInput as error:
            fix = f"correct [profile.{name}] in {settings.config_file}"
            yield Finding("settings", "failed", f"profile {name}: {error}", fix)


def _settings(settings: Settings) -> Finding:
    there = bool(settings.config_file) and Path(settings.config_file).is_file()
    source = settings.config_file if there else f"no file at {settings.config_file}, which is fine"
    return Finding("settings", "ok", f"{source}; profile {settings.profile}")
