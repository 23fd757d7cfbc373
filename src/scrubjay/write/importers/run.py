"""One import of a foreign format: its files one after the other, in batches that are stored at once.

An import that is stopped continues with the next run: what is stored already is found by its id.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping

from scrubjay.documents import Unreadable
from scrubjay.types import Memory
from scrubjay.types.reports import Imported, ImportedFile, ImportedFrom
from scrubjay.write.context import WriteContext
from scrubjay.write.import_export.import_entries import EntryImport, Read, Rights
from scrubjay.write.importers.record import (
    ORIGIN,
    Broken,
    Format,
    LeftOut,
    Record,
    fields_of,
    memory_id,
)

Report = Callable[[int, int, str], None]
_REPEATED = "the same again (a resumed session repeats its beginning)"


class FileImport(EntryImport):
    """The import of one file. `taken` has the file of every id of this run: texts are not kept."""

    def __init__(
        self, context: WriteContext, rights: Rights, taken: dict[str, str], *, rehearsal: bool
    ) -> None:
        super().__init__(context, rights, rehearsal=rehearsal)
        self._where = taken

    def take_record(self, format: str, file: str, name: str, record: Record) -> bool:
        """Take a record; False where this run has it already."""
        id_ = memory_id(format, record.key)
        if id_ in self._where:
            return False
        self.take(Read(record.where, fields_of(format, name, record)))
        if id_ in self._where:
            self._where[id_] = file  # one text for all: the place of each would fill the memory
        return True

    def _changes_nothing(self, before: Memory, given: Memory) -> bool:
        """True when the source is as it was; what was edited here since stays edited."""
        place = (before.namespace, before.collection) == (given.namespace, given.collection)
        origin = before.metadata.get(ORIGIN)
        digest = origin.get("digest") if isinstance(origin, Mapping) else None
        return place and digest == given.metadata[ORIGIN]["digest"]

    def _rehearse(self, memory: Memory) -> None:
        """Keep nothing: every record has an id, and none is merged with another of the same text."""


def import_files(
    format: Format,
    path: str,
    import_of: Callable[[dict[str, str]], FileImport],
    report: Report | None,
) -> ImportedFrom:
    """Import every file of a format at a path. What cannot be read is reported with its place."""
    total, taken, count = ImportedFrom(), dict[str, str](), 0
    base = _folder_of(path)
    for file in format.files(path):
        left_out: Counter[str] = Counter()
        broken: list[tuple[str, str]] = []
        run, name = import_of(taken), _name(file, base)
        try:
            for item in format.read(file):
                if isinstance(item, Broken):
                    broken.append((item.where, item.reason))
                elif isinstance(item, LeftOut):
                    left_out[item.reason] += 1
                else:
                    if report:
                        report(count, 0, item.where)
                    count += 1
                    if not run.take_record(format.name, file, name, item):
                        left_out[_REPEATED] += 1
        except OSError as error:
            broken.append((file, error.strerror or str(error)))
        except Unreadable as error:
            broken.append((file, error.reason))
        total = _sum(total, file, run.finish(), broken, left_out)
    if report:
        report(count, count, "")
    return total


def _folder_of(path: str) -> str:
    return path if os.path.isdir(path) else os.path.dirname(path)


def _name(file: str, base: str) -> str:
    """Return a file as its memories name it: below the path that was given, which may move."""
    return os.path.relpath(file, base or ".").replace(os.sep, "/")


def _sum(
    total: ImportedFrom,
    file: str,
    done: Imported,
    broken: list[tuple[str, str]],
    left_out: Counter[str],
) -> ImportedFrom:
    failed = (*broken, *done.failed)
    counts = (done.added, done.changed, done.unchanged)
    return ImportedFrom(
        total.added + done.added,
        total.changed + done.changed,
        total.unchanged + done.unchanged,
        (*total.failed, *failed),
        (*total.notes, *done.notes),
        (*total.files, ImportedFile(file, *counts, len(failed), dict(left_out))),
    )
