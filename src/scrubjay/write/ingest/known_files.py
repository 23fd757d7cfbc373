"""Files below a folder as the database knows them: which were read, which moved, and their ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.types import Scope

if TYPE_CHECKING:
    from scrubjay.storage.sql.files import IndexedFile, SkippedFile
    from scrubjay.write.context import WriteContext


class KnownFiles:
    """The files of one root when a run begins; `moved` has the ids whose file has moved since."""

    def __init__(self, context: WriteContext, root: str, namespace: str, moved: set[str]) -> None:
        self._context = context
        self._namespace = namespace
        self._moved = moved
        self._requested: dict[str, str] = {}  # path by the id that its front matter gives
        self.files: dict[str, list[IndexedFile]] = {}  # by path
        for file in context.files.under(root, namespace):
            self.files.setdefault(file.path, []).append(file)
        left_out = context.files.skipped(root, Scope(namespaces=(namespace,)))
        self._skipped = {left.path: left for left in left_out}

    def skipped(
        self, path: str, stat: tuple[int, int], reader: str, limited: str
    ) -> SkippedFile | None:
        """Return why a file was skipped before, if neither the file nor its reader has changed.
        A file that failed is tried again, unless the reader gave up within the same limits."""
        before = self._skipped.get(path)
        if before is None:
            return None
        same_reader = reader if before.state == "skipped" else limited
        now = (*stat, same_reader)
        return before if (before.size, before.mtime_ns, before.reader) == now else None

    def moved_from(self, digest: str) -> list[IndexedFile]:
        """Return the documents of a missing file that had the same bytes: it was moved."""
        by_path: dict[str, list[IndexedFile]] = {}
        for file in self._context.files.with_digest(digest, self._namespace):
            if file.memory not in self._moved and not os.path.lexists(file.path):
                by_path.setdefault(file.path, []).append(file)
        return by_path[min(by_path)] if by_path else []

    def claim(self, id_: str, path: str, before: str | None) -> bool:
        """Reserve the id that a file gives itself; False when another memory or file has it."""
        if id_ != before and not self._is_free(id_, path):
            return False
        self._requested[id_] = path
        return True

    def _is_free(self, id_: str, path: str) -> bool:
        if self._requested.get(id_, path) != path:
            return False
        file = self._context.files.of([id_]).get(id_)
        if file is None:
            return not self._context.records.existing([id_])
        return file.path == path or id_ in self._moved

    def new_id(self, path: str, part: str) -> str:
        """Return an id made from the path; a document that was moved away may still have it."""
        context, secret = self._context, self._context.records.id_secret(self._namespace)
        for attempt in range(1_000_000):
            numbered = [str(attempt)] if attempt else []
            seed = "\0".join((secret + self._namespace, path, part, *numbered))
            id_ = "doc-" + sha256(seed.encode()).hexdigest()[:12]
            file = context.files.of([id_]).get(id_)
            # Another process may have read this very file in the meantime.
            is_same = file is not None and (file.path, file.part) == (path, part)
            if is_same or not context.records.existing([id_]):
                return id_
        raise InvalidInput(f"no id is free for {path}")


def is_unchanged(
    files: Sequence[IndexedFile], stat: tuple[int, int] | None, reader: str, digest: str = ""
) -> bool:
    """True when a file is as it was read, by size and date or by its bytes, with the same reader."""
    return all(
        file.reader == reader and ((file.size, file.mtime_ns) == stat or file.digest == digest)
        for file in files
    )
