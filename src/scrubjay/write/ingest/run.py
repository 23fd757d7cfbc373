"""One pass over one folder: read what changed, keep what did not, follow what moved, drop what is gone."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.documents import Document, Unreadable
from scrubjay.documents.read import read, reader_of
from scrubjay.documents.walk import FoundFile, walk
from scrubjay.errors import InvalidInput
from scrubjay.storage.sql.files import Folder, IndexedFile, LeftOut, fitting, is_in, is_under
from scrubjay.text.analysis import readable, storable
from scrubjay.times import micros
from scrubjay.types import Memory, Scope
from scrubjay.types.reports import Ingested
from scrubjay.write.ingest.file_memory import bytes_of, memory_of
from scrubjay.write.ingest.known_files import KnownFiles, as_read
from scrubjay.write.remember import store

if TYPE_CHECKING:
    from scrubjay.write.context import Shelf

_BATCH = 50
_BATCH_CHARS = 1_000_000

Report = Callable[[int, int, str], None]


class _Change(NamedTuple):
    """What a file became: the memories to write (none where only its date moved), and what to drop."""

    file: FoundFile
    digest: str
    reader: str
    documents: tuple[tuple[Memory, Document], ...] = ()
    kept: tuple[IndexedFile, ...] = ()
    surplus: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How much there is to write."""
        return sum(len(memory.text) for memory, _ in self.documents)


class IngestRun:
    """One run over one root: what was known before, and what has happened so far."""

    def __init__(
        self, shelf: Shelf, root: str, collection: str | None, namespace: str, claimed: set[str]
    ) -> None:
        self._shelf = shelf
        self._root = root
        self.namespace = namespace
        self._collection = collection or _usual_collection(shelf, root, namespace)
        here = Scope(namespaces=(namespace,))
        self._inner = [one for one in shelf.folders.all(here) if is_in(one.path, root)]
        self._renamed = collection is not None
        self._known = KnownFiles(shelf, root, namespace, claimed)
        self._batch: list[_Change] = []
        self._left: list[LeftOut] = []
        self._notes: list[tuple[str, str]] = []
        self._present: set[str] = set()
        self._claimed = claimed  # ids of documents whose file moved, to here or to another root
        self.touched: set[str] = set()
        self.names: set[str] = set()  # of pages that came or went: links to them may change
        self.added = self.updated = self.unchanged = self.moved = 0

    def read(self, report: Report | None) -> None:
        """Read what is new or changed below the root; one transaction a batch of files."""
        found = [
            one._replace(mtime_ns=fitting(one.mtime_ns))
            for one in walk(self._root, self._leave, self._shelf.own_files)
        ]
        self._present = {one.path for one in found}
        here = self._root if os.path.isdir(self._root) else os.path.dirname(self._root)
        for number, file in enumerate(found):
            if report:
                report(number, len(found), os.path.relpath(file.path, here))
            change = self._look(file)
            if change is not None:
                self._batch.append(change)
            # Files are read before the transaction begins, and it is kept short: others want to write.
            if len(self._batch) >= _BATCH or sum(c.size for c in self._batch) > _BATCH_CHARS:
                self._flush()
        self._flush()
        if report:
            report(len(found), len(found), "")

    def finish(self) -> Ingested:
        """Drop what is gone, and note the root as followed."""
        shelf = self._shelf
        gone = self._drop_gone()
        with shelf.records.transaction():
            shelf.check_place(self.namespace)
            shelf.files.leave_out(self._root, self.namespace, self._left)
            if storable(self._root):
                now = micros(shelf.clock())
                place = (self._root, self._collection, self.namespace, now, shelf.person)
                shelf.folders.follow(Folder(*place))
        return Ingested(
            self.added,
            self.updated,
            self.unchanged,
            self.moved,
            gone,
            self._reasons("skipped"),
            self._reasons("failed"),
            tuple(self._notes),
        )

    def _leave(
        self, path: str, reason: str, failed: bool, file: FoundFile | None = None, reader: str = ""
    ) -> None:
        state = "failed" if failed else "skipped"
        size, mtime_ns = (file.size, file.mtime_ns) if file else (0, 0)
        self._left.append(
            LeftOut(
                readable(path), state, reason, self._collection_of(path), size, mtime_ns, reader
            )
        )

    def _collection_of(self, path: str) -> str:
        """Return the collection of the root, or of a followed folder inside it that is nearer."""
        nearer = [one for one in self._inner if is_under(path, one.path)]
        nearest = max(nearer, key=lambda one: len(one.path), default=None)
        return nearest.collection if nearest else self._collection

    def _reasons(self, state: str) -> tuple[tuple[str, str], ...]:
        return tuple((one.path, one.reason) for one in self._left if one.state == state)

    def _look(self, file: FoundFile) -> _Change | None:
        """Read a file if it changed; note it where it cannot be read."""
        if not storable(file.path):
            self._leave(file.path, "its name is not valid text; rename it first", True)
            return None
        reader = f"{reader_of(file.path)} {self._shelf.cutting}"
        known = self._known.of(file.path)
        seen = (file.size, file.mtime_ns)
        place = self._collection_of(file.path)
        same_place = not self._renamed or all(one.collection == place for one in known)
        if known and same_place and as_read(known, seen, reader):
            self.unchanged += 1
            return None
        skipped = self._known.skipped(file.path, seen, reader)
        if skipped:
            self._left.append(skipped._replace(collection=place))
            return None
        try:
            data = bytes_of(file)
            digest = sha256(data).hexdigest()
            if known and same_place and as_read(known, None, reader, digest):
                self.unchanged += 1
                return _Change(file, digest, reader, kept=tuple(known))
            return self._change(file, known, digest, reader, read(file.path, data))
        except Unreadable as left_out:
            self._leave(file.path, left_out.reason, left_out.failed, file, reader)
        except InvalidInput as error:
            self._leave(file.path, str(error), True, file, reader)
        except OSError as error:
            self._leave(file.path, error.strerror or str(error), True, file, reader)
        return None

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
        made = []
        for one in documents:
            id_ = self._id_of(file.path, one, ids.get(one.name))
            place = (self.namespace, self._collection_of(file.path))
            made.append((memory_of(file, id_, one, *place), one))
            self._notes.extend((readable(file.path), note) for note in one.notes)
        if known:
            self.updated += 1
        elif before:
            self.moved += 1
            self._claimed.update(one.memory for one in before)
        else:
            self.added += 1
        self.names.update(self._shelf.names_of(before))  # it may go by other names from now on
        surplus = {one.memory for one in before} - {memory.id for memory, _ in made}
        return _Change(file, digest, reader, tuple(made), surplus=tuple(sorted(surplus)))

    def _id_of(self, path: str, document: Document, before: str | None) -> str:
        """Return the id of a document: what its file asks for, if no other memory has that."""
        wanted = document.id
        if wanted and (wanted == before or self._known.is_free(wanted, path)):
            self._known.claim(wanted, path)
            return wanted
        made = before or self._known.new_id(path, document.name)
        if wanted:
            self._notes.append(
                (readable(path), f"its id {wanted!r} is another memory's; it is {made} here")
            )
        return made

    def _flush(self) -> None:
        if not self._batch:
            return
        shelf = self._shelf
        with shelf.records.transaction():
            shelf.check_place(self.namespace)
            if any(change.documents for change in self._batch):
                shelf.targets.unsettle(self.namespace)
            for change in self._batch:
                seen = (change.file.size, change.file.mtime_ns, change.digest)
                for one in change.kept:
                    shelf.files.put(
                        IndexedFile(one.path, one.memory, *seen, None, one.part, change.reader)
                    )
                for drafted, document in change.documents:
                    memory = drafted
                    # Somebody else may have taken it since the file was read.
                    if document.id == memory.id:
                        id_ = self._id_of(change.file.path, document, None)
                        memory = memory._replace(id=id_)
                    store(shelf, memory)
                    shelf.files.put(
                        IndexedFile(
                            change.file.path, memory.id, *seen, None, document.name, change.reader
                        )
                    )
                    shelf.note_targets(memory.id, document.targets)
                    self.touched.add(memory.id)
                    self.names.update(shelf.names(change.file.path, memory))
            surplus = [id_ for change in self._batch for id_ in change.surplus]
            if surplus:
                shelf.records.delete(surplus)
        self._batch.clear()

    def _drop_gone(self) -> int:
        """Remove the documents of files that are gone or no longer wanted, not of those out of reach."""
        skipped = {one.path for one in self._left if one.state == "skipped"}
        out_of_reach = [one.path for one in self._left if one.state == "failed"]
        gone = [
            one
            for path, files in self._known.items()
            for one in files
            if one.memory not in self._claimed
            and (path in skipped or path not in self._present)
            and not any(is_under(path, folder) for folder in out_of_reach)
        ]
        if not gone:
            return 0
        with self._shelf.records.transaction():
            self._shelf.check_place(self.namespace)
            # Another process may have read it in its new place meanwhile: then it is not gone.
            now = self._shelf.files.of([one.memory for one in gone])
            gone = [one for one in gone if one.memory in now and now[one.memory].path == one.path]
            self.names.update(self._shelf.names_of(gone))
            self._shelf.targets.unsettle(self.namespace)
            self._shelf.records.delete([one.memory for one in gone])
        self._claimed.update(one.memory for one in gone)
        return len({one.path for one in gone})


def _usual_collection(shelf: Shelf, root: str, namespace: str) -> str:
    """Return the collection that a root went into before, else the name of its folder."""
    held = shelf.folders.holding(root, namespace)
    if held:
        return held.collection
    folder = root if os.path.isdir(root) else os.path.dirname(root)
    shown = "".join(c if c.isprintable() else " " for c in readable(os.path.basename(folder)))
    return shown.strip() or "files"
