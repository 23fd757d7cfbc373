"""Files of a model hub repository, stored in the user's cache with a manifest.
The hub states commit and checksums, and the manifest beside the files stores both. So a later
start needs no network, notices damage, and stays at the same commit."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from scrubjay._version import __version__
from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.download.http_file import download, sha256_of
from scrubjay.models.download.pull import hub_address, make_cache_folder, provide
from scrubjay.runtime.paths import cache_dir
from scrubjay.runtime.progress import Progress
from scrubjay.runtime.worker import call_within

log = logging.getLogger(__name__)

MANIFEST = "fetched.json"
_CONNECT_S = 15.0
# The hub itself forbids "--" and ".." in names, so a folder owner--name is of one repository.
_PART = r"(?!.*(?:--|\.\.))[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_REPO = re.compile(rf"({_PART})/({_PART})")
_REVISION = re.compile(r"(?!.*(?:\.\.|//|--))[A-Za-z0-9_](?:[A-Za-z0-9._/-]*[A-Za-z0-9_])?")
_FILE = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*/)*[A-Za-z0-9_][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class WantedFile:
    """A file of a repository, under the first of these names that the repository has.
    `beside` are endings of files next to it that it may need, as `_data` for weights."""

    what: str
    names: tuple[str, ...]
    beside: tuple[str, ...] = ()
    optional: bool = False

    def __str__(self) -> str:
        return f"{self.what} ({' or '.join(self.names)})"


@dataclass(slots=True)
class _Manifest:
    """What was downloaded (SHA-256 and size), of which commit, and which names that commit lacks."""

    commit: str = ""
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, folder: Path) -> _Manifest:
        """Return the manifest of a folder; empty where it is missing or damaged."""
        try:
            content = json.loads((folder / MANIFEST).read_bytes())
            files = {
                str(name): {"sha256": str(file["sha256"]), "size": int(file["size"])}
                for name, file in content["files"].items()
            }
            return cls(str(content["commit"]), files, set(map(str, content["absent"])))
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return cls()

    def write(self, folder: Path, repo: str, revision: str) -> None:
        """Put the manifest beside the files, complete or not at all."""
        names = {"repo": repo, "revision": revision, "commit": self.commit}
        content = {**names, "files": self.files, "absent": sorted(self.absent)}
        part = folder / f"{MANIFEST}.part"
        part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        part.replace(folder / MANIFEST)

    def needed(self, wanted: Sequence[WantedFile]) -> list[str] | None:
        """Return the names of the wanted files; None where one was never asked for."""
        names: list[str] = []
        for want in wanted:
            chosen = next((name for name in want.names if name in self.files), None)
            if chosen is None and want.optional and self.absent.issuperset(want.names):
                continue
            beside = [f"{chosen}{ending}" for ending in want.beside]
            if chosen is None or not self.absent.union(self.files).issuperset(beside):
                return None
            names += [chosen, *(name for name in beside if name in self.files)]
        return names


def parse_repo(repo: str) -> tuple[str, str]:
    name, at, revision = repo.partition("@")
    revision = revision if at else "main"
    if not _REPO.fullmatch(name) or not _REVISION.fullmatch(revision):
        raise InvalidInput(
            f"{repo!r} is not a repository of the model hub; write owner/name or owner/name@revision"
        )
    return name, revision


def repo_folder(repo: str) -> Path:
    folders = (part.replace("/", "--") for part in parse_repo(repo))
    return Path(cache_dir(), "models", "hub", *folders)


def repo_is_here(repo: str, wanted: Sequence[WantedFile]) -> bool:
    """True when all wanted files are here in full length; cheap, so without their checksums."""
    return _is_here(repo_folder(repo), wanted, checksums=False)


def fetch_repo(
    repo: str, wanted: Sequence[WantedFile], *, progress: Progress | None = None
) -> Path:
    """Return the folder with the wanted files, checked, downloading what is missing or damaged.
    Raises Unavailable when the hub lacks one of them, or when the network is needed and forbidden.
    A branch is followed once: the files stay at its commit until the folder is removed."""
    into = repo_folder(repo)
    for file in (file for want in wanted for file in want.names):
        if not _FILE.fullmatch(file):
            raise InvalidInput(f"{file!r} is not a file of a repository; write folder/name")
    return provide(
        repo,
        into,
        is_complete=lambda: _is_here(into, wanted, checksums=True),
        fetch=lambda report: _fetch(*parse_repo(repo), wanted, into, report),
        progress=progress,
    )


def _is_here(folder: Path, wanted: Sequence[WantedFile], *, checksums: bool) -> bool:
    manifest = _Manifest.read(folder)
    needed = manifest.needed(wanted)
    try:
        return needed is not None and all(
            (folder / name).stat().st_size == manifest.files[name]["size"]
            and (not checksums or sha256_of(folder / name) == manifest.files[name]["sha256"])
            for name in needed
        )
    except OSError:
        return False


def _fetch(
    repo: str, revision: str, wanted: Sequence[WantedFile], into: Path, progress: Progress
) -> None:
    """Ask the hub about all files first, so that nothing large is downloaded in vain."""
    manifest = _Manifest.read(into)
    at, commit = manifest.commit or revision, ""
    found: dict[str, _Stated] = {}

    def has(name: str) -> bool:
        nonlocal at, commit
        stated = _ask(repo, at, name)
        if stated is None:
            manifest.absent.add(name)
            return False
        if stated.commit and not commit:
            # A branch may move between two questions: the first answer pins the commit.
            at = commit = stated.commit
        found[name] = stated
        return True

    lacking = []
    for want in wanted:
        chosen = next((name for name in want.names if has(name)), None)
        if chosen is not None:
            for ending in want.beside:
                has(chosen + ending)
        elif not want.optional:
            lacking.append(str(want))
    if lacking:
        raise Unavailable(f"{repo} has no {' and no '.join(lacking)} at the model hub")
    for name, stated in found.items():
        if not stated.sha256 and manifest.commit and name in manifest.files:
            # The manifest's checksum binds only where a commit proves that it is the same file.
            stated = stated._replace(sha256=manifest.files[name]["sha256"])
        sha256 = _download(_url(repo, at, name), into / name, stated, progress)
        manifest.files[name] = {"sha256": sha256, "size": (into / name).stat().st_size}
    manifest.commit = commit
    manifest.write(into, repo, revision)


class _Stated(NamedTuple):
    """What the hub states about a file; empty where it states nothing."""

    commit: str
    sha256: str
    git_sha1: str  # the name that git gives the content: small files have no other checksum
    size: int

    def matches(self, path: Path) -> bool:
        """True when a file has the checksum that the hub states; False where it states none."""
        if self.sha256:
            return sha256_of(path) == self.sha256
        if not self.git_sha1:
            return False
        content = path.read_bytes()
        blob = f"blob {len(content)}\0".encode() + content
        return hashlib.sha1(blob, usedforsecurity=False).hexdigest() == self.git_sha1


def _ask(repo: str, revision: str, name: str) -> _Stated | None:
    """Ask the hub about a file; None when the repository has no such file."""
    from huggingface_hub import errors, get_hf_file_metadata

    url, token = _url(repo, revision, name), _token()
    ask = partial(get_hf_file_metadata, url, token=token or False, timeout=_CONNECT_S)
    ours = {"library_name": "scrubjay", "library_version": __version__}
    try:
        found = call_within(_CONNECT_S, partial(ask, **ours), url)
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        if status in (401, 403):
            # The hub does not tell private repositories from unknown names.
            given = "the token in HF_TOKEN does not open it"
            raise Unavailable(
                f"The model hub does not show {repo} ({status}): it does not exist, is private, or its"
                " terms have to be accepted there first; "
                + (given if token else "set HF_TOKEN to a token that may read it")
            ) from error
        if isinstance(error, errors.RepositoryNotFoundError):
            raise Unavailable(f"The model hub has no repository {repo}") from error
        if isinstance(error, errors.RevisionNotFoundError):
            raise Unavailable(f"{repo} has no revision {revision!r}") from error
        if status == 404:
            return None
        raise Unavailable(f"{url} answered {status}") from error
    except Unavailable:
        raise
    except Exception as error:  # errors of the HTTP client: their module changed with version 2
        reason = str(error) or type(error).__name__
        raise Unavailable(f"{url} cannot be reached: {reason}") from error
    sha256, git_sha1 = (_hex(found.etag, digits) for digits in (64, 40))
    return _Stated(_hex(found.commit_hash, 40), sha256, git_sha1, found.size or 0)


def _hex(value: str | None, digits: int) -> str:
    """Return a checksum in lower case; empty where it is none of that length."""
    value = (value or "").lower()
    return value if re.fullmatch(f"[0-9a-f]{{{digits}}}", value) else ""


def _url(repo: str, revision: str, name: str) -> str:
    from huggingface_hub import hf_hub_url

    return hf_hub_url(repo, name, revision=revision, endpoint=hub_address())


def _token() -> str:
    token = os.environ.get("HF_TOKEN", "").strip()
    if not re.fullmatch("[!-~]*", token):
        # The HTTP library would refuse it, too, and print it while doing so.
        raise Unavailable("HF_TOKEN holds characters that no token has; set it again, or unset it")
    return token


def _download(url: str, path: Path, stated: _Stated, progress: Progress) -> str:
    if path.is_file():
        if stated.matches(path):
            return sha256_of(path)
        log.warning("%s is damaged or of another version and will be downloaded again", path)
        path.unlink()
    make_cache_folder(path.parent)
    sha256 = download(
        url,
        path,
        sha256=stated.sha256,
        size=stated.size,
        connect_s=_CONNECT_S,
        token=_token(),
        progress=progress,
    )
    if stated.git_sha1 and not stated.sha256 and not stated.matches(path):
        path.unlink()
        raise Unavailable(f"{url} does not have the expected checksum; it was not stored")
    return sha256
