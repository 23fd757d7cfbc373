"""Verify a store by its settings, and repair what is damaged: in place, or in a new file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing

from scrubjay.config import Settings
from scrubjay.errors import NotFound, StoreError
from scrubjay.ops.doctor import Repair
from scrubjay.ops.repair import Problem, Verified
from scrubjay.ops.repair.new_file import Rescued, carves, rescue
from scrubjay.ops.repair.rebuild import rebuild
from scrubjay.ops.repair.verify import NEW_FILE, Report, verify
from scrubjay.storage.database import Database
from scrubjay.storage.sqlite.existing import ExistingDatabase
from scrubjay.text.urls import (
    POSTGRES,
    is_server_url,
    parse_server_url,
    tenant_file,
    tenant_schema,
)

_MOST_NAMED = 10
_WAIT_S = 10.0
_DAMAGE = ("is damaged", "is not an SQLite database", "has no schema")


def verify_store(settings: Settings, report: Report | None = None) -> Verified:
    """Check a store that exists; one that SQLite cannot open is a problem, not an error."""
    path = _path(settings)
    if not is_server_url(path) and not os.path.exists(path):
        raise NotFound(f"nothing is stored yet: there is no {path}; `scrubjay add` creates it")
    try:
        with _opened(settings) as db:
            return verify(db, report)
    except StoreError as error:
        if not _is_damage(error):
            raise
        return Verified(path, 0, ("file",), (Problem("file", 1, str(error), (), NEW_FILE),))


def repair_store(settings: Settings, *, dry_run: bool) -> Iterator[Repair]:
    """Repair what `verify` finds; with `dry_run`, only say what would be done."""
    path = _path(settings)
    if path == ":memory:" or not (is_server_url(path) or os.path.exists(path)):
        return
    try:
        found = verify_store(settings)
        if dry_run:
            yield from (_planned(problem) for problem in found.problems)
            return
        if any(problem.repair == NEW_FILE for problem in found.problems):
            yield from _rescued(path)
        elif is_server_url(path):
            yield from _rebuilt_schema(settings, found.problems)
        elif found.problems and _rebuilt(settings):
            yield from (_done(problem) for problem in found.problems)
        elif found.problems:
            yield from _rescued(path)
    except StoreError as error:
        yield Repair("store", "failed", str(error))


def _rebuilt(settings: Settings) -> bool:
    """Rebuild a store in place; False where that was not enough."""
    try:
        with _opened(settings) as db:
            rebuild(db)
            return not verify(db).problems
    except StoreError as error:
        if not _is_damage(error):
            raise
        return False


def _rebuilt_schema(settings: Settings, found: tuple[Problem, ...]) -> Iterator[Repair]:
    """Rebuild what is derived in Postgres, and say what is left; rows that cannot be read stay."""
    if not found:
        return
    with _opened(settings) as db:
        rebuild(db)
        left = verify(db).problems
    remaining = {(problem.check, problem.detail) for problem in left}
    yield from (_done(one) for one in found if (one.check, one.detail) not in remaining)
    for problem in left:
        named = f"{problem.count:,} {problem.detail} ({_listed(problem.ids)})"
        yield Repair(problem.check, "failed", f"{named}; a repair {problem.repair}")


def _path(settings: Settings) -> str:
    if settings.db == ":memory:" or is_server_url(settings.db):
        return settings.db
    return os.path.abspath(tenant_file(settings.db, settings.tenant))


def _opened(settings: Settings) -> AbstractContextManager[Database]:
    if not is_server_url(settings.db):
        return closing(ExistingDatabase(_path(settings), wait_s=_WAIT_S))
    from scrubjay.storage.postgres.connection import PostgresDatabase
    from scrubjay.storage.postgres.existing import require_store

    address = parse_server_url(settings.db, POSTGRES, "the store")
    schema = tenant_schema(settings.tenant)
    require_store(address, schema)
    return closing(PostgresDatabase(address, schema=schema))


def _is_damage(error: StoreError) -> bool:
    return any(words in str(error) for words in _DAMAGE)


def _rescued(path: str) -> Iterator[Repair]:
    if not _has_rows(path) and not carves(path):
        detail = f"no memory can be read from {path}: use a backup; the file was not changed"
        yield Repair("store", "failed", detail)
        return
    done = rescue(path)
    memories = "1 memory is" if done.memories == 1 else f"{done.memories:,} memories are"
    detail = f"{memories} in a new file at {done.path}; the damaged file is {done.aside} now"
    yield Repair("store", "repaired", detail)
    yield from _losses(done)


def _has_rows(path: str) -> bool:
    """True when SQLite can read at least the tables of a file."""
    try:
        with closing(ExistingDatabase(path)):
            return True
    except StoreError:
        return False


def _losses(done: Rescued) -> Iterator[Repair]:
    if done.lost:
        yield Repair(
            "memories", "failed", f"could not be read, and are lost: {_listed(done.lost)}"
        )
    if done.unlisted:
        detail = "others may be lost: the list of ids could not be read; compare with a backup"
        yield Repair("memories", "failed", detail)
    if done.mended:
        fields = [f"{id_} ({', '.join(names)})" for id_, names in sorted(done.mended.items())]
        detail = f"damaged fields were replaced or left empty: {_listed(fields)}"
        yield Repair("memories", "repaired", detail)
    if done.changed:
        detail = (
            "the text was kept with a new hash, but may be damaged; compare it with a backup:"
            f" {_listed(done.changed)}"
        )
        yield Repair("content", "repaired", detail)
    if done.tables:
        detail = f"rows of these tables may be missing: {', '.join(sorted(done.tables))}"
        yield Repair("tables", "failed", detail)


def _listed(names: tuple[str, ...] | list[str]) -> str:
    more = len(names) - _MOST_NAMED
    shown = ", ".join(names[:_MOST_NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _planned(problem: Problem) -> Repair:
    detail = f"{problem.count:,} {problem.detail}; a repair {problem.repair}"
    return Repair(problem.check, "planned", detail)


def _done(problem: Problem) -> Repair:
    shown = f" ({_listed(problem.ids)})" if problem.ids else ""
    return Repair(problem.check, "repaired", f"{problem.count:,} {problem.detail}{shown}")
