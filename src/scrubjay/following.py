"""Folders that a store follows: reading them, watching them, and the collections they became."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.caller import several
from scrubjay.coverage import coverage
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.stores.sqlite_files import is_under

if TYPE_CHECKING:
    from scrubjay.caller import Caller
    from scrubjay.stores.sqlite_folders import Folder
    from scrubjay.types import Collection, Covered, Ingested
    from scrubjay.write.shelf import Shelf
    from scrubjay.write.watch import Watcher

Path = str | os.PathLike[str]
Report = Callable[[int, int, str], None]


class Following:
    """What one caller reads into one store, and keeps up with."""

    def __init__(self, shelf: Shelf, caller: Caller) -> None:
        self._shelf = shelf
        self._caller = caller
        self._watchers: list[Watcher] = []
        self._reading = threading.Lock()

    def ingest(
        self,
        path: Path | None,
        collection: str | None,
        namespace: str | None,
        progress: Report | None,
    ) -> Ingested:
        """Read a file or a folder, or everything that was read before."""
        from scrubjay.write.ingest import ingest, refresh

        if path is None and collection is not None:
            raise InvalidInput("collection goes with a path; `rename_collection` renames one")
        with self._reading:
            if path is None:
                return refresh(self._shelf, self._followed(namespace), progress)
            place = self._caller.placed({"namespace": namespace})["namespace"]
            return ingest(self._shelf, path, collection, place, progress)

    def watch(
        self,
        path: Path | None,
        namespace: str | None,
        last: Ingested,
        changed: Callable[[Ingested], None],
    ) -> None:
        """Read again whenever something changes, until the store is closed, and say what came of it."""
        from scrubjay.write.watch import Watcher

        root = None if path is None else _absolute(path)

        def again() -> None:
            nonlocal last
            followed = self._followed(namespace)
            if root is not None and not any(is_under(root, one.path) for one in followed):
                return  # its collection was removed
            done = self.ingest(root, None, namespace, None)
            if _is_news(done, last):
                changed(done)
            last = done

        roots = [one.path for one in self._followed(namespace)] if root is None else [root]
        there = [one for one in roots if os.path.exists(one)]
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

    def collections(self) -> list[Collection]:
        """Return the collections, by name."""
        return self._shelf.folders.collections(self._caller.sees)

    def rename(self, name: str, new_name: str) -> int:
        """Give a collection another name; return how many memories are in it."""
        names = self._names(name)
        new_name = new_name.strip()
        if not new_name or not new_name.isprintable():
            raise InvalidInput(f"{new_name!r} is not a name; give a printable one such as 'notes'")
        if new_name in names:
            raise InvalidInput(f"there is a collection {new_name!r} already; give another name")
        return self._shelf.folders.rename(name, new_name, self._caller.sees)

    def remove(self, name: str) -> int:
        """Forget everything in a collection, and follow its folders no longer."""
        self._names(name)
        records, sees = self._shelf.records, self._caller.sees
        with records.transaction():
            gone = records.delete(records.ids(sees._replace(collection=name)))
            self._shelf.folders.unfollow(name, sees)
        return gone

    def _followed(self, namespace: str | None) -> list[Folder]:
        spaces = self._caller.narrowed(namespaces=several(namespace, "namespace")).namespaces
        return self._shelf.folders.all(spaces)

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
