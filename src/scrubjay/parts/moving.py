"""Memories out of a store and into one: as lines of JSON, or as one Markdown file each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from scrubjay.errors import InvalidInput
from scrubjay.parts.learning import Learning
from scrubjay.storage.sql.scope import SHARED
from scrubjay.text.validation import several

if TYPE_CHECKING:
    from scrubjay.types import Memory, Scope
    from scrubjay.types.reports import BackedUp, Exported, Imported

Path = str | os.PathLike[str]
Report = Callable[[int, int, str], None]
_BATCH = 100


class Moving(Learning):
    """The verbs that move memories."""

    def backup(
        self,
        path: Path,
        *,
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> BackedUp:
        """Copy the whole store into another file, as it stands now, while others go on writing.

        The copy is a store like any other: vectors, links, feedback, history and tokens are in it. A
        file in the way is replaced only with `force`.
        """
        from scrubjay.storage.sqlite.backup import back_up
        from scrubjay.storage.sqlite.connection import SqliteDatabase
        from scrubjay.types.reports import BackedUp

        place = _absolute(path)
        if self._caller.user is not None:
            raise InvalidInput(
                f"a backup holds what everybody has stored, and this store is open for"
                f" {self._caller.user!r}; open it without a user, or export your own"
            )
        if not isinstance(self._db, SqliteDatabase):
            raise InvalidInput(
                f"{self.path} is on a server; pg_dump backs that up, and this copies it into a"
                f" file: scrubjay demote --to {place} --keep"
            )
        return BackedUp(place, *back_up(self._db, place, force=force, progress=progress))

    def export_md(
        self,
        folder: Path,
        *,
        namespace: str | None = None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        collection: str | None = None,
        session: str | None = None,
        force: bool = False,
        prune: bool = False,
        progress: Report | None = None,
    ) -> Exported:
        """Write what the caller may see into a folder, one Markdown file each; again: only what changed.

        A file in the way that is no entry's is refused, and one that a person changed is kept until it
        is imported, unless `force` replaces them. With `prune`, the files of entries that are not
        among these are removed.
        """
        from scrubjay.write.entries.export import write_folder

        scope = self._exported(namespace, types, topics, collection, session)
        ids = sorted(self._records.ids(scope))
        place = _absolute(folder)
        entries = self._entries(ids, scope)
        return write_folder(place, ids, entries, force=force, prune=prune, report=progress)

    def export_jsonl(
        self,
        to: Path | TextIO,
        *,
        namespace: str | None = None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        collection: str | None = None,
        session: str | None = None,
        force: bool = False,
        progress: Report | None = None,
    ) -> Exported:
        """Write what the caller may see as lines of JSON, into a file or a stream."""
        from scrubjay.types.reports import Exported
        from scrubjay.write.entries.export import write_lines
        from scrubjay.write.entries.format import to_line

        scope = self._exported(namespace, types, topics, collection, session)
        ids = self._records.ids_to_write(scope)
        entries = self._entries(ids, scope)
        if not hasattr(to, "write"):
            return write_lines(_absolute(to), entries, len(ids), force=force, report=progress)
        done = 0
        for done, entry in enumerate(entries, 1):
            to.write(to_line(entry) + "\n")
            if progress:
                progress(done, len(ids), entry.id)
        return Exported(done)

    def import_entries(
        self,
        *sources: Path | TextIO | BinaryIO,
        namespace: str | None = None,
        collection: str | None = None,
        dry_run: bool = False,
        progress: Report | None = None,
    ) -> Imported:
        """Take entries in: folders of Markdown files, `.md` and `.jsonl` files, streams of JSON lines.

        Each is checked and stored as `add` does, an id replaces what has it, and one that is wrong
        does not keep the others out. `namespace` and `collection` stand above what the entries say.
        """
        from scrubjay.write.entries.import_entries import (
            EntryImport,
            Rights,
            are_counted,
            checked_sources,
            entries_in,
            files_in,
        )

        files = files_in(checked_sources(sources))
        total = len(files) if are_counted(files) else 0
        shares = bool(self._people.seen(self._mine))

        def placed(given: dict[str, Any]) -> dict[str, Any]:
            return self._placed(self._moved(given, namespace, collection), shares)

        rights = Rights(self._mine, self._caller.changes, placed, self._part_copies)
        if not dry_run:
            self._embedding.activate()
        run = EntryImport(self._shelf(), rights, rehearsal=dry_run)
        count = 0
        for count, read in enumerate(entries_in(files), 1):
            if progress:
                progress(count - 1, total, read.where)
            run.take(read)
        done = run.finish()
        if progress:
            progress(count, total, "")
        if not dry_run:
            self._embedding.wake()
        return done

    def _exported(
        self,
        namespace: str | None,
        types: Sequence[str] | str | None,
        topics: Sequence[str] | str | None,
        collection: str | None,
        session: str | None,
    ) -> Scope:
        return self._caller.narrowed(
            namespaces=several(namespace, "namespace"),
            types=types,
            topics=topics,
            collection=collection,
            session=session,
        )

    def _entries(self, ids: Sequence[str], scope: Scope) -> Iterator[Memory]:
        """Yield memories with the links that the caller may see; one that went meanwhile is left out."""
        for start in range(0, len(ids), _BATCH):
            part = ids[start : start + _BATCH]
            found = self._records.get(part, scope)
            links = self._graph.kept(part, self._mine)
            for id_ in part:
                if id_ in found:
                    yield found[id_]._replace(links=links.get(id_, ()))

    def _moved(
        self, given: dict[str, Any], namespace: str | None, collection: str | None
    ) -> dict[str, Any]:
        """Return an entry where the caller wants it, or where it says itself."""
        if namespace is not None:
            given = {**given, "namespace": namespace}
        if collection is not None:
            return {**given, "namespace": namespace, "collection": collection}
        self._check_shared(given)
        return given

    def _check_shared(self, given: dict[str, Any]) -> None:
        """Refuse an entry of a shared collection that is not the one of that namespace here.

        Another store may have used the namespace for a collection of other people.
        """
        place, name = given.get("namespace"), given.get("collection")
        if not isinstance(place, str) or not place.startswith(SHARED):
            return
        here = self._people.of_namespace(place)
        if here is None or self._caller.role(here) is None or here.name != name:
            raise InvalidInput(
                f"namespace is {place!r}, and you share no collection {name!r} of it here; say where"
                " it goes with collection= (--collection) or namespace= (--namespace)"
            )

    def _placed(self, given: dict[str, Any], shares: bool) -> dict[str, Any]:
        """Return what the caller writes where it belongs; by its id alone, it stays in its collection."""
        return self._caller.placed(self._where_it_is(given) if shares else given)

    def _where_it_is(self, given: dict[str, Any]) -> dict[str, Any]:
        """Leave a memory of a shared collection there, when it is replaced by its id alone."""
        placed = given.get("namespace") not in (None, "default") or given.get("collection")
        if placed or not isinstance(given.get("id"), str):
            return given
        before = self._records.get([given["id"].strip()], self._caller.changes)
        for one in before.values():
            if one.namespace.startswith(SHARED):
                return {**given, "namespace": one.namespace, "collection": one.collection}
        return given

    def _part_copies(self, stored: Sequence[Memory]) -> None:
        """Let copies that were written anew be memories of their own."""
        self._copies.part([one.id for one in stored if one.namespace.startswith(SHARED)])


def _absolute(path: object) -> str:
    if not isinstance(path, str | os.PathLike) or "\0" in str(path):
        raise InvalidInput(f"{path!r} is not a path; give a folder or a file to write to")
    if not os.fspath(path):
        raise InvalidInput("path is empty; say where to write")
    return os.path.abspath(os.path.expanduser(os.fspath(path)))
