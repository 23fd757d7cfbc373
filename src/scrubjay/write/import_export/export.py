"""Export entries: one Markdown file each in a folder, or JSON lines in one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.runtime.private_files import make_private_folder, replacing
from scrubjay.times import system_clock
from scrubjay.types import Memory
from scrubjay.types.reports import Exported
from scrubjay.write.fields import draft
from scrubjay.write.import_export.format import (
    ENDING,
    file_name,
    from_markdown,
    has_mark,
    id_in,
    is_as_exported,
    marked,
    to_markdown,
)
from scrubjay.write.import_export.forms import Form, pieces
from scrubjay.write.remember import changes_nothing, with_event_time

Report = Callable[[int, int, str], None]
_MOST_NAMED = 5


def write_folder(
    folder: str,
    ids: Sequence[str],
    entries: Iterable[Memory],
    *,
    force: bool,
    prune: bool,
    report: Report | None,
) -> Exported:
    """Write each entry into its file, if it differs.

    If a file that is not an entry has the name of one, nothing is written. A file that a person changed
    and did not import stays and is reported. `force` replaces both. `prune` removes the files of other
    entries.
    """
    with _write_errors(folder):
        make_private_folder(folder)
        if not force:
            _refuse_foreign_files(folder, ids)
        written = unchanged = 0
        edited: list[tuple[str, str]] = []
        for entry in entries:
            if report:
                report(written + unchanged + len(edited), len(ids), entry.id)
            path = os.path.join(folder, file_name(entry.id))
            data = marked(to_markdown(entry)).encode()
            if os.path.isfile(path) and Path(path).read_bytes() == data:
                unchanged += 1
            elif not force and (reason := _unsaved_edit(path, entry)):
                edited.append((path, reason))
            else:
                with replacing(path) as file:
                    file.write(data)
                written += 1
        total = written + unchanged + len(edited)
        removed = _prune(folder, set(ids), edited, force=force) if prune else 0
    if report:
        report(len(ids), len(ids), "")
    return Exported(total, written, unchanged, removed, tuple(edited))


def write_file(
    path: str,
    form: Form,
    entries: Iterable[Memory],
    total: int,
    *,
    force: bool,
    report: Report | None,
) -> Exported:
    """Write the entries into one file; refuse to replace a file of another form."""
    count = 0

    def data() -> Iterator[bytes]:
        nonlocal count
        for piece, count in pieces(form, entries):
            if report and count:
                report(count - 1, total, "")
            yield piece.encode()

    with _write_errors(path):
        if not force and not _is_replaceable(path, form):
            raise InvalidInput(
                f"{path} exists and does not contain {form.what}; give another file, or replace it"
                " with force (--force)"
            )
        with replacing(path) as file:
            file.writelines(data())
    if report:
        report(total, total, "")
    return Exported(count, 1, 0, 0)


@contextmanager
def _write_errors(target: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{error.filename or target} cannot be written: {error.strerror}"
        if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError):
            raise InvalidInput(f"{message}; give another path") from error
        raise StoreError(message) from error


def _refuse_foreign_files(folder: str, ids: Sequence[str]) -> None:
    """Refuse to replace a file that is not the file of the entry with its name."""
    if not os.listdir(folder):
        return
    paths = ((id_, os.path.join(folder, file_name(id_))) for id_ in ids)
    foreign = [path for id_, path in paths if os.path.lexists(path) and not _is_of(path, id_)]
    if foreign:
        names = ", ".join(map(os.path.basename, foreign[:_MOST_NAMED]))
        more = f" and {len(foreign) - _MOST_NAMED} more" if len(foreign) > _MOST_NAMED else ""
        raise InvalidInput(
            f"{names}{more} in {folder} are not files of these entries; export into another folder,"
            " or replace them with force (--force)"
        )


def _unsaved_edit(path: str, entry: Memory) -> str:
    """Return why a file must not be replaced: a person changed it and did not import it; else ""."""
    if os.path.islink(path):
        return ""  # the link is replaced, and its target stays
    text = _text_of(path)
    if text is None or is_as_exported(text):
        return ""
    try:
        edited = draft(from_markdown(text, ""))
        edited = with_event_time(edited, entry.created_at or system_clock(), entry)
    except InvalidInput as error:
        return (
            f"changed by hand, and import would refuse it: {error}; correct it, or replace it with"
            " force (--force)"
        )
    with_links = edited._replace(links=entry.links)
    if set(edited.links) <= set(entry.links) and changes_nothing(entry, with_links):
        return ""
    return "changed by hand and not imported; import it first, or replace it with force (--force)"


def _is_of(path: str, id_: str) -> bool:
    """True for the file of this entry, and for one that was exported, even if it was changed since."""
    text = _text_of(path)
    return text is not None and (id_in(text) == id_ or has_mark(text))


def _text_of(path: str) -> str | None:
    """Return the text of a file; None where it is not text, or not a file."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig") if os.path.isfile(path) else None
    except (OSError, UnicodeDecodeError):
        return None


def _is_replaceable(path: str, form: Form) -> bool:
    """True when nothing is at a path, or an empty file, or one of this form."""
    if not os.path.lexists(path):
        return True
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as opened:
        first = opened.readline()
    if not first.strip():
        return os.path.getsize(path) == len(first)
    try:
        return form.begins(first.decode())
    except UnicodeDecodeError:
        return False


def _prune(folder: str, ids: set[str], edited: list[tuple[str, str]], *, force: bool) -> int:
    """Remove the files of entries that were deleted; a file with any other name is not ours."""
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
            reason = "changed by hand, and its entry was deleted; import it, or remove it"
            edited.append((path, f"{reason} with force (--force)"))
    return removed
