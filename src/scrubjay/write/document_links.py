"""From what documents link to, as written, to edges between them.

A link may name a file that is read later, or that moves: so links are kept as written, and those of a
document are resolved anew when it changes, or when a file comes or goes whose name one of them has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.sql.files import StoredTarget
from scrubjay.text.analysis import normalise

if TYPE_CHECKING:
    from scrubjay.documents import Target

KIND = "link"


class Page(NamedTuple):
    """A document that links may lead to: its file, and the names it goes by."""

    id: str
    path: str
    names: tuple[str, ...] = ()


def stored(targets: Sequence[Target]) -> list[StoredTarget]:
    """Return targets as they are kept, each once."""
    return [
        StoredTarget(name_of(one.text), one.kind, one.text)
        for one in dict.fromkeys(targets)
        if name_of(one.text)
    ]


def name_of(text: str) -> str:
    """Return the last part of a link or path, without its ending, folded."""
    return folded(_without_ending(_last(text)))


def names_of_file(path: str) -> set[str]:
    """Return the names that links to a file may have: its own, and of a folder's page the folder's."""
    stem = os.path.splitext(os.path.basename(path))[0]
    names = {name_of(path), name_of(stem)}  # "[[meeting.notes]]" looks as if it had an ending
    if stem.lower() in ("index", "readme"):
        names.add(name_of(os.path.dirname(path)))
    return names


def _last(text: str) -> str:
    return text.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _without_ending(name: str) -> str:
    bare, ending = os.path.splitext(name)
    return bare if ending[1:].isalpha() else name  # "Release 1.2" has none


def folded(name: str) -> str:
    """Return the form under which two names of a page are the same."""
    return normalise(name).casefold()


class Resolver:
    """Finds the page that a link leads to, among the pages of one namespace."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._by_path: dict[str, Page] = {}
        self._by_name: dict[str, list[Page]] = {}
        for page in pages:
            self._by_path.setdefault(page.path, page)
            for name in {name_of(page.path), *map(folded, page.names)}:
                self._by_name.setdefault(name, []).append(page)

    def targets(self, source: Page, links: Iterable[tuple[str, str]]) -> list[str]:
        """Return the ids that the links of a document lead to, each once."""
        found = (
            self._wiki(source, text) if kind == "wiki" else self._path(source, text)
            for kind, text in links
        )
        return list(dict.fromkeys(page.id for page in found if page and page.id != source.id))

    def _path(self, source: Page, text: str) -> Page | None:
        """Follow a path relative to the document; the ending may be left out, as many tools do."""
        there = os.path.normpath(os.path.join(os.path.dirname(source.path), text))
        endings = ("", ".md", ".markdown", ".rst", os.sep + "index.md", os.sep + "README.md")
        return next(
            (self._by_path[there + one] for one in endings if there + one in self._by_path), None
        )

    def _wiki(self, source: Page, text: str) -> Page | None:
        """Find a page by its name; of several, the one in the same folder, else the one least deep."""
        wanted = folded(text.replace("\\", "/"))
        pages = self._by_name.get(_last(wanted), []) or self._by_name.get(name_of(text), [])
        if "/" in wanted:
            there = self._path(source, text)
            if there:
                return there
            ends = ("/" + wanted.lstrip("/"), "/" + _without_ending(wanted.lstrip("/")))
            pages = [one for one in pages if _bare(one.path).endswith(ends)]
        pages = pages or self._by_name.get(wanted, [])  # a title may hold a slash, or an ending
        here = os.path.dirname(source.path)
        return min(
            pages,
            key=lambda one: (
                os.path.dirname(one.path) != here,
                one.path.count(os.sep),
                one.path,
            ),
            default=None,
        )


def _bare(path: str) -> str:
    return folded(os.path.splitext(path)[0].replace(os.sep, "/"))
