"""Check which files and folders of scrubjay other users of the machine can access, and restrict them.

Models are public and not checked, and neither are tiers, which are there to be shared.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from glob import escape, glob
from typing import NamedTuple

from scrubjay.config import Settings
from scrubjay.ops.doctor import Finding, Repair
from scrubjay.runtime.command_hints import to_type
from scrubjay.runtime.paths import APP, config_dir, data_dir
from scrubjay.runtime.private_files import (
    GROUP,
    HAS_MODES,
    OTHERS,
    restrict,
    wider_than_private,
)
from scrubjay.text.urls import is_server_url, strip_credentials, tenant_file

_OWN_FOLDERS = (APP, f".{APP}")  # any other folder was not created for scrubjay alone
# The default store, those of its tenants, and the owner's key of the server.
_KEY_FILES = ("serve.key", "serve.header")
_OWN_FILES = ("memory.db*", "memory.*.db*", *_KEY_FILES)
# Logs, vector caches, and copies such as notes.db.promoted.
_BESIDE = ("-wal", "-shm", "-journal", "-vectors-*", ".*")
_URL = re.compile(r"[\w+.-]+://[^\s\"']+")


class _Access(NamedTuple):
    """A path that others can access: their permissions, and the group that was given its own."""

    path: str
    mode: int
    group: str

    @property
    def unwanted(self) -> int:
        return self.mode & (OTHERS if self.group else GROUP | OTHERS)


def check_permissions(settings: Settings) -> Iterator[Finding]:
    if not HAS_MODES:
        yield Finding("permissions", "ok", "files have the access list of their folder")
        return
    found = list(_accessible(settings))
    for path, mode, group in found:
        if group and not mode & OTHERS:
            yield Finding("permissions", "ok", f"{path} is shared with the group {group}")
        else:
            detail = f"other users of this machine have access to {path} (mode {mode:03o})"
            fix = to_type("doctor --repair", settings.db_given)
            yield Finding("permissions", "degraded", f"{detail}{_exposed_key(path)}", fix)
    if not found:
        yield Finding("permissions", "ok", "no other user of this machine has access to the files")


def repair_permissions(settings: Settings) -> Iterator[Repair]:
    for access in _accessible(settings):
        if not access.unwanted:
            continue
        try:
            restrict(access.path, access.unwanted)
        except OSError as error:
            detail = f"{access.path} keeps mode {access.mode:03o}: {error.strerror}"
            yield Repair("permissions", "failed", detail)
        else:
            mode = access.mode & ~access.unwanted
            detail = f"{access.path} has mode {mode:03o} now, before {access.mode:03o}"
            yield Repair("permissions", "repaired", f"{detail}{_exposed_key(access.path)}")


def _exposed_key(path: str) -> str:
    """Return the advice for a file with the owner's key, which a new mode does not make secret again."""
    if os.path.basename(path) not in _KEY_FILES:
        return ""
    key = os.path.join(os.path.dirname(path), _KEY_FILES[0])
    return f"; others may know the key: delete {key}, and `scrubjay serve` creates another"


def _accessible(settings: Settings) -> Iterator[_Access]:
    """Yield what others can access, if it is ours to change: of this user, or anything for root."""
    paths = dict.fromkeys(map(os.path.realpath, (*_folders(settings), *_files(settings))))
    for path in paths:
        mode = wider_than_private(path)
        if mode is None:
            continue
        found = os.stat(path)
        if os.geteuid() in (0, found.st_uid):
            # A file belongs to another group only if someone saw to it: the group shares the file.
            shared = mode & GROUP and found.st_gid != os.getegid()
            yield _Access(path, mode, _group_name(found.st_gid) if shared else "")


def _folders(settings: Settings) -> Iterator[str]:
    store = _store_file(settings)
    folders = (data_dir(), config_dir(), *((os.path.dirname(store),) if store else ()))
    yield from (path for path in folders if os.path.basename(path) in _OWN_FOLDERS)


def _files(settings: Settings) -> Iterator[str]:
    for pattern in _OWN_FILES:
        yield from glob(os.path.join(escape(data_dir()), pattern))
    if store := _store_file(settings):
        yield store
        for ending in _BESIDE:
            yield from glob(f"{escape(store)}{ending}")
    if _has_credentials(settings.config_file):
        yield settings.config_file


def _store_file(settings: Settings) -> str:
    if settings.db == ":memory:" or is_server_url(settings.db):
        return ""
    return os.path.realpath(tenant_file(settings.db, settings.tenant))  # beside it is the log


def _has_credentials(file: str) -> bool:
    try:
        with open(file, encoding="utf-8") as opened:
            urls = _URL.findall(opened.read())
    except (OSError, UnicodeDecodeError):  # another check reports it
        return False
    return any(strip_credentials(url, keep_user=True) != url for url in urls)


def _group_name(number: int) -> str:
    from grp import getgrgid

    try:
        return getgrgid(number).gr_name
    except KeyError:
        return str(number)
