"""What the model hub says of a file before it sends it: whether it is there, and its checksum."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable
from scrubjay.models.download.pull import hub_address

if TYPE_CHECKING:
    from email.message import Message

_MOST_HOPS = 5
_CONNECT_SECONDS = 15.0
_SHA1 = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TOKEN = re.compile(r"[!-~]+")
_ELSEWHERE, _FAILURE = range(300, 400), range(400, 600)
_CLOSED, _NOT_FOUND = (401, 403), 404


@dataclass(frozen=True, slots=True)
class Stated:
    """What the hub states of a file; empty where it does not say."""

    commit: str = ""
    sha256: str = ""
    git_sha1: str = ""
    """The name that git gives the content: small files have no other checksum at the hub."""
    size: int = 0


def file_url(repo: str, revision: str, name: str) -> str:
    """Return where the hub has a file of a repository."""
    from urllib.parse import quote

    return f"{hub_address()}/{repo}/resolve/{quote(revision, safe='')}/{quote(name)}"


def token() -> str:
    """Return the user's token for the hub (`HF_TOKEN`), empty where there is none."""
    given = os.environ.get("HF_TOKEN", "").strip()
    if given and not _TOKEN.fullmatch(given):
        # The HTTP library would refuse it, too, and print it while doing so.
        raise Unavailable("HF_TOKEN holds characters that no token has; set it again, or unset it")
    return given


def ask(repo: str, revision: str, name: str) -> Stated | None:
    """Ask the hub about a file; None means that the repository has no such file.

    A large file is redirected to another host. That one is not asked: the checksum is the hub's
    own word, and stands in the redirection.
    """
    from urllib.parse import urljoin

    from scrubjay.models.download.http_file import same_host

    url, linked_etag, linked_size, commit = file_url(repo, revision, name), "", "", ""
    for _ in range(_MOST_HOPS):
        status, headers = _head(url)
        if status == _NOT_FOUND and _is_only_the_file(repo, revision, headers):
            return None
        if status in _CLOSED:
            raise Unavailable(_closed(repo, status))
        if status in _FAILURE:
            raise Unavailable(f"{url} answered {status}")
        commit = commit or headers.get("X-Repo-Commit", "")
        linked_etag = linked_etag or headers.get("X-Linked-Etag", "")
        linked_size = linked_size or headers.get("X-Linked-Size", "")
        target = urljoin(url, headers.get("Location", ""))
        if status not in _ELSEWHERE:
            return _stated(commit, linked_etag, linked_size, headers.get("ETag", ""))
        if not same_host(url, target):
            return _stated(commit, linked_etag, linked_size, "")
        url = target
    raise Unavailable(f"{file_url(repo, revision, name)} leads in circles")


def _head(url: str) -> tuple[int, Message]:
    """Return the status and the headers of one answer, whatever it is."""
    import http.client
    import urllib.error

    from scrubjay.models.download.http_file import open_url, reason, request

    try:
        with open_url(request(url, method="HEAD", token=token()), _CONNECT_SECONDS) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, error.headers
    # A ValueError is an address that is none, such as a mistyped HF_ENDPOINT.
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(f"{url} cannot be asked for: {reason(error)}") from error


def _is_only_the_file(repo: str, revision: str, headers: Message) -> bool:
    """Tell a file that is missing from a repository or a revision that is."""
    match headers.get("X-Error-Code", ""):
        case "RepoNotFound":
            raise Unavailable(f"The model hub has no repository {repo}")
        case "RevisionNotFound":
            raise Unavailable(f"{repo} has no revision {revision!r}")
    return True


def _closed(repo: str, status: int) -> str:
    """Say what to do about a repository that is not shown; the hub does so with unknown names, too."""
    advice = (
        "the token in HF_TOKEN does not open it"
        if token()
        else "set HF_TOKEN to a token that may read it"
    )
    return (
        f"The model hub does not show {repo} ({status}): it does not exist, is private, "
        f"or its terms have to be accepted there first; {advice}"
    )


def _stated(commit: str, linked_etag: str, linked_size: str, etag: str) -> Stated:
    linked, own = (one.removeprefix("W/").strip('"').lower() for one in (linked_etag, etag))
    # A 64-digit ETag of a mirror's own may be of anything: only the linked one is a promise.
    git_sha1 = linked or own
    return Stated(
        commit=commit if _SHA1.fullmatch(commit) else "",
        sha256=linked if _SHA256.fullmatch(linked) else "",
        git_sha1=git_sha1 if _SHA1.fullmatch(git_sha1) else "",
        size=int(linked_size) if linked_size.isdecimal() and linked_size.isascii() else 0,
    )
