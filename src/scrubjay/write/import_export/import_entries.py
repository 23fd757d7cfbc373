"""Import entries: read Markdown files and JSON lines, check each, write in batches, link at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TextIO

from scrubjay.documents import Unreadable
from scrubjay.documents.read import decode
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.storage.sql.records import content_of
from scrubjay.text.markdown import front_matter
from scrubjay.types import Link, Memory, Scope
from scrubjay.types.reports import Imported
from scrubjay.write.fields import draft
from scrubjay.write.import_export.format import file_name, from_line, from_markdown, id_in
from scrubjay.write.remember import (
    changes_nothing,
    memory_to_replace,
    merge,
    remember,
    with_event_time,
)

if TYPE_CHECKING:
    from scrubjay.write.context import WriteContext

Stream = TextIO | BinaryIO
Source = str | os.PathLike[str] | Stream
_MARKDOWN = (".md", ".markdown")
_LINES = (".jsonl", ".ndjson")
_NOT_UTF_8 = "not UTF-8 text; convert it first"
_BATCH = 500
_BATCH_CHARS = 1_000_000  # transactions are short: others wait to write


# -- reading ----------------------------------------------------------------------------------


class Read(NamedTuple):
    """One entry that was read: where, and either the arguments of `add` or the reason why not.
    `has_made_title`: the file has no front matter, so its title is a heading or the file name."""

    where: str
    given: dict[str, Any] | None
    reason: str = ""
    has_made_title: bool = False


def checked_sources(sources: Sequence[Source]) -> list[str | Stream]:
    """Return the sources with paths as text; refuse one that is missing or cannot have entries."""
    checked: list[str | Stream] = []
    for source in sources:
        if not isinstance(source, str | os.PathLike):
            if not hasattr(source, "read"):
                raise InvalidInput(
                    f"{source!r} is neither a path nor a stream; give each source as an argument"
                )
            checked.append(source)
            continue
        path = os.path.expanduser(os.fspath(source))
        if not path or not os.path.exists(path):
            raise InvalidInput(f"there is no file or folder {path!r}; give a path to import")
        if not os.path.isdir(path) and not path.lower().endswith((*_MARKDOWN, *_LINES)):
            raise InvalidInput(
                f"{path} is neither Markdown (.md) nor JSON lines (.jsonl); for other files use"
                " `scrubjay ingest`"
            )
        checked.append(path)
    if not checked:
        raise InvalidInput("there is nothing to import; give a folder, a .md or a .jsonl file")
    return checked


def files_in(sources: Sequence[str | Stream]) -> list[str | Stream]:
    """Return every file and stream, those of a folder by name; a folder without any is kept as it is."""
    files: list[str | Stream] = []
    for source in sources:
        if isinstance(source, str) and os.path.isdir(source):
            files += list(_markdown_below(source)) or [source]
        else:
            files.append(source)
    return files


def are_counted(files: Sequence[str | Stream]) -> bool:
    """True when each file is one entry, so that their number is known."""
    return all(isinstance(file, str) and not file.lower().endswith(_LINES) for file in files)


def entries_in(files: Sequence[str | Stream]) -> Iterator[Read]:
    """Yield every entry; one that cannot be read is yielded with the reason."""
    by_name = {os.path.basename(file): file for file in files if isinstance(file, str)}
    for file in files:
        if not isinstance(file, str):
            name = getattr(file, "name", None)
            yield from _lines_of(name if isinstance(name, str) else "-", file)
        elif os.path.isdir(file):
            yield Read(file, None, "this folder has no Markdown files (.md)")
        elif file.lower().endswith(_LINES):
            try:
                with open(file, "rb") as opened:
                    yield from _lines_of(file, opened)
            except OSError as error:
                yield Read(file, None, error.strerror or str(error))
        else:
            yield _refuse_copy(_markdown(file), by_name)


def _markdown_below(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(_MARKDOWN) and not name.startswith("."):
                yield os.path.join(where, name)


def _markdown(path: str) -> Read:
    try:
        text = decode(Path(path).read_bytes())
        given = from_markdown(text, Path(path).stem)
        return Read(path, given, has_made_title=not front_matter(text)[1])
    except OSError as error:
        return Read(path, None, error.strerror or str(error))
    except (Unreadable, InvalidInput) as error:
        return Read(path, None, str(error))


def _refuse_copy(read: Read, by_name: Mapping[str, str]) -> Read:
    """Refuse a file with the id of another that is named after that id: it is the copy."""
    id_ = (read.given or {}).get("id")
    if not isinstance(id_, str):
        return read
    name = file_name(id_)
    original = by_name.get(name)
    if original is None or os.path.basename(read.where) == name:
        return read
    try:
        if id_in(decode(Path(original).read_bytes())) != id_:
            return read
    except (OSError, Unreadable):
        return read
    reason = f"{original} has the same id, {id_!r}, and is named after it; give another id"
    return Read(read.where, None, reason)


def _lines_of(name: str, lines: Iterable[str | bytes]) -> Iterator[Read]:
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _line(f"{name}:{number}", line)
    except UnicodeDecodeError:  # a text stream cannot continue after that
        yield Read(f"{name}:{number + 1}", None, _NOT_UTF_8)


def _line(where: str, line: str | bytes) -> Read:
    try:
        text = line if isinstance(line, str) else line.decode("utf-8")
        return Read(where, from_line(text.removeprefix("\ufeff")))
    except UnicodeDecodeError:
        return Read(where, None, _NOT_UTF_8)
    except InvalidInput as error:
        return Read(where, None, str(error))


# -- writing ----------------------------------------------------------------------------------


class Rights(NamedTuple):
    """What the caller may see and change, where an entry is placed, and what follows a batch."""

    sees: Scope
    changes: Scope
    placed: Callable[[dict[str, Any]], dict[str, Any]]
    written: Callable[[list[Memory]], object]


class _Linked(NamedTuple):
    where: str
    id: str
    links: tuple[Link, ...]
    unchanged: bool


class EntryImport:
    """One import: entries taken so far, and those that failed. A rehearsal writes nothing."""

    def __init__(self, context: WriteContext, rights: Rights, *, rehearsal: bool) -> None:
        self._context = context
        self._rights = rights
        self._rehearsal = rehearsal
        self._batch: list[tuple[Read, Memory]] = []
        self._chars = 0
        self._where: dict[str, str] = {}  # by id
        # What a rehearsal would have stored, by content.
        self._rehearsed: dict[tuple[str, str, str], Memory] = {}
        self._first: dict[tuple[str, str, str], str] = {}  # place of a content without an id
        self._linked: list[_Linked] = []
        self._failed: list[tuple[str, str]] = []
        self._notes: list[tuple[str, str]] = []
        self._added = self._changed = self._unchanged = 0

    def take(self, read: Read) -> None:
        """Check an entry and add it to the batch; note the reason where it cannot be taken."""
        try:
            memory = self._checked(read)
        except (InvalidInput, NotFound) as error:
            self._failed.append((read.where, str(error)))
            return
        self._batch.append((read, memory))
        self._chars += len(memory.text)
        if len(self._batch) == _BATCH or self._chars > _BATCH_CHARS:
            self._flush()

    def finish(self) -> Imported:
        """Write the last batch, then the links: an entry may link to a later one."""
        self._flush()
        for start in range(0, len(self._linked), _BATCH):
            with self._transaction():
                self._link(self._linked[start : start + _BATCH])
        counts = (self._added, self._changed, self._unchanged)
        return Imported(*counts, tuple(self._failed), tuple(self._notes))

    def _checked(self, read: Read) -> Memory:
        if read.given is None:
            raise InvalidInput(read.reason)
        memory = draft(self._rights.placed(read.given))
        if memory.id:
            if any(link.to == memory.id for link in memory.links):
                raise InvalidInput(f"{memory.id} is linked to itself; leave it out of links")
            if memory.id in self._where:
                raise InvalidInput(
                    f"{self._where[memory.id]} has the same id, {memory.id!r}, and was taken first;"
                    " give another id"
                )
            self._where[memory.id] = read.where
        return memory

    def _flush(self) -> None:
        if not self._batch:
            return
        with self._transaction():
            written: list[Memory] = []
            for read, memory in self._batch:
                try:
                    self._context.check_place(memory.namespace)
                    written += self._store(read, memory)
                except (InvalidInput, NotFound) as error:
                    self._where.pop(memory.id, None)
                    self._failed.append((read.where, str(error)))
            if not self._rehearsal:
                self._rights.written(written)
        self._batch.clear()
        self._chars = 0

    def _transaction(self) -> AbstractContextManager[object]:
        return nullcontext() if self._rehearsal else self._context.records.transaction()

    def _store(self, read: Read, memory: Memory) -> list[Memory]:
        """Store one entry without its links, and count the outcome; return what was written."""
        now = self._context.clock()
        given, before = memory._replace(links=()), self._stored(memory)
        unchanged = False
        if before is not None:
            if before.title and read.has_made_title:
                given = given._replace(title="")  # two files of one text would rename it for ever
            if given.id:
                # "Yesterday" is relative to when it was written, not to now.
                given = with_event_time(given, now, before)
                unchanged = self._changes_nothing(before, given)
                if not unchanged and not given.updated_at:
                    # By its creation date, an entry that was edited today would be old.
                    given = given._replace(updated_at=now)
            else:
                unchanged = merge(before, given, now) is before
        stored = before if before is not None and unchanged else given
        if not unchanged and not self._rehearsal:
            stored = remember(self._context, given, self._rights.sees, self._rights.changes).memory
        if not memory.id and memory.type != "message":
            first = self._first.setdefault(content_of(memory), read.where)
            if first != read.where and not unchanged:
                note = f"{first} has the same text, so both are one memory, which now has"
                self._notes.append((read.where, f"{note} the fields of this one; give them ids"))
        self._added += before is None
        self._changed += before is not None and not unchanged
        self._unchanged += unchanged
        if self._rehearsal:
            self._rehearse(given if before is None or given.id else merge(before, given, now))
        if memory.links:
            self._linked.append(_Linked(read.where, stored.id, memory.links, unchanged))
        return [] if unchanged else [stored]

    def _changes_nothing(self, before: Memory, given: Memory) -> bool:
        return changes_nothing(before, given)

    def _rehearse(self, memory: Memory) -> None:
        self._rehearsed[content_of(memory)] = memory

    def _stored(self, memory: Memory) -> Memory | None:
        """Return the memory that this entry is already, by its id or by its text."""
        records = self._context.records
        if memory.id:
            return memory_to_replace(records, memory.id, self._rights.changes)
        if memory.type == "message":
            return None
        content = content_of(memory)
        if content in self._rehearsed:
            return self._rehearsed[content]
        same = records.find_duplicate(content)
        return None if same is None else records.get([same], Scope()).get(same)

    def _link(self, part: list[_Linked]) -> None:
        graph, sees = self._context.graph, self._rights.sees
        targets = {link.to for entry in part for link in entry.links}
        known = set(self._context.records.get(sorted(targets), sees))
        if self._rehearsal:
            known |= self._where.keys()
        for entry in part:
            before = set(graph.links(entry.id, sees)) if entry.id else set()
            new = [link for link in entry.links if link.to in known and link not in before]
            for link in new if not self._rehearsal else ():
                graph.link(entry.id, link.to, link.strength, link.kind)
            if new and entry.unchanged:
                self._unchanged -= 1
                self._changed += 1
            self._notes.extend(
                (entry.where, f"no memory has the id {link.to!r}; imported without this link")
                for link in entry.links
                if link.to not in known
            )
