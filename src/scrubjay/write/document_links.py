"""Links between documents: resolve the targets that documents name to memories.

A link may name a file that is read later, or that moves. So targets are stored as written. Those of a
document are resolved again when it changes, or when a file with the name of a target comes or goes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.sql.files import LinkTarget
from scrubjay.storage.sql.records import aliases_of
from scrubjay.text.analysis import normalize
from scrubjay.types import Memory, Scope

if TYPE_CHECKING:
    from scrubjay.documents import Target
    from scrubjay.storage.sql.files import IndexedFile
    from scrubjay.write.context import WriteContext

_KIND = "link"
_OMITTED_ENDINGS = ("", ".md", ".markdown", ".rst", os.sep + "index.md", os.sep + "README.md")


def save_targets(context: WriteContext, id_: str, targets: Sequence[Target]) -> None:
    """Store the link targets of a document as written, each once."""
    named = ((name_of(target.text), target) for target in dict.fromkeys(targets))
    rows = [LinkTarget(name, target.kind, target.text) for name, target in named if name]
    context.targets.put(id_, rows)


def document_names(path: str, memory: Memory) -> set[str]:
    """Return the names by which links may refer to a document."""
    stem = os.path.splitext(os.path.basename(path))[0]
    # The stem, too: in "[[meeting.notes]]", ".notes" looks like an ending.
    names = {path, stem, memory.title, *aliases_of(memory.metadata)}
    if stem.lower() in ("index", "readme"):  # also found by the name of its folder
        names.add(os.path.dirname(path))
    return set(map(name_of, names))


def stored_names(context: WriteContext, files: Iterable[IndexedFile]) -> set[str]:
    """Return the names of documents as they are stored now."""
    paths = {file.memory: file.path for file in files}
    memories = context.records.get(list(paths), Scope())
    return {
        name for id_, memory in memories.items() for name in document_names(paths[id_], memory)
    }


def unresolved(context: WriteContext, namespace: str) -> set[str]:
    """Return the documents whose links were not resolved because a run was interrupted."""
    if context.targets.are_resolved(namespace):
        return set()
    return set(_paths(context, namespace))


def resolve_later(context: WriteContext, deleted: Iterable[Memory]) -> None:
    """Make the next run resolve the links to documents that are deleted now."""
    for namespace in {memory.namespace for memory in deleted if memory.type == "document"}:
        context.targets.mark_unresolved(namespace)


def resolve(context: WriteContext, changed: set[str], names: set[str], namespace: str) -> None:
    """Resolve the links of documents that changed, and those that name a document that changed."""
    if not changed and not names:
        return
    sources = changed | context.targets.documents_linking_to(names, namespace)
    written = context.targets.of(sources)
    pages: dict[str, Page] = {}
    if any(written.values()):
        paths = _paths(context, namespace)
        titles = context.records.titles(list(paths))
        pages = {id_: Page(id_, path, titles.get(id_, ())) for id_, path in paths.items()}
    resolver = Resolver(pages.values())
    with context.records.transaction():
        for id_, links in written.items():
            ends = resolver.targets(pages[id_], links) if id_ in pages else []
            context.graph.set_text_links(id_, ends, _KIND)
        context.targets.mark_resolved(namespace)


def _paths(context: WriteContext, namespace: str) -> dict[str, str]:
    files = context.files.visible(Scope(namespaces=(namespace,)))
    return {file.memory: file.path for file in files}


class Page(NamedTuple):
    """A document that links may lead to: its file, and its titles and aliases."""

    id: str
    path: str
    names: tuple[str, ...] = ()


class Resolver:
    """Finds the page that a link leads to, among the pages of one namespace."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._by_path: dict[str, Page] = {}
        self._by_name: dict[str, list[Page]] = {}
        for page in pages:
            self._by_path.setdefault(page.path, page)
            for name in {name_of(page.path), *map(_fold, page.names)}:
                self._by_name.setdefault(name, []).append(page)

    def targets(self, source: Page, links: Iterable[tuple[str, str]]) -> list[str]:
        """Return the ids that the links of a document lead to, each once."""
        pages = (
            self._wiki(source, text) if kind == "wiki" else self._path(source, text)
            for kind, text in links
        )
        return list(dict.fromkeys(page.id for page in pages if page and page.id != source.id))

    def _path(self, source: Page, text: str) -> Page | None:
        """Follow a path relative to the document; the ending may be left out, as many tools do."""
        path = os.path.normpath(os.path.join(os.path.dirname(source.path), text))
        pages = (self._by_path.get(path + ending) for ending in _OMITTED_ENDINGS)
        return next(filter(None, pages), None)

    def _wiki(self, source: Page, text: str) -> Page | None:
        """Find a page by its name; of several, the one in the same folder, else the least deep one."""
        name = _fold(text.replace("\\", "/"))
        pages = self._by_name.get(_last_part(name), []) or self._by_name.get(name_of(text), [])
        if "/" in name:
            page = self._path(source, text)
            if page:
                return page
            end = "/" + name.lstrip("/")
            ends = (end, _without_ending(end))
            pages = [page for page in pages if _comparable(page.path).endswith(ends)]
        pages = pages or self._by_name.get(name, [])  # a title may have a slash or an ending
        folder = os.path.dirname(source.path)

        def distance(page: Page) -> tuple[bool, int, str]:
            return os.path.dirname(page.path) != folder, page.path.count(os.sep), page.path

        return min(pages, key=distance, default=None)


def name_of(text: str) -> str:
    """Return the last part of a link or path, without its ending, folded."""
    return _fold(_without_ending(_last_part(text)))


def _last_part(text: str) -> str:
    return text.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _without_ending(name: str) -> str:
    bare, ending = os.path.splitext(name)
    return bare if ending[1:].isalpha() else name  # "Release 1.2" has none


def _fold(name: str) -> str:
    return normalize(name).casefold()


def _comparable(path: str) -> str:
    return _fold(os.path.splitext(path)[0].replace(os.sep, "/"))
