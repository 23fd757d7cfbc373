"""Restore: put a backup in the place of a store's file."""

from __future__ import annotations

import os
from collections.abc import Callable

from scrubjay.errors import InvalidInput
from scrubjay.storage.sqlite.restore import restore_file
from scrubjay.text.urls import check_tenant, is_server_url, tenant_file
from scrubjay.types.reports import Restored

Path = str | os.PathLike[str]


def restore(
    backup: Path,
    to: Path,
    *,
    tenant: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Restored:
    """Replace the file of a store by a backup, also while other processes use it.

    The earlier file is kept as `….before-restore`. Nothing is changed if the backup is damaged, is no
    store, or was written by a newer version; one of an older version is migrated when it is opened.
    """
    source, target = os.fspath(backup), os.fspath(to)
    if is_server_url(source):
        raise InvalidInput(
            f"{source} is a URL; restore takes the file that `scrubjay backup` wrote"
        )
    if is_server_url(target):
        raise InvalidInput(
            "restore writes a file, and the store is in Postgres; move the backup there with: scrubjay"
            f" promote --db {source} --to URL --keep, into a database without memories; or export it to a"
            " file, and import that"
        )
    if target == ":memory:":
        raise InvalidInput("a store in memory has no file; give one with --to")
    if not source or not target:
        raise InvalidInput("the path is empty; give the file of a backup, and a file to restore")
    source = os.path.abspath(os.path.expanduser(source))
    own = tenant_file(target, None if tenant is None else check_tenant(tenant))
    path = os.path.realpath(os.path.expanduser(own))
    size, memories, aside = restore_file(source, path, progress=progress)
    return Restored(path, size, memories, source, aside)
