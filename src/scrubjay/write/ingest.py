"""Files into documents: read what changed, keep what did not, drop what is gone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.stores.sqlite_files import IndexedFile, SqliteFiles
from scrubjay.text import readable, storable
from scrubjay.types import Ingested, Memory
from scrubjay.write.markdown import title
from scrubjay.write.remember import draft, store

if TYPE_CHECKING:
    from scrubjay.stores.sqlite import Database
    from scrubjay.stores.sqlite_graph import SqliteGraph
    from scrubjay.stores.sqlite_records import SqliteRecords

FORMATS = {".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text"}
MOST_BYTES = 10_000_000
_BATCH = 50
_BATCH_CHARS = 1_000_000

Report = Callable[[int, int, str], None]


class Unreadable(Exception):
    """Why one file was left out; `failed` when a person would have wanted it in."""

    def __init__(self, reason: str, *, failed: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.failed = failed


class _Tally:
    """What one run has done so far."""

    def __init__(self) -> None:
        self.added = self.updated = self.unchanged = 0
        self.skipped: list[tuple[str, str]] = []
        self.failed: list[tuple[str, str]] = []


def ingest(
    db: Database,
    records: SqliteRecords,
    graph: SqliteGraph,
    path: str | os.PathLike[str],
    collection: str | None,
    namespace: str | None,
    report: Report | None,
) -> Ingested:
    """Bring the index in step with a file or folder; one transaction a batch of files."""
    root = os.path.abspath(os.path.expanduser(os.fspath(path)))
    if not os.path.exists(root):
        raise InvalidInput(f"there is no file or folder {root}")
    folder = root if os.path.isdir(root) else os.path.dirname(root)
    name = collection or os.path.basename(folder) or "files"
    files, tally = SqliteFiles(db), _Tally()
    known = {one.path: one for one in files.under(root, namespace)}
    paths = list(_walk(root, tally))
    batch: list[_Change] = []

    def flush() -> None:
        with records.transaction():
            for change in batch:
                if change.document is not None:
                    store(records, graph, change.document)
                files.put(change.file)
        batch.clear()

    for number, file in enumerate(paths):
        if report:
            report(number, len(paths), os.path.relpath(file, folder))
        change = _look(file, known.get(file), name, namespace, tally, named=collection is not None)
        if change is not None:
            batch.append(change)
        # Files are read before the transaction begins, and it is kept short: others want to write.
        if len(batch) >= _BATCH or sum(one.size for one in batch) > _BATCH_CHARS:
            flush()
    flush()
    left_out = {file for file, _ in tally.skipped}
    unreachable = tuple(os.path.join(folder, "") for folder, _ in tally.failed)
    gone = [
        one.memory
        for one in known.values()
        if one.path in left_out
        or (not os.path.isfile(one.path) and not one.path.startswith(unreachable))
    ]
    if gone:
        records.delete(gone)
    if report:
        report(len(paths), len(paths), "")
    return Ingested(
        tally.added,
        tally.updated,
        tally.unchanged,
        len(gone),
        tuple(tally.skipped),
        tuple(tally.failed),
    )


def _walk(root: str, tally: _Tally) -> Iterator[str]:
    """Yield the files below a root, sorted; hidden ones are left alone, links are not followed."""
    if os.path.isfile(root):
        yield root
        return

    def unreadable(error: OSError) -> None:
        tally.failed.append((str(error.filename), error.strerror or str(error)))

    for folder, inner, names in os.walk(root, onerror=unreadable):
        inner[:] = sorted(one for one in inner if not one.startswith("."))
        for one in sorted(names):
            path = os.path.join(folder, one)
            if not one.startswith(".") and os.path.splitext(one)[1].lower() in FORMATS:
                yield path


class _Change(NamedTuple):
    """A file to note, with its document unless that stays as it is."""

    file: IndexedFile
    document: Memory | None = None

    @property
    def size(self) -> int:
        """How much there is to write."""
        return len(self.document.text) if self.document is not None else 0


def _look(
    path: str,
    before: IndexedFile | None,
    collection: str,
    namespace: str | None,
    tally: _Tally,
    *,
    named: bool,
) -> _Change | None:
    """Read a file if it changed; say in the tally what became of it."""
    moved = before is not None and named and before.collection != collection
    try:
        if not storable(path):
            raise Unreadable("its name is not valid text; rename it first", failed=True)
        stat = os.stat(path)
        seen = (stat.st_size, stat.st_mtime_ns)
        if before and (before.size, before.mtime_ns) == seen and not moved:
            tally.unchanged += 1
            return None
        content = _read(path, stat.st_size)
    except Unreadable as left_out:
        (tally.failed if left_out.failed else tally.skipped).append(
            (readable(path), left_out.reason)
        )
        return None
    except OSError as error:
        tally.failed.append((path, error.strerror or str(error)))
        return None
    digest = sha256(content.encode()).hexdigest()
    if before and before.digest == digest and not moved:
        tally.unchanged += 1
        return _Change(IndexedFile(path, before.memory, *seen, digest, before.collection))
    document = _document(path, content, collection, namespace, stat.st_mtime_ns)
    if before:
        tally.updated += 1
    else:
        tally.added += 1
    return _Change(IndexedFile(path, document.id, *seen, digest, collection), document)


def _read(path: str, size: int) -> str:
    if size > MOST_BYTES:
        raise Unreadable(f"larger than {MOST_BYTES // 1_000_000} MB", failed=False)
    with open(path, "rb") as file:
        data = file.read()
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if encoding == "utf-8-sig" and b"\0" in data:
        raise Unreadable("binary, not text", failed=False)
    try:
        content = data.decode(encoding)
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8 text; convert it first", failed=True) from None
    if not content.strip():
        raise Unreadable("empty", failed=False)
    return content


def _document(
    path: str, content: str, collection: str, namespace: str | None, mtime_ns: int
) -> Memory:
    kind = FORMATS.get(os.path.splitext(path)[1].lower(), "text")
    changed = datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    return draft(
        {
            "id": document_id(path, namespace),
            "text": content,
            "title": title_of(content, path, kind),
            "type": "document",
            "namespace": namespace,
            "collection": collection,
            "source": path,
            "created_at": changed,
            "updated_at": changed,
            "metadata": {"format": kind},
        }
    )


def document_id(path: str, namespace: str | None) -> str:
    """Return the id of a file's document: the same as long as the file stays where it is."""
    return "doc-" + sha256(f"{namespace or ''}\0{path}".encode()).hexdigest()[:12]


def title_of(content: str, path: str, kind: str) -> str:
    """Return the front matter's title, else the first heading, else the file's name."""
    found = title(content) if kind == "markdown" else ""
    return found or os.path.splitext(os.path.basename(path))[0]
