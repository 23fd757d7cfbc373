"""One pass over a file or folder: read what changed, follow what moved, delete what is missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.documents import Document, GaveUp, Unreadable
from scrubjay.documents.isolated import IsolatedReader, Stopped
from scrubjay.documents.read import is_binary_name, reader_of
from scrubjay.documents.walk import FoundFile, walk
from scrubjay.errors import InvalidInput
from scrubjay.runtime.private_files import open_found
from scrubjay.storage.sql.files import (
    Folder,
    IndexedFile,
    SkippedFile,
    is_inside,
    is_under,
    storable_ns,
)
from scrubjay.text.analysis import is_valid_unicode, valid_unicode
from scrubjay.times import micros
from scrubjay.types import Memory, Scope
from scrubjay.types.reports import Ingested
from scrubjay.write.document_links import document_names, save_targets, stored_names
from scrubjay.write.fields import draft, valid_topics
from scrubjay.write.ingest.known_files import KnownFiles, is_unchanged
from scrubjay.write.remember import write_record

if TYPE_CHECKING:
    from scrubjay.write.context import WriteContext

MOST_BYTES = 10_000_000
_MOST_TITLE_CHARS = 500  # the title is repeated in front of every chunk that a model reads
_BATCH = 50
_BATCH_CHARS = 1_000_000

Report = Callable[[int, int, str], None]


class _Change(NamedTuple):
    """A file that changed: documents to write, or files of which only the date changed, and ids to drop."""

    file: FoundFile
    digest: str
    reader: str
    documents: tuple[tuple[Memory, Document], ...] = ()
    touched: tuple[IndexedFile, ...] = ()
    surplus: tuple[str, ...] = ()


class IngestRun:
    """One run over one root. `moved` has the ids of documents whose file moved, here or to another root.
    A rehearsal reads and writes nothing, and is not finished."""

    def __init__(
        self,
        context: WriteContext,
        root: str,
        collection: str | None,
        namespace: str,
        moved: set[str],
        reader: IsolatedReader,
        *,
        rehearsal: bool = False,
    ) -> None:
        self._context = context
        self._reader = reader
        self._rehearsal = rehearsal
        self._root = root
        self.namespace = namespace
        self._collection = collection or _default_collection(context, root, namespace)
        here = Scope(namespaces=(namespace,))
        self._inner = [one for one in context.folders.all(here) if is_inside(one.path, root)]
        self._is_collection_given = collection is not None
        self._known = KnownFiles(context, root, namespace, moved)
        self._batch: list[_Change] = []
        self._left_out: list[SkippedFile] = []
        self._notes: list[tuple[str, str]] = []
        self._present: set[str] = set()
        self._moved = moved
        self.changed: set[str] = set()  # ids of documents that were written
        self.names: set[str] = set()  # of documents that came or went: links to them may change
        self._added = self._updated = self._unchanged = self._moves = 0

    def read(self, report: Report | None) -> None:
        """Read what is new or changed below the root, with one transaction per batch of files."""
        files = [
            file._replace(mtime_ns=storable_ns(file.mtime_ns))
            for file in walk(self._root, self._leave_out, self._context.own_files)
        ]
        self._present = {file.path for file in files}
        folder = self._root if os.path.isdir(self._root) else os.path.dirname(self._root)
        chars = 0
        for number, file in enumerate(files):
            if report:
                report(number, len(files), os.path.relpath(file.path, folder))
            try:
                change = self._read_file(file)
            except Stopped:
                self._flush()
                raise
            if change is not None:
                self._batch.append(change)
                chars += sum(len(memory.text) for memory, _ in change.documents)
            # Files are read before the transaction begins, and it is short: others wait to write.
            if len(self._batch) >= _BATCH or chars > _BATCH_CHARS:
                self._flush()
                chars = 0
        self._flush()
        if report:
            report(len(files), len(files), "")

    def finish(self) -> Ingested:
        """Delete the documents of missing files, and store the root as a followed folder."""
        context = self._context
        removed = self._delete_missing()
        with context.records.transaction():
            context.check_place(self.namespace)
            context.files.set_skipped(self._root, self.namespace, self._left_out)
            if is_valid_unicode(self._root):
                now = micros(context.clock())
                place = (self._root, self._collection, self.namespace, now, context.user)
                context.folders.follow(Folder(*place))
        return self.report(removed)

    def report(self, removed: int = 0) -> Ingested:
        """Return what was read so far."""
        counts = (self._added, self._updated, self._unchanged, self._moves, removed)
        skipped, failed = (
            tuple((left.path, left.reason) for left in self._left_out if left.state == state)
            for state in ("skipped", "failed")
        )
        return Ingested(*counts, skipped, failed, tuple(self._notes))

    def _leave_out(
        self, path: str, reason: str, failed: bool, file: FoundFile | None = None, reader: str = ""
    ) -> None:
        stat = (file.size, file.mtime_ns) if file else (0, 0)
        why = ("failed" if failed else "skipped", reason, self._collection_of(path))
        self._left_out.append(SkippedFile(valid_unicode(path), *why, *stat, reader))

    def _collection_of(self, path: str) -> str:
        """Return the collection of the root, or of the nearest followed folder inside it."""
        inner = [folder for folder in self._inner if is_under(path, folder.path)]
        nearest = max(inner, key=lambda folder: len(folder.path), default=None)
        return nearest.collection if nearest else self._collection

    def _read_file(self, file: FoundFile) -> _Change | None:
        """Read a file if it changed; note why where it cannot be read."""
        if not is_valid_unicode(file.path):
            self._leave_out(file.path, "the file name is not valid UTF-8; rename it", True)
            return None
        reader = f"{reader_of(file.path)} {self._context.chunk_sizes}"
        known = self._known.files.get(file.path, [])
        stat = (file.size, file.mtime_ns)
        place = self._collection_of(file.path)
        same_place = known and (
            not self._is_collection_given or all(one.collection == place for one in known)
        )
        if same_place and is_unchanged(known, stat, reader):
            self._unchanged += 1
            return None
        # A file that is named is always tried again.
        limited = "" if file.path == self._root else self._limited(reader)
        skipped = self._known.skipped(file.path, stat, reader, limited)
        if skipped:
            self._left_out.append(skipped._replace(collection=place))
            return None
        try:
            data = bytes_of(file)
            digest = self._context.files.digest(data)
            if same_place and is_unchanged(known, None, reader, digest):
                self._unchanged += 1
                return _Change(file, digest, reader, touched=tuple(known))
            documents = self._reader.read(file.path, data, self._flush)
            return self._change(file, known, digest, reader, documents)
        except GaveUp as gave_up:
            self._leave_out(file.path, gave_up.reason, True, file, self._limited(reader))
            self._remember_failure()
        except Unreadable as unreadable:
            self._leave_out(file.path, unreadable.reason, unreadable.failed, file, reader)
        except InvalidInput as error:
            self._leave_out(file.path, str(error), True, file, reader)
        except OSError as error:
            self._leave_out(file.path, error.strerror or str(error), True, file, reader)
        return None

    def _limited(self, reader: str) -> str:
        """Return the reader with its limits: a file that it gave up is read again with others."""
        limits = self._context.file_limits
        return f"{reader} {limits.timeout_s:g}s {limits.memory_mb}MB"

    def _remember_failure(self) -> None:
        """Store at once that the last file failed: a run that is killed must not try it again."""
        if self._rehearsal:
            return
        context, failure = self._context, self._left_out[-1]
        with context.records.transaction():
            context.check_place(self.namespace)
            context.files.set_skipped(failure.path, self.namespace, [failure])

    def _change(
        self,
        file: FoundFile,
        known: list[IndexedFile],
        digest: str,
        reader: str,
        documents: list[Document],
    ) -> _Change:
        before = known or self._known.moved_from(digest)
        ids = {one.part: one.memory for one in before}
        place = (self.namespace, self._collection_of(file.path))
        memories = []
        for document in documents:
            id_ = self._id_of(file.path, document, ids.get(document.name))
            memories.append((memory_of(file, id_, document, *place), document))
            self._notes.extend((valid_unicode(file.path), note) for note in document.notes)
        if known:
            self._updated += 1
        elif before:
            self._moves += 1
            self._moved.update(one.memory for one in before)
        else:
            self._added += 1
        self.names |= stored_names(self._context, before)  # it may have other names from now on
        surplus = {one.memory for one in before} - {memory.id for memory, _ in memories}
        return _Change(file, digest, reader, tuple(memories), surplus=tuple(sorted(surplus)))

    def _id_of(self, path: str, document: Document, before: str | None) -> str:
        """Return the id of a document: the one its file gives, unless another memory has it."""
        if document.id and self._known.claim(document.id, path, before):
            return document.id
        id_ = before or self._known.new_id(path, document.name)
        if document.id:
            note = f"its id {document.id!r} belongs to another memory; it was stored as {id_}"
            self._notes.append((valid_unicode(path), note))
        return id_

    def _flush(self) -> None:
        if not self._batch or self._rehearsal:
            self._batch.clear()
            return
        context = self._context
        with context.records.transaction():
            context.check_place(self.namespace)
            if any(change.documents for change in self._batch):
                context.targets.mark_unresolved(self.namespace)
            for change in self._batch:
                self._write(change)
            surplus = [id_ for change in self._batch for id_ in change.surplus]
            if surplus:
                context.records.delete(surplus)
        self._batch.clear()

    def _write(self, change: _Change) -> None:
        context, path, put = self._context, change.file.path, self._context.files.put
        stat = (change.file.size, change.file.mtime_ns, change.digest, None)
        for file in change.touched:
            put(IndexedFile(file.path, file.memory, *stat, file.part, change.reader))
        for memory, document in change.documents:
            # Another process may have taken the id since the file was read.
            id_ = self._id_of(path, document, None) if document.id == memory.id else memory.id
            # A file has versions of its own: with each of them here, documents would fill the store.
            memory, _ = write_record(context, memory._replace(id=id_))
            context.versions.delete(id_)
            put(IndexedFile(path, id_, *stat, document.name, change.reader))
            save_targets(context, id_, document.targets)
            self.changed.add(id_)
            self.names |= document_names(path, memory)

    def _delete_missing(self) -> int:
        """Delete the documents of files that are missing or now skipped, unless out of reach."""
        skipped = {left.path for left in self._left_out if left.state == "skipped"}
        out_of_reach = [left.path for left in self._left_out if left.state == "failed"]
        missing = [
            file
            for path, files in self._known.files.items()
            for file in files
            if file.memory not in self._moved
            and (path in skipped or path not in self._present)
            and not any(is_under(path, folder) for folder in out_of_reach)
        ]
        if not missing:
            return 0
        context = self._context
        with context.records.transaction():
            context.check_place(self.namespace)
            # Another process may have read it in its new place meanwhile: then it has moved.
            now = context.files.of([file.memory for file in missing])
            places = {(id_, file.path) for id_, file in now.items()}
            missing = [file for file in missing if (file.memory, file.path) in places]
            self.names |= stored_names(context, missing)
            context.targets.mark_unresolved(self.namespace)
            context.records.delete([file.memory for file in missing])
        self._moved.update(file.memory for file in missing)
        return len({file.path for file in missing})


def _default_collection(context: WriteContext, root: str, namespace: str) -> str:
    """Return the collection that a root was ingested into before, else the name of its folder."""
    folder = context.folders.containing(root, namespace)
    if folder:
        return folder.collection
    path = root if os.path.isdir(root) else os.path.dirname(root)
    name = "".join(c if c.isprintable() else " " for c in valid_unicode(os.path.basename(path)))
    return name.strip() or "files"


def bytes_of(file: FoundFile) -> bytes:
    """Return the content of a file; refuse one that is binary or too large."""
    if is_binary_name(file.path):
        raise Unreadable("binary, not text", failed=False)
    too_large = Unreadable(f"larger than {MOST_BYTES // 1_000_000} MB", failed=False)
    if file.size > MOST_BYTES:
        raise too_large
    with open_found(file.path, file.below) if file.below else open(file.path, "rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:  # it grew since it was found
        raise too_large
    return data


def memory_of(
    file: FoundFile, id_: str, document: Document, namespace: str, collection: str
) -> Memory:
    """Return the memory of a document; title and times come from the file where the document has none."""
    changed = datetime.fromtimestamp(file.mtime_ns / 1e9, UTC)
    stem = os.path.splitext(os.path.basename(file.path))[0]
    return draft(
        {
            "id": id_,
            "text": document.text,
            "title": document.title[:_MOST_TITLE_CHARS].strip() or stem,
            "type": "document",
            "topics": valid_topics(document.topics),
            "namespace": namespace,
            "collection": collection,
            "source": file.path,
            "created_at": document.created_at or changed,
            "updated_at": document.updated_at or changed,
            "metadata": {**document.metadata, "format": document.format},
            **document.fields,
        }
    )
