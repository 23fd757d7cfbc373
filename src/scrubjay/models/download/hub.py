"""Files of any repository of the model hub, in the user's cache, with a note of what they are.

Nothing is known of them beforehand: the hub states commit and checksum, and the note beside the
files keeps both. So a later open needs no network, sees damage, and stays at the same commit.
"""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.config import offline
from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.download.checksum import sha256_of
from scrubjay.models.download.hub_files import (
    Noted,
    Wanted,
    is_complete,
    is_intact,
    read_note,
    write_note,
)
from scrubjay.models.download.pull import alone
from scrubjay.runtime.paths import cache_dir
from scrubjay.runtime.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrubjay.models.download.hub_answer import Stated
    from scrubjay.runtime.progress import Progress

log = logging.getLogger(__name__)

_CONNECT_SECONDS = 15.0
# The hub itself forbids "--" and ".." in names, so a folder owner--name is of one repository.
_PART = r"(?!.*(?:--|\.\.))[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_REPO = re.compile(rf"({_PART})/({_PART})")
_REVISION = re.compile(r"(?!.*(?:\.\.|//|--))[A-Za-z0-9_](?:[A-Za-z0-9._/-]*[A-Za-z0-9_])?")
_FILE = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*/)*[A-Za-z0-9_][A-Za-z0-9._-]*")


def parse_repo(repo: str, revision: str = "main") -> tuple[str, str]:
    """Return repository and revision of `owner/name` or `owner/name@revision`."""
    name, _, at = repo.partition("@")
    revision = at or revision
    if not _REPO.fullmatch(name) or repo.endswith("@") or not _REVISION.fullmatch(revision):
        raise InvalidInput(
            f"{repo!r} is no repository of the model hub; it is written owner/name"
            " or owner/name@revision"
        )
    return name, revision


def repo_folder(repo: str, *, revision: str = "main") -> Path:
    """Return where the files of a repository are, or would be."""
    name, revision = parse_repo(repo, revision)
    places = (name.replace("/", "--"), revision.replace("/", "--"))
    return Path(cache_dir(), "models", "hub", *places)


def repo_is_here(repo: str, wanted: Sequence[Wanted], *, revision: str = "main") -> bool:
    """Say whether all wanted files are here in full length: cheap, so without their checksums."""
    into = repo_folder(repo, revision=revision)
    try:
        return is_complete(into, wanted)
    except OSError:
        return False


def fetch_repo(
    repo: str,
    wanted: Sequence[Wanted],
    *,
    revision: str = "main",
    progress: Progress | None = None,
) -> Path:
    """Return the folder with the wanted files, checked, fetching what is missing or damaged.

    Raises `Unavailable` when the hub lacks one of them, or when the network is needed and forbidden.
    A branch is followed once: what was fetched stays at its commit until the folder is removed.
    """
    name, revision = parse_repo(repo, revision)
    for file in (file for want in wanted for file in want.names):
        if not _FILE.fullmatch(file):
            raise InvalidInput(f"{file!r} is no file of a repository; it is written folder/name")
    into = repo_folder(name, revision=revision)
    try:
        if is_intact(into, wanted):
            return into
        if offline():
            raise Unavailable(
                f"The model {repo} is not whole in {into} and SCRUBJAY_OFFLINE forbids fetching; "
                "unset it, or copy the folder from a machine that has it"
            )
        into.mkdir(parents=True, exist_ok=True)
        with alone(into / "fetch.lock"):
            if not is_intact(into, wanted):  # another process may have helped
                if progress is not None:
                    _fetch(name, revision, wanted, into, progress)
                else:
                    with ProgressBar(repo, in_bytes=True) as bar:
                        _fetch(name, revision, wanted, into, bar)
    except OSError as error:
        raise Unavailable(f"The model {repo} cannot be kept in {into}: {error}") from error
    return into


def _fetch(
    repo: str, revision: str, wanted: Sequence[Wanted], into: Path, progress: Progress
) -> None:
    """Ask for all files first, so that nothing large comes in vain, then bring them."""
    note = read_note(into)
    asking = _Asking(repo, note.commit or revision)
    lacking = [want for want in wanted if not asking.finds(want) and not want.optional]
    if lacking:
        raise Unavailable(f"{repo} has no {' and no '.join(map(str, lacking))} at the model hub")
    for name, stated in asking.found.items():
        # What was noted binds only where a commit says that it is the same file still.
        known = note.files.get(name) if note.commit else None
        sha256 = stated.sha256 or (known.sha256 if known else "")
        found = _bring(asking.url(name), into / name, replace(stated, sha256=sha256), progress)
        note.files[name] = Noted(found, (into / name).stat().st_size)
    note.commit = asking.commit
    note.absent |= asking.absent
    write_note(into, note, repo=repo, revision=revision)


class _Asking:
    """A round of questions to the hub, all of them about one commit."""

    def __init__(self, repo: str, revision: str) -> None:
        self.repo = repo
        self.revision = revision
        self.commit = ""
        self.found: dict[str, Stated] = {}
        self.absent: set[str] = set()

    def finds(self, want: Wanted) -> bool:
        """Look for the file under its names, and for what lies beside it."""
        chosen = next((name for name in want.names if self._has(name)), None)
        if chosen is None:
            return False
        for ending in want.beside:
            self._has(chosen + ending)
        return True

    def url(self, name: str) -> str:
        """Return where the file is, at the commit that was asked about."""
        from scrubjay.models.download.hub_answer import file_url

        return file_url(self.repo, self.revision, name)

    def _has(self, name: str) -> bool:
        from scrubjay.models.download.hub_answer import ask

        stated = ask(self.repo, self.revision, name)
        if stated is None:
            self.absent.add(name)
            return False
        if stated.commit and not self.commit:
            # A branch may move between two questions: the first answer says where it stands.
            self.commit = self.revision = stated.commit
        self.found[name] = stated
        return True


def _bring(url: str, path: Path, stated: Stated, progress: Progress) -> str:
    """Have a file in its place, fetched only where what is there is not it; return its SHA-256."""
    from scrubjay.models.download.http_file import download
    from scrubjay.models.download.hub_answer import token

    if path.is_file():
        if _is(path, stated):
            return sha256_of(path)
        log.warning("%s is damaged or of another version and will be fetched again", path)
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    found = download(
        url,
        path,
        sha256=stated.sha256,
        size=stated.size,
        connect_seconds=_CONNECT_SECONDS,
        token=token(),
        progress=progress,
    )
    if stated.git_sha1 and not stated.sha256 and not _is(path, stated):
        path.unlink()
        raise Unavailable(f"{url} does not have the expected checksum; it was not kept")
    return found


def _is(path: Path, stated: Stated) -> bool:
    """Say whether a file is the one the hub means; where the hub does not say, it is not."""
    if stated.sha256:
        return sha256_of(path) == stated.sha256
    return bool(stated.git_sha1) and _git_sha1_of(path) == stated.git_sha1


def _git_sha1_of(path: Path) -> str:
    """Return the name git gives a file's content; only small files are asked for theirs."""
    import hashlib

    content = path.read_bytes()
    head = f"blob {len(content)}\0".encode()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
