"""What is here, what is missing, and what to type about it. Looks only: it changes nothing."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.doctor_assistants import assistants
from scrubjay.findings import Finding, State
from scrubjay.models.checksum import sha256_of
from scrubjay.models.pull import folder, is_cached
from scrubjay.models.registry import CARDS, DEFAULT
from scrubjay.stores.schema import APPLICATION_ID, SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.config import Settings
    from scrubjay.models.pull import ModelCard

_OLDEST_PYTHON = (3, 11)
_OLDEST_SQLITE = (3, 37, 0)
_PULL = "scrubjay models pull"

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
    return [
        _python(),
        _sqlite(),
        *(_package(*package) for package in _PACKAGES),
        _files(),
        *_store(settings.db, settings.embedder),
        *_model(settings),
        *assistants(settings),
        _settings(settings),
    ]


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


def pip_install(*what: str) -> str:
    """Return the command that installs a package into this very Python."""
    words = [sys.executable, "-m", "pip", "install", *what]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _store(path: str, model: str) -> Iterator[Finding]:
    if path == ":memory:" or "://" in path:
        yield Finding("store", "ok", f"{path} (nothing to examine in a file)")
        return
    file = Path(path)
    if not file.exists():
        yield Finding("store", "missing", f"there is none at {file} yet", 'scrubjay add "…"')
        return
    if not file.is_file():
        yield Finding("store", "failed", f"{file} is not a file; give one with --db")
        return
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
            yield from _contents(db, file, model)
    except sqlite3.Error as error:
        yield Finding("store", "failed", f"{file} does not open as a store: {error}")


def _contents(db: sqlite3.Connection, file: Path, model: str) -> Iterator[Finding]:
    schema = _pragma(db, "user_version")
    if _pragma(db, "application_id") != APPLICATION_ID:
        detail = f"{file} belongs to another program; give another with --db or SCRUBJAY_DB"
        yield Finding("store", "failed", detail)
        return
    if isinstance(schema, int) and schema > SCHEMA_VERSION:
        detail = f"{file} has schema {schema}, this scrubjay knows {SCHEMA_VERSION}"
        yield Finding("store", "failed", detail, pip_install("--upgrade", "scrubjay"))
        return
    size = sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*") if part.is_file())
    detail = f"{file}, schema {schema}, {size:,} bytes"
    yield Finding("store", "ok", detail)
    yield _integrity(db, file)
    yield _writable(file)
    yield _pending(db, model)


def _pragma(db: sqlite3.Connection, name: str) -> object:
    return db.execute(f"PRAGMA {name}").fetchone()[0]


def _integrity(db: sqlite3.Connection, file: Path) -> Finding:
    said = str(_pragma(db, "quick_check"))
    if said == "ok":
        return Finding("integrity", "ok", "quick_check finds nothing wrong")
    saved = shlex.quote(f"{file}.recovered")
    rescue = f"sqlite3 {shlex.quote(str(file))} .recover | sqlite3 {saved}"
    return Finding("integrity", "failed", f"{file} is damaged: {said.splitlines()[0]}", rescue)


def _writable(file: Path) -> Finding:
    for place in (file, file.parent):
        if not os.access(place, os.W_OK):
            fix = "" if os.name == "nt" else f"chmod u+w {shlex.quote(str(place))}"
            return Finding("writing", "failed", f"{place} cannot be written", fix)
    return Finding("writing", "ok", "the file and its folder can be written")


def _pending(db: sqlite3.Connection, model: str) -> Finding:
    try:
        count = db.execute(
            "SELECT (SELECT count(*) FROM chunks) - (SELECT count(*) FROM vectors"
            " JOIN models ON models.n = vectors.model"
            " WHERE models.name = ?1 OR models.name LIKE ?1 || '/%')",
            (model,),
        ).fetchone()[0]
    except sqlite3.OperationalError as error:  # an older schema, brought up to date when opened
        return Finding("vectors", "degraded", f"cannot be counted: {error}", "scrubjay status")
    if count:
        return Finding("vectors", "degraded", f"{count:,} are pending: found by word only", _PULL)
    return Finding("vectors", "ok", "none is pending")


def _model(settings: Settings) -> Iterator[Finding]:
    wanted = settings.embedder or DEFAULT
    card = CARDS.get(wanted.partition("/")[0])
    if card is None:
        yield Finding("model", "ok", f"{wanted}, which scrubjay does not fetch itself")
    elif not is_cached(card):
        fix = f"SCRUBJAY_OFFLINE=0 {_PULL}" if settings.offline and os.name != "nt" else _PULL
        yield Finding("model", "missing", f"{card.name} is not in {folder(card)}", fix)
    else:
        yield _checksums(card)
    if settings.offline:
        yield Finding("network", "degraded", "SCRUBJAY_OFFLINE is set: nothing is ever fetched")
    else:
        yield Finding("network", "ok", "allowed, for models only")


def _checksums(card: ModelCard) -> Finding:
    where = folder(card)
    damaged = [one.name for one in card.files if sha256_of(where / one.name) != one.sha256]
    if damaged:
        detail = f"{', '.join(damaged)} in {where} is damaged"
        return Finding("model", "failed", detail, _PULL)
    return Finding("model", "ok", f"{card.name} in {where}, checksums match")


def _settings(settings: Settings) -> Finding:
    there = bool(settings.config_file) and Path(settings.config_file).is_file()
    source = settings.config_file if there else f"no file at {settings.config_file}, which is fine"
    return Finding("settings", "ok", f"{source}; profile {settings.profile}")
