"""Export, import and backup: memories as JSON lines, as Markdown files, or as a copy of the database."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from scrubjay.errors import InvalidInput
from scrubjay.store.context import Context
from scrubjay.store.write import Writer
from scrubjay.types import SHARED_PREFIX, Filters, Memory, Scope
from scrubjay.types.formats import FOLDERS, check_format
from scrubjay.types.reports import BackedUp, Exported, Imported, ImportedFile, ImportedFrom

if TYPE_CHECKING:
    from scrubjay.write.import_export.forms import Form
    from scrubjay.write.import_export.import_entries import Rights

Path = str | os.PathLike[str]
Progress = Callable[[int, int, str], None]
_BATCH = 100


class Transfer:
    """Moves memories out of a store and into it."""

    def __init__(self, context: Context, writer: Writer) -> None:
        self._context = context
        self._write = writer

    def backup(
        self, path: Path, force: bool, progress: Callable[[int, int], None] | None
    ) -> BackedUp:
        from scrubjay.storage.sqlite.backup import back_up
        from scrubjay.storage.sqlite.connection import SqliteDatabase

        place, db, user = _absolute(path), self._context.db, self._context.permissions.user
        if user is not None:
            raise InvalidInput(
                f"a backup contains the memories of all users, and this store is open for {user!r};"
                " open it without a user, or export your own memories"
            )
        if not isinstance(db, SqliteDatabase):
            raise InvalidInput(
                f"{self._context.path} is a Postgres database; back it up with pg_dump, or copy it"
                f" into a file with: scrubjay demote --to {place} --keep"
            )
        return BackedUp(place, *back_up(db, place, force=force, progress=progress))

    def export_md(
        self, folder: Path, filters: Filters, force: bool, prune: bool, progress: Progress | None
    ) -> Exported:
        from scrubjay.write.import_export.export import write_folder

        scope = self._context.scope(filters)
        ids, damaged = _with_ids(self._context.tables.records.ids(scope))
        ids.sort()
        entries = self._entries(ids, scope, damaged)
        done = write_folder(
            _absolute(folder), ids, entries, force=force, prune=prune, report=progress
        )
        return done._replace(damaged=tuple(damaged))

    def export_jsonl(
        self, to: Path | TextIO, filters: Filters, force: bool, progress: Progress | None
    ) -> Exported:
        from scrubjay.write.import_export.forms import LINES

        return self._export(LINES, to, filters, force, progress)

    def export_mem0(
        self, to: Path | TextIO, filters: Filters, force: bool, progress: Progress | None
    ) -> Exported:
        from scrubjay.write.import_export.forms import MEM0

        return self._export(MEM0, to, filters, force, progress)

    def _export(
        self,
        form: Form,
        to: Path | TextIO,
        filters: Filters,
        force: bool,
        progress: Progress | None,
    ) -> Exported:
        """Write memories into one file or stream."""
        from scrubjay.write.import_export.export import write_file
        from scrubjay.write.import_export.forms import pieces

        scope = self._context.scope(filters)
        ids, damaged = _with_ids(self._context.tables.records.ids_for_export(scope))
        entries = self._entries(ids, scope, damaged)
        if not hasattr(to, "write"):
            place = _absolute(to)
            written = write_file(place, form, entries, len(ids), force=force, report=progress)
            return written._replace(damaged=tuple(damaged))
        done = 0
        for piece, done in pieces(form, entries):
            to.write(piece)
            if progress and done:
                progress(done, len(ids), "")
        return Exported(done, damaged=tuple(damaged))

    def import_entries(
        self,
        sources: Sequence[Path | TextIO | BinaryIO],
        namespace: str | None,
        collection: str | None,
        dry_run: bool,
        progress: Progress | None,
    ) -> Imported:
        from scrubjay.write.import_export import import_entries as entries

        files = entries.files_in(entries.checked_sources(sources))
        total = len(files) if entries.are_counted(files) else 0
        rights = self._rights(namespace, collection)
        if not dry_run:
            self._context.embedding.activate()
        run = entries.EntryImport(self._context.shelf, rights, rehearsal=dry_run)
        count = 0
        for count, entry in enumerate(entries.entries_in(files), 1):
            if progress:
                progress(count - 1, total, entry.where)
            run.take(entry)
        done = run.finish()
        if progress:
            progress(count, total, "")
        if not dry_run:
            self._context.embedding.wake()
        return done

    def import_from(
        self,
        name: str,
        path: Path,
        namespace: str | None,
        collection: str | None,
        dry_run: bool,
        progress: Progress | None,
    ) -> ImportedFrom:
        format, place = check_format(name), source_path(path)
        if not dry_run:
            self._context.embedding.activate()
        if format in FOLDERS:
            if not os.path.isdir(place):
                raise InvalidInput(f"{place} is not a folder; give {FOLDERS[format]}")
            done = self._import_folder(place, namespace, collection, dry_run, progress)
        else:
            from scrubjay.write.importers.formats import READERS
            from scrubjay.write.importers.run import FileImport, import_files

            rights = self._rights(namespace, collection)

            def import_of(taken: dict[str, str]) -> FileImport:
                return FileImport(self._context.shelf, rights, taken, rehearsal=dry_run)

            done = import_files(READERS[format], place, import_of, progress)
        if not dry_run:
            self._context.embedding.wake()
        return done

    def _import_folder(
        self,
        folder: str,
        namespace: str | None,
        collection: str | None,
        dry_run: bool,
        progress: Progress | None,
    ) -> ImportedFrom:
        """Ingest a folder: its files stay where they are, and a later run follows their changes."""
        folders = self._context.folders
        done = folders.ingest(folder, collection, namespace, progress, rehearsal=dry_run)
        counts = (done.added, done.updated + done.moved, done.unchanged)
        left_out = Counter(reason for _, reason in done.skipped)
        file = ImportedFile(folder, *counts, len(done.failed), dict(left_out))
        return ImportedFrom(*counts, done.failed, done.notes, (file,))

    def _rights(self, namespace: str | None, collection: str | None) -> Rights:
        from scrubjay.write.import_export.import_entries import Rights

        sees = self._context.sees
        shares = bool(self._context.tables.people.visible(sees))

        def placed(given: dict[str, Any]) -> dict[str, Any]:
            return self._write.placed(self._moved(given, namespace, collection), shares)

        changes = self._context.permissions.changes
        return Rights(sees, changes, placed, self._write.separate_copies)

    def _entries(
        self, ids: Sequence[str], scope: Scope, damaged: list[tuple[str, str]]
    ) -> Iterator[Memory]:
        """Yield memories with the links that the caller may see; skip those forgotten meanwhile.
        Those that cannot be read are listed."""
        tables = self._context.tables
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            found = tables.records.get(batch, scope)
            links = tables.graph.explicit_links(batch, self._context.sees)
            if len(found) < len(batch):
                damaged += tables.records.unreadable(batch, scope).items()
            for id_ in batch:
                if id_ in found:
                    yield found[id_]._replace(links=links.get(id_, ()))

    def _moved(
        self, given: dict[str, Any], namespace: str | None, collection: str | None
    ) -> dict[str, Any]:
        """Return an entry with the namespace and collection of the arguments, or else with its own."""
        if namespace is not None:
            given = {**given, "namespace": namespace}
        if collection is not None:
            return {**given, "namespace": namespace, "collection": collection}
        self._check_shared(given)
        return given

    def _check_shared(self, given: dict[str, Any]) -> None:
        """Refuse a shared namespace that has another name here: it may be of other users."""
        namespace, name = given.get("namespace"), given.get("collection")
        if not isinstance(namespace, str) or not namespace.startswith(SHARED_PREFIX):
            return
        here = self._context.tables.people.by_namespace(namespace)
        if here is None or self._context.permissions.role(here) is None or here.name != name:
            raise InvalidInput(
                f"namespace is {namespace!r}, and you share no collection {name!r} with it here;"
                " choose the target with collection= (--collection) or namespace= (--namespace)"
            )


def _with_ids(stored: Sequence[Any]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the ids that are texts; the others are damaged, and come with the reason."""
    ids = [id_ for id_ in stored if isinstance(id_, str)]
    damaged = [(repr(id_), "the id is not a text") for id_ in stored if not isinstance(id_, str)]
    return ids, damaged


def check_entries(sources: Sequence[Path | TextIO | BinaryIO]) -> None:
    """Refuse sources that cannot have entries."""
    from scrubjay.write.import_export.import_entries import checked_sources

    checked_sources(sources)


def source_path(path: object) -> str:
    """Return the absolute path of what is imported; refuse a missing one."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path) or not os.fspath(path):
        raise InvalidInput(f"{path!r} is not a path; give the file or folder to import")
    place = os.path.abspath(os.path.expanduser(os.fspath(path)))
    if not os.path.exists(place):
        raise InvalidInput(f"there is no file or folder {place!r}; give a path to import")
    return place


def _absolute(path: object) -> str:
    if not isinstance(path, str | os.PathLike) or "\0" in str(path):
        raise InvalidInput(f"{path!r} is not a path; give a folder or a file to write to")
    if not os.fspath(path):
        raise InvalidInput("path is empty; give a folder or a file to write to")
    return os.path.abspath(os.path.expanduser(os.fspath(path)))
