"""The files below a folder, without what ignore files name and without following links; and why not."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore", ".scrubjayignore")
# Folders that programs fill for themselves: by name, or by the mark that is put into them.
_MADE_FOLDERS = ("node_modules", "__pycache__")
_MADE_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")

Leave = Callable[[str, str, bool], None]
"""Called with a path, the reason why it is left out, and whether that is a failure."""


class FoundFile(NamedTuple):
    """A file as it is on disk now."""

    path: str
    size: int
    mtime_ns: int


class _Rules(NamedTuple):
    """The ignore files of one folder."""

    folder: str
    spec: GitIgnoreSpec


def walk(root: str, leave: Leave, own: Collection[str] = ()) -> Iterator[FoundFile]:
    """Yield the files below a root, sorted; a root that is a file is yielded whatever rules say.

    `own` are files of the store itself, which may lie in the folder: they are passed over.
    """
    if os.path.isdir(root):
        for file in _below(root, root, _rules_above(root), leave):
            if file.path not in own:
                yield file
        return
    try:
        now = os.stat(root)
    except OSError as error:
        leave(root, _words(error), True)
        return
    if stat.S_ISREG(now.st_mode):
        yield FoundFile(root, now.st_size, now.st_mtime_ns)
    else:
        leave(root, "not a regular file", False)


def _below(root: str, folder: str, above: tuple[_Rules, ...], leave: Leave) -> Iterator[FoundFile]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda one: one.name)
    except OSError as error:
        leave(folder, _words(error), True)
        return
    names = {one.name for one in entries}
    mark = next((one for one in _MADE_MARKS if one in names), None)
    if mark and folder != root:
        leave(folder, f"made by a program (it holds {mark})", False)
        return
    rules = (*above, *_rules_in(folder, names, leave))
    for entry in entries:
        if entry.name.startswith("."):
            continue  # hidden: nobody expects to find those, and nobody wants a list of them
        reason = _why_not(root, entry, rules)
        if reason:
            leave(entry.path, reason, False)
        elif entry.is_dir(follow_symlinks=False):
            yield from _below(root, entry.path, rules, leave)
        else:
            try:
                now = entry.stat(follow_symlinks=False)
            except OSError as error:
                leave(entry.path, _words(error), True)
            else:
                yield FoundFile(entry.path, now.st_size, now.st_mtime_ns)


def _why_not(root: str, entry: os.DirEntry[str], rules: Sequence[_Rules]) -> str:
    """Return why an entry is not read, or nothing."""
    if entry.is_symlink():
        return _about_link(root, entry.path)
    folder = entry.is_dir(follow_symlinks=False)
    if folder and entry.name in _MADE_FOLDERS:
        return "made by a program"
    if not folder and not entry.is_file(follow_symlinks=False):
        return "not a regular file"  # a pipe would be waited for, for ever
    return "ignored by an ignore file" if _ignored(entry.path, folder, rules) else ""


def _about_link(root: str, path: str) -> str:
    try:
        to = os.path.realpath(path, strict=True)
    except OSError:  # also a loop of links
        return "a link that leads nowhere"
    inside = to.startswith(os.path.join(os.path.realpath(root), ""))
    return "a link; its target is read in its own place" if inside else "a link out of the folder"


def _ignored(path: str, folder: bool, rules: Sequence[_Rules]) -> bool:
    """Say what the nearest rule says that names a path; as git does, a nearer file overrules."""
    for one in reversed(rules):
        below = path[len(one.folder) + 1 :].replace(os.sep, "/")
        said = one.spec.check_file(below + "/" if folder else below).include
        if said is not None:
            return said
    return False


def _rules_in(folder: str, names: set[str], leave: Leave) -> Iterator[_Rules]:
    for name in IGNORE_FILES:
        if name in names:
            from pathspec import GitIgnoreSpec  # only where there is something to ignore

            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8", errors="replace") as lines:
                    yield _Rules(folder, GitIgnoreSpec.from_lines(filter(_is_pattern, lines)))
            except OSError as error:
                leave(path, _words(error), True)


def _is_pattern(line: str) -> bool:
    """False for a line that means nothing, such as a lone "!": git passes over those, too."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _rules_above(root: str) -> tuple[_Rules, ...]:
    """Return the rules of the folders above, up to the top of the repository that the root is in."""
    above: list[str] = []
    folder = root
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()  # not a repository: what lies above is not about this folder
        above.append(parent)
        folder = parent
    return tuple(
        rules
        for one in reversed(above)
        for rules in _rules_in(
            one,
            {name for name in IGNORE_FILES if os.path.exists(os.path.join(one, name))},
            _tell_nobody,
        )
    )


def _tell_nobody(path: str, reason: str, failed: bool) -> None:
    """Pass over it: rules that cannot be read outside the folder are nothing about the folder."""


def _words(error: OSError) -> str:
    return error.strerror or str(error)
