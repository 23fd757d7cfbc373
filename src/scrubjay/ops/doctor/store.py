"""How the files are that a store is made of: there, ours, whole, writable, with all their vectors."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.ops.doctor.finding import Finding
from scrubjay.runtime.command_hints import ADD, to_fetch, to_make, to_type
from scrubjay.sharing.tiers.files import TierFile, same_file
from scrubjay.storage.schema import APPLICATION_ID, SCHEMA_VERSION
from scrubjay.text.urls import is_server_url, tenant_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.config import Settings, TierSetting

_PULL = "models pull"
PULL = to_type(_PULL)


def pip_install(*what: str) -> str:
    """Return the command that installs a package into this very Python."""
    words = [sys.executable, "-m", "pip", "install", *what]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def own_store(settings: Settings) -> Iterator[Finding]:
    """Examine the file that is written to."""
    path, given = settings.db, settings.db_given
    if path == ":memory:":
        yield Finding("store", "ok", f"{path} (nothing to examine in a file)")
        return
    if is_server_url(path):
        from scrubjay.ops.doctor.servers import postgres

        yield from postgres(settings)
        return
    file = Path(tenant_file(path, settings.tenant))
    if not file.exists():
        # The folder of a store that the settings name is made with it.
        make = to_type(ADD) if given is None else to_make(given)
        yield Finding("store", "missing", f"there is none at {file} yet", make)
        return
    if not file.is_file():
        yield Finding("store", "failed", f"{file} is not a file; give one with --db")
        return
    try:
        with closing(_read_only(file)) as db:
            yield from _contents(db, file, settings.embedder, given)
    except sqlite3.Error as error:
        yield Finding("store", "failed", f"{file} does not open as a store: {error}")


def tiers(settings: Settings) -> Iterator[Finding]:
    """Examine every other file that is searched with it."""
    for one in settings.tiers:
        if not same_file(one.path, settings.db):
            yield from _tier(one, settings)


def _tier(setting: TierSetting, settings: Settings) -> Iterator[Finding]:
    name, file = f"tier {setting.name}", Path(setting.path)
    if not file.exists():
        detail = f"there is no file {file}: nothing is found there"
        fix = f"correct its path in {settings.config_file}, or make it: {to_make(setting.path)}"
        yield Finding(name, "missing", detail, fix)
        return
    opened = TierFile(setting, None)
    try:
        lost = opened.reached().tier.lost
    finally:
        opened.close()
    try:
        with closing(_read_only(file)) as db:
            whole = _integrity(db, file)
            vectors = None if lost else _pending(db, settings.embedder, setting.path)
    except sqlite3.Error as error:
        whole, vectors = _damaged(file, str(error)), None
        if lost and "malformed" not in str(error):  # no database, or locked: nothing to rescue
            yield Finding(name, "failed", lost)
            return
    if whole.state != "ok":
        yield Finding(name, whole.state, whole.detail, whole.fix)
    elif lost:  # as a search would say it, with what to do
        yield Finding(name, "failed", lost)
    else:
        yield Finding(name, "ok", _described(file, SCHEMA_VERSION))
    if vectors and vectors.state != "ok":
        yield Finding(name, vectors.state, f"vectors: {vectors.detail}", vectors.fix)


def _read_only(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)


def _contents(
    db: sqlite3.Connection, file: Path, model: str, given: str | None
) -> Iterator[Finding]:
    schema = _pragma(db, "user_version")
    if _pragma(db, "application_id") != APPLICATION_ID:
        detail = f"{file} belongs to another program; give another with --db or SCRUBJAY_DB"
        yield Finding("store", "failed", detail)
        return
    if isinstance(schema, int) and schema > SCHEMA_VERSION:
        detail = f"{file} has schema {schema}, this scrubjay knows {SCHEMA_VERSION}"
        yield Finding("store", "failed", detail, pip_install("--upgrade", "scrubjay"))
        return
    yield Finding("store", "ok", _described(file, schema))
    yield _integrity(db, file)
    yield _writable(file)
    yield _pending(db, model, given)


def _described(file: Path, schema: object) -> str:
    size = sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*") if part.is_file())
    return f"{file}, schema {schema}, {size:,} bytes"


def _pragma(db: sqlite3.Connection, name: str) -> object:
    return db.execute(f"PRAGMA {name}").fetchone()[0]


def _integrity(db: sqlite3.Connection, file: Path) -> Finding:
    said = str(_pragma(db, "quick_check"))
    if said == "ok":
        return Finding("integrity", "ok", "quick_check finds nothing wrong")
    return _damaged(file, said)


def _damaged(file: Path, said: str) -> Finding:
    saved = shlex.quote(f"{file}.recovered")
    rescue = f"sqlite3 {shlex.quote(str(file))} .recover | sqlite3 {saved}"
    return Finding("integrity", "failed", f"{file} is damaged: {said.splitlines()[0]}", rescue)


def _writable(file: Path) -> Finding:
    for place in (file, file.parent):
        if not os.access(place, os.W_OK):
            fix = "" if os.name == "nt" else f"chmod u+w {shlex.quote(str(place))}"
            return Finding("writing", "failed", f"{place} cannot be written", fix)
    return Finding("writing", "ok", "the file and its folder can be written")


def _pending(db: sqlite3.Connection, model: str, given: str | None) -> Finding:
    try:
        count = db.execute(
            "SELECT (SELECT count(*) FROM chunks) - (SELECT count(*) FROM vectors"
            " JOIN models ON models.n = vectors.model"
            " WHERE models.name = ?1 OR models.name LIKE ?1 || '/%')",
            (model,),
        ).fetchone()[0]
    except sqlite3.OperationalError as error:  # an older schema, brought up to date when opened
        detail = f"cannot be counted: {error}"
        return Finding("vectors", "degraded", detail, to_type("status", given))
    if count:
        are = "1 is" if count == 1 else f"{count:,} are"
        detail = f"{are} pending: found by word only"
        from scrubjay.models.download.pull import is_cached
        from scrubjay.models.registry import CARDS

        card = CARDS.get(model.partition("/")[0])
        is_here = card is None or is_cached(card)
        make = to_type(_PULL, given) if is_here else to_fetch(given)
        return Finding("vectors", "degraded", detail, make)
    return Finding("vectors", "ok", "none is pending")
