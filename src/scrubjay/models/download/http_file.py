"""Download one file over HTTP: resumed, checked, and put in place only when complete.
The HTTP client is that of huggingface_hub, imported late. Its own `hf_hub_download` checks the
length of a file and not its checksum, and serves neither the package index nor a plain mirror
(decision 021)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scrubjay._version import __version__
from scrubjay.errors import Unavailable
from scrubjay.runtime.progress import Progress, silent
from scrubjay.runtime.worker import call_within

_ATTEMPTS = 8
_STALL_S = 20.0


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(
    url: str,
    target: Path,
    *,
    sha256: str,
    size: int = 0,
    connect_s: float = 5.0,
    token: str = "",
    progress: Progress = silent,
) -> str:
    """Download `url` to `target` and return its SHA-256; raises Unavailable with the reason.
    An interrupted download stays beside the target as `.part`, and the next call resumes it. A
    file with another checksum never takes the target's name; an empty `sha256` means that it is
    not known. The token is sent to the host of `url` only."""
    part = target.with_name(target.name + ".part")
    if not sha256:
        # Without a checksum, an earlier part may be of another version of the file.
        part.unlink(missing_ok=True)
    resumed = part.exists()
    transfer = _Transfer(url, part, size, connect_s, token, progress)
    transfer.complete()
    if resumed and sha256_of(part) != sha256:
        # The part from an earlier day may be what is wrong: download all of it again.
        part.unlink()
        transfer.complete()
    found = sha256_of(part)
    if sha256 and found != sha256:
        part.unlink()
        raise Unavailable(f"{url} does not have the expected checksum; it was not stored")
    part.replace(target)
    return found


@dataclass(frozen=True, slots=True)
class _Transfer:
    url: str
    part: Path
    size: int  # 0 where it is not known
    connect_s: float
    token: str
    progress: Progress

    def complete(self) -> None:
        """Bring the part to its full length, resuming after a break as long as bytes arrive."""
        for _ in range(_ATTEMPTS):
            before = self._length()
            if self.size and before == self.size:
                return
            if self.size and before > self.size:
                self.part.unlink()
                before = 0
            try:
                expected = self._copy(before)
            except OSError as error:
                if self._length() > before:
                    continue
                if before:
                    break
                raise Unavailable(f"{self.url} cannot be downloaded: {error}") from error
            if expected is None:  # the part is longer than the server's file, so not a piece of it
                self.part.unlink()
            elif self._length() == expected:
                return
            elif self._length() <= before:
                break
        raise Unavailable(f"{self.url} broke off before the end; the next try resumes it")

    def _copy(self, start: int) -> int | None:
        """Copy one response to the part; return the length of the whole file, None for a wrong range."""
        from huggingface_hub import get_session

        headers = {"User-Agent": f"scrubjay/{__version__}", "Accept-Encoding": "identity"}
        headers |= {"Range": f"bytes={start}-"} if start else {}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        with ExitStack() as stack:
            with _network_errors():
                stream = get_session().stream("GET", self.url, headers=headers, timeout=_STALL_S)
                # The deadline covers name lookup and all addresses of the host; a socket's does not.
                response = call_within(
                    self.connect_s, lambda: stack.enter_context(stream), self.url
                )
            if start and response.status_code == 416:
                return None
            if response.status_code >= 400:
                answer = f"{response.status_code} {response.reason_phrase}"
                raise Unavailable(f"{self.url} answered {answer}")
            # A server that ignores Range sends the whole file again.
            resumes = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
            done = start if resumes else 0
            length = response.headers.get("Content-Length", "")
            expected = self.size or (done + int(length) if length.isdecimal() else 0)
            chunks = response.iter_raw()
            with self.part.open("ab" if done else "wb") as file:
                while True:
                    with _network_errors():
                        chunk = next(chunks, b"")
                    if not chunk:
                        break
                    file.write(chunk)
                    done += len(chunk)
                    self.progress(done, expected)
                file.flush()
                os.fsync(file.fileno())
        return expected or done

    def _length(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0


@contextmanager
def _network_errors() -> Iterator[None]:
    """Raise errors of the HTTP client as OSError: their module changed from httpx to httpx2."""
    try:
        yield
    except (OSError, Unavailable):
        raise
    except Exception as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
