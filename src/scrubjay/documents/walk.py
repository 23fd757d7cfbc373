"""The files below a folder, without what ignore files name and without following links; and why not."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

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
    """One ignore file: its rules together, and each by itself, the last first."""

    folder: str
    spec: GitIgnoreSpec
    lines: tuple[tuple[GitIgnoreSpecPattern, bool], ...]
    """A rule, and whether it speaks of folders only."""


def walk(root: str, leave: Leave, own: Collection[str] = ()) -> Iterator[FoundFile]:
    """Yield the files below a root, sorted; a root that is a file is yielded whatever rules say.

    `own` are files of the store itself, which may lie in the folder: they are passed over.
    """
    if os.path.isdir(root):
        # A root may be reached over a link: then its files have other names than the store's own.
        here = os.path.realpath(root)
        mine = {os.path.realpath(one) for one in own}
        found = _below(root, _rules_above(root), leave)
        yield from sorted(one for one in found if here + one.path[len(root) :] not in mine)
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


def _below(root: str, above: tuple[_Rules, ...], leave: Leave) -> Iterator[FoundFile]:
    waiting = [(root, above)]  # not by recursion: folders can be deeper than Python's stack
    while waiting:
        folder, outer = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda one: one.name)
        except OSError as error:
            leave(folder, _words(error), True)
            continue
        names = {one.name for one in entries}
        mark = next((one for one in _MADE_MARKS if one in names), None)
        if mark and folder != root:
            leave(folder, f"made by a program (it holds {mark})", False)
            continue
        rules = (*outer, *_rules_in(folder, names, leave))
        for entry in entries:
            if entry.name.startswith("."):
                continue  # hidden: nobody expects to find those, and nobody wants a list of them
            try:
                reason = _why_not(root, entry, rules)
                if reason:
                    leave(entry.path, reason, False)
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, rules))
                else:
                    now = entry.stat(follow_symlinks=False)
                    yield FoundFile(entry.path, now.st_size, now.st_mtime_ns)
            except OSError as error:
                leave(entry.path, _words(error), True)


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
        below = path[len(os.path.join(one.folder, "")) :].replace(os.sep, "/")
        said = one.spec.check_file(below + "/" if folder else below).include
        if said is not None and folder:
            said = _said_of_folder(below, one)
        if said is not None:
            return said
    return False


def _said_of_folder(below: str, rules: _Rules) -> bool | None:
    """Say what the last rule says that names a folder itself: `a/**` names what is in it only."""
    for rule, only_folders in rules.lines:
        if rule.match_file(below) or (only_folders and rule.match_file(below + "/")):
            return rule.include
    return None


def _rules_in(folder: str, names: set[str], leave: Leave) -> Iterator[_Rules]:
    for name in IGNORE_FILES:
        path = os.path.join(folder, name)
        if name not in names or not os.path.isfile(path):  # a pipe would be waited for, for ever
            continue
        try:
            with open(path, encoding="utf-8-sig", errors="replace") as lines:
                yield _rules_of(folder, lines)
        except OSError as error:
            leave(path, _words(error), True)


def _rules_of(folder: str, lines: Iterable[str]) -> _Rules:
    from pathspec import GitIgnoreSpec  # only where there is something to ignore

    each: list[tuple[GitIgnoreSpecPattern, bool]] = []
    for line in lines:
        try:
            spec = GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            continue  # a line that means nothing, such as a lone "!": git passes over it, too
        each.extend((one, line.rstrip().endswith("/")) for one in spec.patterns)
    return _Rules(folder, GitIgnoreSpec([one for one, _ in each]), tuple(reversed(each)))


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
    rules = tuple(
        rules
        for one in reversed(above)
        for rules in _rules_in(
            one,
            {name for name in IGNORE_FILES if os.path.exists(os.path.join(one, name))},
            _tell_nobody,
        )
    )
    # Who names a folder that is ignored, notes kept out of git perhaps, wants it read.
    return () if _ignored(root, True, rules) else rules


def _tell_nobody(path: str, reason: str, failed: bool) -> None:
    """Pass over it: rules that cannot be read outside the folder are nothing about the folder."""


def _words(error: OSError) -> str:
    return error.strerror or str(error)
