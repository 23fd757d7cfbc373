"""Where writing goes: the records with what is kept beside them, and how texts are cut."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.sql.records import aliases_of
from scrubjay.types import Memory, Scope
from scrubjay.write.chunking import Cutting
from scrubjay.write.document_links import KIND, Page, Resolver, name_of, names_of_file, stored

if TYPE_CHECKING:
    from scrubjay.documents import Target
    from scrubjay.storage.sql.files import IndexedFile, SqlFiles, SqlFolders, SqlLinkTargets
    from scrubjay.storage.sql.graph import SqlGraph
    from scrubjay.storage.sql.records import SqlRecords


class Shelf(NamedTuple):
    """The stores that a write touches, and the settings that hold for it.

    `check_place` refuses a namespace in which the person may not write; it is asked in each transaction,
    since reading a folder takes a while and people may be removed meanwhile.
    """

    records: SqlRecords
    graph: SqlGraph
    files: SqlFiles
    folders: SqlFolders
    targets: SqlLinkTargets
    clock: Callable[[], datetime]
    cutting: Cutting = Cutting()
    own_files: tuple[str, ...] = ()
    person: str = ""
    check_place: Callable[[str], object] = bool

    def taken(self, id_: str) -> bool:
        """True when a memory has this id."""
        return bool(self.records.get([id_], Scope()))

    def note_targets(self, id_: str, targets: Sequence[Target]) -> None:
        """Keep what a document links to, as written."""
        self.targets.put(id_, stored(targets))

    def names(self, path: str, memory: Memory) -> set[str]:
        """Return the names under which links may speak of a document."""
        return {*names_of_file(path), *map(name_of, (memory.title, *aliases_of(memory.metadata)))}

    def names_of(self, files: Iterable[IndexedFile]) -> set[str]:
        """Return the names of documents as they are stored now."""
        paths = {one.memory: one.path for one in files}
        memories = self.records.get(list(paths), Scope())
        return {name for id_, one in memories.items() for name in self.names(paths[id_], one)}

    def unsettled(self, namespace: str) -> set[str]:
        """Return the documents whose links a run that was cut short did not come to."""
        if self.targets.are_settled(namespace):
            return set()
        return {one.memory for one in self.files.seen(Scope(namespaces=(namespace,)))}

    def unsettle(self, memories: Iterable[Memory]) -> None:
        """Let the next run resolve the links to documents that go now."""
        for namespace in {one.namespace for one in memories if one.type == "document"}:
            self.targets.unsettle(namespace)

    def relink(self, touched: set[str], names: set[str], namespace: str) -> None:
        """Resolve the links of documents that changed, and of those that speak of a changed name."""
        if not touched and not names:
            return
        sources = touched | self.targets.naming(names, namespace)
        written = self.targets.of(sources)
        pages = self._pages(namespace) if any(written.values()) else {}
        resolver = Resolver(pages.values())
        with self.records.transaction():
            for id_, links in written.items():
                ends = resolver.targets(pages[id_], links) if id_ in pages else []
                self.graph.link_written(id_, ends, KIND)
            self.targets.settle(namespace)

    def _pages(self, namespace: str) -> dict[str, Page]:
        files = {one.memory: one.path for one in self.files.seen(Scope(namespaces=(namespace,)))}
        names = self.records.titles(list(files))
        return {id_: Page(id_, path, names.get(id_, ())) for id_, path in files.items()}


def own_files(path: str) -> tuple[str, ...]:
    """Return the files of a store itself, as they would be met in a folder."""
    whole = os.path.abspath(path)
    return tuple(whole + ending for ending in ("", "-wal", "-shm", "-journal"))
