"""Files into memories: one folder, or every folder that was read before."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from operator import add
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.types import DEFAULT_NAMESPACE
from scrubjay.types.reports import Ingested
from scrubjay.write.ingest.run import IngestRun, Report

if TYPE_CHECKING:
    from scrubjay.storage.sql.files import Folder
    from scrubjay.write.context import Shelf


def ingest(
    shelf: Shelf,
    path: str | os.PathLike[str],
    collection: str | None,
    namespace: str | None,
    report: Report | None,
) -> Ingested:
    """Bring the index in step with a file or folder."""
    if not os.fspath(path):
        raise InvalidInput("path is empty; give a file or a folder")
    if "://" in os.fspath(path):
        from scrubjay.text.urls import strip_credentials

        raise InvalidInput(
            f"{strip_credentials(os.fspath(path))} is no file; give a file or a folder"
        )
    root = os.path.abspath(os.path.expanduser(os.fspath(path)))
    if not os.path.lexists(root):
        raise InvalidInput(f"there is no file or folder {root}")
    place = namespace or DEFAULT_NAMESPACE
    unsettled = {place: shelf.unsettled(place)}
    run = IngestRun(shelf, root, collection, place, set())
    run.read(report)
    return _finish(shelf, [run], unsettled)


def refresh(shelf: Shelf, folders: Sequence[Folder], report: Report | None) -> Ingested:
    """Bring every followed folder up to date; one that is not there now fails, and loses nothing."""
    unsettled = {one: shelf.unsettled(one) for one in {folder.namespace for folder in folders}}
    claimed: set[str] = set()
    runs: list[IngestRun] = []
    missing: list[tuple[str, str]] = []
    for folder in folders:
        if os.path.lexists(folder.path):
            runs.append(IngestRun(shelf, folder.path, None, folder.namespace, claimed))
            runs[-1].read(report)
        else:
            stays = f"not there now; what was read of it stays ({_remove_hint(folder.collection)})"
            missing.append((folder.path, stays))
    done = _finish(shelf, runs, unsettled)
    return done._replace(failed=(*missing, *done.failed))


def _remove_hint(collection: str) -> str:
    return f"to drop it: scrubjay collections remove {collection}"


def _finish(shelf: Shelf, runs: list[IngestRun], unsettled: Mapping[str, set[str]]) -> Ingested:
    """Drop what is gone and resolve links, once all is read: only then is it known what moved where."""
    total = Ingested()
    for run in runs:
        total = Ingested(*map(add, total, run.finish()))
    for namespace, left in unsettled.items():
        here = [run for run in runs if run.namespace == namespace]
        touched = left.union(*(run.touched for run in here))
        shelf.relink(touched, set().union(*(run.names for run in here)), namespace)
    return total
