"""Memories as text files with paths below /memories: create, view, edit, search.

A file is a memory of type `file` whose source is its path. So it has versions, is found by searches, and is
exported and backed up like any other memory. Folders exist as far as there are files in them.

Each edit is one transaction, which reads the text that it changes. Of two edits at once both are kept where
they are in different places, and the second one fails where the first has replaced its text. With `version`,
only the text that was read is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.storage.sql.files import SqlMemoryFiles
from scrubjay.text.memory_paths import (
    folders_above,
    is_below,
    parse_path,
    show_file,
    show_folder,
)
from scrubjay.text.validation import check_text
from scrubjay.types import DEFAULT_NAMESPACE, Filters, Memory, Results
from scrubjay.types.files import FILE, ROOT, File
from scrubjay.write.fields import draft
from scrubjay.write.remember import new_id

if TYPE_CHECKING:
    from scrubjay.store.context import Context
    from scrubjay.store.read import Reader
    from scrubjay.store.search import Search
    from scrubjay.store.write import Writer
    from scrubjay.types.reports import Version

_FORMATS = {"md": "markdown", "markdown": "markdown"}


class Files:
    """The files of a store: those of its user, or without a user those in the namespace `default`."""

    def __init__(self, context: Context, read: Reader, write: Writer, search: Search) -> None:
        self._context, self._reader, self._writer, self._search = context, read, write, search
        self._table = SqlMemoryFiles(context.db)
        self._namespace = context.permissions.personal or DEFAULT_NAMESPACE

    # -- reading ------------------------------------------------------------------------------

    def read(self, path: str) -> File:
        """Return a file; NotFound if there is none, InvalidInput for a folder."""
        with self._context.db.one_state():  # the version is that of the text
            return self._file(self._existing(path, self._paths()))

    def view(self, path: str = ROOT, *, lines: Sequence[int] | None = None) -> str:
        """Return a file with line numbers, or the listing of a folder, as a model is shown it.

        `lines` are the first and the last line to show; -1 as the last one is the end of the file.
        """
        place, paths = parse_path(path), self._paths()
        if place in paths:
            first, last = _line_range(lines)
            return show_file(path, self._memory(paths[place]).text, first, last)
        inside = {file: id_ for file, id_ in paths.items() if is_below(file, place)}
        if not inside and place != ROOT:
            raise _missing(path)
        files = self._context.tables.records.get(list(inside.values()), self._context.sees)
        sizes = (
            (file, len(files[id_].text.encode())) for file, id_ in inside.items() if id_ in files
        )
        return show_folder(path, place, sizes)

    def paths(self, folder: str = ROOT) -> list[str]:
        """Return the paths of all files in a folder and in those below it, by name."""
        place = parse_path(folder)
        return sorted(file for file in self._paths() if is_below(file, place))

    def search(
        self, query: str, prefix: str = ROOT, *, limit: int | None = None, mode: str | None = None
    ) -> Results:
        """Find files by meaning and by word, in one folder or one file. `source` of a hit is its path."""
        from scrubjay.store.search import Request

        place, paths = parse_path(prefix), self._paths()
        inside = [id_ for file, id_ in paths.items() if file == place or is_below(file, place)]
        if not inside and place != ROOT:
            raise _missing(prefix)
        filters = Filters(self._namespace, types=[FILE], ids=None if place == ROOT else inside)
        return self._search.run(Request(query, limit=limit, mode=mode), filters)

    def history(self, path: str) -> list[Version]:
        """Return the versions of a file, newest first. A file that was renamed keeps its versions."""
        return self._reader.history(self._existing(path, self._paths()))

    # -- writing ------------------------------------------------------------------------------

    def create(self, path: str, text: str) -> File:
        """Create a file; InvalidInput if there is one, or a folder, at this path."""
        check_text("text", text)
        with self._changing() as paths:
            self._check_free(path, paths, f"File {path} already exists")
            return self._file(self._add(parse_path(path), text))

    def write(self, path: str, text: str, *, version: int | None = None) -> File:
        """Replace the whole text of a file, or create it. With `version` 0 it must not exist yet."""
        check_text("text", text)
        with self._changing() as paths:
            if parse_path(path) in paths:
                id_ = self._existing(path, paths, version)
                self._writer.update(id_, {"text": text})
                return self._file(id_, line=1)
            if version not in (None, 0):
                raise _missing(path)
            return self.create(path, text)

    def str_replace(self, path: str, old: str, new: str, *, version: int | None = None) -> File:
        """Replace a text that is in a file exactly once."""
        check_text("new", new)
        if not check_text("old", old):
            raise InvalidInput("old is empty; give the text to replace")
        with self._changing() as paths:
            id_ = self._existing(path, paths, version)
            text = self._memory(id_).text
            at = [*_places(text, old)] if text.count(old) > 1 else [text.find(old)]
            if at[0] < 0:
                raise InvalidInput(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
                )
            if len(at) > 1:
                numbers = ", ".join(str(text.count("\n", 0, one) + 1) for one in at)
                raise InvalidInput(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines:"
                    f" {numbers}. Please ensure it is unique"
                )
            self._writer.update(id_, {"text": text.replace(old, new)})
            return self._file(id_, line=text.count("\n", 0, at[0]) + 1)

    def insert(self, path: str, line: int, text: str, *, version: int | None = None) -> File:
        """Insert a text after a line; 0 inserts it at the beginning."""
        check_text("text", text)
        with self._changing() as paths:
            id_ = self._existing(path, paths, version)
            lines = self._memory(id_).text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if type(line) is not int or not 0 <= line <= len(lines):
                raise InvalidInput(
                    f"Invalid `insert_line` parameter: {line}. It should be within the range"
                    f" [0, {len(lines)}]."
                )
            lines.insert(line, text.rstrip("\n"))
            whole = "\n".join(lines)
            self._writer.update(id_, {"text": whole if whole.endswith("\n") else f"{whole}\n"})
            return self._file(id_, line=line + 1)

    def delete(self, path: str, *, version: int | None = None) -> int:
        """Delete a file, or a folder with all files in it, with their versions; return how many files."""
        place = parse_path(path)
        if place == ROOT:
            raise InvalidInput(f"Cannot delete the {ROOT} directory itself")
        with self._changing() as paths:
            ids = [id_ for file, id_ in paths.items() if is_below(file, place)]
            if place in paths:
                ids = [self._existing(path, paths, version)]
            if not ids:
                raise NotFound(f"The path {path} does not exist", of="file")
            self._writer.forget(ids)
        self._context.db.purge()  # inside the transaction it does nothing
        return len(ids)

    def rename(self, old: str, new: str, *, version: int | None = None) -> int:
        """Move a file, or a folder with all files in it; return how many files. Versions move along."""
        place, target = parse_path(old), parse_path(new)
        if place == ROOT:
            raise InvalidInput(f"Cannot rename the {ROOT} directory itself")
        with self._changing() as paths:
            self._check_free(new, paths, f"The destination {new} already exists")
            if is_below(target, place):
                raise InvalidInput(f"{old} cannot be moved into itself; give another path")
            if place in paths:
                moved = {place: self._existing(old, paths, version)}
            else:
                moved = {file: id_ for file, id_ in paths.items() if is_below(file, place)}
            if not moved:
                raise NotFound(f"The path {old} does not exist", of="file")
            for file, id_ in moved.items():
                self._writer.update(id_, _named(parse_path(target + file.removeprefix(place))))
            return len(moved)

    def undo(self, path: str) -> File:
        """Take the last change of a file back; again, the one before it. A new name is a change, too."""
        with self._changing() as paths:
            id_ = self._existing(path, paths)
            before = self._memory(id_)
            after = self._writer.undo(id_)
            if after.source != before.source:
                taken = f"{path} was {after.source} before, which is another file now"
                self._check_free(after.source or "", {**paths, str(before.source): ""}, taken)
            return self._file(id_)

    # -- parts of these -----------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Iterator[dict[str, str]]:
        """One transaction, with the ids of all files by path: no other process changes them in it."""
        self._context.embedding.activate()
        with self._context.tables.records.transaction():
            yield self._paths()
        self._context.embedding.wake()  # what was told before the commit found nothing

    def _paths(self) -> dict[str, str]:
        sees = self._context.sees
        scope = sees._replace(namespaces=(self._namespace,), types=(FILE,))
        return {
            path: id_ for path, id_ in self._table.paths(scope).items() if is_below(path, ROOT)
        }

    def _existing(self, path: str, paths: dict[str, str], version: int | None = None) -> str:
        """Return the id of a file, if it is at this version."""
        place = parse_path(path)
        if place not in paths:
            if place == ROOT or any(is_below(file, place) for file in paths):
                raise InvalidInput(f"The path {path} is not a file.")
            raise _missing(path)
        if version is not None and version != (now := self._version(paths[place])):
            raise InvalidInput(
                f"version is {version!r}, but {path} is at version {now}: it has changed since you read"
                " it; read it again, and repeat the change"
            )
        return paths[place]

    def _check_free(self, path: str, paths: dict[str, str], taken: str) -> None:
        """Refuse a path at which there is a file or a folder, or that leads through a file."""
        place = parse_path(path)
        if place == ROOT or place in paths or any(is_below(file, place) for file in paths):
            raise InvalidInput(taken)
        for folder in folders_above(place):
            if folder in paths:
                raise InvalidInput(f"{folder} is a file, not a directory; {path} cannot be in it")

    def _add(self, place: str, text: str) -> str:
        name = place.rpartition("/")[2]
        format = _FORMATS.get(name.rpartition(".")[2].lower(), "text")
        fields = {
            "text": text,
            "type": FILE,
            "metadata": {"format": format},
            "namespace": self._namespace,
            **_named(place),
        }
        # Two files may have the same text, so it does not decide the id alone.
        id_ = new_id(self._context.tables.records, draft({**fields, "session": place}))
        self._writer.add_many([{**fields, "id": id_}])
        return id_

    def _memory(self, id_: str) -> Memory:
        return self._reader.get_all([id_])[0]

    def _version(self, id_: str) -> int:
        return 1 + self._table.changes(id_)

    def _file(self, id_: str, line: int = 0) -> File:
        memory = self._memory(id_)
        version = self._version(id_)
        return File(memory.source or "", memory.text, id_, version, memory.updated_at, line)


def _named(place: str) -> dict[str, str]:
    """Return the fields of a memory that its path decides: by its title it is found by name."""
    return {"source": place, "title": place.removeprefix(f"{ROOT}/")}


def _missing(path: str) -> NotFound:
    return NotFound(f"The path {path} does not exist. Please provide a valid path.", of="file")


def _line_range(lines: Sequence[int] | None) -> tuple[int, int]:
    if lines is None:
        return 1, -1
    if len(lines) != 2 or any(type(line) is not int for line in lines):
        raise InvalidInput(
            f"lines is {lines!r}; give the first and the last line, such as (1, 20)"
        )
    return lines[0], lines[1]


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)
