"""Find the files below a folder, by the rules of ignore files and without following links."""

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
# Folders that programs generate, by their name or by a file inside.
_GENERATED_FOLDERS = ("node_modules", "__pycache__")
_GENERATED_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")

Skip = Callable[[str, str, bool], None]
"""Called with a path that is skipped, the reason, and whether that is a failure."""


class FoundFile(NamedTuple):
    """A file on disk. One that a person named may be a link; one that was found is not, and is `below` a
    folder, which is given without links."""

    path: str
    size: int
    mtime_ns: int
    below: str = ""


class _Rules(NamedTuple):
    """One ignore file: its rules as one, and each of them, the last first."""

    folder: str
    spec: GitIgnoreSpec
    lines: tuple[tuple[GitIgnoreSpecPattern, bool], ...]
    """A rule, and whether it is for folders only."""


def walk(root: str, skip: Skip, own: Collection[str] = ()) -> Iterator[FoundFile]:
    """Yield the files below a root, sorted; a root that is a file is yielded whatever the rules.
    `own` are the files of the store, which may lie in the folder and are not yielded."""
    if os.path.isdir(root):
        # Behind a link, the store's files have other paths.
        here = os.path.realpath(root)
        mine = {os.path.realpath(one) for one in own}
        found = (one._replace(below=here) for one in _below(root, _rules_above(root), skip))
        yield from sorted(one for one in found if here + one.path[len(root) :] not in mine)
        return
    try:
        now = os.stat(root)
    except OSError as error:
        skip(root, _words(error), True)
        return
    if stat.S_ISREG(now.st_mode):
        yield FoundFile(root, now.st_size, now.st_mtime_ns)
    else:
        skip(root, "not a regular file", False)


def _below(root: str, above: tuple[_Rules, ...], skip: Skip) -> Iterator[FoundFile]:
    waiting = [(root, above)]  # no recursion: folders can be deeper than Python's stack
    while waiting:
        folder, outer = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda one: one.name)
        except OSError as error:
            skip(folder, _words(error), True)
            continue
        names = {one.name for one in entries}
        mark = next((one for one in _GENERATED_MARKS if one in names), None)
        if mark and folder != root:
            skip(folder, f"made by a program (it holds {mark})", False)
            continue
        rules = (*outer, *_rules_in(folder, names, skip))
        for entry in entries:
            if entry.name.startswith("."):
                continue  # hidden files are not expected in results or reports
            try:
                reason = _why_not(root, entry, rules)
                if reason:
                    skip(entry.path, reason, False)
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, rules))
                else:
                    now = entry.stat(follow_symlinks=False)
                    yield FoundFile(entry.path, now.st_size, now.st_mtime_ns)
            except OSError as error:
                skip(entry.path, _words(error), True)


def _why_not(root: str, entry: os.DirEntry[str], rules: Sequence[_Rules]) -> str:
    """Return why an entry is skipped, or ""."""
    if entry.is_symlink():
        return _about_link(root, entry.path)
    folder = entry.is_dir(follow_symlinks=False)
    if folder and entry.name in _GENERATED_FOLDERS:
        return "made by a program"
    if not folder and not entry.is_file(follow_symlinks=False):
        return "not a regular file"  # reading a pipe would never end
    return "ignored by an ignore file" if _ignored(entry.path, folder, rules) else ""


def _about_link(root: str, path: str) -> str:
    try:
        to = os.path.realpath(path, strict=True)
    except OSError:  # also a loop of links
        return "a link that leads nowhere"
    inside = to.startswith(os.path.join(os.path.realpath(root), ""))
    return "a link; its target is read in its own place" if inside else "a link out of the folder"


def _ignored(path: str, folder: bool, rules: Sequence[_Rules]) -> bool:
    """True when the last matching rule of the nearest ignore file ignores a path, as in git."""
    for one in reversed(rules):
        below = path[len(os.path.join(one.folder, "")) :].replace(os.sep, "/")
        ignores = one.spec.check_file(below + "/" if folder else below).include
        if ignores is not None and folder:  # `a/**` is only about the contents of a folder
            ignores = next(
                (rule.include for rule, only in one.lines if _is_for(below, rule, only)), None
            )
        if ignores is not None:
            return ignores
    return False


def _is_for(folder: str, rule: GitIgnoreSpecPattern, only_folders: bool) -> bool:
    matches = rule.match_file(folder) or (only_folders and rule.match_file(folder + "/"))
    return bool(matches)


def _rules_in(folder: str, names: set[str], skip: Skip) -> Iterator[_Rules]:
    for name in IGNORE_FILES:
        path = os.path.join(folder, name)
        if name not in names or not os.path.isfile(path):  # reading a pipe would never end
            continue
        try:
            with open(path, encoding="utf-8-sig", errors="replace") as lines:
                yield _rules_of(folder, lines)
        except OSError as error:
            skip(path, _words(error), True)


def _rules_of(folder: str, lines: Iterable[str]) -> _Rules:
    from pathspec import GitIgnoreSpec  # imported only if there is an ignore file

    each: list[tuple[GitIgnoreSpecPattern, bool]] = []
    for line in lines:
        try:
            spec = GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            continue  # an invalid line, such as a lone "!": git skips it too
        each.extend((one, line.rstrip().endswith("/")) for one in spec.patterns)
    return _Rules(folder, GitIgnoreSpec([one for one, _ in each]), tuple(reversed(each)))


def _rules_above(root: str) -> tuple[_Rules, ...]:
    """Return the rules of the folders above, up to the top of the repository."""
    above: list[str] = []
    folder = root
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()  # not a repository: folders above do not matter
        above.append(parent)
        folder = parent
    rules: tuple[_Rules, ...] = ()
    for outer in reversed(above):
        names = {name for name in IGNORE_FILES if os.path.exists(os.path.join(outer, name))}
        # Ignore files above the folder that cannot be read are not reported.
        rules += tuple(_rules_in(outer, names, lambda *_: None))
    # An ignored folder that is named explicitly, such as notes outside git, is read.
    return () if _ignored(root, True, rules) else rules


def _words(error: OSError) -> str:
    return error.strerror or str(error)
