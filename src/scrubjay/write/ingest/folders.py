"""Ingested files and folders: read them, watch them, and manage the collections they are in."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from operator import add
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.runtime.closing import close_all
from scrubjay.text.validation import check_name, several
from scrubjay.types import DEFAULT_NAMESPACE, OWNER, Filters, Scope
from scrubjay.types.reports import Covered, Ingested

if TYPE_CHECKING:
    from scrubjay.documents.isolated import IsolatedReader
    from scrubjay.sharing.permissions import Permissions
    from scrubjay.storage.sql.collections import SharedCollection, SqlCollections
    from scrubjay.storage.sql.files import Folder
    from scrubjay.types.reports import Collection
    from scrubjay.write.context import WriteContext
    from scrubjay.write.ingest.run import IngestRun, Report
    from scrubjay.write.ingest.watch import Watcher

Path = str | os.PathLike[str]
_STATES = ("indexed", "skipped", "failed")


class IngestedFolders:
    """The folders that one caller ingests into one store, and the threads that watch them."""

    def __init__(self, context: WriteContext, caller: Permissions, people: SqlCollections) -> None:
        self._context = context
        self._caller = caller
        self._people = people
        self._watchers: list[Watcher] = []
        self._reading = threading.RLock()
        self._stopping = threading.Event()

    def ingest(
        self,
        path: Path | None,
        collection: str | None,
        namespace: str | None,
        progress: Report | None,
        *,
        rehearsal: bool = False,
    ) -> Ingested:
        """Ingest a file or a folder; without a path, everything that was ingested before."""
        if path is None and collection is not None:
            raise InvalidInput("collection needs a path; to rename one, use `rename_collection`")
        if collection is not None:
            collection = check_name("collection", collection, "notes")
        from scrubjay.documents.isolated import IsolatedReader

        with (
            self._reading,
            IsolatedReader(self._context.file_limits, self._stopping) as reader,
        ):
            if path is None:
                return refresh(self._context, self._folders(namespace), progress, reader)
            namespace, collection = self._placed(namespace, collection)
            return ingest(
                self._context, path, collection, namespace, progress, reader, rehearsal=rehearsal
            )

    def watch(
        self,
        path: Path | None,
        collection: str | None,
        namespace: str | None,
        last: Ingested,
        changed: Callable[[Ingested], None],
    ) -> None:
        """Ingest again on every change, until the store is closed; report each result that has news."""
        from scrubjay.write.ingest.watch import Watcher

        root = None if path is None else _absolute(path)
        if root is not None:
            namespace, collection = self._placed(namespace, collection)
        is_file = root is not None and os.path.isfile(root)

        def refresh() -> None:
            nonlocal last
            if root is not None:
                place = namespace or DEFAULT_NAMESPACE
                if self._context.folders.containing(root, place) is None:
                    return  # its collection was removed
                if is_file and not os.path.lexists(root):
                    return  # an editor is replacing it
            done = self.ingest(root, None, namespace, None)
            if _has_news(done, last):
                changed(done)
            last = done

        roots = [folder.path for folder in self._folders(namespace)] if root is None else [root]
        # An editor that saves by replacing makes a new file: so the folder of a file is watched.
        folders = {os.path.dirname(root) if os.path.isfile(root) else root for root in roots}
        paths = sorted(filter(os.path.exists, folders))
        self._watchers.append(Watcher(paths, self._context.own_files, refresh))

    @property
    def failure(self) -> str | None:
        """Why a watch has ended early; None while all are running."""
        return next((one.failure for one in self._watchers if one.failure), None)

    def stop(self) -> None:
        """Stop watching; a file that is being read in another process is given up."""
        self._stopping.set()
        watchers, self._watchers = self._watchers, []
        close_all(watcher.stop for watcher in reversed(watchers))

    def coverage(
        self, state: str | None, collection: str | None, namespace: str | None
    ) -> list[Covered]:
        """Return every file that was found, by path: indexed, skipped or failed; `state` filters."""
        if state is not None and state not in _STATES:
            raise InvalidInput(f"state is {state!r}; it must be one of {', '.join(_STATES)}")
        filters = Filters(namespaces=several(namespace, "namespace"), collection=collection)
        scope = self._caller.narrowed(filters)
        files = self._context.files
        indexed: dict[str, Covered] = {}
        for file in files.visible(scope):
            before = indexed.get(file.path)
            ids = (*before.ids, file.memory) if before else (file.memory,)
            indexed[file.path] = Covered(file.path, "indexed", "", file.collection, ids, file.size)
        left_out = [
            Covered(left.path, left.state, left.reason, left.collection, (), left.size)
            for left in files.skipped(None, scope._replace(reader=None, writer=scope.reader))
            if scope.collection in (None, left.collection)
        ]
        # A file that was indexed and fails now keeps its memories; only the failure is shown.
        ids_of = {one.path: indexed.pop(one.path).ids for one in left_out if one.path in indexed}
        left_out = [one._replace(ids=ids_of.get(one.path, ())) for one in left_out]
        return sorted(one for one in (*indexed.values(), *left_out) if state in (None, one.state))

    def changed(self, most: int) -> int:
        """Return how many files differ from what was read; 0 where more than `most` would be checked."""
        if self._context.files.count() > most:
            return 0
        files = self._context.files.visible(self._caller.sees)
        return len({file.path for file in files if file.state()})

    def roots(self) -> list[str]:
        """Return the paths of all followed files and folders, of every user."""
        return [folder.path for folder in self._context.folders.all(Scope())]

    def count_failed(self) -> int:
        """Return how many files could not be read."""
        scope = self._caller.sees
        return self._context.files.count_failed(scope._replace(reader=None, writer=scope.reader))

    def collections(self) -> list[Collection]:
        return self._context.folders.collections(self._caller.sees)

    def rename(self, name: str, new_name: str, namespace: str | None) -> int:
        """Rename a collection; return how many memories are in it."""
        new_name = check_name("new name", new_name, "notes")
        with self._reading, self._context.records.transaction():
            if new_name in self._names(name):
                raise InvalidInput(f"collection {new_name!r} exists already; give another name")
            scope, shared = self._owned(name, namespace)
            if shared is None:
                return self._context.folders.rename_collection(name, new_name, scope)
            if self._people.by_name(new_name) is not None:
                raise InvalidInput(f"the name {new_name!r} is taken; give another name")
            self._people.rename(shared, new_name)
            return self._context.folders.rename_collection(None, new_name, scope)

    def remove(self, name: str, namespace: str | None) -> int:
        """Delete all memories of a collection and stop following its folders; return how many."""
        records = self._context.records
        with self._reading, records.transaction():
            self._names(name)
            scope, shared = self._owned(name, namespace)
            # Of a shared collection everything is deleted, whatever its label: others may use its
            # namespace again.
            label = name if shared is None else None
            inside = scope._replace(collection=label)
            for place in records.counts("namespace", inside):
                self._context.targets.mark_unresolved(place)
            deleted = records.delete(records.ids(inside))
            self._context.folders.unfollow(label, scope)
            if shared is not None:
                self._people.delete(shared)
        return deleted

    def _owned(self, name: str, namespace: str | None) -> tuple[Scope, SharedCollection | None]:
        """Return the scope of a collection, if the caller may rename and remove it."""
        shared = self._caller.shared(name)
        if namespace is not None and not isinstance(namespace, str):
            raise InvalidInput(f"namespace is {namespace!r}; it must be a text")
        if shared is None or namespace not in (None, shared.namespace):
            scope = self._caller.changes._replace(namespaces=several(namespace, "namespace"))
            inside = scope._replace(collection=name)
            if namespace is not None and not self._context.records.any_visible(inside):
                raise NotFound(f"namespace {namespace!r} has no collection {name!r}")
            return scope, None
        if namespace is None:
            self._caller.check_one_name(shared)
        self._caller.check_role(shared, OWNER)
        return Scope(namespaces=(shared.namespace,)), shared

    def _placed(
        self, namespace: str | None, collection: str | None
    ) -> tuple[str | None, str | None]:
        """Return the namespace and collection to ingest into; a shared collection has its own."""
        placed = self._caller.placed({"namespace": namespace, "collection": collection})
        return placed["namespace"], placed["collection"]

    def _folders(self, namespace: str | None) -> list[Folder]:
        spaces = several(namespace, "namespace")
        folders = self._context.folders.all(self._caller.changes._replace(namespaces=spaces))
        if self._caller.user is None:
            return folders
        # Another user's folder in a shared collection is read again by that user, with their rights.
        user, own = self._caller.user, self._caller.personal
        return [one for one in folders if one.person == user or one.namespace == own]

    def _names(self, name: str) -> list[str]:
        """Return the names of all collections; `name` must be one of them."""
        names = [one.name for one in self.collections()]
        if name not in names:
            raise NotFound(
                f"there is no collection {name!r}; collections are: {', '.join(names) or 'none'}"
            )
        return names


def ingest(
    context: WriteContext,
    path: Path,
    collection: str | None,
    namespace: str | None,
    report: Report | None,
    reader: IsolatedReader,
    *,
    rehearsal: bool = False,
) -> Ingested:
    """Bring the memories in step with a file or folder; a rehearsal only says what that would do."""
    from scrubjay.write.document_links import unresolved
    from scrubjay.write.ingest.run import IngestRun

    if not os.fspath(path):
        raise InvalidInput("path is empty; give a file or a folder")
    if "://" in os.fspath(path):
        from scrubjay.text.urls import strip_credentials

        raise InvalidInput(
            f"{strip_credentials(os.fspath(path))} is a URL; give a file or a folder"
        )
    root = _absolute(path)
    if not os.path.lexists(root):
        raise InvalidInput(f"there is no file or folder {root}")
    namespace = namespace or DEFAULT_NAMESPACE
    unlinked = {namespace: unresolved(context, namespace)}
    run = IngestRun(context, root, collection, namespace, set(), reader, rehearsal=rehearsal)
    run.read(report)
    if rehearsal:
        return run.report()
    return finish_runs(context, [run], unlinked)


def refresh(
    context: WriteContext,
    folders: Sequence[Folder],
    report: Report | None,
    reader: IsolatedReader,
) -> Ingested:
    """Bring the memories in step with all followed folders; a missing folder keeps its memories."""
    from scrubjay.write.document_links import unresolved
    from scrubjay.write.ingest.run import IngestRun

    namespaces = {folder.namespace for folder in folders}
    unlinked = {namespace: unresolved(context, namespace) for namespace in namespaces}
    moved: set[str] = set()
    runs: list[IngestRun] = []
    missing: list[tuple[str, str]] = []
    for folder in folders:
        if os.path.lexists(folder.path):
            runs.append(IngestRun(context, folder.path, None, folder.namespace, moved, reader))
            runs[-1].read(report)
        else:
            drop = f"scrubjay collections remove {folder.collection}"
            missing.append((folder.path, f"not found; its memories stay (to remove them: {drop})"))
    done = finish_runs(context, runs, unlinked)
    return done._replace(failed=(*missing, *done.failed))


def finish_runs(
    context: WriteContext, runs: Sequence[IngestRun], unlinked: Mapping[str, set[str]]
) -> Ingested:
    """Delete what is missing and resolve links, once all is read: only then it is known what moved."""
    from scrubjay.write import document_links

    total = Ingested()
    for run in runs:
        total = Ingested(*map(add, total, run.finish()))
    for namespace, documents in unlinked.items():
        here = [run for run in runs if run.namespace == namespace]
        changed = documents.union(*(run.changed for run in here))
        names = set[str]().union(*(run.names for run in here))
        document_links.resolve(context, changed, names, namespace)
    return total


def _absolute(path: Path) -> str:
    return os.path.abspath(os.path.expanduser(os.fspath(path)))


def _has_news(done: Ingested, last: Ingested) -> bool:
    """True when any memory changed, or other files than before were left out."""
    left_out = (done.skipped, done.failed) != (last.skipped, last.failed)
    return left_out or any((done.added, done.updated, done.moved, done.removed))
