"""One file over HTTP: resumed where it stopped, checked, and in its place only when complete."""

from __future__ import annotations

import http.client
import os
import queue
import threading
import urllib.error
import urllib.parse
import urllib.request
from typing import IO, TYPE_CHECKING

from scrubjay._version import __version__
from scrubjay.errors import Unavailable
from scrubjay.models.download.checksum import sha256_of
from scrubjay.runtime.progress import silent

if TYPE_CHECKING:
    from pathlib import Path

    from scrubjay.runtime.progress import Progress

_BLOCK = 1 << 18
_ATTEMPTS = 8
_STALL_SECONDS = 20.0


def download(
    url: str,
    target: Path,
    *,
    sha256: str,
    size: int = 0,
    connect_seconds: float = 5.0,
    token: str = "",
    progress: Progress = silent,
) -> str:
    """Fetch `url` into `target` and return its SHA-256, or raise `Unavailable` saying why not.

    What arrived of an interrupted download stays beside the target as `.part`, and the next call
    goes on from there. A file that does not match the checksum never takes the target's name; an
    empty `sha256` is one that nobody knows beforehand. The token is shown to the host of `url` only.
    """
    part = target.with_name(target.name + ".part")
    if not sha256:
        # A half from an earlier day could not be told from half of another file.
        part.unlink(missing_ok=True)
    started_empty = not part.exists()
    _fetch(url, part, size, connect_seconds, token, progress)
    found = sha256_of(part)
    if sha256 and found != sha256 and not started_empty:
        # The half from an earlier day may be what is wrong: once more, all of it.
        part.unlink()
        _fetch(url, part, size, connect_seconds, token, progress)
        found = sha256_of(part)
    if sha256 and found != sha256:
        part.unlink()
        raise Unavailable(f"{url} does not have the expected checksum; it was not kept")
    part.replace(target)
    return found


def _fetch(
    url: str, part: Path, size: int, connect_seconds: float, token: str, progress: Progress
) -> None:
    """Bring `part` to its full length, going on after a break for as long as bytes come."""
    for _ in range(_ATTEMPTS):
        before = _length(part)
        if size and before == size:
            return
        if size and before > size:
            part.unlink()
            before = 0
        try:
            expected = _transfer(url, part, before, size, connect_seconds, token, progress)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and before:
                part.unlink()  # longer than the server's file, so not a piece of it
                continue
            raise Unavailable(f"{url} answered {error.code} {error.reason}") from error
        # A ValueError is an address that is none, such as a mistyped HF_ENDPOINT.
        except (OSError, http.client.HTTPException, ValueError) as error:
            if _length(part) > before:
                continue
            raise Unavailable(f"{url} cannot be fetched: {reason(error)}") from error
        if _length(part) == expected:
            return
        if _length(part) <= before:
            break
    raise Unavailable(f"{url} broke off before the end; the next try goes on from there")


def _transfer(
    url: str,
    part: Path,
    start: int,
    size: int,
    connect_seconds: float,
    token: str,
    progress: Progress,
) -> int:
    """Copy one response into `part` and return how long the whole file should be."""
    asked = request(url, token=token)
    if start:
        asked.add_header("Range", f"bytes={start}-")
    with open_url(asked, connect_seconds) as response:
        resumed = _resumes_at(response.headers.get("Content-Range", ""), start)
        done = start if resumed else 0
        length = response.headers.get("Content-Length", "")
        expected = size or (done + int(length) if length.isdigit() else 0)
        with part.open("ab" if resumed else "wb") as file:
            while block := response.read(_BLOCK):
                file.write(block)
                done += len(block)
                progress(done, expected)
            file.flush()
            os.fsync(file.fileno())
    return expected or done


def request(url: str, *, method: str = "GET", token: str = "") -> urllib.request.Request:
    """Make a request for a file as it is, not packed for the way."""
    headers = {"User-Agent": f"scrubjay/{__version__}", "Accept-Encoding": "identity"}
    asked = urllib.request.Request(url, headers=headers, method=method)
    if token:
        # An ordinary header would go along to wherever the host redirects.
        asked.add_unredirected_header("Authorization", f"Bearer {token}")
    return asked


def same_host(url: str, other: str) -> bool:
    """Say whether two addresses are of one host, by the same port and protocol."""
    first, second = (urllib.parse.urlsplit(one) for one in (url, other))
    return (first.scheme, first.netloc.lower()) == (second.scheme, second.netloc.lower())


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a GET, with its token only where the host stays the same; a HEAD is not followed."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if req.get_method() == "HEAD":
            return None
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        secret = req.unredirected_hdrs.get("Authorization")
        if following is not None and secret and same_host(req.full_url, newurl):
            following.add_unredirected_header("Authorization", secret)
        return following


def open_url(asked: urllib.request.Request, connect_seconds: float) -> http.client.HTTPResponse:
    """Open within a deadline that covers name lookup and every address of the host.

    A socket timeout covers neither, so an unreachable host would hold the caller for a minute.
    """
    answers: queue.Queue[http.client.HTTPResponse | Exception] = queue.Queue(1)
    given_up = threading.Event()

    def ask() -> None:
        try:
            response = urllib.request.build_opener(_Redirects).open(asked, timeout=_STALL_SECONDS)
        except (OSError, http.client.HTTPException, ValueError) as error:
            answers.put(error)
            return
        answers.put(response)
        if given_up.is_set():
            response.close()

    threading.Thread(target=ask, daemon=True, name="scrubjay-download").start()
    try:
        answer = answers.get(timeout=connect_seconds)
    except queue.Empty:
        given_up.set()
        raise TimeoutError(f"no answer within {connect_seconds:g} seconds") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _resumes_at(content_range: str, start: int) -> bool:
    """Say whether the server sent the rest; one that ignores Range sends everything again."""
    return bool(start) and content_range.startswith(f"bytes {start}-")


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def reason(error: Exception) -> str:
    """Say in a few words why a request failed."""
    why = getattr(error, "reason", None) or error
    return str(why) or type(error).__name__
