"""Entries out of a store: one Markdown file each in a folder, or lines of JSON in a file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.times import system_clock
from scrubjay.types import Memory
from scrubjay.types.reports import Exported
from scrubjay.write.entries.file_names import ENDING, file_name
from scrubjay.write.entries.json_line import from_line, to_line
from scrubjay.write.entries.mark import has_mark, is_as_exported, marked
from scrubjay.write.entries.markdown_file import from_markdown, id_in, to_markdown
from scrubjay.write.event_time import spoken_of
from scrubjay.write.fold import is_replaced_in_vain
from scrubjay.write.remember import draft

Report = Callable[[int, int, str], None]
_MOST_NAMED = 5
_OR_FORCE = ", or replace it with force (--force)"
_OR_REMOVE = ", or remove it with force (--force)"


def write_folder(
    folder: str,
    ids: Sequence[str],
    entries: Iterable[Memory],
    *,
    force: bool,
    prune: bool,
    report: Report | None,
) -> Exported:
    """Write each entry into its file; one that is as it was is not touched.

    Before anything is written, files in the way that are no entries are refused. A file that a person
    has changed, and whose changes are not in the store, is kept and named, unless `force` replaces it.
    With `prune`, the files of entries that are not among these go.
    """
    with _write_errors(folder):
        os.makedirs(folder, exist_ok=True)
        if not force:
            _refuse_others(folder, ids)
        written = unchanged = 0
        kept: list[tuple[str, str]] = []
        for entry in entries:
            if report:
                report(written + unchanged + len(kept), len(ids), entry.id)
            path = os.path.join(folder, file_name(entry.id))
            data = marked(to_markdown(entry)).encode()
            if _holds(path, data):
                unchanged += 1
            elif not force and (edit := _edit_in(path, entry)):
                kept.append((path, edit))
            else:
                with replacing(path) as beside:
                    _write(beside, [data])
                written += 1
        met = written + unchanged + len(kept)
        removed = _prune(folder, set(ids), kept, force=force) if prune else 0
    if report:
        report(len(ids), len(ids), "")
    return Exported(met, written, unchanged, removed, tuple(kept))


def write_lines(
    path: str, entries: Iterable[Memory], total: int, *, force: bool, report: Report | None
) -> Exported:
    """Write the entries into one file, a line each; a file in the way that holds others is refused."""
    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for entry in entries:
            if report:
                report(count, total, entry.id)
            count += 1
            yield to_line(entry).encode() + b"\n"

    with _write_errors(path):
        if not force and not _is_ours(path):
            raise InvalidInput(
                f"{path} is there and does not hold entries; name another file, or replace it with"
                " force (--force)"
            )
        with replacing(path) as beside:
            _write(beside, lines())
    if report:
        report(total, total, "")
    return Exported(count, 1, 0, 0)


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Give a file beside a path; it takes the path's place if all goes well, and is gone otherwise."""
    beside = f"{path}.{secrets.token_hex(4)}.part"
    try:
        yield beside
        os.replace(beside, path)
    finally:
        with suppress(OSError):
            os.unlink(beside)


@contextmanager
def _write_errors(where: str) -> Iterator[None]:
    try:
        yield
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        name = error.filename or where
        raise InvalidInput(
            f"{name} cannot be written: {error.strerror}; name another place"
        ) from error
    except OSError as error:
        raise StoreError(
            f"{error.filename or where} cannot be written: {error.strerror}"
        ) from error


def _write(path: str, parts: Iterable[bytes]) -> None:
    with open(path, "wb") as opened:
        opened.writelines(parts)


def _refuse_others(folder: str, ids: Sequence[str]) -> None:
    """Refuse to replace a file that is not the file of the entry which is to have its name."""
    if not os.listdir(folder):
        return
    named = ((id_, os.path.join(folder, file_name(id_))) for id_ in ids)
    others = [path for id_, path in named if os.path.lexists(path) and not _is_of(path, id_)]
    if others:
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        raise InvalidInput(
            f"{', '.join(map(os.path.basename, others[:_MOST_NAMED]))}{more} in {folder} are not files"
            " of these entries; export into another folder, or replace them with force (--force)"
        )


def _holds(path: str, data: bytes) -> bool:
    if not os.path.isfile(path) or os.path.getsize(path) != len(data):
        return False
    with open(path, "rb") as opened:
        return opened.read() == data


def _edit_in(path: str, entry: Memory) -> str:
    """Say what a person's file would lose if the entry were written there; nothing where that is nothing."""
    if os.path.islink(path):
        return ""  # the link is replaced, and what it leads to stays
    text = _text_of(path)
    if text is None or is_as_exported(text):
        return ""
    try:
        said = draft(from_markdown(text, ""))
        said = spoken_of(said, entry.created_at or system_clock(), entry)
    except InvalidInput as error:
        return f"changed by hand, and import would refuse it: {error}; mend it{_OR_FORCE}"
    is_linked = set(said.links) <= set(entry.links)
    if is_linked and is_replaced_in_vain(entry, said._replace(links=entry.links)):
        return ""
    return f"changed by hand, and the store does not say so; import it first{_OR_FORCE}"


def _is_of(path: str, id_: str) -> bool:
    """True for the file of this entry; also for one that was exported, whatever was made of it."""
    text = _text_of(path)
    return text is not None and (id_in(text) == id_ or has_mark(text))


def _text_of(path: str) -> str | None:
    """Return the text of a file; None where it is none, or no file."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8-sig", newline="") as opened:
            return opened.read()
    except (OSError, UnicodeDecodeError):
        return None


def _is_ours(path: str) -> bool:
    if not os.path.lexists(path):
        return True
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as opened:
        first = opened.readline()
    if not first.strip():
        return os.path.getsize(path) == len(first)
    try:
        return {"id", "text"} <= from_line(first.decode()).keys()
    except (InvalidInput, UnicodeDecodeError):
        return False


def _prune(folder: str, ids: set[str], kept: list[tuple[str, str]], *, force: bool) -> int:
    """Remove the files of entries that are no longer there; what is named otherwise is somebody else's."""
    removed = 0
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        text = _text_of(path) if name.endswith(ENDING) else None
        id_ = None if text is None else id_in(text)
        if text is None or id_ is None or id_ in ids or file_name(id_) != name:
            continue
        if force or is_as_exported(text):
            os.unlink(path)
            removed += 1
        else:
            kept.append((path, f"changed by hand, and its entry is gone; import it{_OR_REMOVE}"))
    return removed
