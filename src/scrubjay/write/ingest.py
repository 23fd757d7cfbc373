"""Files into memories: read what changed, keep what did not, follow what moved, drop what is gone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.documents import Document, Unreadable
from scrubjay.documents.kinds import is_binary_name
from scrubjay.documents.read import read, reader_of
from scrubjay.documents.walk import FoundFile, walk
from scrubjay.errors import InvalidInput
from scrubjay.reports import Ingested
from scrubjay.stores.sqlite_files import IndexedFile, LeftOut, fitting, is_in, is_under
from scrubjay.stores.sqlite_folders import Folder
from scrubjay.text import readable, storable
from scrubjay.times import micros
from scrubjay.types import DEFAULT_NAMESPACE, Memory, Scope
from scrubjay.write.remember import draft, store, topics_of

if TYPE_CHECKING:
    from scrubjay.write.shelf import Shelf

MOST_BYTES = 10_000_000
_BATCH = 50
_BATCH_CHARS = 1_000_000
_MOST_TITLE = 500  # characters; it stands in front of every passage that a model reads

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


class _Ingest:
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
        self._known: dict[str, list[IndexedFile]] = {}
        for one in shelf.files.under(root, namespace):
            self._known.setdefault(one.path, []).append(one)
        self._skipped_before = {
            one.path: one for one in shelf.files.left_out(root, here) if one.state == "skipped"
        }
        self._batch: list[_Change] = []
        self._left: list[LeftOut] = []
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
        known = self._known.get(file.path, [])
        seen = (file.size, file.mtime_ns)
        place = self._collection_of(file.path)
        same_place = not self._renamed or all(one.collection == place for one in known)
        if known and same_place and _as_read(known, seen, reader):
            self.unchanged += 1
            return None
        skipped = self._skipped_before.get(file.path)
        if skipped and (skipped.size, skipped.mtime_ns, skipped.reader) == (*seen, reader):
            self._left.append(skipped._replace(collection=place))
            return None
        try:
            data = _bytes_of(file)
            digest = sha256(data).hexdigest()
            if known and same_place and _as_read(known, None, reader, digest):
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
        before = known or self._moved_from(digest)
        ids = {one.part: one.memory for one in before}
        made = []
        for one in documents:
            id_ = ids.get(one.name) or self._new_id(file.path, one.name)
            made.append((self._memory(file, id_, one), one))
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

    def _moved_from(self, digest: str) -> list[IndexedFile]:
        """Return the documents of a file that held these bytes and is gone: it lives on here."""
        by_path: dict[str, list[IndexedFile]] = {}
        for one in self._shelf.files.with_digest(digest, self.namespace):
            if one.memory not in self._claimed and not os.path.lexists(one.path):
                by_path.setdefault(one.path, []).append(one)
        return by_path[min(by_path)] if by_path else []

    def _new_id(self, path: str, part: str) -> str:
        """Return an id made from the path; a document that moved away may still have it."""
        for attempt in range(1_000_000):
            secret = self._shelf.records.secret(self.namespace)
            numbered = [str(attempt)] if attempt else []
            seed = "\0".join((secret + self.namespace, path, part, *numbered))
            made = "doc-" + sha256(seed.encode()).hexdigest()[:12]
            of = self._shelf.files.of([made]).get(made)
            # Another process may have read this very file in the meantime.
            if (of and (of.path, of.part) == (path, part)) or not self._shelf.taken(made):
                return made
        raise InvalidInput(f"no id is free for {path}")

    def _memory(self, file: FoundFile, id_: str, document: Document) -> Memory:
        changed = datetime.fromtimestamp(file.mtime_ns / 1e9, UTC)
        stem = os.path.splitext(os.path.basename(file.path))[0]
        return draft(
            {
                "id": id_,
                "text": document.text,
                "title": document.title[:_MOST_TITLE].strip() or stem,
                "type": "document",
                "topics": _topics(document.topics),
                "namespace": self.namespace,
                "collection": self._collection_of(file.path),
                "source": file.path,
                "created_at": document.created_at or changed,
                "updated_at": document.updated_at or changed,
                "metadata": {**document.metadata, "format": document.format},
            }
        )

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
                for memory, document in change.documents:
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
    root = os.path.abspath(os.path.expanduser(os.fspath(path)))
    if not os.path.lexists(root):
        raise InvalidInput(f"there is no file or folder {root}")
    place = namespace or DEFAULT_NAMESPACE
    unsettled = {place: shelf.unsettled(place)}
    run = _Ingest(shelf, root, collection, place, set())
    run.read(report)
    return _finish(shelf, [run], unsettled)


def refresh(shelf: Shelf, folders: Sequence[Folder], report: Report | None) -> Ingested:
    """Bring every followed folder up to date; one that is not there now fails, and loses nothing."""
    unsettled = {one: shelf.unsettled(one) for one in {folder.namespace for folder in folders}}
    claimed: set[str] = set()
    runs: list[_Ingest] = []
    missing: list[tuple[str, str]] = []
    for folder in folders:
        if os.path.lexists(folder.path):
            runs.append(_Ingest(shelf, folder.path, None, folder.namespace, claimed))
            runs[-1].read(report)
        else:
            stays = f"not there now; what was read of it stays ({_remove_hint(folder.collection)})"
            missing.append((folder.path, stays))
    done = _finish(shelf, runs, unsettled)
    return done._replace(failed=(*missing, *done.failed))


def _remove_hint(collection: str) -> str:
    return f"to drop it: scrubjay collections remove {collection}"


def _finish(shelf: Shelf, runs: list[_Ingest], unsettled: Mapping[str, set[str]]) -> Ingested:
    """Drop what is gone and resolve links, once all is read: only then is it known what moved where."""
    total = Ingested()
    for run in runs:
        total = Ingested(*map(add, total, run.finish()))
    for namespace, left in unsettled.items():
        here = [run for run in runs if run.namespace == namespace]
        touched = left.union(*(run.touched for run in here))
        shelf.relink(touched, set().union(*(run.names for run in here)), namespace)
    return total


def _usual_collection(shelf: Shelf, root: str, namespace: str) -> str:
    """Return the collection that a root went into before, else the name of its folder."""
    held = shelf.folders.holding(root, namespace)
    if held:
        return held.collection
    folder = root if os.path.isdir(root) else os.path.dirname(root)
    shown = "".join(c if c.isprintable() else " " for c in readable(os.path.basename(folder)))
    return shown.strip() or "files"


def _topics(given: Iterable[str]) -> list[str]:
    """Return the topics that can be kept: one that cannot be is no reason to leave a document out."""
    kept: list[str] = []
    for one in given:
        with suppress(InvalidInput):
            kept.extend(topics_of([one]))
    return kept


def _as_read(
    known: list[IndexedFile], seen: tuple[int, int] | None, reader: str, digest: str = ""
) -> bool:
    """True when a file is as it was, by size and date or by its bytes, and would be read alike."""
    return all(
        one.reader == reader and ((one.size, one.mtime_ns) == seen or one.digest == digest)
        for one in known
    )


def _bytes_of(file: FoundFile) -> bytes:
    if is_binary_name(file.path):
        raise Unreadable("binary, not text", failed=False)
    if file.size > MOST_BYTES:
        raise Unreadable(f"larger than {MOST_BYTES // 1_000_000} MB", failed=False)
    with open(file.path, "rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:  # it grew since it was found
        raise Unreadable(f"larger than {MOST_BYTES // 1_000_000} MB", failed=False)
    return data
