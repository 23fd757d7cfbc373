"""Folders that a store follows: reading them, watching them, and the collections they became."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.sharing.permissions import several
from scrubjay.storage.sql.collections import OWNER
from scrubjay.text.validation import checked_name
from scrubjay.types import DEFAULT_NAMESPACE, Scope
from scrubjay.write.ingest.coverage import coverage

if TYPE_CHECKING:
    from scrubjay.sharing.permissions import Caller
    from scrubjay.storage.sql.collections import Shared, SqlCollections
    from scrubjay.storage.sql.files import Folder
    from scrubjay.types.reports import Collection, Covered, Ingested
    from scrubjay.write.context import Shelf
    from scrubjay.write.ingest.watch import Watcher

Path = str | os.PathLike[str]
Report = Callable[[int, int, str], None]


class Following:
    """What one caller reads into one store, and keeps up with."""

    def __init__(self, shelf: Shelf, caller: Caller, people: SqlCollections) -> None:
        self._shelf = shelf
        self._caller = caller
        self._people = people
        self._watchers: list[Watcher] = []
        self._reading = threading.RLock()

    def ingest(
        self,
        path: Path | None,
        collection: str | None,
        namespace: str | None,
        progress: Report | None,
    ) -> Ingested:
        """Read a file or a folder, or everything that was read before."""
        from scrubjay.write.ingest.ingest import ingest, refresh

        if path is None and collection is not None:
            raise InvalidInput("collection goes with a path; `rename_collection` renames one")
        if collection is not None:
            collection = checked_name("collection", collection, "notes")
        with self._reading:
            if path is None:
                return refresh(self._shelf, self._followed(namespace), progress)
            place, collection = self._placed(namespace, collection)
            return ingest(self._shelf, path, collection, place, progress)

    def watch(
        self,
        path: Path | None,
        collection: str | None,
        namespace: str | None,
        last: Ingested,
        changed: Callable[[Ingested], None],
    ) -> None:
        """Read again whenever something changes, until the store is closed, and say what came of it."""
        from scrubjay.write.ingest.watch import Watcher

        root = None if path is None else _absolute(path)
        if root is not None:
            namespace, collection = self._placed(namespace, collection)
        is_file = root is not None and os.path.isfile(root)

        def again() -> None:
            nonlocal last
            if root is not None and not self._is_followed(root, namespace):
                return  # its collection was removed
            if root is not None and is_file and not os.path.lexists(root):
                return  # it is just being replaced
            done = self.ingest(root, None, namespace, None)
            if _is_news(done, last):
                changed(done)
            last = done

        roots = [one.path for one in self._followed(namespace)] if root is None else [root]
        # A file that is saved by replacing it is another file: its folder is watched instead.
        folders = (os.path.dirname(one) if os.path.isfile(one) else one for one in roots)
        there = sorted({one for one in folders if os.path.exists(one)})
        self._watchers.append(Watcher(there, self._shelf.own_files, again))

    @property
    def failure(self) -> str | None:
        """Why a watch ended by itself; None while all is well."""
        return next((one.failure for one in self._watchers if one.failure), None)

    def stop(self) -> None:
        """End every watch."""
        while self._watchers:
            self._watchers.pop().stop()

    def coverage(
        self, state: str | None, collection: str | None, namespace: str | None
    ) -> list[Covered]:
        """Return every file that was met, by path."""
        spaces = several(namespace, "namespace")
        scope = self._caller.narrowed(namespaces=spaces, collection=collection)
        return coverage(self._shelf.files, scope, state)

    def changed(self, most: int) -> int:
        """Return how many files are no longer what was read; 0 where more than `most` would be looked at."""
        if self._shelf.files.how_many() > most:
            return 0
        seen = self._shelf.files.seen(self._caller.sees)
        return len({one.path for one in seen if one.state()})

    def collections(self) -> list[Collection]:
        """Return the collections, by name."""
        return self._shelf.folders.collections(self._caller.sees)

    def rename(self, name: str, new_name: str, namespace: str | None) -> int:
        """Give a collection another name; return how many memories are in it."""
        new_name = checked_name("new name", new_name, "notes")
        with self._reading, self._shelf.records.transaction():
            if new_name in self._names(name):
                raise InvalidInput(
                    f"there is a collection {new_name!r} already; give another name"
                )
            scope, shared = self._owned(name, namespace)
            if shared is None:
                return self._shelf.folders.rename(name, new_name, scope)
            if self._people.named(new_name) is not None:
                raise InvalidInput(f"the name {new_name!r} is taken; give another name")
            self._people.rename(shared, new_name)
            return self._shelf.folders.rename(None, new_name, scope)

    def remove(self, name: str, namespace: str | None) -> int:
        """Forget everything in a collection, and follow its folders no longer."""
        records = self._shelf.records
        with self._reading, records.transaction():
            self._names(name)
            scope, shared = self._owned(name, namespace)
            # Of a shared one everything goes, whatever it is called there: its namespace may be used
            # again, by others.
            label = name if shared is None else None
            inside = scope._replace(collection=label)
            for place in records.counts("namespace", inside):
                self._shelf.targets.unsettle(place)
            gone = records.delete(records.ids(inside))
            self._shelf.folders.unfollow(label, scope)
            if shared is not None:
                self._people.remove(shared)
        return gone

    def _owned(self, name: str, namespace: str | None) -> tuple[Scope, Shared | None]:
        """Return where a collection's memories are, if the caller may rename and remove it."""
        shared = self._caller.shared(name)
        if namespace is not None and not isinstance(namespace, str):
            raise InvalidInput(f"namespace is {namespace!r}; it must be a text")
        if shared is None or namespace not in (None, shared.namespace):
            scope = self._caller.changes._replace(namespaces=several(namespace, "namespace"))
            inside = scope._replace(collection=name)
            if namespace is not None and not self._shelf.records.holds_any(inside):
                raise NotFound(f"there is no collection {name!r} in the namespace {namespace!r}")
            return scope, None
        if namespace is None:
            self._caller.check_one_name(shared)
        self._caller.check_role(shared, OWNER)
        return Scope(namespaces=(shared.namespace,)), shared

    def _is_followed(self, root: str, namespace: str | None) -> bool:
        return self._shelf.folders.holding(root, namespace or DEFAULT_NAMESPACE) is not None

    def _placed(
        self, namespace: str | None, collection: str | None
    ) -> tuple[str | None, str | None]:
        """Return where to read into, and under which name; a shared collection has its own."""
        placed = self._caller.placed({"namespace": namespace, "collection": collection})
        return placed["namespace"], placed["collection"]

    def _followed(self, namespace: str | None) -> list[Folder]:
        spaces = several(namespace, "namespace")
        found = self._shelf.folders.all(self._caller.changes._replace(namespaces=spaces))
        if self._caller.user is None:
            return found
        # What somebody else had read into a collection is theirs to read again, with their own rights.
        user, own = self._caller.user, self._caller.personal
        return [one for one in found if one.person == user or one.namespace == own]

    def _names(self, name: str) -> list[str]:
        """Return the names of all collections, this one among them."""
        names = [one.name for one in self.collections()]
        if name not in names:
            known = ", ".join(names) or "none yet"
            raise NotFound(f"there is no collection {name!r}; there are: {known}")
        return names


def _absolute(path: Path) -> str:
    return os.path.abspath(os.path.expanduser(os.fspath(path)))


def _is_news(done: Ingested, last: Ingested) -> bool:
    """True when anything was done, or something else is left out than before."""
    left_out = (done.skipped, done.failed) != (last.skipped, last.failed)
    return left_out or any((done.added, done.updated, done.moved, done.removed))
