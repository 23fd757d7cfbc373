"""What a store knows of the files below a folder: which it has read, which moved, and by which ids."""

from __future__ import annotations

import os
from collections.abc import ItemsView
from hashlib import sha256
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.types import Scope

if TYPE_CHECKING:
    from scrubjay.storage.sql.files import IndexedFile, LeftOut
    from scrubjay.write.context import Shelf


class KnownFiles:
    """The files of one root as they were when a run began; `claimed` are ids whose file moved since."""

    def __init__(self, shelf: Shelf, root: str, namespace: str, claimed: set[str]) -> None:
        self._shelf = shelf
        self._namespace = namespace
        self._claimed = claimed
        self._asked_for: dict[str, str] = {}
        self._known: dict[str, list[IndexedFile]] = {}
        for one in shelf.files.under(root, namespace):
            self._known.setdefault(one.path, []).append(one)
        here = Scope(namespaces=(namespace,))
        self._skipped = {
            one.path: one for one in shelf.files.left_out(root, here) if one.state == "skipped"
        }

    def of(self, path: str) -> list[IndexedFile]:
        """Return the documents that a file became."""
        return self._known.get(path, [])

    def items(self) -> ItemsView[str, list[IndexedFile]]:
        """Return every path with its documents."""
        return self._known.items()

    def skipped(self, path: str, seen: tuple[int, int], reader: str) -> LeftOut | None:
        """Return why a file was skipped before, if it is as it was and would be read alike."""
        before = self._skipped.get(path)
        as_before = before and (before.size, before.mtime_ns, before.reader) == (*seen, reader)
        return before if as_before else None

    def moved_from(self, digest: str) -> list[IndexedFile]:
        """Return the documents of a file that held these bytes and is gone: it lives on here."""
        by_path: dict[str, list[IndexedFile]] = {}
        for one in self._shelf.files.with_digest(digest, self._namespace):
            if one.memory not in self._claimed and not os.path.lexists(one.path):
                by_path.setdefault(one.path, []).append(one)
        return by_path[min(by_path)] if by_path else []

    def is_free(self, id_: str, path: str) -> bool:
        """True when no other memory has an id, and no other file of this run has asked for it."""
        if self._asked_for.get(id_, path) != path:
            return False
        of = self._shelf.files.of([id_]).get(id_)
        if of is None:
            return not self._shelf.taken(id_)
        return of.path == path or id_ in self._claimed

    def claim(self, id_: str, path: str) -> None:
        """Note that a file of this run has an id that it asked for."""
        self._asked_for[id_] = path

    def new_id(self, path: str, part: str) -> str:
        """Return an id made from the path; a document that moved away may still have it."""
        for attempt in range(1_000_000):
            secret = self._shelf.records.secret(self._namespace)
            numbered = [str(attempt)] if attempt else []
            seed = "\0".join((secret + self._namespace, path, part, *numbered))
            made = "doc-" + sha256(seed.encode()).hexdigest()[:12]
            of = self._shelf.files.of([made]).get(made)
            # Another process may have read this very file in the meantime.
            if (of and (of.path, of.part) == (path, part)) or not self._shelf.taken(made):
                return made
        raise InvalidInput(f"no id is free for {path}")


def as_read(
    known: list[IndexedFile], seen: tuple[int, int] | None, reader: str, digest: str = ""
) -> bool:
    """True when a file is as it was, by size and date or by its bytes, and would be read alike."""
    return all(
        one.reader == reader and ((one.size, one.mtime_ns) == seen or one.digest == digest)
        for one in known
    )
