"""Where entries are read from: folders of Markdown files, single files, files and streams of JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple, TextIO

from scrubjay.documents import Unreadable
from scrubjay.documents.decode import decode
from scrubjay.errors import InvalidInput
from scrubjay.text.markdown import front_matter
from scrubjay.write.entries.file_names import file_name
from scrubjay.write.entries.json_line import from_line
from scrubjay.write.entries.markdown_file import from_markdown, id_in

Stream = TextIO | BinaryIO
Source = str | os.PathLike[str] | Stream
_MARKDOWN = (".md", ".markdown")
_LINES = (".jsonl", ".ndjson")
_NOT_UTF_8 = "not UTF-8 text; convert it first"


class Read(NamedTuple):
    """One entry as it was read: where, and either what `add` takes or why there is nothing.

    A title is made where a file without front matter has none of its own to give.
    """

    where: str
    given: dict[str, Any] | None
    reason: str = ""
    has_made_title: bool = False


def checked_sources(sources: Sequence[Source]) -> list[str | Stream]:
    """Return the sources with their paths as texts; refuse one that is not there, or that is no entry's."""
    checked: list[str | Stream] = []
    for one in sources:
        if not isinstance(one, str | os.PathLike):
            if not hasattr(one, "read"):
                raise InvalidInput(
                    f"{one!r} is neither a path nor a stream; give each source by itself"
                )
            checked.append(one)
            continue
        path = os.path.expanduser(os.fspath(one))
        if not path or not os.path.exists(path):
            raise InvalidInput(f"there is no file or folder {path!r}; name what to import")
        if not os.path.isdir(path) and not path.lower().endswith((*_MARKDOWN, *_LINES)):
            raise InvalidInput(
                f"{path} is neither Markdown (.md) nor lines of JSON (.jsonl); `scrubjay ingest`"
                " reads other files"
            )
        checked.append(path)
    if not checked:
        raise InvalidInput("nothing to import was named; give a folder, a .md or a .jsonl file")
    return checked


def files_in(sources: Sequence[str | Stream]) -> list[str | Stream]:
    """Return every file and stream, those of a folder by name; a folder without any stands for itself."""
    found: list[str | Stream] = []
    for one in sources:
        if isinstance(one, str) and os.path.isdir(one):
            found += list(_markdown_below(one)) or [one]
        else:
            found.append(one)
    return found


def are_counted(files: Sequence[str | Stream]) -> bool:
    """True when each of these is one entry, so that it is known how many there will be."""
    return all(isinstance(one, str) and not one.lower().endswith(_LINES) for one in files)


def entries_in(files: Sequence[str | Stream]) -> Iterator[Read]:
    """Yield every entry; what cannot be read is yielded with the reason."""
    named = {os.path.basename(one): one for one in files if isinstance(one, str)}
    for one in files:
        if not isinstance(one, str):
            name = getattr(one, "name", None)
            yield from _lines_of(name if isinstance(name, str) else "-", one)
        elif os.path.isdir(one):
            yield Read(one, None, "there is no Markdown file (.md) in this folder")
        elif one.lower().endswith(_LINES):
            yield from _lines_in(one)
        else:
            yield _unless_a_copy(_markdown(one), named)


def _markdown_below(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(_MARKDOWN) and not name.startswith("."):
                yield os.path.join(where, name)


def _markdown(path: str) -> Read:
    stem = os.path.splitext(os.path.basename(path))[0]
    try:
        with open(path, "rb") as opened:
            text = decode(opened.read())
        given = from_markdown(text, stem)
        return Read(path, given, has_made_title=not front_matter(text)[1])
    except OSError as error:
        return Read(path, None, error.strerror or str(error))
    except (Unreadable, InvalidInput) as error:
        return Read(path, None, str(error))


def _unless_a_copy(read: Read, named: Mapping[str, str]) -> Read:
    """Refuse a file that has the id of another which is called after that id: it is the copy."""
    id_ = (read.given or {}).get("id")
    if not isinstance(id_, str):
        return read
    name = file_name(id_)
    own = named.get(name)
    if own is None or os.path.basename(read.where) == name or _id_of(own) != id_:
        return read
    why = f"id {id_!r} is that of {own}, too, which is called after it and goes first"
    return Read(read.where, None, f"{why}; give another id")


def _id_of(path: str) -> str | None:
    try:
        with open(path, "rb") as opened:
            return id_in(decode(opened.read()))
    except (OSError, Unreadable):
        return None


def _lines_in(path: str) -> Iterator[Read]:
    try:
        with open(path, "rb") as opened:
            yield from _lines_of(path, opened)
    except OSError as error:
        yield Read(path, None, error.strerror or str(error))


def _lines_of(name: str, lines: Iterable[str | bytes]) -> Iterator[Read]:
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _line(f"{name}:{number}", line)
    except UnicodeDecodeError:  # a stream of texts cannot go on after that
        yield Read(f"{name}:{number + 1}", None, _NOT_UTF_8)


def _line(where: str, line: str | bytes) -> Read:
    try:
        text = line if isinstance(line, str) else line.decode("utf-8")
        return Read(where, from_line(text.removeprefix("\ufeff")))
    except UnicodeDecodeError:
        return Read(where, None, _NOT_UTF_8)
    except InvalidInput as error:
        return Read(where, None, str(error))
